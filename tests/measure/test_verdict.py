"""The verdict: each of the closed list on data whose truth is known, and how often its claims are wrong."""

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from scipy.stats import binom

import faithkit
from faithkit import Explanations, OneOf, Rule
from faithkit.measure.baselines.control import Control, Worth
from faithkit.measure.difference import Difference
from faithkit.measure.estimate import Estimate
from faithkit.measure.verdict import VERDICTS, reach_verdict

pytestmark = pytest.mark.filterwarnings("ignore:.*rows repeat another one exactly")

few_draws = pytest.mark.usefixtures("few_control_draws")

CLAIMS = {"faithful", "not faithful", "better than its control", "better than chance"}


def name_verdict(labels, explanations, **options):
    return faithkit.score(labels, explanations, **options).verdict.name


def make_table(rng, n=200, columns=4):
    """Return rows of fair coins."""
    return pd.DataFrame(rng.integers(0, 2, (n, columns)), columns=[f"c{i}" for i in range(columns)])


def make_rules(X, columns):
    """Return for each row the rule that one of its columns has the row's value."""
    conditions = [OneOf(column, [X.at[row, column]]) for row, column in enumerate(columns)]
    return Explanations.of([Rule([condition]) for condition in conditions], kind="rule", relation="in-scope")


# --- consistency ---------------------------------------------------------------------------------------------


def test_explanations_that_decide_the_prediction_are_faithful():
    result = faithkit.score(["yes", "no", "no"] * 40, ["a", "b", "c"] * 40)  # the measure is 1
    assert result.verdict.name == "faithful"
    assert result.verdict.measure == "consistency"
    assert result.verdict.reason == (
        f"consistency is at least {str(result.consistency.low)[:5]}, which reaches 0.8 and is above chance"
    )


def test_explanations_unrelated_to_a_fair_prediction_are_not_faithful():
    # each of two explanations has as many of either label: the measure is 1/2
    assert name_verdict(["yes", "yes", "no", "no"] * 40, ["a", "b", "a", "b"] * 40) == "not faithful"


def test_explanations_with_errors_are_better_than_chance():
    # nine of ten agree: 0.9² + 0.1² = 0.82, so that 100 rows cannot tell whether 0.8 is reached
    labels = ["yes"] * 45 + ["no"] * 5 + ["no"] * 45 + ["yes"] * 5
    result = faithkit.score(labels, ["a", "b"] * 25 + ["c"] * 50)
    assert result.verdict.name == "better than chance"
    assert "Verdict: better than chance, but with errors: consistency may be below 0.8." in " ".join(
        str(result).split()
    )


def test_the_level_is_the_users():
    labels, explanations = ["yes", "no", "no"] * 40, ["a", "b", "c"] * 40
    assert (
        name_verdict(labels, explanations, faithful_at=0.99) == "better than chance"
    )  # the lower end is 0.94
    fair = ["yes", "yes", "no", "no"] * 40, ["a", "b", "a", "b"] * 40
    assert name_verdict(*fair, faithful_at=0.4) == "not shown to be better than chance"
    with pytest.raises(faithkit.errors.InputError, match="faithful_at must be a number between 0 and 1"):
        name_verdict(labels, explanations, faithful_at=2)


def test_a_rare_label_makes_a_high_number_that_shows_nothing():
    # of three explanations each has the rare label as often as the others: 0.905, and so has one for all
    labels = np.repeat(["ok", "fraud"], [190, 10])
    result = faithkit.score(labels, np.tile(["a", "b", "c", "d", "e"], 40).tolist())
    assert result.consistency.low > 0.8
    assert result.verdict.name == "not shown to be better than chance"


def test_one_prediction_tests_nothing():
    verdict = faithkit.score(["yes"] * 50, ["a", "b"] * 25).verdict
    assert (verdict.name, verdict.reason) == (
        "nothing was tested",
        "all explained predictions agree with each other",
    )
    verdict = faithkit.score(["yes", "no"] * 20, ["a"] * 40, blocks=[0, 1] * 20).verdict
    assert verdict.reason == "in every block all predictions agree with each other"


