"""What a result says beside its numbers: warnings about rows, and objections to explanations."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from nearly import assert_nearly
from pages import page_of

import faithkit
from faithkit import Explanations, Rule
from faithkit.errors import ContractError
from faithkit.inputs.copies import find_repeats
from faithkit.measure.order import lag_one_statistic
from faithkit.measure.stated_scopes import StatedScopes
from faithkit.plugin import Interval, OneOf

RNG = np.random.default_rng(0)


def name_warnings(result):
    return [warning.name for warning in result.warnings]


def as_rules(rules):
    return Explanations.of(rules, kind="rule", relation="in-scope")


# --- repeats -------------------------------------------------------------------------------------------------


def make_cases(n_cases=80, entries=5, columns=6):
    """Return several entries of each case, with a time stamp."""
    cases = pd.DataFrame(RNG.integers(0, 20, (n_cases, columns))).astype(str).add_prefix("c")
    rows = cases.loc[np.repeat(np.arange(n_cases), entries)].reset_index(drop=True)
    return rows.assign(time=pd.date_range("2026-01-01", periods=len(rows), freq="h"))


def test_entries_of_a_case_repeat_each_other_but_for_a_time_stamp():
    X = make_cases()
    repeats = find_repeats(X)
    # by hand: rows are the same case if they are equal without the time stamp
    expected = X.drop(columns="time").groupby(list(X.columns[:-1])).ngroup()
    pairs = pd.DataFrame({"found": repeats.group, "expected": expected}).drop_duplicates()
    assert len(pairs) == expected.nunique() == len(np.unique(repeats.group))
    assert repeats.share == 1.0
    assert repeats.share_by_chance < 0.01
    assert repeats.are_cases


@one_test
@pytest.mark.parametrize(
    ("X", "are_cases"),
    [
        (RNG.normal(size=(300, 4)), False),
        (RNG.integers(0, 2, (300, 3)), False),  # eight different rows are a coincidence of few values
        (np.tile(RNG.normal(size=(30, 5)), (10, 1)), True),
        (["a fine film"] * 60 + [f"text {i}" for i in range(40)], True),
        ([f"text {i}" for i in range(100)], False),
    ],
)
def test_rows_that_agree_by_chance_are_no_repeats(X, are_cases):
    assert find_repeats(X).are_cases is are_cases


def test_repeats_do_not_depend_on_the_order_of_rows():
    X = make_cases().sample(frac=1, random_state=1)
    assert find_repeats(X).share_by_chance == find_repeats(make_cases_like(X)).share_by_chance


def make_cases_like(X):
    return X.sample(frac=1, random_state=2)


@one_test
@pytest.mark.parametrize("weights", [None, RNG.integers(1, 4, 300)])
def test_rows_that_repeat_each_other_count_as_the_clusters_that_a_user_would_name(weights):
    cases, case = make_cases(60), np.repeat(np.arange(60), 5)
    labels = RNG.integers(0, 2, 60)[case]
    rules = as_rules([Rule([OneOf("c0", [value])]) for value in cases["c0"]])
    found = faithkit.score(labels, rules, cases, weights=weights)
    named = faithkit.score(labels, rules, cases, weights=weights, clusters=case)
    assert found.design.clusters == named.design.clusters == 60
    for measure in ("consistency", "sufficiency"):
        assert_nearly(found.measures[measure].to_dict(), named.measures[measure].to_dict())
    assert "are not checked against each other" in " ".join(str(found).split())


def test_repeated_cases_are_not_checked_against_each_other_and_a_warning_says_so():
    cases = make_cases(60)
    case = np.repeat(np.arange(60), 5)
    labels = (case % 2).astype(bool)  # a coin for each case, which its rule repeats
    columns = list(cases.columns[:-1])
    rules = as_rules(
        [
            Rule([OneOf(c, [v]) for c, v in zip(columns, row, strict=True)])
            for row in cases[columns].to_numpy()
        ]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", faithkit.errors.FaithkitWarning)  # the result says it, not stderr
        result = faithkit.score(labels, rules, cases)
    assert name_warnings(result)[0] == "repeats"
    assert result.warnings[0].figures["share"] == 1.0
    assert result.verdict.name == "nothing was tested"
    assert result.verdict.reason == "no two independent instances share an explanation"
    named = faithkit.score(labels, rules, cases, clusters=case)
    assert "repeats" not in name_warnings(named)


# --- order ---------------------------------------------------------------------------------------------------


def test_the_statistic_of_order_is_the_lag_one_autocorrelation_by_a_loop():
    values = RNG.normal(size=50)
    centred = values - values.mean()
    expected = sum(centred[i] * centred[i + 1] for i in range(49)) / sum(x * x for x in centred) * 50**0.5
    assert lag_one_statistic(values) == pytest.approx(expected)


def test_rows_in_the_order_of_regimes_have_a_warning_and_shuffled_ones_have_none():
    regime = (np.arange(600) // 100) % 2
    labels = (RNG.random(600) < np.where(regime, 0.9, 0.1)).astype(int)
    words = [f"word {value}" for value in RNG.integers(0, 5, 600)]
    assert name_warnings(faithkit.score(labels, words)) == ["order"]
    order = RNG.permutation(600)
    assert name_warnings(faithkit.score(labels[order], words)) == []
    assert name_warnings(faithkit.score(labels, words, clusters=np.arange(600) // 100)) == []


# --- scopes, the rows that were learnt from, tails -------------------------------------------------------------


def make_table(n=200):
    return pd.DataFrame({"a": RNG.normal(size=n), "b": RNG.normal(size=n)})


def test_rules_cut_to_two_rows_have_a_warning_and_are_not_called_faithful():
    X = make_table(400)
    labels = np.arange(400) % 2  # a coin
    rules = []
    for i in range(400):  # each rule covers its own row and the nearest row with the same label
        twins = np.flatnonzero((labels == labels[i]) & (np.arange(400) != i))
        twin = twins[np.abs(X["a"].to_numpy()[twins] - X["a"][i]).argmin()]
        rules.append(Rule([OneOf("a", sorted({X["a"][i], X["a"][twin]}))]))
    result = faithkit.score(labels, as_rules(rules), X)
    assert result.sufficiency.low > 0.9
    assert "scopes" in name_warnings(result)
    assert [objection.name for objection in result.objections] == ["scope"]
    assert result.verdict.name != "faithful"


def test_rules_that_are_false_of_their_own_row_are_not_faithful_and_the_worst_is_shown():
    X = make_table()
    labels = X["a"] > 0
    true = [Rule([Interval("a", low=0)]) if x > 0 else Rule([Interval("a", high=0)]) for x in X["a"]]
    false = [Rule([Interval("a", low=0)])] * 200  # false of about half of the rows
    result = faithkit.score(labels, as_rules(false), X)
    [own] = [objection for objection in result.objections if objection.name == "own row"]
    assert own.sentence.startswith(
        f"{int((X['a'] <= 0).sum())} explanations are false of their own row, such as 'a > 0'"
    )
    assert result.verdict.name == "not faithful"
    few = as_rules(
        [false[0] if i == int(np.flatnonzero(X["a"] <= 0)[0]) else rule for i, rule in enumerate(true)]
    )
    result = faithkit.score(labels, few, X)
    assert "Own row: 1 explanation is false of its own row, such as 'a > 0'." in " ".join(str(result).split())
    assert result.verdict.name == "faithful"


@one_test
@pytest.mark.parametrize("design", ["plain", "weights", "clusters", "blocks", "pool"])
def test_scopes_are_those_of_a_loop_under_every_design(design):
    X = make_table(60)
    lows = np.where(RNG.random(60) < 0.7, X["a"] - 0.5, X["a"] + 0.1)
    rules = as_rules([Rule([Interval("a", low, low + 1)]) for low in lows])
    more = make_table(30)
    options = {
        "weights": {"weights": RNG.integers(1, 4, 60)},
        "clusters": {"clusters": np.arange(60) // 3},
        "blocks": {"blocks": np.arange(60) % 2},
        "pool": {"pool": (more, RNG.integers(0, 2, 30))},
    }.get(design, {})
    labels = RNG.integers(0, 2, 60)
    scopes = StatedScopes.of(faithkit.score(labels, rules, X, **options).evidence.counts["sufficiency"])
    rows = pd.concat([X, more]) if design == "pool" else X
    sizes, false = [], 0
    for i, low in enumerate(lows):
        holds = [low < a <= low + 1 for a in rows["a"]]
        if design == "blocks":
            holds = [h and j % 2 == i % 2 for j, h in enumerate(holds)]
        false += not holds[i]
        sizes.append(sum(holds) - holds[i])
    assert (scopes.n, scopes.n_false, scopes.median) == (60, false, np.median(sizes))


def test_an_explainer_that_learnt_from_the_evaluated_rows_has_a_warning():
    X = make_table().to_numpy()
    with pytest.warns(faithkit.errors.FaithkitWarning, match="no background was given"):
        result = faithkit.evaluate(lambda X: X[:, 0] > 0, X, explainer="tree")
    assert "learnt" in name_warnings(result)
    given = faithkit.evaluate(lambda X: X[:, 0] > 0, X, explainer="tree", background=make_table().to_numpy())
    assert "learnt" not in name_warnings(given)


def test_warnings_and_objections_stand_in_text_page_and_json_and_are_loaded_again(tmp_path):
    labels = np.repeat([0, 1], 100)
    result = faithkit.score(labels, (labels ^ (np.arange(200) % 10 == 0)).tolist())
    [warning] = result.warnings
    lines = " ".join(str(result).split())
    assert (
        lines.index("Verdict:") < lines.index(f"Warning: {warning.sentence}") < lines.index("consistency 0.")
    )
    assert warning.sentence.split(":")[0] in page_of(result)
    result.write(tmp_path / "result.json")
    payload = json.loads((tmp_path / "result.json").read_text())
    assert payload["warnings"] == [warning.to_dict()]
    assert faithkit.load(tmp_path / "result.json").warnings == result.warnings


# --- objections of relations -----------------------------------------------------------------------------------


class Suspicious(faithkit.plugin.Relation):
    """A relation that says whatever it is told to say."""

    instance_only = True
    name = "suspicious"

    def __init__(self, say):
        self.say = say

    def key(self, explanations):
        return explanations.values

    def holds(self, sample, explanations):
        return np.ones((len(explanations), len(sample)), dtype=bool)

    def objections(self, context):
        return self.say(context)


def score_suspicious(say):
    X = make_table(100)
    return faithkit.score(X["a"] > -2, ["why"] * 100, X, relation=Suspicious(say))


def test_a_relation_gets_the_rows_and_their_predictions_and_its_objection_decides():
    def say(context):
        assert len(context.predictions) == len(context.seeds) == len(context.sample) == 100
        assert set(context.predictions) <= {True, False}
        assert context.outcome == "labels"
        assert (context.predictor, context.outputs) == (None, None)
        return [faithkit.plugin.Objection("mood", "it looks wrong", "not faithful")]

    result = score_suspicious(say)
    assert (result.verdict.name, result.verdict.reason) == ("not faithful", "it looks wrong")


@one_test
@pytest.mark.parametrize(
    ("predictions", "outcome", "shape"),
    [
        (["a", "b"] * 50, "labels", (100,)),
        (np.linspace(0, 1, 100), "numbers", (100,)),
        (RNG.normal(size=(100, 2)), "numbers", (100, 2)),
        (np.tile([[0.2, 0.8], [0.6, 0.4]], (50, 1)), "scores", (100, 2)),
    ],
)
def test_a_relation_gets_predictions_as_labels_numbers_or_rows_of_numbers(predictions, outcome, shape):
    seen = []
    X = make_table(100)
    relation = Suspicious(lambda context: seen.append(context) or [])
    faithkit.score(predictions, ["why"] * 100, X, relation=relation, outcome=outcome)
    assert (seen[0].outcome, seen[0].predictions.shape) == (outcome, shape)
    if outcome == "labels":
        assert seen[0].predictions.tolist() == predictions
    else:
        np.testing.assert_allclose(seen[0].predictions, predictions)


@one_test
@pytest.mark.parametrize("answer", [["wrong"], [faithkit.plugin.Objection("mood", "fine", "faithful")]])
def test_an_objection_of_another_form_or_that_approves_is_an_error(answer):
    with pytest.raises(ContractError, match=r"suspicious.objections returned"):
        score_suspicious(lambda context: answer)


def test_an_objection_that_raises_is_an_error_of_the_run():
    def fail(context):
        raise KeyError("age")

    with pytest.raises(ContractError, match="the objections of suspicious"):
        score_suspicious(fail)
