"""Next steps after a result: at most three sentences, computed from it and from its rows.

Every number in a sentence comes from a trial of what the sentence proposes: the planner forecasts numbers of
rows, and discretizers and relations are tried on the rows of the result. Slow trials are left out, and so is
a plugin that fails.
"""

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator

import attrs

from faithkit.inputs.rows import has_input_kind
from faithkit.measure.estimate import UNVERIFIABLE, VERIFIABLE, Estimate
from faithkit.measure.finding import ABOVE, BELOW, NAMES_THE_LABEL, NOT_ABOVE, ONE_LABEL, ROUNDING
from faithkit.measure.planning.forecast import MAX_FORECAST_FACTOR, Pilot
from faithkit.measure.planning.plans import PilotPlan, plan_samples, rows_for_width
from faithkit.measure.result_warnings import LABELS
from faithkit.report.formats import format_interval, format_number, format_percent
from faithkit.run.comparisons.discretizer_variants import (
    discretizer_variants,
    estimate_under,
    recommend,
    suitable_discretizers,
    suitable_entries,
)
from faithkit.run.components.learning import learns
from faithkit.run.components.resolution import resolve_component
from faithkit.run.instances.contradictions import shown_measure
from faithkit.run.measurements import Measurements
from faithkit.run.populations.in_memory import InMemory
from faithkit.run.populations.population import SavedPopulation

MAX_STEPS = 3
MAX_ROWS_TO_DISCRETIZE = 20_000  # more rows would take too long
MAX_ROWS_TO_RELATE = 10_000  # each row is checked against all
EPSILON = 0.05  # a small enough unchecked share, and half of a narrow enough interval
MIN_GAIN = 0.05  # in the checked share, for a coarser explanation to be worth proposing

ONE_LABEL_PER_BLOCK = (
    "In every block all predictions are the same, so nothing was tested: give blocks with different "
    "predictions, or leave the blocks out."
)
UNEXPLAINED_DIFFER = (
    "All explained predictions are the same, so nothing was tested, and the others have no explanation: "
    "check rules or reason codes against them (pool=, CLI: --unexplained pool)."
)
ONLY_STEPS = {
    ONE_LABEL: "All explained predictions are the same, so nothing was tested: give rows with different "
    "predictions.",
    NAMES_THE_LABEL: "Each prediction has one explanation, which may only repeat the prediction: read the "
    "explanations, and use another explainer if they do.",
}
LEAKS = "Leave the prediction out of the explanations, and measure them again."


def suggest_next_steps(result: Measurements, measure: str) -> list[str]:
    """Return sentences on what to do after a `Result`: those on the measure of its verdict come first.

    Examples
    --------
    >>> import faithkit
    >>> faithkit.score(["yes"] * 3, ["a", "a", "b"]).next_steps
    ['All explained predictions are the same, so nothing was tested: give rows with different predictions.']
    """
    finding = result.consistency.finding
    if finding == ONE_LABEL and result.design.blocks is not None:
        return [ONE_LABEL_PER_BLOCK]
    is_tested_by_pool = finding == ONE_LABEL != result.measures[shown_measure(result.measures)].finding
    if finding in ONLY_STEPS and not is_tested_by_pool:
        has_other_labels = finding == ONE_LABEL and _have_unexplained_other_labels(result)
        return [UNEXPLAINED_DIFFER if has_other_labels else ONLY_STEPS[finding]]
    if any(warning.name == LABELS for warning in result.warnings):
        return [LEAKS]
    with warnings.catch_warnings():  # about trials that the user did not ask for
        warnings.simplefilter("ignore")
        about_consistency = [_add_rows(result, "consistency"), _coarsen(result)]
        about_sufficiency = [_extend_sufficiency(result), _add_relation(result)]
        sources = [_explain_rows(result), _suggest_blocks(result)]
        if measure == "sufficiency":
            sources += about_sufficiency + about_consistency
        else:
            sources += about_consistency + about_sufficiency
        steps = [step for source in sources for step in _without_failures(source)]
    return steps[:MAX_STEPS] or [_last_step(result)]


