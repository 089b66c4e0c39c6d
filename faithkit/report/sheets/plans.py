"""Show a plan: the precision of each number of rows, and which one to use."""

from faithkit.measure.planning.forecast import MAX_FORECAST_FACTOR
from faithkit.measure.planning.plans import MAX_EXPLAINED_FACTOR, PilotPlan, Plan, RangePlan
from faithkit.report.formats import pluralize
from faithkit.report.sheets.sheet import Bullets, Sheet


def plan_sheet(plan: Plan) -> Sheet:
    """Return the precision of each number of rows, by its source, and which number to use.

    Examples
    --------
    >>> import faithkit
    >>> print(faithkit.plan(0.05, n_explanations=2))
    For the consistency of any explainer with at most 2 explanations:
      - 16 rows: a bias of at most 0.05. Bias is how much too low the estimate is on
        average; sampling error comes in addition.
      - 2,465 rows: a 95 % interval of ± 0.05 or less.
      - 1,966 rows: a mean-squared error of at most 0.05, by the paper's corollary.
    Explain 2,465 rows: enough can be checked from 16 rows on, and the interval is
    narrow enough from 2,465 on; use the larger number.
    """
    parts: list[str | Bullets] = []
    if plan.from_range is not None:
        size = pluralize(plan.from_range.n_explanations, "explanation")
        parts.append(f"For the consistency of any explainer with at most {size}:")
        parts.append(Bullets(_range_promises(plan, plan.from_range)))
    if plan.from_pilot is not None:
        parts.append(f"For {plan.measure}, from a pilot of {pluralize(plan.from_pilot.n, 'row')}:")
        parts.append(Bullets(_pilot_promises(plan, plan.from_pilot)))
    return Sheet(None, [*parts, *_advice(plan)])


def _range_promises(plan: Plan, source: RangePlan) -> list[str]:
    limit = f"{plan.epsilon:g}"
    bias = (
        f"a bias of at most {limit}. Bias is how much too low the estimate is on average; sampling error "
        "comes in addition"
    )
    error = f"a mean-squared error of at most {limit}, by the paper's corollary"
    return [
        f"{pluralize(source.bias, 'row')}: {bias}.",
        f"{pluralize(source.half_width, 'row')}: {_interval(plan)}.",
        f"{pluralize(source.corollary, 'row')}: {error}.",
    ]


def _pilot_promises(plan: Plan, source: PilotPlan) -> list[str]:
    best, worst = source.unverified
    rows = _more_than(MAX_FORECAST_FACTOR * source.n) if worst is None else pluralize(worst, "row")
    if best is not None and best != worst:
        rows += f" ({best:,} at best)" if worst is not None else f" at worst, {best:,} at best"
    narrow = (
        pluralize(source.half_width, "row")
        if source.half_width
        else _more_than(MAX_EXPLAINED_FACTOR * source.n)
    )
    return [
        f"{rows}: at most {plan.epsilon:g} of them unchecked, on average.",
        f"{narrow}: {_interval(plan)}, in nine cases of ten{_average(source)}.",
    ]


def _average(source: PilotPlan) -> str:
    """Return how many rows are enough on average, by the pilot's own interval."""
    if source.on_average is None or source.on_average == source.half_width:
        return ""
    if source.on_average == source.n:
        return ". The pilot's own interval is that narrow, which may be by chance"
    return f". On average {source.on_average:,} rows are enough"


def _more_than(rows: int) -> str:
    return f"more than {pluralize(rows, 'row')}"


def _interval(plan: Plan) -> str:
    return f"a {100 * plan.confidence:g} % interval of ± {plan.epsilon:g} or less"


def _advice(plan: Plan) -> list[str]:
    """Return which number to use and why, and how many of these rows a pool can replace."""
    if plan.n is None or plan.to_explain is None:
        return [f"No sample size is certain to be enough: {plan.why}"]
    lines = [f"Explain {pluralize(plan.n, 'row')}: {plan.why}"]
    spare = plan.n - plan.to_explain
    pilot = plan.from_pilot
    if pilot is not None and plan.n == pilot.n:
        lines.append("The pilot has them; fewer may be enough.")
    if pilot is not None and pilot.pool:
        lines.append(f"They are checked against each other and a pool of {pluralize(pilot.pool, 'row')}.")
    elif spare and plan.measure == "sufficiency":
        lines.append(f"With a pool of {pluralize(spare, 'row')}, explain only {plan.to_explain:,}.")
    return lines
