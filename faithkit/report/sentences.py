"""What a measure means, in sentences that cannot be misread.

Each says how much could be checked, whether that is better than chance, and what the lower end is. That much
could be checked is no praise; nor is that all agree, where nothing was tested.
"""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR

from faithkit.measure.estimate import Estimate
from faithkit.measure.finding import ABOVE, BELOW, NOT_ABOVE, UNKNOWN, checked_above_chance, is_significant
from faithkit.measure.jackknife.merging import BLOCK, NEAR, PAIRS
from faithkit.report.agreeing import Words, of_the
from faithkit.report.formats import lower_end, plural, significance, told_apart

NOBODY = {
    "consistency": "No two instances share an explanation",
    "sufficiency": "No explanation applies to another instance",
}
NONE_CHECKED = {
    PAIRS: "those with near explanations were compared in pairs instead",
    NEAR: "those with near explanations were compared with each other instead",
    BLOCK: "all were compared with all instead, as if they had one explanation",
}
REST = {
    PAIRS: "The rest were compared in pairs of near explanations",
    NEAR: "The rest were compared with those of near explanations",
    BLOCK: "The rest were compared with each other, as if they had one explanation",
}
AGAINST_CHANCE = {
    ABOVE: "{} is above chance",
    NOT_ABOVE: "{} is not shown to be above chance",
    BELOW: "{} is below chance",
    UNKNOWN: "This does not show whether {} is above chance",
}
OF_LABELS = Words()


def sentence(
    measure: str, found: Estimate | None, n: int, why_not: str | None = None, words: Words = OF_LABELS
) -> str:
    """Say what one measure of n instances means; of one that is None, why it was not measured.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "yes", "no"] * 50, ["a", "a", "b", "c"] * 50)
    >>> sentence("consistency", result.consistency, result.n)
    'All 200 instances could be checked: others with their explanation get the same prediction 100 % of the
    time. Consistency is above chance: the lower end of its interval is 0.963; chance alone would give 0.623.'
    """
    if found is None:
        return f"{measure.capitalize()} was not measured: {why_not}."
    parts = (
        _checked(measure, found, n, words),
        _found(measure, found),
        _among_checked(found, words),
        _floor(measure, found, words),
    )
    return words.untested(found.finding) or " ".join(filter(None, parts))


def _checked(measure: str, found: Estimate, n: int, words: Words) -> str:
    """Say how much could be checked, how much of that agrees, and what was done with the rest."""
    if found.agree is None:
        instead = NONE_CHECKED.get(found.merging or "", "nothing could be checked")
        who = " instance" if _is_plain(found) else " independent instance"
        nobody = NOBODY[measure].replace(" instance", who)
        return f"{nobody}: {instead}{_understating(measure, found)}."
    agree = words.found(measure, found.agree)
    if found.verified == 1:
        return f"All {plural(n, 'instance')} could be checked: {agree}."
    rest = REST.get(found.merging or "")
    more = f" {rest}{_understating(measure, found)}." if rest else ""
    return f"{_how_many(found, n)} could be checked: {agree}.{more}"


def _is_plain(found: Estimate) -> bool:
    """Whether rows have neither weights nor clusters: else those of one cluster may share an explanation."""
    facts = found.moments
    return facts is None or facts.units.effective > facts.n - 0.5


def _how_many(found: Estimate, n: int) -> str:
    if found.checked is None:
        return f"{of_the(found.verified)} of {plural(n, 'instance')}".capitalize()
    by = "" if math.isclose(found.checked / n, found.verified) else " by weight"
    return f"{found.checked:,} of {plural(n, 'instance')} ({of_the(found.verified)}{by})"


def _understating(measure: str, found: Estimate) -> str:
    return f", which can only understate {measure}" if found.merging in REST else ""


def _found(measure: str, found: Estimate) -> str:
    """Say whether a measure is above chance, and give the end of the interval that shows it."""
    if _only_permuted(found):
        by = f"by the permutation test (p {_p(found)})"
        return f"{measure.capitalize()} is above chance {by}, which its interval does not show."
    if found.high == 1 and found.low == (bottom := _bottom(found)):
        least = "up to" if bottom else "from 0 to"
        return f"The sample rules nothing out: {measure} may be anything {least} 1."
    word = found.finding or ""
    name = measure if word == UNKNOWN else measure.capitalize()
    against = AGAINST_CHANCE.get(word, "").format(name)
    interval = "its interval" if against else f"the interval of {measure}"
    said = ": ".join(filter(None, [against, _ends(found, interval)]))
    return f"{said[0].upper()}{said[1:]}." if said else ""


def _among_checked(found: Estimate, words: Words) -> str | None:
    """Say that checked rows do better than chance, where that does not lift the measure above it."""
    if found.finding not in (NOT_ABOVE, BELOW) or found.moments is None or found.chance is None:
        return None
    if not checked_above_chance(found.moments, found.chance, found.confidence, found.p_value):
        return None
    often = "more often" if words.is_counted else "more"
    test = f" (permutation test, p {_p(found)})" if is_significant(found.p_value, found.confidence) else ""
    return f"Those that could be checked agree {often} than chance{test}."


def _bottom(found: Estimate) -> float:
    """Return what the lower end is where nothing is known: 0, but for the sufficiency of numbers."""
    span = None if found.moments is None or found.merging is not None else found.moments.span
    return 0.0 if span is None else min(0.0, 1.0 - span)


def _only_permuted(found: Estimate) -> bool:
    """Whether a permutation test shows more than chance, and the interval does not."""
    luck = found.chance
    if found.finding != ABOVE or found.low is None or luck is None:
        return False
    return found.low <= luck and is_significant(found.p_value, found.confidence)


def _p(found: Estimate) -> str:
    told = significance(found.p_value or 0.0)
    return told if told.startswith("<") else f"= {told}"


def _ends(found: Estimate, interval: str) -> str | None:
    """Return the end of the interval that decides, and what chance would give; None where neither does."""
    if found.low is None or found.high is None:
        return None
    luck = found.chance
    if luck is None:
        return f"the lower end of {interval} is {lower_end(found.low)}"
    which, way = ("upper", ROUND_CEILING) if found.finding == BELOW else ("lower", ROUND_FLOOR)
    end = found.high if found.finding == BELOW else found.low
    sure = {ABOVE: end > luck, BELOW: end < luck}
    if not sure.get(found.finding or "", True):  # a floor hides what the finding is about
        return None
    shown = told_apart(end if found.finding in sure else min(end, luck), luck, way)
    return f"the {which} end of {interval} is {shown[0]}; chance alone would give {shown[1]}"


def _floor(measure: str, found: Estimate, words: Words) -> str | None:
    if found.floor is None or found.low is None or found.low > found.floor:
        return None
    return words.floor(measure, found.floor)
