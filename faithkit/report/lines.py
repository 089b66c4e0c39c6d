"""Values in one line, as Python shows them: what they are, and the numbers that matter."""

from collections.abc import Mapping
from typing import Any

from faithkit.jsonable import names
from faithkit.measure.difference import Difference
from faithkit.measure.estimate import Estimate
from faithkit.measure.local_estimate import LocalEstimate
from faithkit.measure.planning.plans import Plan
from faithkit.measure.witnesses import LocalResult, Violation
from faithkit.report.formats import (
    between,
    held,
    number,
    outward,
    percent,
    plural,
    predictions,
    signed,
    significance,
    system_name,
)
from faithkit.report.told import nothing_known, printed_groups
from faithkit.wording import few

LETTERS = 60  # of an explanation


def result_line(result: Any) -> str:
    """Return what was measured: computed of what is at hand, since Python asks often."""
    setup = result.setup
    name = system_name(None if setup.explainer is None else setup.explainer.text, setup.discretizer.text)
    found = [f"{measure} {level(one)}" for measure, one in result.measures.items()]
    return f"of {name}: {', '.join([plural(result.n, 'instance'), *found])}"


def level(found: Estimate) -> str:
    """Return the estimate of a measure, or that nothing is known of it: a bare 0 would be misread.

    Examples
    --------
    >>> import faithkit
    >>> level(faithkit.score(["yes", "no"], ["a", "b"]).consistency)
    'unknown'
    """
    if nothing_known(found):
        return "unknown"
    ends = "" if found.low is None else f" ({outward(found.low, found.high)})"
    return f"estimate {number(found.estimate)}{ends}"


def estimate_line(found: Estimate) -> str:
    """Return the level, how much could be checked, and the finding."""
    return f"{level(found)}, {percent(found.verified)} checked, {found.finding or 'no finding'}"


def each_line(found: Mapping[Any, Any]) -> str:
    """Return the level of each of several systems or groups."""
    levels = {name: "unknown" if nothing_known(one) else number(one.estimate) for name, one in found.items()}
    return few(f"{name} {told}" for name, told in levels.items())


def comparison_line(compared: Any) -> str:
    """Return the systems, the highest first."""
    found = {measure: compared.ranked(measure) for measure in ("consistency", "sufficiency")}
    levels = [f"{measure} estimates: {each_line(some)}" for measure, some in found.items() if some]
    return f"of {plural(len(compared.results), 'system')}; {'; '.join(levels)}"


def subgroup_line(groups: Any) -> str:
    """Return the groups and their consistency."""
    found = {name: part.consistency for name, part in zip(names(groups), groups.values(), strict=True)}
    return f"by {groups.name}; consistency estimates: {each_line(printed_groups(found))}"


def difference_line(found: Difference) -> str:
    """Return a difference with interval and p."""
    ends = f"{100 * found.confidence:g} % interval {between(found.low, found.high)}"
    return f"{signed(found.value)} ({ends}), p {significance(found.p_value)}"


def pair_line(pair: Any) -> str:
    """Return the difference of two systems."""
    told, adjusted = difference_line(pair.difference), significance(pair.adjusted)
    return f"{pair.first} minus {pair.second}: {told}, adjusted {adjusted}"


def local_line(found: LocalEstimate) -> str:
    """Return one measure of one instance."""
    ends = "" if found.low is None else f" ({outward(found.low, found.high)})"
    return f"{number(found.value)}{ends}, holds for {plural(found.holds_for, 'instance')}"


def instance_line(found: LocalResult) -> str:
    """Return both measures of one instance."""
    both = {"consistency": found.consistency, "sufficiency": found.sufficiency}
    told = [f"{name} {number(one.value)}" for name, one in both.items() if one is not None]
    return f"{predictions(found.prediction)[0]}, explained by {_short(found.explanation)}: {', '.join(told)}"


def violation_line(found: Violation) -> str:
    """Return an explanation, and whom it holds for."""
    return f"{_short(found.explanation)}: holds for {held(found)}"


def violations_line(found: list[Violation]) -> str:
    """Return how many there are, and the worst."""
    return plural(len(found), "explanation") + (f", the worst: {violation_line(found[0])}" if found else "")


def plan_line(plan: Plan) -> str:
    """Return how many rows to explain."""
    rows = "no number can be promised" if plan.n is None else f"explain {plural(plan.n, 'row')}"
    return f"for {plan.measure} ± {plan.epsilon:g}: {rows}"


def findings_line(found: Any) -> str:
    """Return the result that more was asked about."""
    return result_line(found.result)


def _short(explanation: str) -> str:
    return explanation if len(explanation) <= LETTERS else f"{explanation[:LETTERS]}…"