def test_words_that_nobody_shares_test_nothing_and_near_numbers_do():
    rng = np.random.default_rng(0)
    phi = rng.normal(size=(200, 1))
    labels = phi[:, 0] > 0
    verdict = faithkit.score(labels, [f"word {i}" for i in range(200)]).verdict
    assert verdict.name == "nothing was tested"
    assert verdict.reason == "no two independent instances share an explanation"
    paired = faithkit.score(labels, phi)  # near values have one label but for one pair at most
    assert paired.consistency.verified == 0
    assert paired.verdict.name == "faithful"


def test_explanations_that_name_the_prediction_have_that_verdict():
    labels = ["approved", "declined"] * 50
    assert name_verdict(labels, [1, 2] * 50) == "explanations name the prediction"
    leaking = [f"class {label}: reason {i % 3}" for i, label in enumerate(labels)]
    verdict = faithkit.score(labels, leaking).verdict
    assert verdict.name == "explanations name the prediction"
    assert verdict.reason.startswith("nearly every explanation names the prediction of its own instance")


# --- sufficiency and its control -----------------------------------------------------------------------------


@few_draws
def test_rules_about_the_column_that_decides_are_faithful():
    X = make_table(np.random.default_rng(0))
    result = faithkit.score(X["c0"] > 0, make_rules(X, ["c0"] * 200), X)  # the measure is 1
    assert result.consistency.finding == "names the label"  # so sufficiency decides
    verdict = result.verdict
    assert (verdict.name, verdict.measure) == ("faithful", "sufficiency")
    assert verdict.reason == (
        f"sufficiency is at least {str(result.sufficiency.low)[:5]}, which reaches 0.8 and is above chance "
        "and its control"
    )


@few_draws
def test_a_copy_of_the_column_that_decides_is_no_better_than_its_control():
    X = make_table(np.random.default_rng(0))
    X["c1"] = X["c2"] = X["c3"] = X["c0"]  # the control is drawn among the copies, and is also always right
    result = faithkit.score(X["c0"] > 0, make_rules(X, ["c0"] * 200), X)
    assert result.sufficiency.low > 0.9
    assert result.verdict.name == "not shown to be better than its control"


@few_draws
def test_rules_that_often_name_the_column_that_decides_are_better_than_their_control():
    rng = np.random.default_rng(0)
    X = make_table(rng)
    columns = np.where(rng.random(200) < 0.75, "c0", "c1")  # the measure is 0.75 + 0.25/2 = 0.875
    result = faithkit.score(X["c0"] > 0, make_rules(X, columns), X, faithful_at=0.85)
    assert result.verdict.name == "better than its control"
    text = " ".join(str(result).split())
    assert (
        "Verdict: better than its control, but with errors: sufficiency may be below 0.85. Explanations close 7"
        in text
    )
    assert text.partition("consistency ")[0].endswith("of the gap between the control and the full input. ")


@few_draws
def test_rules_about_other_columns_are_not_faithful():
    X = make_table(np.random.default_rng(0))
    assert name_verdict(X["c0"] > 0, make_rules(X, ["c1"] * 200), X=X) == "not faithful"  # the measure is 1/2


def test_without_a_control_the_verdict_rests_on_consistency():
    X = make_table(np.random.default_rng(0))
    result = faithkit.score(X["c0"] > 0, make_rules(X, ["c1"] * 100 + ["c2"] * 100), X, control_draws=0)
    assert result.verdict.measure == "consistency"
    assert "Sufficiency has no control: none was asked for (control_draws=0)." in str(result)


