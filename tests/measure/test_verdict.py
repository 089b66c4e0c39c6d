"""The verdict: each of the closed list on data whose truth is known, and how often its claims are wrong."""

import attrs
import numpy as np
import pandas as pd
import pytest
from looping import one_test
from scipy.stats import binom

import faithkit
from faithkit import Explanations, Rule
from faithkit.measure.baselines.control import Control, Worth
from faithkit.measure.difference import Difference
from faithkit.measure.estimate import Estimate
from faithkit.measure.objections import Objection
from faithkit.measure.verdict import VERDICTS, VerdictCase, reach_verdict
from faithkit.plugin import OneOf

few_draws = pytest.mark.usefixtures("few_control_draws")

DETERMINE = "explanations determine the prediction"
CLAIMS = {"faithful", DETERMINE, "not faithful", "better than its control", "better than chance"}


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


def test_explanations_that_decide_the_prediction_determine_it_and_are_not_called_faithful():
    result = faithkit.score(["yes", "no", "no"] * 40, ["a", "b", "c"] * 40)  # the measure is 1
    assert result.verdict.name == DETERMINE  # "a", "b" and "c" may be codes of the prediction
    assert result.verdict.measure == "consistency"
    assert result.verdict.reason == (
        f"consistency is at least {str(result.consistency.low)[:5]}, which reaches 0.8 and is above chance; "
        "what the model used was not tested"
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
    assert paired.verdict.name == DETERMINE


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
    assert [warning.name for warning in result.warnings] == []
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


def test_without_a_control_nothing_is_called_faithful_and_the_reason_says_why():
    X = make_table(np.random.default_rng(0))
    verdict = faithkit.score(X["c0"] > 0, make_rules(X, ["c0"] * 200), X, control_draws=0).verdict
    assert (verdict.name, verdict.measure) == ("better than chance", "sufficiency")
    assert verdict.reason == "no control, so not called faithful: none was asked for (control_draws=0)"
    few = faithkit.score(X["c0"][:39] > 0, make_rules(X[:39], ["c0"] * 39), X[:39]).verdict
    assert few.name == "better than chance"
    assert "40 rows or more that both could check, and there are 39" in few.reason


def test_a_relation_that_reads_explanations_only_supports_no_more_than_consistency_does():
    phi = np.random.default_rng(0).normal(size=(200, 1))
    verdict = faithkit.score(phi[:, 0] > 0, phi, phi, relation="near-explanation:tau=0.1").verdict
    assert (verdict.name, verdict.measure) == (DETERMINE, "consistency")
    assert not faithkit.relation("near-explanation:tau=0.1").reads_instances
    assert (faithkit.relation("in-scope") & faithkit.relation("same-explanation")).reads_instances
    assert not (faithkit.relation("in-scope") | faithkit.relation("same-explanation")).reads_instances


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


@few_draws
@one_test
@pytest.mark.parametrize(
    ("n", "options"),
    [
        (39, {}),  # too few rows for a control
        (200, {"control_draws": 0}),
        (200, {"relation": lambda x, rule: bool(rule.covers(x.to_frame().T.astype(int))[0])}),
        (10_001, {}),
    ],
)
def test_an_encoder_is_never_called_faithful(n, options):
    X = make_table(np.random.default_rng(0), n, columns=6)
    labels = X["c0"] > 0
    # which column is named reveals the label, and its value says nothing
    columns = np.where(labels, np.where(X["c5"], "c1", "c2"), np.where(X["c5"], "c3", "c4"))
    result = faithkit.score(labels, make_rules(X, columns), X, **options)
    assert result.consistency.low > 0.7
    assert result.verdict.measure == "sufficiency"
    assert result.verdict.name in ("not faithful", "not shown to be better than chance")


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


LIES = (Objection("signs", "signs are arbitrary", "not faithful"),)
TWINS = (Objection("scope", "rules could be cut", "better than its control"),)
REMARK = (Objection("direction", "the model is not at hand"),)


def reach(ends=(0.8, 1.0), drawn=0.5, finding=ABOVE, consistency=(0.9, 1.0), chance=0.5, **fields):
    """Reach the verdict on sufficiency with these ends, and with a control unless `drawn` is None."""
    control = None if drawn is None else make_control(drawn, finding)
    measures = {
        "consistency": make_estimate(*consistency),
        "sufficiency": make_estimate(*ends, chance=chance),
    }
    return reach_verdict(VerdictCase(**({"measures": measures, "control": control} | fields)))


@one_test
@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({}, "faithful"),
        ({"ends": (0.8 - 1e-12, 1.0)}, "faithful"),  # a rounding error decides nothing
        ({"ends": (0.7999, 1.0)}, "better than its control"),
        ({"ends": (0.6, 0.7999)}, "not faithful"),
        ({"ends": (0.6, 0.7999), "finding": NOT_ABOVE}, "not faithful"),
        ({"ends": (0.6, 0.8)}, "better than its control"),
        ({"ends": (0.4, 0.9)}, "not shown to be better than chance"),
        ({"ends": (0.4, 0.9), "finding": NOT_ABOVE}, "not shown to be better than chance"),
        ({"finding": NOT_ABOVE}, "not shown to be better than its control"),
        ({"drawn": None}, "better than chance"),
        ({"ends": (0.6, 0.9), "drawn": None}, "better than chance"),
        # importances are tested coarsely, by ten rows
        ({"ends": (0.6, 0.7999), "are_importances": True}, "better than its control"),
        ({"ends": (0.6, 0.7999), "are_importances": True, "finding": NOT_ABOVE}, "not faithful"),
        # objections lower a verdict, and never raise it
        ({"objections": LIES}, "not faithful"),
        ({"objections": LIES, "ends": (0.6, 0.7999), "are_importances": True}, "not faithful"),
        ({"objections": TWINS}, "better than its control"),
        ({"objections": TWINS, "finding": NOT_ABOVE}, "not shown to be better than its control"),
        ({"objections": TWINS, "drawn": None}, "better than chance"),
        ({"objections": TWINS, "ends": (0.6, 0.7)}, "not faithful"),
        ({"objections": REMARK}, "faithful"),
        ({"leaks_prediction": True}, "explanations name the prediction"),
        # a relation that reads no instance leaves consistency
        ({"reads_instances": False}, DETERMINE),
        ({"reads_instances": False, "consistency": (0.6, 0.7)}, "not faithful"),
        ({"reads_instances": False, "consistency": (0.6, 0.9)}, "better than chance"),
        ({"reads_instances": False, "consistency": (0.4, 0.9)}, "not shown to be better than chance"),
    ],
)
def test_the_first_rule_that_applies_gives_the_verdict(fields, name):
    assert reach(**fields).name == name