def has_many_unexplained(result: Measurements) -> bool:
    """Whether more rows have no explanation than may stay unchecked."""
    return bool(result.unexplained > EPSILON * result.n)


def _have_unexplained_other_labels(result: Measurements) -> bool:
    """Whether rows without an explanation have other labels than the explained rows, which all agree."""
    chance = result.consistency.chance
    return bool(result.unexplained) and chance is not None and 0 < chance < 1 - ROUNDING


def _can_retry(result: Measurements) -> bool:
    """Whether rows are available, and few enough to discretize again."""
    return result.n <= MAX_ROWS_TO_DISCRETIZE and not isinstance(result.evidence.population, SavedPopulation)


def _without_failures(source: Iterator[str]) -> list[str]:
    """Return the steps of a source; none if a plugin fails, since a result can always be printed."""
    with contextlib.suppress(Exception):
        return list(source)
    return []


def _explain_rows(result: Measurements) -> Iterator[str]:
    """Say that rows without an explanation stay unchecked."""
    if has_many_unexplained(result):
        has_reasons = bool(set(result.why_unexplained) - {"no explanation"})
        remedy = "result.why_unexplained counts the known reasons" if has_reasons else "explain them too"
        rows = f"{result.unexplained:,} of {result.n:,} rows"
        yield f"{rows} have no explanation, and cannot be checked: {remedy}."


def _suggest_blocks(result: Measurements) -> Iterator[str]:
    """Suggest blocks if every explanation occurs in one cluster only, so that nothing can be checked."""
    is_shared = result.n_explanations < result.n
    if result.design.clusters is not None and result.consistency.verified == 0 and is_shared:
        yield (
            "Every explanation occurs in one cluster only, and rows of one cluster are not checked against "
            "each other. To compare rows within clusters, such as answers to one question, pass the clusters "
            "as blocks (blocks=, CLI: --blocks)."
        )


def _add_rows(result: Measurements, measure: str) -> Iterator[str]:
    """Forecast how many rows leave little unchecked, or narrow a wide interval."""
    estimate, pilot, plan = result.measures[measure], _pilot(result, measure), _plan(result, measure)
    if pilot is None or plan is None:
        return
    enough = plan.unverified[1]
    if estimate.verified < VERIFIABLE:
        if enough is not None and enough > result.n:
            share = format_percent(EPSILON)
            yield f"About {enough:,} rows in total would leave at most {share} unchecked in {measure}."
        return
    narrow = rows_for_width(pilot, EPSILON) if _is_wide(estimate) else None
    if narrow is not None and narrow > result.n:
        yield f"About {narrow:,} rows in total would narrow the interval of {measure} to ± {EPSILON:g}."


def _is_wide(estimate: Estimate) -> bool:
    """Whether an interval is wider than ± `EPSILON`."""
    low, high = estimate.low, estimate.high
    return low is not None and high is not None and high - low > 2 * EPSILON


def _pilot(result: Measurements, measure: str) -> Pilot | None:
    """Return the result as a pilot; None if rows are not independent or have weights.

    Many rows without an explanation also prevent planning: they would look like rare explanations.
    """
    estimate = result.measures[measure]
    if estimate.checkable_counts is None or estimate.statistics is None or has_many_unexplained(result):
        return None
    return Pilot(estimate.checkable_counts, estimate.statistics, estimate.confidence)


def _plan(result: Measurements, measure: str) -> PilotPlan | None:
    """Return a plan from that pilot, if there is one."""
    pilot = _pilot(result, measure)
    if pilot is None:
        return None
    with contextlib.suppress(ArithmeticError, ValueError):  # a file may have numbers that no sample has
        return plan_samples(EPSILON, pilot=pilot, measure=measure).from_pilot
    return None