def test_without_a_control_a_pool_of_other_predictions_tests_rules_whose_own_rows_all_agree():
    X = pd.DataFrame({"debt": [1] * 60 + [0] * 30 + [1] * 10})
    rules = Explanations.of([Rule([OneOf("debt", [1])])] * 60, kind="rule", relation="in-scope")
    pool = X[60:], ["granted"] * 40  # ten of them satisfy the rule: 59 of 69 others agree
    result = faithkit.score(["refused"] * 60, rules, X[:60], pool=pool, control_draws=0)
    assert result.consistency.finding == "one label"
    assert result.sufficiency.value == pytest.approx(59 / 69)
    assert (result.verdict.name, result.verdict.measure) == ("better than chance", "sufficiency")
    agreeing = faithkit.score(
        ["refused"] * 60, rules, X[:60], pool=(X[60:], ["refused"] * 40), control_draws=0
    )
    assert agreeing.verdict.name == "nothing was tested"


# --- the rules, one by one -----------------------------------------------------------------------------------


def make_estimate(low, high, chance=0.5, **fields):
    above = "above chance" if low > chance else "not above chance"
    usual = {"value": 0.9, "estimate": (low + high) / 2, "verified": 1.0, "bracket": (low, high), "se": 0.1}
    usual |= {"confidence": 0.95, "p_value": None, "mse_bound": None, "finding": above, "checked": 100}
    return Estimate(low=low, high=high, chance=chance, **(usual | fields))


def make_control(value, finding):
    difference = Difference(0.1, 0.05, 0.15, 0.95, 0.01)
    return Control(
        estimate=value,
        verified=1.0,
        draws=10,
        rows=100,
        difference=difference,
        finding=finding,
        ceiling=1.0,
        ceiling_rows=0,
        worth=Worth(0.5, 0.4, 0.6),
    )


ABOVE, NOT_ABOVE = "above its control", "not above its control"


@one_test
@pytest.mark.parametrize(
    ("ends", "drawn", "name"),
    [
        ((0.8, 1.0), None, "faithful"),
        ((0.7999, 1.0), None, "better than chance"),
        ((0.8 - 1e-12, 1.0), None, "faithful"),  # a rounding error decides nothing
        ((0.6, 0.7999), None, "not faithful"),
        ((0.6, 0.8), None, "better than chance"),
        ((0.4, 0.9), None, "not shown to be better than chance"),
        ((0.8, 1.0), make_control(0.7, ABOVE), "faithful"),
        ((0.8, 1.0), make_control(0.85, ABOVE), "better than its control"),
        ((0.8, 1.0), make_control(0.7, NOT_ABOVE), "not shown to be better than its control"),
        ((0.6, 0.79), make_control(0.5, ABOVE), "not faithful"),
        ((0.6, 0.79), make_control(0.5, NOT_ABOVE), "not faithful"),
        ((0.4, 0.9), make_control(0.3, ABOVE), "not shown to be better than chance"),
        ((0.4, 0.9), make_control(0.6, NOT_ABOVE), "not shown to be better than its control"),
    ],
)
def test_the_ends_of_the_interval_the_baselines_and_the_level_decide(ends, drawn, name):
    measures = {"consistency": make_estimate(0.1, 0.2), "sufficiency": make_estimate(*ends)}
    if drawn is None:
        measures = {"consistency": make_estimate(*ends)}
    assert reach_verdict(measures, drawn).name == name


@one_test
@pytest.mark.parametrize(
    ("low", "drawn", "addition"),
    [
        (0.6, make_control(0.4, ABOVE), ", though better than its control"),
        (0.6, make_control(0.4, NOT_ABOVE), ""),
        (0.45, make_control(0.4, ABOVE), ""),  # chance is 0.5
    ],
)
def test_only_what_is_above_chance_is_called_better_than_its_control(low, drawn, addition):
    measures = {"consistency": make_estimate(0.1, 0.2), "sufficiency": make_estimate(low, 0.7)}
    assert reach_verdict(measures, drawn).reason == f"sufficiency is below 0.8{addition}"


def test_every_verdict_is_in_the_list_and_in_the_schema():
    import json
    from importlib.resources import files

    schema = json.loads(files("faithkit.run").joinpath("results.schema.json").read_text("utf-8"))
    assert schema["definitions"]["verdict"]["properties"]["name"]["enum"] == list(VERDICTS)
    assert set(VERDICTS) >= CLAIMS