def test_one_vector_for_all_rows_is_not_called_faithful_however_well_its_scopes_agree():
    # its ten nearest rows agree by the columns that it names, but half of the rows with it disagree
    rng = np.random.default_rng(0)
    X = make_table(rng, 400)
    X["c0"] = rng.normal(size=400)
    constant = Explanations.of([1] * 400, relation="near")

    @faithkit.relation
    def near(x, explanation):
        return abs(x["c0"]) > 1e9

    result = faithkit.score(X["c0"] > 0, constant, X, relation=near)
    case = VerdictCase(measures=result.measures | {"sufficiency": make_estimate(0.9, 1.0)})
    assert case.is_consistency_at_chance
    assert reach_verdict(attrs.evolve(case, control=make_control(0.5, ABOVE))).reason == (
        "rows with the same explanation agree no more often than any two rows"
    )


def test_consistency_of_vectors_that_nobody_shares_is_no_evidence_against_sufficiency():
    # weights for the predicted class look alike for both labels, so near vectors agree by chance
    rng = np.random.default_rng(0)
    result = faithkit.score(np.arange(400) % 2, 1 + 0.01 * rng.normal(size=(400, 2)))
    assert result.consistency.merging == "pairs"
    assert result.consistency.low < result.consistency.chance
    assert not VerdictCase(measures=result.measures).is_consistency_at_chance


def test_consistency_of_too_few_shared_explanations_is_no_evidence_against_sufficiency():
    labels = np.arange(400) % 2
    words = [f"word {i}" for i in range(397)] + ["shared"] * 3  # three rows, of which two agree
    result = faithkit.score(labels, words)
    assert result.consistency.checked == 3
    assert not VerdictCase(measures=result.measures).is_consistency_at_chance


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
    assert verdicts == {DETERMINE}


def test_a_saved_result_has_its_verdict(tmp_path):
    X = make_table(np.random.default_rng(0))
    result = faithkit.score(X["c0"] > 0, make_rules(X, ["c0"] * 200), X, faithful_at=0.7)
    result.write(tmp_path / "result.json")
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
        DETERMINE: measure < verdict.level or is_no_better,
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
