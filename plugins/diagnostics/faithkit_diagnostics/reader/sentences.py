"""What a reader found, in words that anybody understands."""

from collections.abc import Mapping
from typing import Any

import faithkit

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
    interval = faithkit.plugin.percent_interval(accuracy["low"], accuracy["high"], accuracy["value"])
    return (
        f"{who} guesses the prediction right {faithkit.plugin.percent(accuracy['value'])} of the time "
        f"({interval}); without it, {faithkit.plugin.percent(baseline)}.{more}"
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
    return (
        f"By this reader's score of {score}, consistency is at least {faithkit.plugin.lower_end(low)} "
        f"if {units} are independent ({sure})."
    )


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
