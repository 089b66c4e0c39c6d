"""The worst explanations are those that cost the measure most, and not those with the most pairs that clash."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from looping import one_test

import faithkit
from faithkit.cli import main


def make_labels(counts):
    """Return labels and explanations of groups, each with so many rows of either label."""
    labels = [
        label for pair in counts.values() for label, size in zip("yn", pair, strict=True) for _ in range(size)
    ]
    return labels, [name for name, pair in counts.items() for _ in range(sum(pair))]


def compute_loss(yes, no):
    """Return the sum over rows of the share of others that contradict them: each clashing pair counts twice."""
    return 2 * yes * no / (yes + no - 1)


ORDERS = [
    # 7,992 clashing pairs and a loss of 16 against 1,600 pairs and a loss of 40
    ({"huge": (999, 8), "split": (40, 40)}, ["split", "huge"]),
    ({"split": (40, 40), "huge": (999, 8)}, ["split", "huge"]),
    ({"pair": (1, 1), "huge": (999, 1)}, ["pair", "huge"]),  # losses of 2 and 1.998
    ({"pure": (500, 0), "small": (2, 1)}, ["small"]),
]


@one_test
@pytest.mark.parametrize(("counts", "order"), ORDERS)
def test_a_group_that_is_split_is_worse_than_a_larger_one_in_which_few_dissent(counts, order):
    assert [
        contradiction.explanation for contradiction in faithkit.score(*make_labels(counts)).contradictions()
    ] == order
    losses = [compute_loss(*counts[name]) for name in order]
    assert losses == sorted(losses, reverse=True)


def test_rows_that_weigh_more_lose_more():
    labels, words = make_labels({"one": (5, 5), "two": (5, 5)})
    for heavy in ("one", "two"):
        weights = np.where(np.array(words) == heavy, 3.0, 1.0)
        contradictions = faithkit.score(labels, words, weights=weights).contradictions()
        assert contradictions[0].explanation == heavy


def test_weights_order_by_loss_and_not_by_pairs():
    labels, words = make_labels({"huge": (999, 8), "split": (40, 40)})
    contradictions = faithkit.score(labels, words, weights=np.full(len(labels), 0.5)).contradictions()
    assert [contradiction.explanation for contradiction in contradictions] == ["split", "huge"]


def test_of_all_contradicting_pairs_the_nearest_is_shown_with_named_and_differing_columns_first():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "debt": rng.normal(size=40),
            "job": pd.Series(rng.choice(["cook", "smith"], 40)).where(rng.random(40) < 0.8),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 40), "D"),
            "age": rng.integers(20, 70, 40),
        }
    )
    labels, rule = rng.integers(0, 2, 40), faithkit.Rule([faithkit.plugin.Interval("age", high=60)])
    explanations = faithkit.Explanations.of([rule] * 40, kind="rule", relation="in-scope")
    first, second = faithkit.score(labels, explanations, X).contradictions()[0].pair

    def distance(i, j):
        apart = 0.0 if pd.isna(jobs[i]) and pd.isna(jobs[j]) else float(jobs[i] != jobs[j])
        return apart + sum(abs(column[i] - column[j]) / span for column, span in columns)

    owners = np.flatnonzero(labels == first.prediction)
    pool = sorted({*owners, *np.flatnonzero((labels != first.prediction) & (X["age"] <= 60))})
    jobs = X["job"].tolist()
    columns = [
        (X[name].tolist(), X[name][pool].max() - X[name][pool].min()) for name in ("debt", "age", "since")
    ]
    pairs = [(i, j) for i in owners for j in pool if labels[j] != first.prediction]
    assert (first.row, second.row) == min(pairs, key=lambda pair: distance(*pair))
    differing = [name for name in X if name != "age" and first.values[name] != second.values[name]]
    assert list(first.values)[: 1 + len(differing)] == ["age", *differing]


def test_rows_of_any_values_have_nearest_ones():
    columns = {
        "list": [[1], [2], [1]],
        "number": [np.inf, np.nan, np.inf],
        "duration": pd.to_timedelta([1, 9, 2], "h"),
        "complex": [1j, 2j, 1j],
    }
    for name, values in columns.items():
        result = faithkit.score(["yes", "no", "no"], ["same"] * 3, pd.DataFrame({name: values}))
        assert [sample_row.row for sample_row in result.contradictions()[0].pair] == [0, 2], name


def test_the_nearest_texts_share_most_words():
    texts = ["a good film", "a dull long plot and cook", "a good meal", "one bad film"]
    result = faithkit.score(["yes", "yes", "no", "no"], ["same"] * 4, texts)
    assert [sample_row.row for sample_row in result.contradictions()[0].pair] == [0, 2]


def test_a_local_result_names_the_nearest_rows_that_contradict_it():
    X = pd.DataFrame({"age": [30, 31, 60, 33, 90], "job": ["a", "b", "a", "a", "a"]})
    result = faithkit.score([1, 0, 0, 0, 0], ["same"] * 4 + ["other"], X, ids=list("vwxyz"))
    local = result.local(0)
    # of the range 30 to 60: 33 is 0.1 away, 31 has another job, 60 is 1 away; the last row has another explanation
    assert [str(sample_row.id) for sample_row in local.contradicted_by] == ["id y", "id x", "id w"]
    assert [sample_row["prediction"] for sample_row in local.to_dict()["contradicted_by"]] == [0, 0, 0]
    assert result.local(4).contradicted_by == ()


def test_the_page_of_a_decision_says_how_far_it_can_be_trusted_and_hostile_names_stay_text(tmp_path):
    X = pd.DataFrame({"age <b>": [30, 31, 60, 33], "who": ["<script>", "b", "c", "d"]})
    X.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "broken_bank.py").write_text(
        "class Model:\n    def predict(self, X):\n        return (X['age <b>'] > 32).tolist()\nmodel = Model()\n"
        "def explain(X):\n    return ['because <i>'] * len(X)\n"
    )
    command = ["local", "--row", "0", "--data", str(tmp_path / "rows.csv"), "--model", "broken_bank:model"]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        run = CliRunner().invoke(
            main, [*command, "--explainer", "broken_bank:explain", "--out", "-", "--format", "html"]
        )
    assert run.exit_code == 0, run.output
    assert "Of the other rows with this explanation, 33\u00a0% get the same prediction" in run.stdout
    assert "because &lt;i&gt;" in run.stdout
    assert not any(tag in run.stdout for tag in ("<script>", "age <b>", "because <i>"))


def test_of_large_images_the_nearest_two_are_shown():
    images = np.zeros((4, 300, 300))
    images[1], images[2], images[3] = 0.9, 0.2, 1.0  # the second and the fourth are nearest
    result = faithkit.score(["yes", "yes", "no", "no"], ["same"] * 4, images)
    assert result.contradictions(1)[0].rows == (1, 3)
