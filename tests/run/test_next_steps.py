"""The next steps that a result proposes: each number in them is what taking the step gives."""

import functools
import json
import math
import pickle
import random
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from pages import json_of, page_of

import faithkit
from faithkit import Rule
from faithkit.plugin import Interval
from faithkit.report.formats import format_interval, format_number, format_percent
from faithkit.run import next_steps
from faithkit.run.comparisons.comparison import Comparison
from faithkit.run.comparisons.discretizer_variants import estimate_under
from faithkit.run.components.resolution import resolve_component
from faithkit.run.evaluation_report import EvaluationReport

RNG = np.random.default_rng(11)
X = RNG.normal(size=(150, 4))
LABELS = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
PHI = X * [0.5, 0.4, 0.1, 0.05]
# importances of all classes are left as they are, and have no default relation
BY_HAND = faithkit.Explanations.vectors(PHI, instances=X, shared={"target": "all"})


@pytest.fixture
def no_next_steps():
    """Give advice: it is tested here."""


def score_words(kinds, n):
    """Score explanations of so many kinds, which mostly go with one label each."""
    rng = np.random.default_rng(1)
    kind = rng.integers(0, kinds, n)
    labels = np.where(rng.random(n) < 0.9, kind % 2, 1 - kind % 2)
    return faithkit.score(labels, [f"w{number}" for number in kind])


@functools.cache
def score_vectors(with_rows=False):
    """Score vectors, with or without the rows that they explain; tests share the results and their steps."""
    return faithkit.score(LABELS, BY_HAND, X=X) if with_rows else faithkit.score(LABELS, PHI)


