"""Explain a measure in sentences.

They say how much could be checked, whether the measure is above chance, and where its interval ends.
"""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR

from faithkit.measure.estimate import Estimate
from faithkit.measure.finding import (
    ABOVE,
    BELOW,
    NAMES_THE_LABEL,
    NOT_ABOVE,
    ONE_LABEL,
    UNKNOWN,
    checked_above_chance,
    is_significant,
)
from faithkit.measure.jackknife.merging import NEAR_BLOCKS, ONE_BLOCK, PAIRS
from faithkit.measure.words import OF_LABELS, Words, share_in_words
from faithkit.report.formats import (
    format_distinct,
    format_lower_end,
    format_p_value,
    pluralize,
)

UNSHARED = {
    "consistency": "No two instances share an explanation",
    "sufficiency": "No explanation applies to another instance",
}
UNSHARED_IN_BLOCKS = {
    "consistency": "No two instances of one block share an explanation",
    "sufficiency": "No explanation applies to another instance of its block",
}
NONE_CHECKED = {
    PAIRS: "pairs of instances with similar explanations were compared",
    NEAR_BLOCKS: "instances with similar explanations were compared with each other",
    ONE_BLOCK: "all instances were compared with each other, as if they had one explanation",
}
REST = {
    PAIRS: "The rest were compared in pairs with similar explanations.",
    NEAR_BLOCKS: "The rest were compared with instances of similar explanations.",
    ONE_BLOCK: "The rest were compared with each other, as if they had one explanation.",
}
AGAINST_CHANCE = {
    ABOVE: "{} is above chance",
    NOT_ABOVE: "{} is not shown to be above chance",
    BELOW: "{} is below chance",
    UNKNOWN: "This does not show whether {} is above chance",
}


def explain_measure(
    measure: str, estimate: Estimate | None, n: int, why_not: str | None = None, words: Words = OF_LABELS
) -> str:
    """Say what a measure of n instances means, or why it was not measured.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "yes", "no"] * 50, ["a", "a", "b", "c"] * 50)
    >>> explain_measure("consistency", result.consistency, result.n)
    'All 200 instances could be checked: others with their explanation get the same prediction 100 % of the
    time. Consistency is above chance: the lower end of its interval is 0.963; chance alone would give 0.623.'
    """
    if estimate is None:
        return f"{measure.capitalize()} was not measured: {why_not}."
    checked = explain_checks(measure, estimate, n, words)
    if estimate.finding in (ONE_LABEL, NAMES_THE_LABEL):
        return checked
    parts = (
        checked,
        _compare_with_chance(measure, estimate),
        _compare_checked_with_chance(estimate, words),
        _explain_floor(measure, estimate, words),
    )
    return " ".join(filter(None, parts))


def explain_checks(measure: str, estimate: Estimate, n: int, words: Words = OF_LABELS) -> str:
    """Say how much could be checked, how much of that agrees, and what was done with the rest.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no", "no"], ["a", "a", "a", "b"])
    >>> explain_checks("consistency", result.consistency, result.n)
    '3 of 4 instances (75 %) could be checked: others with their explanation get the same prediction 33 % of
    the time.'
    """
    if estimate.finding == ONE_LABEL and estimate.is_within_blocks:
        return "In every block all predictions are the same: nothing was tested."
    if (untested := words.untested(estimate.finding)) is not None:
        return untested
    if estimate.agree is None and estimate.is_within_blocks:
        return f"{UNSHARED_IN_BLOCKS[measure]}, so nothing could be checked."
    if estimate.agree is None:
        instead = NONE_CHECKED.get(estimate.merging or "", "nothing could be checked")
        noun = " instance" if _is_plain(estimate) else " independent instance"
        unshared = UNSHARED[measure].replace(" instance", noun)
        return f"{unshared}, so {instead}.{_say_understated(measure, estimate)}"
    agree = words.agreement(measure, estimate.agree)
    if estimate.verified == 1:
        return f"All {pluralize(n, 'instance')} could be checked: {agree}."
    comparison = REST.get(estimate.merging or "")
    addition = f" {comparison}{_say_understated(measure, estimate)}" if comparison else ""
    return f"{_describe_checked(estimate, n)} could be checked: {agree}.{addition}"


