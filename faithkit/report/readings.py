"""What somebody could guess who sees only the explanation, in words that anybody understands."""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from faithkit.report.formats import Told
from faithkit.wording import listing


def reading_sentences(told: Told) -> list[str]:
    """Return what a result has to say about a reader: nothing, where none was asked."""
    found = told.get("reader")
    return [] if found is None else [guessed(found), bounded(found)]


def guessed(found: Told) -> str:
    """Say how often a reader guesses right, and how often without the explanation.

    Examples
    --------
    >>> guessed({"accuracy": {"value": 0.94, "low": 0.912, "high": 0.957}, "baseline": {"value": 0.63}})
    'Somebody who sees only the explanation guesses the prediction right 94 % of the time (91 – 96 %); without
    it, 63 %.'
    """
    right, usual = found["accuracy"], found["baseline"]["value"]
    places = _places(right["value"])
    low, high = _rounded(right["low"], places, ROUND_FLOOR), _rounded(right["high"], places, ROUND_CEILING)
    return (
        "Somebody who sees only the explanation guesses the prediction right "
        f"{_percent(right['value'])} of the time ({low} – {high} %); without it, {_percent(usual)}."
    )


def bounded(found: Told) -> str:
    """Say what that tells about consistency, and who the reader was."""
    low, sure = (_at_least(found[name]) for name in ("low", "guaranteed"))
    also = "" if sure is None else f", and at least {sure} by a bound that needs no approximation"
    who = listing(f"{name} {count}×" for name, count in found["classifiers"].items())
    return (
        f"By this reader's score of {found['score']:.3f}, consistency is at least {low}{also} "
        f"({100 * found['confidence']:g} % confidence; classifier: {who})."
    )


def _places(share: float) -> int:
    """Return how many decimals a percentage needs: one near 0 and 100, where whole ones say too little."""
    return 1 if 0 < share < 0.01 or 0.99 < share < 1 else 0


def _percent(share: float) -> str:
    if 0 < share < 0.001 or 0.999 < share < 1:
        return "< 0.1 %" if share < 0.5 else "> 99.9 %"
    return f"{_rounded(share, _places(share), ROUND_HALF_EVEN)} %"


def _rounded(share: float, places: int, way: str) -> Decimal:
    return (100 * Decimal(share)).quantize(Decimal(1).scaleb(-places), way)


def _at_least(value: float | None) -> Decimal | None:
    return None if value is None else Decimal(value).quantize(Decimal("0.001"), ROUND_FLOOR)
