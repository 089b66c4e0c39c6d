"""What somebody could guess who sees only the explanation, in words that anybody understands."""

from faithkit.report.formats import Told, about, number, percent, percents, rounded_down
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
    if found["accuracy"] is None:
        return _told(found)
    right, usual = found["accuracy"], found["baseline"]["value"]
    who, more = _who("classifier", learnt=right["low"] > usual)
    sure = percents(right["low"], right["high"], right["value"])
    return (
        f"{who} guesses the prediction right "
        f"{percent(right['value'])} of the time ({sure}); without it, {percent(usual)}.{more}"
    )


def _who(what: str, *, learnt: bool) -> tuple[str, str]:
    """Name the reader: what it could learn, somebody can; what it could not, another reader may."""
    if learnt:
        return "Somebody who sees only the explanation", ""
    return f"This {what}, which sees only the explanation,", " Another reader may learn more."


def bounded(found: Told) -> str:
    """Say what that tells about consistency, and who the reader was."""
    who = listing(f"{name} {count}×" for name, count in found["classifiers"].items())
    if found["low"] is None:
        return f"{_r_squared(found)} (regressor: {who}{_seen(found)})."
    what = "regressor" if found["accuracy"] is None else "classifier"
    return f"{_limit(found)} ({100 * found['confidence']:g} % confidence; {what}: {who}{_seen(found)})."


def _told(found: Told) -> str:
    """Say how near a reader comes to a number, or to scores, and how near without the explanation."""
    if found["error"] is not None:
        who, more = _who("regressor", learnt=found["error"] < found["error_without"])
        off, without = (f"± {about(found[name])}" for name in ("error", "error_without"))
        return (
            f"{who} can tell the prediction to within {off} (root mean square); without it, {without}.{more}"
        )
    who, more = _who("regressor", learnt=found["score"] > found["score_without"])
    agree, without = number(found["score"]), number(found["score_without"])
    if found["low"] is None:
        return f"{who} can tell {agree} of the variance of the predictions; without it, {without}.{more}"
    return f"{who} can tell the scores with an agreement of {agree} on average; without it, {without}.{more}"


def _r_squared(found: Told) -> str:
    """Say what a reader's score says about the measure: no more than on average."""
    score = number(found["score"])
    if found["score"] <= 0:
        return f"By this reader's R² of {score} nothing is known about consistency"
    return f"By this reader's R² of {score}, consistency is no less on average; numbers have no limit"


def _seen(found: Told) -> str:
    columns, seen = found.get("columns"), found.get("seen")
    return f", shown {seen:,} of {columns:,} columns" if columns != seen else ""


def _limit(found: Told) -> str:
    if found["low"] <= 0:
        return "By this reader's score consistency may be anything"
    score, low = number(found["score"]), rounded_down(found["low"])
    units = "rows" if found["clusters"] is None else "clusters"
    return f"By this reader's score of {score}, consistency is at least {low} if {units} are independent"
