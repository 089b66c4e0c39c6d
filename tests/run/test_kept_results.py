"""What version 0.1 answered is still the answer: numbers change for a reason that is written down, or not at all."""

import importlib.util
import json
import math
from pathlib import Path

import pytest
from looping import one_test

spec = importlib.util.spec_from_file_location("kept_results", Path(__file__).parent / "kept_results.py")
kept_results = importlib.util.module_from_spec(spec)
spec.loader.exec_module(kept_results)

KEPT = json.loads(kept_results.KEPT.read_text())
NOT_NUMBERS = {"versions"}  # of libraries, which people upgrade


@pytest.fixture
def answers():
    return json.loads(json.dumps(kept_results.answers(), default=str))


@one_test
@pytest.mark.parametrize("question", sorted(KEPT))
def test_the_answer_is_what_it_was(answers, question):
    assert list(differences(KEPT[question], answers[question])) == []


def differences(kept, found, place=""):
    """Yield every place where something kept is gone or another value; new fields are welcome."""
    if isinstance(kept, dict) and isinstance(found, dict):
        for key in kept.keys() - NOT_NUMBERS:
            yield from differences(kept[key], found.get(key, "gone"), f"{place}/{key}")
    elif are_violations(kept):
        known = {one["explanation"]: one for one in found}
        for one in kept:
            yield from differences(one, known.get(one["explanation"], one), f"{place}/{one['explanation']}")
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        for i, (one, other) in enumerate(zip(kept, found, strict=True)):
            yield from differences(one, other, f"{place}/{i}")
    elif not same(kept, found) and not is_told_better(place, kept, found):
        yield f"{place}: {found!r} instead of {kept!r}"


def are_violations(kept):
    """Whether it is a list of the worst explanations: since 0.1 others are the worst, by their loss."""
    return (
        isinstance(kept, list)
        and kept != []
        and all(isinstance(one, dict) and "witnesses" in one for one in kept)
    )


def is_told_better(place, kept, found):
    """Since 0.1 what could not be checked has no value, where it had 0.0, and relations have their parameters.

    The lower ends of consistency have risen, since rows that nobody shares an explanation with are merged; the
    standard error is that of the estimate, which they change. All ends allow for an error that is estimated from
    few rows, and for a row that was not seen, so they lie apart by a little more; and so a plan asks for more rows.
    Witnesses are the nearest two rows, where they were the first.
    """
    field = place.rpartition("/")[2]
    if "/witnesses/" in place:
        return field != "prediction"
    if place.endswith("consistency/se"):
        return 0 < found < 0.1
    if place.endswith(("consistency/low", "consistency/bracket/0")):
        return kept - 0.01 < found <= 1
    if field in ("low", "high", "from", "to"):
        return abs(found - kept) < 0.01
    if field in ("p_value", "adjusted_p_value"):
        return abs(found - kept) < 0.03 * kept  # of differences: the level at which an interval excludes 0
    if field == "half_width":
        return kept < found < 1.2 * kept
    return (field, kept, found) == ("value", 0.0, None) or (
        field == "relation" and f"{found}".startswith(f"{kept}:")
    )


def same(kept, found):
    if isinstance(kept, float) and isinstance(found, int | float):
        return math.isclose(kept, found, rel_tol=1e-9, abs_tol=1e-9)
    return kept == found


def test_the_comparison_finds_what_has_changed():
    kept = {"n": 3, "measures": [{"value": 0.5}], "versions": {"numpy": "2.0"}}
    found = {"n": 3, "measures": [{"value": 0.5 + 1e-6}], "new": 1, "versions": {}}
    assert list(differences(kept, found)) == ["/measures/0/value: 0.500001 instead of 0.5"]
    assert list(differences({"n": 3}, {})) == ["/n: 'gone' instead of 3"]
