"""Results of `evaluate` and `score`, on data as it really comes."""

import functools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from pages import json_of, page_of
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import faithkit
from faithkit import Explanations, Rule
from faithkit.errors import FaithkitError, FaithkitWarning
from faithkit.plugin import Interval, OneOf
from faithkit.run.evaluation_report import EvaluationReport

RNG = np.random.default_rng(7)
LABELS = RNG.choice(["low", "middle", "high"], 90, p=[0.5, 0.3, 0.2])


@functools.cache
def load_people():
    """Return a mixed frame with missing values, and a Pipeline of three classes on it."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 40).astype(float),
            "job": rng.choice(["clerk", "farmer", "nurse"], 40),
            "hours": pd.array(rng.integers(10, 60, 40), dtype="Int64"),
        }
    )
    frame.loc[::17, "age"] = np.nan
    frame.loc[::23, "job"] = None
    income = np.where(frame["age"].fillna(40) > 50, "high", np.where(frame["hours"] > 35, "middle", "low"))
    prepare = make_column_transformer(
        (SimpleImputer(), ["age", "hours"]),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()), ["job"]),
    )
    model = make_pipeline(prepare, RandomForestClassifier(5, random_state=0)).fit(frame, income)
    return frame, model


def rules_for(frame):
    """Explain by age, or by job where the age is missing."""
    old, young = Rule([Interval("age", low=50)]), Rule([Interval("age", high=50)])
    jobs = {job: Rule([OneOf("job", [job])]) for job in frame["job"].dropna().unique()}
    nothing = Rule()
    return Explanations.of(
        [
            jobs.get(job, nothing) if pd.isna(age) else (old if age > 50 else young)
            for age, job in zip(frame["age"], frame["job"], strict=True)
        ],
        kind="rule",
        relation="in-scope",
    )


class ByAge:
    learns = False

    def fit(self, predictor, background):
        return self

    def explain(self, X, seeds):
        return rules_for(X)


@functools.cache
def evaluate_people(permutations=0):
    frame, model = load_people()
    return faithkit.evaluate(model, frame, explainer=ByAge(), permutations=permutations)


def test_a_constant_explainer_gets_chance():
    result = faithkit.score(LABELS, ["same"] * 90)
    assert result.consistency.value == pytest.approx(result.chance, abs=1e-12)
    assert result.consistency.verified == 1


def test_an_all_distinct_explainer_is_unverifiable_and_nothing_is_ruled_out():
    result = faithkit.score(LABELS, range(90))
    assert result.consistency.value is None
    assert result.consistency.bracket == (pytest.approx(result.chance), 1)
    assert result.consistency.low < result.chance
    assert result.consistency.high == 1
    assert (result.consistency.checkability, result.consistency.finding) == ("unverifiable", "unknown")
    assert (result.uniqueness, result.singletons) == (1, 1)
    assert "\nconsistency  –  nothing could be compared\n" in str(result)
    text = result.to_text(verbose=True)
    assert "This does not show whether consistency is above chance" in " ".join(text.split())
    row = next(line for line in text.splitlines() if line.startswith("consistency  "))
    assert row.split()[-4:] == ["0", "%", "–", "–"]


def test_one_row_is_unverifiable_and_no_error():
    result = faithkit.score(["yes"], ["because"])
    assert result.consistency.checkability == "unverifiable"
    assert result.chance is None
    assert result.consistency.se is None
    result.to_dict()


def test_sufficiency_of_rules_is_their_precision_over_the_other_rows():
    frame, model = load_people()
    result = evaluate_people()
    labels = model.predict(frame)
    values = []
    for i in range(len(frame)):
        age, job = frame["age"].iloc[i], frame["job"].iloc[i]
        if pd.notna(age):
            covered = frame["age"] > 50 if age > 50 else frame["age"] <= 50
        else:
            covered = frame["job"] == job if pd.notna(job) else pd.Series(True, index=frame.index)
        others = covered.to_numpy(bool) & (np.arange(len(frame)) != i)
        values.append((labels[others] == labels[i]).mean())
    assert result.sufficiency.value == pytest.approx(np.mean(values), abs=1e-12)
    local = result.local(5)
    assert local.sufficiency.value == pytest.approx(values[5], abs=1e-12)
    assert local.prediction == labels[5]


def test_local_values_average_to_the_global_one():
    result = evaluate_people()
    rows = [result.local(i) for i in range(result.n)]
    for name in ("consistency", "sufficiency"):
        local = [getattr(row, name).value or 0.0 for row in rows]
        assert np.mean(local) == pytest.approx(getattr(result, name).value, abs=1e-12)


def test_a_new_row_is_measured_against_the_sample():
    frame, model = load_people()
    result = faithkit.evaluate(model, frame.iloc[1:], explainer=ByAge())
    new = result.local(frame.iloc[:1])
    again = evaluate_people().local(0)
    # row 0 of the whole sample leaves itself out, which is what the new row does by being new
    assert new.sufficiency.value == pytest.approx(again.sufficiency.value)
    assert new.consistency.value == pytest.approx(again.consistency.value)


def test_a_subgroup_is_evaluated_by_its_own_rows_alone():
    frame, model = load_people()
    result = evaluate_people()
    parts = result.by("job")
    clerks = frame[frame["job"] == "clerk"]
    alone = faithkit.evaluate(model, clerks, explainer=ByAge())
    assert parts["clerk"].n == len(clerks)
    assert parts["clerk"].sufficiency == alone.sufficiency
    assert sum(part.n for part in parts.values()) == result.n


def test_contradictions_show_two_rows_that_contradict_one_explanation():
    frame, model = load_people()
    result = evaluate_people()
    labels = model.predict(frame)
    for contradiction in result.contradictions(3):
        owner, sample_row = contradiction.rows
        assert labels[owner] != labels[sample_row]
        assert sum(contradiction.predictions.values()) > 1
    explanations = [str(rule) for rule in rules_for(frame).values]
    losses = [sum_losses(explanations, labels, contradiction) for contradiction in result.contradictions(10)]
    assert max(losses) > 0
    assert losses == sorted(losses, reverse=True)


@pytest.mark.filterwarnings("ignore:.*repeat another one exactly:faithkit.errors.FaithkitWarning")
def test_where_the_full_input_says_no_more_than_the_control_there_is_no_gap_to_close():
    X = pd.DataFrame({"age": np.zeros(60)})  # all rows are alike
    rules = [Rule([Interval("age", low=limit)]) for limit in (-1, -2)] * 30
    explanations = Explanations.of(rules, kind="rule", relation="in-scope")
    result = faithkit.score(["yes", "no", "no"] * 20, explanations, X=X)
    assert result.control.worth is None
    assert "is too small to say how much of it is closed" in " ".join(result.to_text(verbose=True).split())


@one_test
@pytest.mark.parametrize("design", ["weights", "clusters"])
def test_the_nearest_pairs_are_of_the_sample_where_a_pool_contradicts_as_well(design):
    X, pool = pd.DataFrame({"age": [31, 38, 32]}), pd.DataFrame({"age": [31]})
    result = faithkit.score(
        ["yes", "no", "no"],
        [Rule([Interval("age", high=40)])] * 3,
        X,
        pool=(pool, ["no"]),
        **{design: [1, 2, 3, 4]},
    )
    (contradiction,) = result.contradictions()
    assert contradiction.rows == (0, 2)  # 32 is nearer to 31 than 38 is


def sum_losses(explanations, labels, contradiction):
    """Sum, over the owners of a rule, the share of others under it that contradict them."""
    total = sum(contradiction.predictions.values())
    owners = [
        label
        for explanation, label in zip(explanations, labels, strict=True)
        if explanation == contradiction.explanation
    ]
    return sum((total - contradiction.predictions[label]) / (total - 1) for label in owners)


def test_a_composed_relation_is_measured_like_any_other():
    result = evaluate_people()
    in_scope, same = faithkit.relation("in-scope"), faithkit.relation("same-explanation")
    both = result.measure(in_scope & same)
    # every rule covers its own instance here, so sharing a rule implies being in its scope
    assert both.value == pytest.approx(result.consistency.value, abs=1e-12)
    assert result.measure(in_scope & ~same).verified < 1


def test_a_discretizer_sets_the_identity_and_relations_still_see_the_original():
    vectors = [[0.11], [0.19], [0.55]]
    result = faithkit.score([0, 0, 1], vectors, discretizer=lambda e: np.floor(e.values * 10))
    assert result.consistency.value == pytest.approx(2 / 3)
    assert result.measure("near-explanation:tau=0.05").verified == 0


def test_every_estimator_is_available_by_name_and_only_some_have_intervals():
    values = {}
    for name in ("leave-one-out", "plug-in", "majority", "verified-only"):
        consistency = faithkit.score([0, 0, 1, 1], ["a", "a", "a", "b"], estimator=name).consistency
        values[name] = consistency.value
        assert consistency.bracket == pytest.approx((0.25, 0.5))
        assert (consistency.low is None) == (name == "majority")
    assert values == pytest.approx(
        # by hand: group a has two 0s and a 1, group b one 1
        {
            "leave-one-out": 0.25,
            "plug-in": (2 * 2 / 3 + 1 / 3 + 1) / 4,
            "majority": 0.75,
            "verified-only": 1 / 3,
        }
    )


def test_a_function_estimator_has_no_interval():
    result = faithkit.score([0, 1], ["a", "a"], estimator=lambda tally: np.ones(tally.owners.shape))
    assert (result.consistency.value, result.consistency.verified) == (1, 1)
    assert result.consistency.low is None


def test_unexplained_rows_count_in_n_and_agree_with_nobody():
    result = faithkit.score([0, 0, 0, 0], ["a", None, "a", None])
    assert (result.n, result.unexplained, result.n_explanations) == (4, 2, 3)
    assert result.consistency.value == 0.5
    assert "\n2 of 4 rows have no explanation, and count as not agreeing.\n" in str(result)
    assert "4 instances, 1 distinct explanation, 2 unexplained\n" in result.to_text(verbose=True)


def test_the_result_has_exactly_the_documented_fields():
    payload = faithkit.score([0, 0, 1], [[0.1], [0.1], [0.2]]).to_dict()
    assert set(payload) == {
        *("schema", "n", "n_explanations", "unexplained", "why_unexplained", "remarks", "uniqueness", "singletons"),
        *("chance", "measures", "why_no_sufficiency", "control", "why_no_control", "by_label", "verdict", "notes"),
        *("explainer", "discretizer", "discretized", "relation", "estimator", "seed", "data", "model", "versions"),
        *("background", "permutations", "explained_by", "effective", "clusters", "uninformative", "blocks", "pool"),
        *("tails", "outcome", "next_steps", "origin", "pairs", "warnings", "objections", "owners"),
        *("relation_phrase", "relation_learnt_from", "kind", "discretizer_learnt_from", "unexplained_share", "diagnostics"),
    }  # fmt: skip
    assert set(payload["measures"]["consistency"]) == {
        *("value", "se", "estimate", "merging", "low", "high", "floor", "confidence", "p_value", "verified"),
        *("checked", "agree", "bracket", "mse_bound", "checkability", "finding", "by_chance", "chance"),
        *("moments", "others"),
    }  # fmt: skip
    assert payload["measures"]["sufficiency"] is None
    assert "need a relation" in payload["why_no_sufficiency"]


@one_test
@pytest.mark.parametrize(
    ("design", "share"),
    [
        ({}, 0.5),
        ({"weights": [5, 1, 1, 1]}, 0.25),
        ({"clusters": [1, 1, 2, 2]}, 0.5),
        ({"blocks": [1, 1, 2, 2]}, 0.5),
    ],
)
def test_the_share_without_an_explanation_counts_each_row_by_its_weight(design, share):
    result = faithkit.score(["yes", "no", "yes", "no"], ["a", "a", None, None], **design)
    assert (result.unexplained, result.unexplained_share) == (2, share)


@pytest.mark.filterwarnings("ignore:no background was given")
@one_test
@pytest.mark.parametrize(
    ("discretizer", "background", "expected"),
    [
        ("quantile:bins=2", False, "the rows themselves"),
        ("quantile:bins=2", True, "the background"),
        ("sign", True, None),
        ("sign", False, None),
    ],
)
def test_a_result_says_what_its_discretizer_learnt_from(discretizer, background, expected):
    rng = np.random.default_rng(0)
    X, others = rng.normal(size=(20, 2)), rng.normal(size=(30, 2))
    result = faithkit.evaluate(
        lambda X: (X[:, 0] > 0).astype(int),
        X,
        explainer=lambda X: X,
        discretizer=discretizer,
        background=others if background else None,
    )
    assert (result.discretizer_learnt_from, result.kind) == (expected, "vector")


def test_the_same_question_gives_the_same_bytes(tmp_path):
    path = tmp_path / "again.json"
    evaluate_people.__wrapped__(permutations=19).write(path)
    assert path.read_text() == json_of(evaluate_people(permutations=19))
    assert str(tmp_path) not in path.read_text()


def test_a_p_value_is_computed_only_when_asked_for():
    labels = [0, 1] * 20
    assert faithkit.score(labels, labels).consistency.p_value is None
    assert faithkit.score(labels, labels, permutations=99).consistency.p_value == 0.01


def test_p_values_are_printed_where_they_were_asked_for():
    lines = str(evaluate_people(permutations=19)).splitlines()
    (p_values,) = (line for line in lines if line.startswith("p ("))
    assert re.fullmatch(r"p \(19 permutations\): consistency [01]\.\d{3}, sufficiency [01]\.\d{3}", p_values)
    assert max(map(len, lines)) <= 80
    assert "p (" not in str(evaluate_people())


@one_test
@pytest.mark.parametrize("k", [-1, 1.5, "2"])
def test_a_number_of_contradictions_that_is_none_is_refused(k):
    result = faithkit.score(["yes", "no", "yes", "no"], ["a", "a", "b", "b"])
    with pytest.raises(FaithkitError, match="contradictions must be a whole number of at least 0, got"):
        result.contradictions(k)
    assert [len(result.contradictions(most)) for most in (0, 1, 9)] == [0, 1, 2]


def test_labels_that_are_numbers_are_not_mistaken_for_counts():
    worst = faithkit.score([0, 1, 1, 2, 2, 2], ["a"] * 6).contradictions()
    assert "holds for 6 instances: 1 gets 0, 2 get 1 and 3 get 2\n" in f"{worst}\n"


@one_test
@pytest.mark.parametrize("columns", [["a", "a"], [7, "7"]])
@pytest.mark.parametrize("cells", [[[1.0, 2.0]] * 3, [["x", 2.0]] * 3])
def test_columns_of_explanations_that_share_a_name_are_refused(columns, cells):
    frame = pd.DataFrame(cells, columns=columns)
    with pytest.raises(
        FaithkitError, match=f"the table of explanations has more than one column named '{columns[0]}'"
    ):
        faithkit.score([0, 1, 0], frame)


def test_with_another_estimator_differences_are_said_to_be_the_same():
    labels, words = ["y", "y", "n", "n"] * 5, ["a", "a", "b", "a"] * 5
    groups = ["f"] * 10 + ["m"] * 10
    usual = faithkit.score(labels, words)
    usual_groups = usual.by(groups)
    assert "leave-one-out" not in f"{usual} {usual_groups}"
    for estimator in ("plug-in", "verified-only", "majority"):
        result = faithkit.score(labels, words, estimator=estimator)
        subgroups = result.by(groups)
        assert subgroups.difference("f") == usual_groups.difference("f")
        for text in (str(result), str(subgroups)):
            assert "Intervals, differences and p are the same for every estimator" in text


def test_learning_from_the_sample_itself_is_warned_about_and_marked():
    frame, model = load_people()

    class Learner(ByAge):
        learns = True

    with pytest.warns(FaithkitWarning, match="^100 % of the rows"):  # also if rows equal each other
        faithkit.evaluate(model, frame, explainer=Learner(), background=frame[::-1])
    frame["id"] = np.arange(len(frame))  # no row equals another
    half, others = frame[: len(frame) // 2], frame[len(frame) // 2 :]
    for background in (None, half, half.copy(), frame):
        with pytest.warns(FaithkitWarning, match="results are optimistic"):
            result = faithkit.evaluate(model, half, explainer=Learner(), background=background)
        assert result.to_dict()["background"] == "the sample itself"
        assert "fitted on the evaluated rows, so results are optimistic" in " ".join(str(result).split())
    with pytest.warns(
        FaithkitWarning, match="^50 % of the rows of the sample are also in the background, so"
    ):
        faithkit.evaluate(model, frame, explainer=Learner(), background=half)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for on_other_rows in (
            faithkit.evaluate(model, half, explainer=Learner(), background=others),
            result.on(others),
        ):
            assert on_other_rows.to_dict()["background"] == "given"
            assert "optimistic" not in str(on_other_rows)


def test_texts_are_explained_by_words_and_judged_by_their_scope():
    texts = ["good film", "good plot", "bad film", "bad plot", "good film"]

    def first_word(X):
        words = [Rule([faithkit.plugin.Contains(text.split()[0])]) for text in X]
        return Explanations.of(words, kind="rule", relation="in-scope")

    result = faithkit.evaluate(lambda X: ["good" in text for text in X], texts, explainer=first_word)
    assert result.sufficiency.value == 1


def test_a_sparse_matrix_is_a_sample_too():
    from scipy.sparse import csr_matrix

    X = csr_matrix(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0]]))
    result = faithkit.evaluate(
        lambda X: X.toarray()[:, 0] > 1, X, explainer=lambda X: X.toarray().argmax(axis=1).tolist()
    )
    assert result.consistency.value == pytest.approx(2 / 3)


def test_a_pilot_plans_the_sample():
    pilot = faithkit.score([0] * 100, [i % 60 for i in range(100)])
    plan = faithkit.plan(0.05, pilot=pilot).from_pilot
    assert plan.n == 100
    best, worst = plan.unverified
    assert best > 100  # of 100 rows 20 are alone
    assert worst is None or worst >= best


HALVES = pd.DataFrame({"age": [20, 30, 60, 70], "job": [0, 1, 0, 1]})


def evaluate_halves(background=HALVES):
    return faithkit.evaluate(
        lambda X: (X["age"] > 50).to_numpy(),
        HALVES,
        explainer=lambda X: (X["age"] > 50).tolist(),
        background=background,
    )


BAD = {
    "no rows": (lambda: faithkit.score([], []), "the sample is empty"),
    "lengths that differ": (lambda: faithkit.score([0, 1], ["a"]), "1 explanations for 2 predictions"),
    "X of another length": (lambda: faithkit.score([0], ["a"], X=np.zeros((2, 1))), "2 rows of X for 1"),
    "NaN predictions": (
        lambda: faithkit.score([float("nan"), float("nan")], ["a", "b"]),
        "2 of 2 predictions are missing",
    ),
    "None predictions": (lambda: faithkit.score([None, None], ["a", "b"]), "the first in row 0"),
    "a matrix of predictions that are all the same": (
        lambda: faithkit.score(np.zeros((2, 2)), ["a", "b"]),
        "nothing to explain",
    ),
    "a cube of predictions": (lambda: faithkit.score(np.zeros((2, 2, 2)), ["a", "b"]), "one label per row"),
    "ragged vectors": (lambda: faithkit.score([0, 1], [[1.0], [1.0, 2.0]]), r"rows of \[1, 2\] values"),
    "unhashable explanations": (lambda: faithkit.score([0, 1], [{1, 2}, {3}]), "a set and has no hash"),
    "text as explanations": (lambda: faithkit.score([0, 1], "ab"), "give a 2-D array"),
    "a negative tau": (
        lambda: faithkit.score([0], [[1.0]], relation="near-explanation:tau=-1"),
        "at least 0, got -1",
    ),
    "tau NaN": (
        lambda: faithkit.plugin.registry().create("relation", "near-explanation", {"tau": float("nan")}),
        "at least 0, got nan",
    ),
    "an unknown relation": (
        lambda: faithkit.score([0], ["a"], relation="in-scoop"),
        "Did you mean 'in-scope'",
    ),
    "an unknown parameter": (
        lambda: faithkit.score([0], ["a"], relation="near-explanation:tua=1"),
        "Did you mean 'tau'",
    ),
    "an unknown estimator": (lambda: faithkit.score([0], ["a"], estimator="median"), "leave-one-out"),
    "an estimator of another shape": (
        lambda: faithkit.score([0], ["a"], estimator=lambda tally: np.ones(3)),
        r"shape \(3,\); expected \(2, 1, 1\)",
    ),
    "an estimator beyond 1": (
        lambda: faithkit.score([0], ["a"], estimator=lambda tally: np.full(tally.owners.shape, 2.0)),
        "expected values from 0 to 1",
    ),
    "near-explanation of words": (
        lambda: faithkit.score([0], ["a"], relation="near-explanation:tau=1"),
        "near-explanation:tau=1.0 takes explanations of kind vector",
    ),
    "in-scope without instances": (
        lambda: faithkit.score([0], Explanations.of([Rule()], kind="rule"), relation="in-scope"),
        "pass X",
    ),
    "in-scope of words": (
        lambda: faithkit.score([0], ["a"], X=["a"], relation="in-scope"),
        "in-scope takes explanations of kind rule",
    ),
    "confidence of 1": (lambda: faithkit.score([0], ["a"], confidence=1.0), "between 0 and 1"),
    "permutations of -1": (lambda: faithkit.score([0], ["a"], permutations=-1), "from 0 to 10000000"),
    "a class for an instance": (lambda: faithkit.score([0], ["a"], estimator=dict), "give an instance"),
    "a number for an estimator": (lambda: faithkit.score([0], ["a"], estimator=3), "with the method scores"),
    "identities of another length": (
        lambda: faithkit.score([0, 1], [[1.0], [2.0]], discretizer=lambda e: [1]),
        "1 rows where there are 2",
    ),
    "a discretizer of another kind": (lambda: faithkit.score([0], ["a"], discretizer="1fp"), "kind vector"),
    "a pilot that is none": (
        lambda: faithkit.plan(0.1, pilot=[1, 2]),
        "what evaluate, score or load returned",
    ),
    "nothing to plan from": (lambda: faithkit.plan(0.1), "nothing to plan from"),
    "epsilon of 2": (lambda: faithkit.plan(2, n_explanations=3), "between 0 and 1"),
    "a word for epsilon": (lambda: faithkit.plan("a", n_explanations=3), "between 0 and 1, got 'a'"),
    "a word for confidence": (lambda: faithkit.score([0], ["a"], confidence="0.9"), "a number .* got '0.9'"),
    "a background without rows": (
        lambda: evaluate_halves(background=HALVES[:0]),
        r"the background is empty \(0 rows\)",
    ),
    "a background of other columns": (
        lambda: evaluate_halves(background=HALVES.rename(columns={"job": "work"})),
        "X lacks 'work' and has 'job' beside; expected the columns of the background",
    ),
    "a background of fewer columns": (
        lambda: faithkit.evaluate(lambda X: X[:, 0], np.zeros((3, 2)), "tree", background=np.zeros((3, 1))),
        r"X has shape \(3, 2\); expected 1 columns, as in the background",
    ),
    "another sample of other columns": (
        lambda: evaluate_halves().on(HALVES[["age"]]),
        "X lacks 'job'; expected the columns of the background",
    ),
    "another sample without rows": (lambda: evaluate_halves().on(HALVES[:0]), "the sample is empty"),
    "a new row of other columns": (
        lambda: evaluate_halves().local(HALVES[["age"]].iloc[[0]]),
        "X lacks 'job'",
    ),
    "a Series for a new row": (
        lambda: evaluate_halves().local(HALVES.iloc[0]),
        r"a Series; expected a sample of one row: give X\.iloc\[\[0\]\] of a frame",
    ),
    "an array of one dimension for a new row": (
        lambda: evaluate_halves().local(np.zeros(2)),
        r"X\[\[0\]\] of an array",
    ),
    "a number for a new row": (lambda: evaluate_halves().local(0.5), "a float; expected a sample of one row"),
    "two new rows": (lambda: evaluate_halves().local(HALVES[:2]), "one row at a time, got 2"),
    "a row beyond the sample": (lambda: faithkit.score([0], ["a"]).local(3), "rows 0 to 0"),
    "a new row for a log": (lambda: faithkit.score([0], ["a"]).local(np.zeros((1, 1))), "give an index"),
    "an explainer that drops rows": (
        lambda: faithkit.evaluate(lambda X: X[:, 0], np.zeros((3, 1)), explainer=lambda X: ["a"]),
        "1 explanations for 3 rows",
    ),
    "a model that returns too few": (
        lambda: faithkit.evaluate(lambda X: [1], np.zeros((3, 1)), explainer=lambda X: ["a"] * 3),
        "1 label for 3 rows",
    ),
    "groups of another length": (lambda: faithkit.score([0, 1], ["a", "b"]).by(["f"]), "1 groups for 2 rows"),
    "groups by a missing column": (lambda: faithkit.score([0], ["a"]).by("sex"), "no column 'sex'"),
    "texts for an explainer of tables": (
        lambda: faithkit.evaluate(lambda X: [0 for _ in X], ["good film"], explainer="tree"),
        "tree explains the rows of a table, and X has texts: use .*first-word",
    ),
    "a table for an explainer of texts": (
        lambda: faithkit.evaluate(lambda X: X[:, 0], np.zeros((2, 1)), explainer="first-word"),
        "first-word explains texts, and X has the rows of a table: use .*tree",
    ),
    "a column of texts for an explainer of texts": (
        lambda: faithkit.evaluate(len, pd.DataFrame({"review": ["good film"]}), explainer="first-word"),
        r"first-word explains texts, and X has the rows of a table: pass the texts of its column, X\['review'\]\.",
    ),
    "an unwritable file": (
        lambda: faithkit.score([0], ["a"]).write("/nowhere/at/all.json"),
        "cannot write",
    ),
}


@one_test
@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_a_readable_error_and_never_a_number(case):
    ask, message = BAD[case]
    with pytest.raises(FaithkitError, match=message) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_logged_rules_without_instances_still_give_consistency():
    rules = Explanations.of([Rule(), Rule()], kind="rule", relation="in-scope")
    result = faithkit.score([0, 0], rules)
    assert result.consistency.value == 1
    assert result.sufficiency is None
    assert result.why_no_sufficiency.endswith("pass X (CLI: --features)")  # quoted without a full stop
    text = result.to_text(verbose=True)
    assert "(CLI: --features)." in text
    assert "(CLI: --features).." not in text


def test_measures_that_are_taken_one_after_the_other_do_not_mix():
    """Each is counted, used and forgotten: a later one may stand where an earlier one was in memory."""
    relations = [f"near-explanation:tau={tau}" for tau in (0.5, 1.5, 2.5, 40.5)]
    results = [faithkit.score([0, 0, 1, 1, 0, 1] * 5, np.arange(30.0)[:, None]) for _ in range(5)]
    in_turn = [results[4].measure(relation) for relation in relations]
    alone = [result.measure(relation) for result, relation in zip(results, relations, strict=False)]
    assert [(measure.value, measure.low) for measure in in_turn] == [
        (measure.value, measure.low) for measure in alone
    ]


def test_where_nothing_can_be_contradicted_contradictions_say_so():
    alone, agreeing = faithkit.score([0, 1], ["a", "b"]), faithkit.score([0, 0, 1, 1], ["a", "a", "b", "b"])
    nothing = "No explanation holds for a second instance, so nothing could contradict one."
    assert str(alone.contradictions()).strip() == nothing
    assert nothing in page_of(alone)
    assert nothing in str(EvaluationReport.of(alone, contradictions=1))
    no_clash = "No explanation holds for instances of different predictions."
    assert str(agreeing.contradictions()).strip() == no_clash


def test_a_star_is_explained_only_where_there_is_one():
    labels, words = [0, 1] * 200, (["a", "b"] * 100) + ["a"] * 200
    halves = faithkit.score(labels, words).by(["first"] * 200 + ["second"] * 200)
    assert "*: the difference is not 0; p is corrected" in str(halves)
    alike = faithkit.score(labels, words).by(["even", "even", "odd", "odd"] * 100)
    assert "*" not in str(alike)
    assert "p is corrected for the number of groups" in str(alike)


def test_rows_without_an_explanation_are_not_called_explained():
    rules = [0, None] * 25
    above = faithkit.relation(lambda x, least: x[0] >= least)
    X, pool = np.arange(50.0)[:, None], (np.arange(20.0)[:, None], [0, 1] * 10)
    result = faithkit.score([0, 1] * 25, rules, X=X, relation=above, pool=pool)
    assert "25 rows explained, checked against 20 more" in str(result)


@pytest.mark.parametrize("options", [{}, {"outcome": "numbers", "agree": "within:0.1"}])
def test_a_model_that_does_not_repeat_its_predictions_is_warned_about(options):
    X, rng = np.random.default_rng(0).normal(size=(40, 2)), np.random.default_rng(1)

    def predict(X):
        numbers = rng.random(len(X))
        return numbers if options else numbers > 0.5

    with pytest.warns(FaithkitWarning, match=r"of 20 rows differently .* model\.eval\(\)"):
        faithkit.evaluate(predict, X, explainer=lambda X: X.round(), **options)
