"""A plan in words: what each number of rows promises, and which one to use."""

from collections.abc import Iterable
from textwrap import fill

from faithkit.measure.planning.forecast import FARTHEST
from faithkit.measure.planning.plans import MOST_EXPLAINED, PilotPlan, Plan, RangePlan
from faithkit.report.formats import plural

WIDTH = 80
Line = tuple[str, str]  # how many rows, and what they promise


def plan_text(plan: Plan) -> str:
    """Return a plan as lines for a person.

    Examples
    --------
    >>> from faithkit.measure.planning.plans import plan_samples
    >>> print(plan_text(plan_samples(0.05, n_explanations=2)), end="")
    For the consistency of any explainer with at most 2 explanations:
      16 rows: a bias of at most 0.05. That is how much too low the value is on
        average; luck comes on top.
      2,465 rows: a 95 % interval of ± 0.05 or less.
      1,966 rows: a mean-squared error of at most 0.05, by the paper's corollary.
    Explain 2,465 rows: enough can be checked from 16 rows on, and the interval is
    narrow enough from 2,465 on; the larger number keeps both promises.
    """
    lines: list[str] = []
    for source, told in promises(plan).items():
        lines += [source, *_lines(told)]
    return "\n".join([*lines, *map(_wrapped, advice(plan))]) + "\n"


def promises(plan: Plan) -> dict[str, list[Line]]:
    """Return what each number of rows promises, by what that is known from."""
    found = {}
    if plan.from_range is not None:
        few = plural(plan.from_range.n_explanations, "explanation")
        source = f"For the consistency of any explainer with at most {few}:"
        found[source] = _of_range(plan, plan.from_range)
    if plan.from_pilot is not None:
        source = f"For {plan.measure}, from a pilot of {plural(plan.from_pilot.n, 'row')}:"
        found[source] = _of_pilot(plan, plan.from_pilot)
    return found


def _lines(told: Iterable[Line]) -> list[str]:
    return [_wrapped(f"{rows}: {promise}.", first="  ", then="    ") for rows, promise in told]


def _wrapped(sentence: str, first: str = "", then: str = "") -> str:
    """Break lines as every report does, and never between a number and its percent sign."""
    told = fill(sentence.replace(" %", "\u00a0%"), WIDTH, initial_indent=first, subsequent_indent=then)
    return told.replace("\u00a0", " ")


def _of_range(plan: Plan, told: RangePlan) -> list[Line]:
    limit = f"{plan.epsilon:g}"
    bias = f"a bias of at most {limit}. That is how much too low the value is on average; luck comes on top"
    error = f"a mean-squared error of at most {limit}, by the paper's corollary"
    return [
        (plural(told.bias, "row"), bias),
        (plural(told.half_width, "row"), _interval(plan)),
        (plural(told.corollary, "row"), error),
    ]


def _of_pilot(plan: Plan, told: PilotPlan) -> list[Line]:
    best, worst = told.unverified
    rows = _more(FARTHEST * told.n) if worst is None else plural(worst, "row")
    if best is not None and best != worst:
        rows += f" ({best:,} at best)" if worst is not None else f" at worst, {best:,} at best"
    narrow = told.half_width and plural(told.half_width, "row")
    return [
        (rows, f"at most {plan.epsilon:g} of them unchecked, on average"),
        (narrow or _more(MOST_EXPLAINED * told.n), f"{_interval(plan)}, in nine cases of ten{_usual(told)}"),
    ]


def _usual(told: PilotPlan) -> str:
    """Say what is usual, judged by the pilot's own interval, which people see beside the plan."""
    if told.on_average is None or told.on_average == told.half_width:
        return ""
    if told.on_average == told.n:
        return ". The pilot's own interval is that narrow, which may be luck"
    return f". On average {told.on_average:,} rows are enough"


def _more(rows: int) -> str:
    return f"more than {plural(rows, 'row')}"


def _interval(plan: Plan) -> str:
    return f"a {100 * plan.confidence:g} % interval of ± {plan.epsilon:g} or less"


def advice(plan: Plan) -> list[str]:
    """Say which number to use and why, and how much of it a pool can do: its rows need no explanation."""
    if plan.n is None or plan.to_explain is None:
        return [f"No number can be promised: {plan.why}"]
    lines = [f"Explain {plural(plan.n, 'row')}: {plan.why}"]
    spare = plan.n - plan.to_explain
    pilot = plan.from_pilot
    if pilot is not None and plan.n == pilot.n:
        lines.append("The pilot has them.")
    if pilot is not None and pilot.pool:
        lines.append(f"They are checked against each other and a pool of {plural(pilot.pool, 'row')}.")
    elif spare and plan.measure == "sufficiency":
        lines.append(f"With a pool of {plural(spare, 'row')}, explain only {plan.to_explain:,}.")
    return lines
