"""What can be a pilot, and what cannot: in Python, from a file, with and without sufficiency."""

import json

import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit.measure.planning.plans import PilotPlan

WORDS = [str(number % 7) for number in range(300)]


def pilot(**options):
    return faithkit.score([int(word) % 2 for word in WORDS], WORDS, **options)


def with_sufficiency(**options):
    X = np.arange(300.0)[:, None] % 7
    limits = np.where(X[:, 0] > 3, 3, 0).tolist()
    return faithkit.score(X[:, 0] > 2, limits, X=X, relation=lambda x, limit: x[0] > limit, **options)


def test_a_plan_from_a_result_is_that_of_the_numbers_in_its_file(tmp_path):
    pilot().to_json(tmp_path / "pilot.json")
    loaded = faithkit.load(tmp_path / "pilot.json")
    for epsilon in (0.1, 0.03, 0.001):
        assert faithkit.plan(epsilon, pilot=loaded) == faithkit.plan(epsilon, pilot=pilot())


def test_the_confidence_of_the_pilot_is_that_of_the_plan():
    sure, surer = (faithkit.plan(0.05, pilot=pilot(confidence=level)) for level in (0.9, 0.99))
    assert (sure.confidence, surer.confidence) == (0.9, 0.99)
    assert sure.n <= surer.n
    by_range = faithkit.plan(0.05, n_explanations=7, pilot=pilot(confidence=0.9)).from_range
    assert by_range.half_width < faithkit.plan(0.05, n_explanations=7).from_range.half_width


def test_the_estimator_of_the_pilot_does_not_matter():
    assert faithkit.plan(0.05, pilot=pilot(estimator="majority")) == faithkit.plan(0.05, pilot=pilot())


def test_what_a_plan_tells_is_made_of_json_values():
    plan = faithkit.plan(0.05, n_explanations=7, pilot=pilot())
    payload = json.loads(json.dumps(plan.to_dict()))
    assert payload["n"] == plan.n
    assert (
        PilotPlan(**{**payload["from_pilot"], "unverified": tuple(payload["from_pilot"]["unverified"])})
        == plan.from_pilot
    )


def loaded(told, tmp_path):
    path = tmp_path / "told.json"
    path.write_text(json.dumps(told))
    return faithkit.load(path)


def checked_against(number, rows=300):
    payload = pilot().to_dict()
    payload["measures"]["consistency"]["others"] = {"number": [number], "rows": [rows], "score": [1.0]}
    return payload


BAD = {
    "weighted rows": (
        lambda folder: pilot(weights=np.arange(len(WORDS)) % 3 + 1),
        {},
        "the rows of the pilot have weights, clusters or blocks: a plan is for independent rows that count alike",
    ),
    "others that are no numbers of rows": (
        lambda folder: loaded(checked_against(2.5, rows=300.0), folder),
        {},
        "is no result as faithkit writes it",
    ),
    "more others than there are": (
        lambda folder: loaded(checked_against(5000), folder),
        {},
        "is no result as faithkit writes it",
    ),
    "a list": (lambda folder: [1, 2], {}, "the pilot is a list: give what evaluate, score or load returned"),
    "a comparison": (
        lambda folder: faithkit.run.comparisons.comparison.Comparison({"one": pilot(), "two": pilot()}),
        {},
        "a comparison of one, two: give the result of one system",
    ),
    "no sufficiency": (
        lambda folder: pilot(),
        {"measure": "sufficiency"},
        r"the pilot has no sufficiency \(.+\): plan another measure, or take another pilot",
    ),
    "an unknown measure": (lambda folder: pilot(), {"measure": "accuracy"}, "the measure is 'accuracy'"),
    "a measure that is a list": (lambda folder: pilot(), {"measure": ["a"]}, r"the measure is \['a'\]"),
    "a pool for consistency": (lambda folder: pilot(), {"pool": 3}, "a pool is no help: plan sufficiency"),
    "half a pool": (
        lambda folder: with_sufficiency(),
        {"measure": "sufficiency", "pool": 0.5},
        "pool must be a whole number of at least 0, got 0.5",
    ),
    "a pilot with a pool": (
        lambda folder: with_sufficiency(pool=(np.zeros((2, 1)), [True, False])),
        {"measure": "sufficiency"},
        "sufficiency was checked against a pool: evaluate or score its rows without one",
    ),
}


@one_test
@pytest.mark.parametrize(
    ("epsilon", "message"),
    [
        (pilot(), "^epsilon is a result: give that as the pilot, as in plan"),
        (np.zeros((3, 3)), r"^epsilon must be a number between 0 and 1, got array\(\[\[0\., 0\., 0\.\], \[0"),
    ],
)
def test_what_is_no_epsilon_is_told_in_one_line(epsilon, message):
    with pytest.raises(faithkit.errors.InputError, match=message) as raised:
        faithkit.plan(epsilon, n_explanations=7)
    assert "\n" not in str(raised.value)


@one_test
@pytest.mark.parametrize("case", BAD)
def test_what_is_no_pilot_is_refused(case, tmp_path):
    make, options, message = BAD[case]
    with pytest.raises(faithkit.errors.InputError, match=message):
        faithkit.plan(0.1, pilot=make(tmp_path), **options)


def test_sufficiency_is_planned_from_its_own_numbers():
    result = with_sufficiency()
    plan = faithkit.plan(0.1, pilot=result, measure="sufficiency")
    assert plan.measure == "sufficiency"
    assert plan.n is not None
    assert plan != faithkit.plan(0.1, pilot=result)


def test_others_may_have_been_rounded_up_to_more_than_there_are(tmp_path):
    assert faithkit.plan(0.1, pilot=loaded(checked_against(310), tmp_path)).n == 300


def _priced(n, seed, noise):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 40, n)
    return faithkit.score(100.0 * groups + noise * rng.normal(size=n), groups.tolist())


@one_test
@pytest.mark.parametrize("noise", [300, 1500, 6000])
def test_a_pilot_of_numbers_promises_no_too_narrow_interval(noise):
    plan = faithkit.plan(0.05, pilot=_priced(300, 0, noise))
    for seed in range(1, 6):
        found = _priced(plan.from_pilot.half_width, seed, noise).consistency
        assert (found.high - found.low) / 2 <= 0.05