def _coarsen(result: Measurements) -> Iterator[str]:
    """Try the suitable discretizers, and propose one under which more can be checked."""
    if result.consistency.verified >= VERIFIABLE or not _can_retry(result):
        return
    kind = result.evidence.population.kind
    names = [*suitable_discretizers(kind), *discretizer_variants(kind)]
    current = result.consistency
    best = _best(names, lambda text: _estimate_discretized(text, result), current.verified, current)
    if best is not None:
        yield _proposal("discretizer", "--discretize", "consistency", *best)


def _estimate_discretized(text: str, result: Measurements) -> Estimate | None:
    """Estimate consistency under a discretizer; None if it learns, since that may need new explanations."""
    discretizer = resolve_component("discretizer", text)
    if text == result.setup.discretizer.text or learns(discretizer):
        return None
    enough = result.consistency.verified + MIN_GAIN
    return estimate_under(discretizer, result.evidence.population, result.setup, enough)


def _extend_sufficiency(result: Measurements) -> Iterator[str]:
    """Say how to check sufficiency for more rows: with a pool if the relation reads only instances."""
    estimate, relation = result.sufficiency, result.setup.applicability.relation
    if estimate is None:
        return
    takes_pool = relation is not None and relation.instance_only and result.design.blocks is None
    if not takes_pool or result.design.pool is not None:
        yield from _add_rows(result, "sufficiency")
    elif estimate.verified < VERIFIABLE:
        plan = _plan(result, "sufficiency")
        enough = None if plan is None else plan.unverified[1]
        rows = "Further rows" if enough is None or enough <= result.n else f"About {enough - result.n:,} rows"
        yield (
            f"{rows} that are predicted but not explained would let more of sufficiency be checked: pass "
            "them as a pool (pool=, CLI: --pool)."
        )


def _add_relation(result: Measurements) -> Iterator[str]:
    """Try the suitable relations if sufficiency says nothing yet, and propose one."""
    estimate = result.sufficiency
    is_checked = estimate is not None and estimate.verified > UNVERIFIABLE
    if is_checked or result.n > MAX_ROWS_TO_RELATE or not isinstance(result.evidence.population, InMemory):
        return
    verified = 0.0 if estimate is None else estimate.verified
    names = _suitable_relations(result.evidence.population)
    best = _best(names, lambda name: _estimate_related(name, result), verified)
    if best is not None:
        yield _proposal("relation", "--relation", "sufficiency", *best)


def _suitable_relations(population: InMemory) -> list[str]:
    """Return the installed relations that accept this kind of explanation and these rows."""
    X = population.sample.X
    return [
        name
        for entry, name in suitable_entries("relation", population.kind)
        if X is None or has_input_kind(X, entry.component.inputs)
    ]


def _estimate_related(name: str, result: Measurements) -> Estimate | None:
    relation = resolve_component("relation", name).instance
    if relation.groups:  # that would be consistency, or a coarser form of it
        return None
    population, setup = result.evidence.population, attrs.evolve(result.setup, permutations=0)
    fitted = population.fit_relation(relation, setup.relation_rows)
    return population.estimate(population.count(fitted), setup)


def _best(
    names: list[str],
    try_component: Callable[[str], Estimate | None],
    verified: float,
    current: Estimate | None = None,
) -> tuple[str, Estimate] | None:
    """Return the component to propose, with its estimate; None if no component lets more be checked.

    Components whose estimate is above chance come first, then those that halve the unchecked share. Nothing
    is proposed if the current estimate would be recommended before them.
    """
    trials: list[tuple[str, Estimate]] = []
    for name in names:
        with contextlib.suppress(Exception):  # a component that fails is not proposed
            estimate = try_component(name)
            if estimate is not None and estimate.verified >= verified + MIN_GAIN:
                trials.append((name, estimate))
    trials = [trial for trial in trials if trial[1].finding == ABOVE] or trials
    trials = [trial for trial in trials if trial[1].verified >= (1 + verified) / 2] or trials
    estimates = [estimate for _, estimate in trials]
    position = recommend(estimates if current is None else [*estimates, current])
    return None if position is None or position == len(trials) else trials[position]