def _is_plain(estimate: Estimate) -> bool:
    """Whether rows have neither weights nor clusters, so that all of them are independent."""
    statistics = estimate.statistics
    return statistics is None or statistics.units.effective > statistics.n - 0.5


def _describe_checked(estimate: Estimate, n: int) -> str:
    by = "" if math.isclose(estimate.checked / n, estimate.verified) else " by weight"
    return f"{estimate.checked:,} of {pluralize(n, 'instance')} ({share_in_words(estimate.verified)}{by})"


def _say_understated(measure: str, estimate: Estimate) -> str:
    return f" This can only underestimate {measure}." if estimate.merging in REST else ""


def _compare_with_chance(measure: str, estimate: Estimate) -> str:
    """Say whether a measure is above chance, and give the end of the interval that shows it."""
    if _is_shown_by_permutation_only(estimate):
        by = f"by the permutation test (p {_format_p_value(estimate)})"
        return f"{measure.capitalize()} is above chance {by}, which its interval does not show."
    if estimate.high == 1 and estimate.low == (bottom := _lowest_value(estimate)):
        least = "up to" if bottom else "from 0 to"
        return f"The sample rules nothing out: {measure} may be anything {least} 1."
    name = measure if estimate.finding == UNKNOWN else measure.capitalize()
    against = AGAINST_CHANCE.get(estimate.finding, "").format(name)
    interval = "its interval" if against else f"the interval of {measure}"
    sentence = ": ".join(filter(None, [against, _name_decisive_end(estimate, interval)]))
    return f"{sentence[0].upper()}{sentence[1:]}." if sentence else ""


def _compare_checked_with_chance(estimate: Estimate, words: Words) -> str | None:
    """Say that checked rows agree more than chance, if the whole measure is not above chance."""
    if estimate.finding not in (NOT_ABOVE, BELOW) or estimate.statistics is None or estimate.chance is None:
        return None
    if not checked_above_chance(estimate.statistics, estimate.chance, estimate.confidence, estimate.p_value):
        return None
    often = "more often" if words.is_counted else "more"
    test = (
        f" (permutation test, p {_format_p_value(estimate)})"
        if is_significant(estimate.p_value, estimate.confidence)
        else ""
    )
    return f"Those that could be checked agree {often} than chance{test}."


def _lowest_value(estimate: Estimate) -> float:
    """Return the lower end where nothing is known: 0, except for the sufficiency of numbers."""
    span = None if estimate.statistics is None or estimate.merging is not None else estimate.statistics.span
    return 0.0 if span is None else min(0.0, 1.0 - span)


def _is_shown_by_permutation_only(estimate: Estimate) -> bool:
    """Whether a permutation test shows more than chance, and the interval does not."""
    chance = estimate.chance
    if estimate.finding != ABOVE or estimate.low is None or chance is None:
        return False
    return estimate.low <= chance and is_significant(estimate.p_value, estimate.confidence)


def _format_p_value(estimate: Estimate) -> str:
    p_value = format_p_value(estimate.p_value or 0.0)
    return p_value if p_value.startswith("<") else f"= {p_value}"


def _name_decisive_end(estimate: Estimate, interval: str) -> str | None:
    """Return the decisive end of the interval and the chance level; None if neither decides."""
    if estimate.low is None or estimate.high is None:
        return None
    chance = estimate.chance
    if chance is None:
        return f"the lower end of {interval} is {format_lower_end(estimate.low)}"
    side, rounding = ("upper", ROUND_CEILING) if estimate.finding == BELOW else ("lower", ROUND_FLOOR)
    end = estimate.high if estimate.finding == BELOW else estimate.low
    is_clear = {ABOVE: end > chance, BELOW: end < chance}
    if not is_clear.get(estimate.finding, True):  # a floor hides what the finding is about
        return None
    texts = format_distinct(end if estimate.finding in is_clear else min(end, chance), chance, rounding)
    return f"the {side} end of {interval} is {texts[0]}; chance alone would give {texts[1]}"


def _explain_floor(measure: str, estimate: Estimate, words: Words) -> str | None:
    if estimate.floor is None or estimate.low is None or estimate.low > estimate.floor:
        return None
    return words.floor(measure, estimate.floor)