def draw_rules():
    """Draw rows, each with a narrow rule that few others keep."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"age": rng.uniform(18, 80, 60)})
    scopes = [Rule([Interval("age", low=age - 0.4, high=age + 0.4)]) for age in frame["age"]]
    explanations = faithkit.Explanations.of(scopes, kind="rule", relation="in-scope")
    return (frame["age"] > 40).tolist(), explanations, frame


def test_rows_are_forecast_by_the_planner_with_the_result_as_its_pilot():
    result = score_words(700, 2000)
    rows = faithkit.plan(0.05, pilot=result).to_check
    assert rows > result.n
    assert result.next_steps == [
        f"About {rows:,} rows in total would leave at most 5 % unchecked in consistency."
    ]


def test_where_the_number_of_rows_is_unknown_its_lower_limit_is_named():
    result = score_words(100, 100)
    few, enough = faithkit.plan(0.05, pilot=result).from_pilot.unverified
    assert enough is None
    assert result.next_steps == [
        "No installed discretizer lets more rows be checked: pass a function that makes explanations coarser "
        f"(discretizer=), or add rows: {few:,} or more are needed to leave 5 % unchecked."
    ]


def test_a_wide_interval_of_what_was_checked_asks_for_rows_that_make_it_narrow():
    result = score_words(4, 60)
    assert result.consistency.verified == 1
    half = (result.consistency.high - result.consistency.low) / 2
    rows = math.ceil(60 * (half / 0.05) ** 2)  # errors shrink with the root of the rows
    assert result.next_steps == [
        f"About {rows:,} rows in total would narrow the interval of consistency to ± 0.05."
    ]


def read_proposal(result, argument):
    """Return the value that is proposed for an argument, and the sentence."""
    (sentence,) = [step for step in result.next_steps if step.startswith(f"Try {argument}=")]
    return re.match(rf"Try {argument}='([^']+)'", sentence)[1], sentence


@pytest.mark.parametrize(("repeats", "clusters", "units"), [(1, None, "rows"), (8, range(30), "clusters")])
def test_a_wide_interval_is_not_good_enough_where_no_number_of_rows_can_be_forecast(repeats, clusters, units):
    labels, words = [0, 0, 1] * 10, [*(["a", "b", "c"] * 9), "c", "a", "b"]
    names = None if clusters is None else [*clusters] * repeats
    result = faithkit.score(labels * repeats, words * repeats, clusters=names)
    ends = format_interval(result.consistency.low, result.consistency.high)
    assert result.consistency.high - result.consistency.low > 0.2
    assert result.next_steps == [f"More {units} would narrow the interval of consistency ({ends})."]


def test_explanations_that_name_the_prediction_are_measured_again_without_it():
    labels = ["approved", "declined"] * 40
    words = [
        f"{label} for {reason}" for label, reason in zip(labels, ["debt"] * 40 + ["age"] * 40, strict=True)
    ]
    steps = faithkit.score(labels, words).next_steps
    assert steps == ["Leave the prediction out of the explanations, and measure them again."]


def test_a_coarser_discretizer_is_proposed_with_what_evaluating_under_it_gives():
    result = score_vectors()
    name, sentence = read_proposal(result, "discretizer")
    consistency = faithkit.score(LABELS, PHI, discretizer=name).consistency
    assert consistency.verified >= result.consistency.verified + 0.05
    assert consistency.finding == "above chance"
    assert sentence == (
        f"Try discretizer='{name}' (CLI: --discretize {name}): {format_percent(consistency.verified)} of these rows can "
        f"then be checked, with consistency {format_number(consistency.estimate)} "
        f"({format_interval(consistency.low, consistency.high)}). "
        "It was selected on these rows, so confirm it on new rows."
    )


def test_the_proposed_discretizer_is_the_recommended_one_of_those_that_need_not_learn():
    result = score_vectors()
    tried = faithkit.try_discretizers(result)
    halved = tried[(tried["verified"] >= 0.5) & ~tried["discretizer"].str.startswith("quantile")]
    again = faithkit.try_discretizers(result, ["original", *halved["discretizer"]])
    assert read_proposal(result, "discretizer")[0] == again["discretizer"][again["recommended"]].item()


def test_a_discretizer_that_checks_some_more_rows_is_proposed_where_none_halves_the_unchecked(monkeypatch):
    monkeypatch.setattr(next_steps, "suitable_discretizers", lambda kind: ["original", "sign"])
    monkeypatch.setattr(next_steps, "discretizer_variants", lambda kind: [])
    phi = np.random.default_rng(0).normal(size=(200, 20))  # so many signs that few have them all in common
    phi[:40], phi[40:80] = np.abs(phi[:40]), -np.abs(phi[40:80])
    result = faithkit.score(phi.sum(axis=1) > 0, phi)
    assert read_proposal(result, "discretizer")[0] == "sign"
    assert faithkit.score(phi.sum(axis=1) > 0, phi, discretizer="sign").consistency.verified == 0.4


def test_no_coarser_one_is_proposed_where_all_could_be_checked():
    result = faithkit.score(LABELS, PHI, discretizer="sign-of-top:k=1")
    assert result.consistency.verified >= 0.95
    assert not [step for step in result.next_steps if "discretizer=" in step]


def test_a_relation_is_proposed_with_what_measuring_it_gives():
    result = score_vectors(with_rows=True)
    name, sentence = read_proposal(result, "relation")
    repeated = faithkit.score(LABELS, PHI, X=X, relation=name)
    sufficiency = repeated.sufficiency
    assert sentence == (
        f"Try relation='{name}' (CLI: --relation {name}): {format_percent(sufficiency.verified)} of these rows can then be "
        f"checked, with sufficiency {format_number(sufficiency.estimate)} "
        f"({format_interval(sufficiency.low, sufficiency.high)}). "
        "It was selected on these rows, so confirm it on new rows."
    )
    assert not [step for step in repeated.next_steps if "relation=" in step]


def test_what_an_evaluation_proposes_is_what_evaluating_gives():
    def model(rows):
        return np.where(rows[:, 0] + rows[:, 1] > 0, "yes", "no")

    def explainer(rows):
        return rows * [0.5, 0.4, 0.1, 0.05]

    background = X[:40] + 0.1
    result = faithkit.evaluate(model, X, explainer, background=background)
    discretizer, sentence = read_proposal(result, "discretizer")
    options = {"discretizer": discretizer, "background": background}
    consistency = faithkit.evaluate(model, X, explainer, **options).consistency
    numbers = format_interval(consistency.low, consistency.high)
    assert f" {format_number(consistency.estimate)} ({numbers})" in sentence
    relation, sentence = read_proposal(result, "relation")
    options = {"relation": relation, "background": background}
    sufficiency = faithkit.evaluate(model, X, explainer, **options).sufficiency
    numbers = format_interval(sufficiency.low, sufficiency.high)
    assert f" {format_number(sufficiency.estimate)} ({numbers})" in sentence


def test_the_first_step_is_about_the_measure_that_the_verdict_rests_on():
    result = faithkit.score(LABELS, PHI, X, relation="same-top-features:k=3,bins=6")
    assert result.verdict.measure == "sufficiency"
    first, second, *_ = result.next_steps
    assert "of sufficiency be checked" in first
    assert "with consistency" in second
    consistent = faithkit.score(LABELS, PHI, X, relation="near-explanation:tau=1")
    assert consistent.verdict.measure == "consistency"
    assert consistent.next_steps[0] == second


def test_a_pool_is_proposed_where_the_relation_reads_instances_only_and_none_was_given():
    labels, explanations, frame = draw_rules()
    result = faithkit.score(labels, explanations, X=frame)
    assert result.sufficiency.verified < 0.95
    enough = faithkit.plan(0.05, pilot=result, measure="sufficiency").to_check
    many = "Further rows" if enough is None else f"About {enough - result.n:,} rows"
    step = f"{many} that are predicted but not explained would let more of sufficiency be checked: pass them as a pool"
    assert f"{step} (pool=, CLI: --pool)." in result.next_steps
    more = pd.DataFrame({"age": np.linspace(18, 80, 500)})
    pool = more, (more["age"] > 40).tolist()
    assert not [
        step
        for step in faithkit.score(labels, explanations, X=frame, pool=pool).next_steps
        if "as a pool" in step
    ]


CASES = {
    "one label": (
        ["yes"] * 4,
        ["a", "a", "b", "c"],
        "All explained predictions are the same, so nothing was tested: give rows with different predictions.",
    ),
    "one label, and others without an explanation": (
        ["no"] * 4 + ["yes"] * 3,
        ["a", "a", "b", "c", None, None, None],
        "All explained predictions are the same, so nothing was tested, and the others have no explanation: check "
        "rules or reason codes against them (pool=, CLI: --unexplained pool).",
    ),
    "one label, also without an explanation": (
        ["no"] * 7,
        ["a", "a", "b", "c", None, None, None],
        "All explained predictions are the same, so nothing was tested: give rows with different predictions.",
    ),
    "one row": (
        ["yes"],
        ["a"],
        "All explained predictions are the same, so nothing was tested: give rows with different predictions.",
    ),
    "names the label": (
        ["yes", "no"] * 5,
        ["it is yes", "it is no"] * 5,
        "Each prediction has one explanation, which may only repeat the prediction: read the explanations, and use "
        "another explainer if they do.",
    ),
    "checked, narrow, and some disagree": (
        [0, 1] * 1000 + [0],
        ["a", "b", "c", "d"] * 500 + ["b"],
        "Consistency is measured well enough: result.contradictions() (CLI: --contradictions 5) shows the explanations that "
        "hold for different predictions.",
    ),
    "checked, narrow, and none disagrees": (
        [0, 1] * 1000,
        ["a", "b", "c", "d"] * 500,
        "Nothing to do: consistency is measured well enough, and all checked instances agree.",
    ),
    "no better than chance": (
        [0, 0, 1, 1] * 500,
        ["a", "b"] * 1000,
        "As far as 2,000 rows show, explanations determine the prediction no better than chance; result.contradictions() "
        "(CLI: --contradictions 5) shows explanations that contradict each other.",
    ),
    # 530 of 1,000 rows of each explanation agree with 529 of 999, and 470 with 469: 0.5013 against 0.4997
    "hardly better than chance": (
        ([0] * 53 + [1] * 47 + [1] * 53 + [0] * 47) * 10,
        (["a"] * 100 + ["b"] * 100) * 10,
        "More rows may show more than chance; result.contradictions() (CLI: --contradictions 5) shows explanations that "
        "contradict each other.",
    ),
    "many without an explanation": (
        [0, 1, 1, 0] * 15,
        [None, "a", "b", "b"] * 15,
        "15 of 60 rows have no explanation, and cannot be checked: explain them too.",
    ),
    "none with an explanation": (
        [0, 1, 1],
        [None] * 3,
        "3 of 3 rows have no explanation, and cannot be checked: explain them too.",
    ),
    "nearly all checked": (
        [0, 1] * 3,
        ["income", "income", "age", "age", "income", "savings"],
        "No installed discretizer lets more rows be checked: pass a function that makes explanations coarser "
        "(discretizer=), or add rows. There are too few rows to forecast how many are needed.",
    ),
    "all words distinct": (
        [0, 1] * 25,
        [f"w{i}" for i in range(50)],
        "No installed discretizer lets more rows be checked: pass a function that makes explanations coarser "
        "(discretizer=). Even 8 times the rows would leave more than 5 % unchecked.",
    ),
}


@one_test
@pytest.mark.parametrize("name", CASES)
def test_each_kind_of_result_has_its_step_and_a_file_keeps_it(name, tmp_path):
    labels, explanations, expected = CASES[name]
    path = tmp_path / "result.json"
    result = faithkit.score(labels, explanations)
    assert result.next_steps == [expected]
    result.write(path)
    loaded = faithkit.load(path)
    assert loaded.next_steps == [expected]
    assert json_of(loaded) == path.read_text()


def load_without_steps(result, path):
    """Save a result as a version without steps would, and load it."""
    payload = result.to_dict()
    del payload["next_steps"]
    path.write_text(json.dumps(payload))
    return faithkit.load(path)


def test_an_older_file_has_the_steps_that_follow_from_its_numbers(tmp_path):
    rows = score_words(700, 2000)
    assert load_without_steps(rows, tmp_path / "a.json").next_steps == rows.next_steps
    vectors = load_without_steps(score_vectors(), tmp_path / "b.json")
    assert vectors.next_steps == [
        "Coarser explanations would let more rows be checked: name a discretizer (discretizer=, CLI: --discretize). "
        "Even 8 times the rows would leave more than 5 % unchecked."
    ]
    labels, explanations, _ = CASES["checked, narrow, and some disagree"]
    checked = load_without_steps(faithkit.score(labels, explanations), tmp_path / "c.json")
    assert "after evaluating or scoring the rows again, contradictions()" in checked.next_steps[0]


@one_test
@pytest.mark.parametrize("steps", ["more", [1], {"a": 1}])
def test_a_file_whose_steps_are_no_sentences_is_refused(steps, tmp_path):
    path = tmp_path / "result.json"
    payload = score_words(4, 60).to_dict()
    path.write_text(json.dumps(payload | {"next_steps": steps}))
    with pytest.raises(faithkit.errors.InputError, match=r"next_steps(\.0)? is "):
        faithkit.load(path)


def test_a_file_steers_no_terminal_and_no_page(tmp_path):
    path = tmp_path / "result.json"
    payload = score_words(4, 60).to_dict()
    path.write_text(json.dumps(payload | {"next_steps": ["\x1b[31mred<script>", "[bold]"]}))
    loaded = faithkit.load(path)
    assert "\x1b" not in str(loaded)
    assert "[bold]" in loaded.to_text(verbose=True)
    for page in (page_of(loaded), loaded._repr_html_()):
        assert "red<script>" not in page
        assert "red&lt;script&gt;" in page


@one_test
@pytest.mark.parametrize("error", [KeyError("age"), SystemExit(1)])
def test_a_plugin_that_fails_is_skipped(error, monkeypatch):
    from faithkit_feature_importance.discretizers import SignOfTop
    from faithkit_feature_importance.near_in_top_features import NearInTopFeatures

    def fail(*args):
        raise error

    sound = faithkit.score(LABELS, BY_HAND, X=X)
    assert "sign-of-top" in read_proposal(sound, "discretizer")[0]
    assert "near-in-top-features" in str(sound.next_steps)
    monkeypatch.setattr(SignOfTop, "discretize", fail)
    monkeypatch.setattr(NearInTopFeatures, "key", fail)
    result = faithkit.score(LABELS, BY_HAND, X=X)
    assert "sign-of-top" not in read_proposal(result, "discretizer")[0]
    assert "near-in-top-features" not in str(result.next_steps)


def test_a_plugin_that_cannot_even_be_listed_leaves_the_other_steps(monkeypatch):
    def fail(kind):
        raise RuntimeError("no repr")

    monkeypatch.setattr(next_steps, "suitable_discretizers", fail)
    assert [step.split("=")[0] for step in faithkit.score(LABELS, BY_HAND, X=X).next_steps] == [
        "Try relation"
    ]
    assert "Next: " in str(faithkit.score(LABELS, PHI))


def test_steps_are_computed_once_and_only_where_they_are_shown(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "faithkit.run.result.suggest_next_steps", lambda result, measure: calls.append(result) or ["Rest."]
    )
    result = faithkit.score(LABELS, PHI)
    result.to_frame()
    result.by(["f", "m"] * 75)
    faithkit.try_discretizers(result)
    assert not calls
    assert str(result).endswith("\nNext: Rest.")
    assert result.to_text(verbose=True).endswith("\nNext steps:\n  - Rest.")
    assert "<h2>Next steps</h2>\n<ul>\n<li>Rest.</li>\n</ul>" in page_of(result)
    assert "<strong>Next:</strong> Rest.</p>" in result._repr_html_()
    assert result.to_dict()["next_steps"] == ["Rest."]
    assert len(calls) == 1


def test_groups_and_comparisons_have_none():
    result = score_vectors()
    both = Comparison({"one": result}).to_dict()
    assert "next_steps" not in both["systems"]["one"]
    assert "next_steps" in EvaluationReport(result).to_dict()
    assert "Next steps" not in str(result.by(["f", "m"] * 75))


def test_the_order_of_rows_changes_nothing():
    steps = score_vectors(with_rows=True).next_steps
    order = np.random.default_rng(0).permutation(len(X))
    assert faithkit.score(LABELS[order], BY_HAND.take(order), X=X[order]).next_steps == steps


@one_test
@pytest.mark.parametrize("name", ["original", "sign-of-top:k=1", "2fp"])
def test_a_discretizer_with_too_many_distinct_explanations_is_not_estimated(name):
    result = score_vectors()
    population, setup = result.evidence.population, result.setup
    verified = faithkit.score(LABELS, PHI, discretizer=name).consistency.verified
    discretizer = resolve_component("discretizer", name)
    assert estimate_under(discretizer, population, setup, enough=verified).verified == verified
    if verified == 0:
        assert estimate_under(discretizer, population, setup, enough=0.01) is None


def test_a_copy_of_a_result_has_its_steps():
    result = score_vectors()
    assert pickle.loads(pickle.dumps(result)).next_steps == result.next_steps
    assert pickle.loads(pickle.dumps(result)).to_dict() == result.to_dict()


def test_randomness_and_the_result_stay_as_they_were():
    result = faithkit.score(LABELS, PHI, X=X, permutations=19)
    before = result.to_dict(include_steps=False)
    state, numbers = random.getstate(), np.random.get_state()[1].tolist()
    assert len(result.next_steps) <= 3
    assert (random.getstate(), np.random.get_state()[1].tolist()) == (state, numbers)
    assert result.to_dict(include_steps=False) == before


@one_test
@pytest.mark.parametrize("design", [{"weights": np.linspace(1, 2, 80)}, {"clusters": np.arange(80) // 2}])
def test_rows_with_weights_or_clusters_have_steps_and_no_further_warning(design):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = faithkit.score(LABELS[:80], PHI[:80], X=X[:80], **design)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "discretizer" in result.next_steps[0]


def test_of_many_rows_nothing_is_tried(monkeypatch):
    monkeypatch.setattr(next_steps, "MAX_ROWS_TO_DISCRETIZE", 100)
    monkeypatch.setattr(next_steps, "MAX_ROWS_TO_RELATE", 100)
    assert faithkit.score(LABELS, BY_HAND, X=X).next_steps == [
        "Coarser explanations would let more rows be checked: name a discretizer (discretizer=, CLI: --discretize), "
        "or try all of them with faithkit.try_discretizers(result). Even 8 times the rows would leave more than 5 % "
        "unchecked."
    ]


@one_test
@pytest.mark.parametrize("estimator", ["majority", "plug-in", "verified-only"])
def test_every_estimator_has_steps(estimator):
    assert faithkit.score(LABELS[:50], PHI[:50], estimator=estimator).next_steps


def test_a_coarser_explanation_that_is_not_above_chance_is_proposed_as_such():
    """That explanations say nothing is what a person must learn, and not that nothing could be checked."""
    rng = np.random.default_rng(0)
    result = faithkit.score(rng.integers(0, 2, 600), rng.normal(size=(600, 3)))
    (step,) = [step for step in result.next_steps if "discretizer=" in step]
    assert ", not shown to be above chance." in step


@pytest.mark.parametrize("seed", range(8))
def test_unique_explanations_are_not_said_to_occur_in_one_cluster_only_whatever_the_weights(seed):
    rng = np.random.default_rng(seed)
    words, clusters = [f"word {i}" for i in range(15)], np.arange(15) // 2
    result = faithkit.score(np.arange(15) % 2, words, weights=rng.exponential(size=15), clusters=clusters)
    assert not any("one cluster only" in step for step in result.to_dict()["next_steps"])
