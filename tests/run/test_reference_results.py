"""Results are those of version 0.1: numbers change for a reason that is written down here, or not at all."""

import importlib.util
import json
import math
from pathlib import Path

import pytest
from looping import one_test

spec = importlib.util.spec_from_file_location(
    "reference_results", Path(__file__).parent / "reference_results.py"
)
reference_results = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference_results)

REFERENCE = json.loads(reference_results.REFERENCE.read_text())
NOT_NUMBERS = {"versions"}  # of libraries, which people upgrade


@pytest.fixture
def results():
    return json.loads(json.dumps(reference_results.compute_results(), default=str))


@one_test
@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_results_are_those_of_version_0_1(results, name):
    assert list(find_differences(REFERENCE[name], results[name])) == []


def find_differences(old, new, place=""):
    """Yield every place where an old value is gone or has changed; new fields are welcome."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() - NOT_NUMBERS:
            yield from find_differences(old[key], new.get(key, "gone"), f"{place}/{key}")
    elif are_contradictions(old):
        new_contradictions = {contradiction["explanation"]: contradiction for contradiction in new}
        for contradiction in old:
            explanation = contradiction["explanation"]
            yield from find_differences(
                contradiction, new_contradictions.get(explanation, contradiction), f"{place}/{explanation}"
            )
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (old_item, new_item) in enumerate(zip(old, new, strict=True)):
            yield from find_differences(old_item, new_item, f"{place}/{i}")
    elif not are_equal(old, new) and not is_improved(place, old, new):
        yield f"{place}: {new!r} instead of {old!r}"


def are_contradictions(values):
    """Whether it is a list of the worst explanations: since 0.1 others are the worst, by their loss."""
    return (
        isinstance(values, list)
        and values != []
        and all(isinstance(value, dict) and "pair" in value for value in values)
    )


def is_improved(place, old, new):
    """Since 0.1 what could not be checked has no value, where it had 0.0, and relations have their parameters.

    The lower ends of consistency have risen, since rows that nobody shares an explanation with are merged; the
    standard error is that of the estimate, which they change. All ends allow for an error that is estimated from
    few rows, and for a row that was not seen, so they lie apart by a little more; and so a plan asks for more rows.
    Pairs are the nearest two rows, where they were the first.
    """
    field = place.rpartition("/")[2]
    if "/pair/" in place:
        return field != "prediction"
    if place.endswith("consistency/se"):
        return 0 < new < 0.1
    if place.endswith(("consistency/low", "consistency/bracket/0")):
        return old - 0.01 < new <= 1
    if field in ("low", "high", "from", "to"):
        return abs(new - old) < 0.01
    if field in ("p_value", "adjusted_p_value"):
        return abs(new - old) < 0.03 * old  # of differences: the level at which an interval excludes 0
    if field == "half_width":
        return old < new < 1.2 * old
    return (field, old, new) == ("value", 0.0, None) or (
        field == "relation" and f"{new}".startswith(f"{old}:")
    )


def are_equal(old, new):
    if isinstance(old, float) and isinstance(new, int | float):
        return math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-9)
    return old == new


def test_the_comparison_finds_what_has_changed():
    old = {"n": 3, "measures": [{"value": 0.5}], "versions": {"numpy": "2.0"}}
    new = {"n": 3, "measures": [{"value": 0.5 + 1e-6}], "new": 1, "versions": {}}
    assert list(find_differences(old, new)) == ["/measures/0/value: 0.500001 instead of 0.5"]
    assert list(find_differences({"n": 3}, {})) == ["/n: 'gone' instead of 3"]
