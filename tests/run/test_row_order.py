"""The order of the rows changes no bit of a result: not of a p-value, a standard error or an interval."""

import json

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from nearly import assert_nearly

import faithkit
from faithkit.inputs.files import parquet
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.populations import log_scoring
from faithkit.run.populations.log_scoring import score_log
from faithkit.run.populations.on_disk import OnDisk

N = 60
ORDERS = [np.arange(N)[::-1], np.random.default_rng(0).permutation(N)]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 30, N)
    ages = rng.integers(20, 70, N)
    limits = [
        json.dumps(faithkit.Rule([faithkit.plugin.Interval("age", high=30 + k)]).to_json()) for k in range(30)
    ]
    return pd.DataFrame(
        {
            "label": np.where(rng.random(N) < kind / 30, "yes", np.where(rng.random(N) < 0.3, "no", "maybe")),
            "phi_a": np.round(rng.normal(size=30), 1)[kind],
            "phi_b": np.where(rng.random(N) < 0.1, np.nan, rng.integers(0, 3, N) / 3),
            "age": ages,
            "income": rng.normal(size=N),
            "word": np.where(
                rng.random(N) < 0.1, None, np.array(["good", "bad", "ugly"], dtype=object)[kind % 3]
            ),
            "rule": [limits[k] for k in kind],
        }
    )


def serialize_without_fingerprint(result):
    """Return the JSON of a result without the fingerprint, which depends on the order of the rows."""
    payload = result.to_dict()
    del payload["data"]["fingerprint"]
    return json.dumps(payload)


def is_short(x, word):
    return len(word) < x["age"] % 7


class Opaque:
    """A value without a text or order of its own: only the rows it holds for set it apart."""

    def __init__(self, word):
        self.word = word

    def __eq__(self, other):
        return self.word == other.word

    def __hash__(self):
        return hash(self.word)


def select_vectors(table):
    return table[["phi_a", "phi_b"]]


def select_words(table):
    return [None if pd.isna(word) else word for word in table["word"]]


def parse_rules(table):
    return faithkit.Explanations.of([faithkit.Rule.from_json(text) for text in table["rule"]], kind="rule")


def wrap_words(table):
    return [Opaque(word) for word in select_words(table)]


def is_older(x, value):
    return x["age"] > 40 + len(value.word or "")


def select_examples(table):
    """Prototypes at some distance, as a nearest neighbour would give them."""
    near = table[["age", "income"]].to_numpy(dtype=float)
    return faithkit.Explanations(kind="example", values=near.round(-1), instances=table[["age", "income"]])


QUESTIONS = {
    "grouping": (select_vectors, {}),
    "grouping of words": (select_words, {}),
    "near-explanation": (select_vectors, {"relation": "near-explanation:tau=0.4"}),
    "in-scope": (parse_rules, {"relation": "in-scope"}),
    "within": (select_examples, {"relation": "within:tau=5,distance=euclidean"}),
    "a function": (select_words, {"relation": is_short}),
    "a composed relation": (
        parse_rules,
        {"relation": faithkit.relation("in-scope") & ~faithkit.relation("same-explanation")},
    ),
    "opaque values": (wrap_words, {"relation": is_older}),
}


@one_test
@pytest.mark.parametrize("name", QUESTIONS)
def test_shuffled_rows_give_the_same_result(table, name):
    explain, options = QUESTIONS[name]
    estimator = ["leave-one-out", "majority"][list(QUESTIONS).index(name) % 2]
    X = table[["age", "income"]]

    def score_rows(rows):
        explanations = explain(table.iloc[rows].reset_index(drop=True))
        labels, shuffled = table["label"].iloc[rows].tolist(), X.iloc[rows].reset_index(drop=True)
        result = faithkit.score(
            labels, explanations, X=shuffled, permutations=10, estimator=estimator, **options
        )
        return serialize_without_fingerprint(result)

    expected = score_rows(np.arange(N))
    assert_nearly(score_rows(ORDERS[1]), expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    "question",
    [
        {},
        {"relation": "near-explanation:tau=0.4"},
        {"explanation": ("rule",), "features": ("age", "income")},
        {"explanation": ("rule",), "features": ("age", "income"), "permutations": 30},
    ],
    ids=str,
)
def test_shuffled_logs_give_the_same_result(table, question, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "VALUES_PER_BATCH", 150)
    monkeypatch.setattr(log_scoring, "MAX_ROWS", 0)  # a small log would be read into memory
    options = {"explanation": ("phi_*",), "features": (), **question}
    roles = options.pop("explanation"), options.pop("features")
    results = []
    for place, order in enumerate(ORDERS):
        path = tmp_path / f"{place}.parquet"
        table.iloc[order].to_parquet(path, row_group_size=17, index=False)
        result = score_log(open_log(str(path), "label", *roles), **options).result
        assert isinstance(result.evidence.population, OnDisk) == ("permutations" not in question)
        results.append(serialize_without_fingerprint(result))
    for shuffled in results[1:]:
        assert_nearly(shuffled, results[0])


def test_differences_do_not_depend_on_the_order(table):
    def compare_rows(rows):
        shuffled = table.iloc[rows]
        labels = shuffled["label"].tolist()
        by_vectors = faithkit.score(labels, select_vectors(shuffled))
        return by_vectors.difference(faithkit.score(labels, select_words(shuffled)))

    first, *others = map(compare_rows, ORDERS)
    for difference in others:
        assert_nearly(difference, first)


def test_labels_that_have_no_order_do_not_bring_one_in(table):
    """Labels of several types cannot be sorted: their codes are in order of appearance."""
    labels = np.array(
        [{"yes": 1, "no": "no", "maybe": (2, 3)}[label] for label in table["label"]], dtype=object
    )

    def score_rows(rows):
        vectors = select_vectors(table.iloc[rows].reset_index(drop=True))
        result = faithkit.score(labels[rows].tolist(), vectors, relation="near-explanation:tau=0.4")
        return serialize_without_fingerprint(result)

    first, *others = map(score_rows, ORDERS)
    for result in others:
        assert_nearly(result, first)


def test_a_seed_draws_other_permutations_and_the_same_seed_the_same(table):
    X = table[["age", "income"]][:40]

    def compute_p_value(seed):
        result = faithkit.evaluate(
            lambda X: X["income"] > 0, X, explainer=lambda X: (X["age"] // 9).tolist(), seed=seed,
            permutations=19, relation=lambda x, value: x["age"] > 9 * value,
        )  # fmt: skip
        return result.sufficiency.p_value

    assert compute_p_value(0) == compute_p_value(0) != compute_p_value(1)
