"""What somebody could guess who sees only the explanation, in words that anybody understands."""

from faithkit.report.formats import Told, number, percent, percents, rounded_down
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
    sure = percents(right["low"], right["high"], right["value"])
    return (
        "Somebody who sees only the explanation guesses the prediction right "
        f"{percent(right['value'])} of the time ({sure}); without it, {percent(usual)}."
    )


def bounded(found: Told) -> str:
    """Say what that tells about consistency, and who the reader was."""
    who = listing(f"{name} {count}×" for name, count in found["classifiers"].items())
    return f"{_limits(found)} ({100 * found['confidence']:g} % confidence; classifier: {who}{_seen(found)})."


def _seen(found: Told) -> str:
    columns, seen = found.get("columns"), found.get("seen")
    return f", shown {seen:,} of {columns:,} columns" if columns != seen else ""


def _limits(found: Told) -> str:
    low, sure = found["low"], found["guaranteed"]
    if max(low, sure or 0) <= 0:
        return "By this reader's score consistency may be anything"
    also = (
        "" if sure is None else f", and at least {rounded_down(sure)} by a bound that needs no approximation"
    )
    score = number(found["score"])
    return f"By this reader's score of {score}, consistency is at least {rounded_down(low)}{also}"