def test_another_estimator_has_the_same_verdict():
    labels, explanations = ["yes", "no", "no"] * 40, ["a", "b", "c"] * 40
    verdicts = {
        name_verdict(labels, explanations, estimator=name)
        for name in ("leave-one-out", "plug-in", "majority")
    }
    assert verdicts == {"faithful"}


def test_a_saved_result_has_its_verdict(tmp_path):
    X = make_table(np.random.default_rng(0))
    result = faithkit.score(X["c0"] > 0, make_rules(X, ["c0"] * 200), X, faithful_at=0.7)
    result.to_json(tmp_path / "result.json")
    loaded = faithkit.load(tmp_path / "result.json")
    assert loaded.verdict == result.verdict
    assert loaded.setup.faithful_at == 0.7
    assert str(loaded).splitlines()[:4] == str(result).splitlines()[:4]


# --- how often claims are wrong ------------------------------------------------------------------------------

RUNS = 200


def flips(agreement):
    """Return how often a label must flip so that two of them agree so often."""
    return (1 - np.sqrt(2 * agreement - 1)) / 2


def score_rules(rng, n, agreement, right, level):
    """Name the column that decides in a share of rows, and another one in the rest.

    Two rows of one value of c0 agree so often, rows of one value of another column half of the time. The
    control of a rule about c0 is about another column; that of another rule is about c0 one time in three.
    """
    X = make_table(rng, n)
    labels = (X["c0"] > 0) ^ (rng.random(n) < flips(agreement))
    columns = np.where(rng.random(n) < right, "c0", rng.choice(["c1", "c2", "c3"], n))
    measure = right * agreement + (1 - right) / 2
    control = 0.5 + (1 - right) / 3 * (agreement - 0.5)
    return faithkit.score(labels, make_rules(X, columns), X, faithful_at=level), measure, control


def score_words(rng, n, agreement, right, level):
    """Explain by one of six words, three for each label, or by any of them; the labels are fair coins."""
    labels = rng.random(n) < 0.5
    says = np.where(rng.random(n) < flips(agreement), ~labels, labels)
    words = np.where(rng.random(n) < right, 3 * says, rng.integers(0, 2, n) * 3) + rng.integers(0, 3, n)
    share = right * (1 - flips(agreement)) + (1 - right) / 2  # of a word's own label
    result = faithkit.score(labels, words.tolist(), faithful_at=level)
    return result, share**2 + (1 - share) ** 2, 0.5


def is_wrong(verdict, measure, baseline):
    is_no_better = measure <= baseline + 1e-9
    return {
        "faithful": measure < verdict.level or is_no_better,
        "not faithful": measure >= verdict.level,
        "better than its control": is_no_better,
        "better than chance": is_no_better,
    }.get(verdict.name, False)


@pytest.mark.simulation
@pytest.mark.parametrize("draw", [score_rules, score_words])
@pytest.mark.parametrize(
    ("agreement", "right", "level"),
    [
        (0.799, 1.0, 0.8),  # faithful would be wrong
        (0.801, 1.0, 0.8),  # not faithful would be wrong
        (0.9, 0.25, 0.4),  # rules: as good as their control, and the level is reached
        (0.9, 0.0, 0.4),  # words: as good as chance
        (0.9, 0.7, 0.8),
    ],
)
@pytest.mark.parametrize("n", [60, 200])
def test_a_claim_is_wrong_in_at_most_five_percent_of_samples(draw, agreement, right, level, n):
    rng = np.random.default_rng([n, int(1000 * agreement), int(100 * right)])
    wrong = 0
    for _ in range(RUNS):
        result, measure, baseline = draw(rng, n, agreement, right, level)
        wrong += is_wrong(result.verdict, measure, baseline)
    # more than this would be an accident of less than one in a thousand, if five percent were the truth
    assert wrong <= binom.ppf(0.999, RUNS, 0.05)
