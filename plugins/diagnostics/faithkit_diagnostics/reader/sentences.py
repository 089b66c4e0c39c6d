"""What a reader found, in words that anybody understands."""

import math
from collections.abc import Mapping
from typing import Any

Values = Mapping[str, Any]


def sentences(values: Values) -> list[str]:
    """Return what a reader guesses, and what that says about consistency."""
    return [accuracy_sentence(values), bound_sentence(values)]


def accuracy_sentence(values: Values) -> str:
    """Say how often a reader guesses right, and how often without the explanation.

    Examples
    --------
    >>> shares = {"accuracy": {"value": 0.94, "low": 0.912, "high": 0.957}, "baseline": {"value": 0.63}}
    >>> accuracy_sentence(shares)
    'Somebody who sees only the explanation guesses the prediction right 94 % of the time (91 – 96 %); without
    it, 63 %.'
    """
    if values["accuracy"] is None:
        return _error_sentence(values)
    accuracy, baseline = values["accuracy"], values["baseline"]["value"]
    who, more = _who("classifier", has_learnt=accuracy["low"] > baseline)
    interval = _interval(accuracy["low"], accuracy["high"], accuracy["value"])
    return (
        f"{who} guesses the prediction right {_percent(accuracy['value'])} of the time ({interval}); "
        f"without it, {_percent(baseline)}.{more}"
    )


def _error_sentence(values: Values) -> str:
    """Say how near a reader comes to a number, or to scores, and how near without the explanation."""
    if values["error"] is not None:
        who, more = _who("regressor", has_learnt=values["error"] < values["error_without"])
        error, without = (f"± {_about(values[name])}" for name in ("error", "error_without"))
        guess = f"{who} can tell the prediction to within {error} (root mean square)"
        return f"{guess}; without it, {without}.{more}"
    who, more = _who("regressor", has_learnt=values["score"] > values["score_without"])
    score, without = _number(values["score"]), _number(values["score_without"])
    if values["low"] is None:
        return f"{who} can tell {score} of the variance of the predictions; without it, {without}.{more}"
    return f"{who} can tell the scores with an agreement of {score} on average; without it, {without}.{more}"


def _who(what: str, *, has_learnt: bool) -> tuple[str, str]:
    """Name the reader: what it could learn, somebody can; what it could not, another reader may."""
    if has_learnt:
        return "Somebody who sees only the explanation", ""
    return f"This {what}, which sees only the explanation,", " Another reader may learn more."


def bound_sentence(values: Values) -> str:
    """Say what that tells about consistency, and who the reader was."""
    who = ", ".join(f"{name} {count}×" for name, count in values["classifiers"].items())
    if values["seen"] != values["columns"]:
        who += f", shown {values['seen']:,} of {values['columns']:,} columns"
    score, low = _number(values["score"]), values["low"]
    if low is None and values["score"] <= 0:
        return f"By this reader's R² of {score} nothing is known about consistency (regressor: {who})."
    if low is None:
        return (
            f"By this reader's R² of {score}, consistency is no less on average; numbers have no limit "
            f"(regressor: {who})."
        )
    what = "regressor" if values["accuracy"] is None else "classifier"
    sure = f"{100 * values['confidence']:g} % confidence; {what}: {who}"
    if low <= 0:
        return f"By this reader's score consistency may be anything ({sure})."
    units = "rows" if values["clusters"] is None else "clusters"
    limit = math.floor(1000 * low) / 1000
    return (
        f"By this reader's score of {score}, consistency is at least {limit:.3f} if {units} are independent "
        f"({sure})."
    )


def _percent(share: float) -> str:
    """Return a percentage that says 0 or 100 only where it is.

    Examples
    --------
    >>> [_percent(share) for share in (0.123, 0.995, 0.99999, 1.0, 0.0)]
    ['12 %', '99.5 %', '> 99.9 %', '100 %', '0 %']
    """
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    if share > 0.999 or share < 0.001:
        return "> 99.9 %" if share > 0.5 else "< 0.1 %"
    return f"{100 * share:.{_digits(share)}f} %"


def _interval(low: float, high: float, share: float) -> str:
    """Return an interval in percent, rounded outward; 100 is said only of 1.

    Examples
    --------
    >>> _interval(0.912, 0.957, 0.94), _interval(0.971, 0.99987, 0.995), _interval(0.971, 1.0, 1.0)
    ('91 – 96 %', '97.1 – 99.99 %', '97 – 100 %')
    """
    digits = _digits(share)
    upper = next((d for d in range(digits, 6) if high == 1 or math.ceil(100 * high * 10**d) < 100 * 10**d), 6)
    ends = math.floor(100 * low * 10**digits) / 10**digits, math.ceil(100 * high * 10**upper) / 10**upper
    return f"{ends[0]:.{digits}f} – {ends[1]:.{upper}f} %"


def _digits(share: float) -> int:
    return 0 if 0.01 <= share <= 0.99 or share in (0.0, 1.0) else 1


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _about(value: float) -> str:
    """Return a number in any unit, to three digits.

    Examples
    --------
    >>> _about(1251.85), _about(12.7033), _about(0.000123456), _about(0.0)
    ('1,250', '12.7', '0.000123', '0')
    """
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:.3g}"
