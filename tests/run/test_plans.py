"""Plans from pilots: in Python, from a file, with and without sufficiency."""

import json

import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit.measure.planning.plans import PilotPlan

WORDS = [str(number % 7) for number in range(300)]


def score_pilot(**options):
    return faithkit.score([int(word) % 2 for word in WORDS], WORDS, **options)


def score_sufficiency(**options):
    X = np.arange(300.0)[:, None] % 7
    limits = np.where(X[:, 0] > 3, 3, 0).tolist()
    return faithkit.score(X[:, 0] > 2, limits, X=X, relation=lambda x, limit: x[0] > limit, **options)


def test_a_plan_from_a_result_is_that_of_the_numbers_in_its_file(tmp_path):
    score_pilot().write(tmp_path / "pilot.json")
    loaded = faithkit.load(tmp_path / "pilot.json")
    pilot = score_pilot()
    for epsilon in (0.1, 0.03, 0.001):
        assert faithkit.plan(epsilon, pilot=loaded) == faithkit.plan(epsilon, pilot=pilot)


def test_the_confidence_of_the_pilot_is_that_of_the_plan():
    sure, surer = (faithkit.plan(0.05, pilot=score_pilot(confidence=level)) for level in (0.9, 0.99))
    assert (sure.confidence, surer.confidence) == (0.9, 0.99)
    assert sure.n <= surer.n
    by_range = faithkit.plan(0.05, n_explanations=7, pilot=score_pilot(confidence=0.9)).from_range
    assert by_range.half_width < faithkit.plan(0.05, n_explanations=7).from_range.half_width


def test_the_estimator_of_the_pilot_does_not_matter():
    assert faithkit.plan(0.05, pilot=score_pilot(estimator="majority")) == faithkit.plan(
        0.05, pilot=score_pilot()
    )


def test_a_plan_is_written_as_json_values():
    plan = faithkit.plan(0.05, n_explanations=7, pilot=score_pilot())
    payload = json.loads(json.dumps(plan.to_dict()))
    assert payload["n"] == plan.n
    assert (
        PilotPlan(**{**payload["from_pilot"], "unverified": tuple(payload["from_pilot"]["unverified"])})
        == plan.from_pilot
    )


def load_payload(payload, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps(payload))
    return faithkit.load(path)


def change_number_of_others(number, rows=300):
    payload = score_pilot().to_dict()
    payload["measures"]["consistency"]["others"] = {"number": [number], "rows": [rows], "score": [1.0]}
    return payload


BAD = {
    "weighted rows": (
        lambda folder: score_pilot(weights=np.arange(len(WORDS)) % 3 + 1),
        {},
        "the rows of the pilot have weights, clusters or blocks: a plan is for independent rows that count alike",
    ),
    "others that are no numbers of rows": (
        lambda folder: load_payload(change_number_of_others(2.5, rows=300.0), folder),
        {},
        "is no result as faithkit writes it",
    ),
    "more others than there are": (
        lambda folder: load_payload(change_number_of_others(5000), folder),
        {},
        "is no result as faithkit writes it",
    ),
    "a list": (lambda folder: [1, 2], {}, "the pilot is a list: give what evaluate, score or load returned"),
    "a comparison": (
        lambda folder: faithkit.run.comparisons.comparison.Comparison(
            {"one": score_pilot(), "two": score_pilot()}
        ),
        {},
        "a comparison of one, two: give the result of one system",
    ),
    "no sufficiency": (
        lambda folder: score_pilot(),
        {"measure": "sufficiency"},
        r"the pilot has no sufficiency \(.+\): plan another measure, or take another pilot",
    ),
    "an unknown measure": (
        lambda folder: score_pilot(),
        {"measure": "accuracy"},
        "the measure is 'accuracy'",
    ),
    "a measure that is a list": (lambda folder: score_pilot(), {"measure": ["a"]}, r"the measure is \['a'\]"),
    "a pool for consistency": (
        lambda folder: score_pilot(),
        {"pool": 3},
        "a pool is no help: plan sufficiency",
    ),
    "half a pool": (
        lambda folder: score_sufficiency(),
        {"measure": "sufficiency", "pool": 0.5},
        "pool must be a whole number of at least 0, got 0.5",
    ),
    "a pilot with a pool": (
        lambda folder: score_sufficiency(pool=(np.zeros((2, 1)), [True, False])),
        {"measure": "sufficiency"},
        "sufficiency was checked against a pool: evaluate or score its rows without one",
    ),
}