def _proposal(argument: str, flag: str, measure: str, text: str, estimate: Estimate) -> str:
    ends = "" if estimate.low is None else f" ({format_interval(estimate.low, estimate.high)})"
    level = f"{measure} {format_number(estimate.estimate)}{ends}"
    if estimate.finding != ABOVE:
        level += ", not shown to be above chance"
    return (
        f"Try {argument}={text!r} (CLI: {flag} {text}): {format_percent(estimate.verified)} of these rows "
        f"can then be checked, with {level}. It was selected on these rows, so confirm it on new rows."
    )


def _last_step(result: Measurements) -> str:
    """Return the step that remains if neither more rows nor an installed component would help."""
    measure = shown_measure(result.measures)
    estimate: Estimate = result.measures[measure]
    if estimate.verified < VERIFIABLE - MIN_GAIN:
        return _coarsen_by_hand(result)
    shown_by = "result.contradictions() (CLI: --contradictions 5) shows"
    if isinstance(result.evidence.population, SavedPopulation):
        shown_by = (
            "after evaluating or scoring the rows again, contradictions() (CLI: --contradictions 5) shows"
        )
    if estimate.finding == BELOW:
        return f"Explanations determine the prediction worse than chance: {shown_by} which contradict it."
    if estimate.finding == NOT_ABOVE:
        outlook = (
            "More rows may show more than chance"
            if _may_exceed_chance(estimate)
            else f"As far as {result.n:,} rows show, explanations determine the prediction no better than "
            "chance"
        )
        return f"{outlook}; {shown_by} explanations that contradict each other."
    if _is_wide(estimate):
        units = "rows" if result.design.clusters is None else "clusters"
        ends = format_interval(estimate.low, estimate.high)
        return f"More {units} would narrow the interval of {measure} ({ends})."
    if estimate.bracket[1] < 1:
        return (
            f"{measure.capitalize()} is measured well enough: {shown_by} the explanations that hold for "
            "different predictions."
        )
    return f"Nothing to do: {measure} is measured well enough, and all checked instances agree."


def _may_exceed_chance(estimate: Estimate) -> bool:
    """Whether eight times the rows would lift the lower end above chance, if the estimate stayed the same."""
    if estimate.low is None or estimate.chance is None:
        return False
    return (
        estimate.estimate - (estimate.estimate - estimate.low) / math.sqrt(MAX_FORECAST_FACTOR)
        > estimate.chance
    )


def _coarsen_by_hand(result: Measurements) -> str:
    if _can_retry(result):
        return (
            "No installed discretizer lets more rows be checked: pass a function that makes explanations "
            f"coarser (discretizer=){_rows_needed(result)}"
        )
    advice = "name a discretizer (discretizer=, CLI: --discretize)"
    if not isinstance(result.evidence.population, SavedPopulation):
        advice += ", or try all of them with faithkit.try_discretizers(result)"
    return f"Coarser explanations would let more rows be checked: {advice}{_rows_needed(result)}"


def _rows_needed(result: Measurements) -> str:
    """Say what the forecast rules out, if it cannot tell how many rows are enough."""
    plan, target = _plan(result, "consistency"), f"{format_percent(EPSILON)} unchecked"
    if plan is None:
        return "."
    fewest = plan.unverified[0]
    if fewest is None:
        return f". Even {MAX_FORECAST_FACTOR} times the rows would leave more than {target}."
    if fewest > result.n:
        return f", or add rows: {fewest:,} or more are needed to leave {target}."
    return ", or add rows. There are too few rows to forecast how many are needed."
