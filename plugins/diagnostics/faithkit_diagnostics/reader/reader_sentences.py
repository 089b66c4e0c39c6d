"""The sentences that report a reader's result in everyday words."""

from collections.abc import Mapping
from typing import Any

import faithkit

Values = Mapping[str, Any]


def sentences(values: Values) -> list[str]:
    """Return a sentence about the reader's accuracy, and one about consistency."""
    return [accuracy_sentence(values), bound_sentence(values)]


def accuracy_sentence(values: Values) -> str:
    """Return the sentence about how often a reader is right, with and without the explanation.

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
    reader, remark = _reader_phrase("classifier", has_learnt=accuracy["low"] > baseline)
    interval = faithkit.plugin.format_percent_interval(accuracy["low"], accuracy["high"], accuracy["value"])
    return (
        f"{reader} guesses the prediction right {faithkit.plugin.format_percent(accuracy['value'])} of the "
        f"time ({interval}); without it, {faithkit.plugin.format_percent(baseline)}.{remark}"
    )


def _error_sentence(values: Values) -> str:
    """Return the sentence about the error for numbers or scores, with and without the explanation."""
    if values["error"] is not None:
        reader, remark = _reader_phrase("regressor", has_learnt=values["error"] < values["error_without"])
        error, without = (f"± {_round_number(values[name])}" for name in ("error", "error_without"))
        guess = f"{reader} can tell the prediction to within {error} (root mean square)"
        return f"{guess}; without it, {without}.{remark}"
    reader, remark = _reader_phrase("regressor", has_learnt=values["score"] > values["score_without"])
    score, without = _format_number(values["score"]), _format_number(values["score_without"])
    if values["low"] is None:
        return f"{reader} can tell {score} of the variance of the predictions; without it, {without}.{remark}"
    agreement = f"an agreement of {score} on average"
    return f"{reader} can tell the scores with {agreement}; without it, {without}.{remark}"


def _reader_phrase(noun: str, *, has_learnt: bool) -> tuple[str, str]:
    """Return the subject of a sentence, and a remark: if this reader learnt nothing, another one may."""
    if has_learnt:
        return "Somebody who sees only the explanation", ""
    return f"This {noun}, which sees only the explanation,", " Another reader may learn more."


def bound_sentence(values: Values) -> str:
    """Return the sentence about the limit of consistency."""
    columns = f"{values['seen']:,} of {values['columns']:,} columns"
    reader = "this reader" if values["seen"] == values["columns"] else f"this reader, who saw {columns},"
    score, low = _format_number(values["score"]), values["low"]
    if low is None and values["score"] <= 0:
        return f"By the R² of {reader} ({score}) nothing is known about consistency."
    if low is None:
        return f"By the R² of {reader} ({score}), consistency is no less on average; numbers have no limit."
    details = f"{100 * values['confidence']:g} % confidence"
    if low <= 0:
        return f"By the score of {reader} consistency may be anything ({details})."
    units = "rows" if values["clusters"] is None else "clusters"
    end = faithkit.plugin.format_lower_end(low)
    claim = f"consistency is at least {end} if {units} are independent"
    return f"By the score of {reader} ({score}), {claim} ({details})."


def _format_number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _round_number(value: float) -> str:
    """Format a number in any unit, with three digits.

    Examples
    --------
    >>> _round_number(1251.85), _round_number(12.7033), _round_number(0.000123456), _round_number(0.0)
    ('1,250', '12.7', '0.000123', '0')
    """
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:.3g}"