@one_test
@pytest.mark.parametrize(
    ("epsilon", "message"),
    [
        (score_pilot(), "^epsilon is a result: give that as the pilot, as in plan"),
        (np.zeros((3, 3)), r"^epsilon must be a number between 0 and 1, got array\(\[\[0\., 0\., 0\.\], \[0"),
    ],
)
def test_an_argument_that_is_no_epsilon_is_refused_in_one_line(epsilon, message):
    with pytest.raises(faithkit.errors.InputError, match=message) as raised:
        faithkit.plan(epsilon, n_explanations=7)
    assert "\n" not in str(raised.value)


@one_test
@pytest.mark.parametrize("case", BAD)
def test_what_is_no_pilot_is_refused(case, tmp_path):
    make, options, message = BAD[case]
    with pytest.raises(faithkit.errors.InputError, match=message):
        faithkit.plan(0.1, pilot=make(tmp_path), **options)


def test_rows_of_the_pilot_without_an_explanation_are_warned_of():
    with pytest.warns(
        faithkit.errors.FaithkitWarning, match="10 of 30 rows of the pilot have no explanation"
    ):
        faithkit.plan(0.1, pilot=faithkit.score([0, 1, 1] * 10, ["a", "b", None] * 10))


def test_sufficiency_is_planned_from_its_own_numbers():
    result = score_sufficiency()
    plan = faithkit.plan(0.1, pilot=result, measure="sufficiency")
    assert plan.measure == "sufficiency"
    assert plan.n is not None
    assert plan != faithkit.plan(0.1, pilot=result)


def test_others_may_have_been_rounded_up_to_more_than_there_are(tmp_path):
    assert faithkit.plan(0.1, pilot=load_payload(change_number_of_others(310), tmp_path)).n == 300


# --- pilots whose predictions are numbers ---------------------------------------------------------------------

RUNS = 25
TOO_MANY = 8  # one in ten is promised; this many of 25 would be an accident of less than one in a thousand

# explanations, the share of the variance between them, rows of the pilot, and the half-width wanted
LAWS = [(5, 0.8, 100, 0.1), (20, 0.5, 200, 0.05), (3, 0.99, 60, 0.05), (20, 0.0, 100, 0.1)]


def draw_numbers(rng, n, k, share):
    """Draw means of groups, and normal noise around them."""
    means = np.linspace(-1, 1, k)
    why = rng.integers(0, k, n)
    return np.sqrt(share) * means[why] / means.std() + np.sqrt(1 - share) * rng.normal(size=n), why.tolist()


def assert_as_narrow_as_promised(law):
    k, share, n, epsilon = law
    rng, too_wide, without = np.random.default_rng(0), 0, 0
    for _ in range(RUNS):
        planned = faithkit.plan(epsilon, pilot=faithkit.score(*draw_numbers(rng, n, k, share))).n
        if planned is None:  # the pilot is too small
            without += 1
            continue
        result = faithkit.score(*draw_numbers(rng, planned, k, share)).consistency
        too_wide += (result.high - result.low) / 2 > epsilon
    assert too_wide < TOO_MANY
    assert without <= 2


def test_the_interval_of_as_many_rows_as_planned_is_as_narrow_as_promised():
    assert_as_narrow_as_promised(LAWS[0])


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS[1:])
def test_the_interval_is_as_narrow_under_other_laws(law):
    assert_as_narrow_as_promised(law)


def test_a_plan_says_what_it_promises():
    pilot = faithkit.score(*draw_numbers(np.random.default_rng(0), 200, 5, 0.8))
    plan = faithkit.plan(0.05, pilot=pilot)
    text = " ".join(str(plan).split())
    assert "For consistency, from a pilot of 200 rows:" in text
    assert f"{plan.n:,} rows: a 95 % interval of ± 0.05 or less, in nine cases of ten." in text
    with pytest.raises(
        faithkit.errors.InputError, match="a range promises something about labels, and the pilot's"
    ):
        faithkit.plan(0.05, n_explanations=5, pilot=pilot)


def test_a_tolerance_is_planned_for_as_labels_are():
    y, why = draw_numbers(np.random.default_rng(0), 200, 5, 0.8)
    near, labels = faithkit.score(y, why, agree="within:0"), faithkit.score(y, why, outcome="labels")
    assert faithkit.plan(0.1, pilot=near) == faithkit.plan(0.1, pilot=labels)
