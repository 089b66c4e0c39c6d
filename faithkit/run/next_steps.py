"""Next steps after a result: at most three sentences, computed from it and from its rows.

Every number in a sentence comes from a trial of what the sentence proposes: the planner forecasts numbers of
rows, and discretizers and relations are tried on the rows of the result. Slow trials are left out, and so is
a plugin that fails.
"""

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator, Mapping

import attrs
import pandas as pd

from faithkit.explanations.explanations import Sample
from faithkit.extension.registry import registry
from faithkit.inputs.rows import has_input_kind
from faithkit.measure.estimate import UNVERIFIABLE, VERIFIABLE, Estimate
from faithkit.measure.finding import ABOVE, BELOW, NAMES_THE_LABEL, NOT_ABOVE, ONE_LABEL
from faithkit.measure.planning.forecast import MAX_FORECAST_FACTOR, Pilot
from faithkit.measure.planning.plans import PilotPlan, plan_samples, rows_for_width
from faithkit.report.formats import format_interval, format_number, format_percent
from faithkit.run.comparisons.discretizer_variants import (
    discretizer_variants,
    estimate_under,
    recommend,
    suitable_discretizers,
)
from faithkit.run.components.discretization import learns
from faithkit.run.components.resolution import resolve_component
from faithkit.run.components.setup import Setup
from faithkit.run.populations.in_memory import InMemory
from faithkit.run.populations.population import Population, SavedPopulation

MAX_STEPS = 3
MAX_ROWS_TO_DISCRETIZE = 20_000  # more rows would take too long
MAX_ROWS_TO_RELATE = 10_000  # each row is checked against all
EPSILON = 0.05  # a small enough unchecked share, and half of a narrow enough interval
MIN_GAIN = 0.05  # in the checked share, for a coarser explanation to be worth proposing

ONE_LABEL_PER_BLOCK = (
    "In every block all predictions are the same, so nothing was tested: give blocks with rows that the "
    "model decides differently, or leave the blocks out."
)
ONLY_STEPS = {
    ONE_LABEL: "All explained predictions are the same, so nothing was tested: give rows that the model "
    "decides differently.",
    NAMES_THE_LABEL: "Each prediction has one explanation, which may be no more than its name: read them, "
    "and explain by something else if they say no more than the prediction.",
}


@attrs.frozen(eq=False)
class Stage:
    """The facts about a result that next steps depend on."""

    n: int
    measures: Mapping[str, Estimate]
    setup: Setup
    population: Population
    pool: int | None
    clusters: int | None
    blocks: int | None
    uniqueness: float
    unexplained: int

    @property
    def consistency(self) -> Estimate:
        """The measure that every result has."""
        return self.measures["consistency"]

    @property
    def main_estimate(self) -> Estimate:
        """The estimate whose violations are shown."""
        return self.measures.get("sufficiency", self.consistency)

    @property
    def has_many_unexplained(self) -> bool:
        """Whether more rows have no explanation than may stay unchecked."""
        return self.unexplained > EPSILON * self.n

    @property
    def can_retry(self) -> bool:
        """Whether there are rows, and few enough to discretize them again."""
        return not isinstance(self.population, SavedPopulation) and self.n <= MAX_ROWS_TO_DISCRETIZE


def next_steps(stage: Stage) -> list[str]:
    """Return sentences on what to do next, the most useful first.

    Examples
    --------
    >>> import faithkit
    >>> faithkit.score(["yes"] * 3, ["a", "a", "b"]).next_steps
    ['All explained predictions are the same, so nothing was tested: give rows that the model ...']
    """
    if stage.consistency.finding == ONE_LABEL and stage.blocks is not None:
        return [ONE_LABEL_PER_BLOCK]
    finding = stage.consistency.finding or ""
    is_tested_by_pool = finding == ONE_LABEL != stage.main_estimate.finding
    if finding in ONLY_STEPS and not is_tested_by_pool:
        return [ONLY_STEPS[finding]]
    with warnings.catch_warnings():  # about trials that the user did not ask for
        warnings.simplefilter("ignore")
        sources = (
            _explain_rows(stage),
            _suggest_blocks(stage),
            _add_rows(stage, "consistency"),
            _coarsen(stage),
            _extend_sufficiency(stage),
            _add_relation(stage),
        )
        steps = [step for source in sources for step in _without_failures(source)]
    return steps[:MAX_STEPS] or [_last_step(stage)]


def _without_failures(source: Iterator[str]) -> list[str]:
    """Return the steps of a source; none if a plugin fails, since a result can always be printed."""
    with contextlib.suppress(Exception):
        return list(source)
    return []


def _explain_rows(stage: Stage) -> Iterator[str]:
    """Say that rows without an explanation stay unchecked."""
    if stage.has_many_unexplained:
        yield (
            f"{stage.unexplained:,} of {stage.n:,} rows have no explanation, and cannot be checked: "
            "result.why_unexplained says what is known of the reasons."
        )


def _suggest_blocks(stage: Stage) -> Iterator[str]:
    """Point to blocks where every explanation occurs in one cluster only, so that nothing can be checked."""
    if stage.clusters is not None and stage.consistency.verified == 0 and stage.uniqueness < 1:
        yield (
            "Every explanation occurs in one cluster only, and rows of one cluster are not checked against "
            "each other. If rows are to be compared within it, such as answers to one question, give it as "
            "blocks (blocks=, CLI: --blocks)."
        )


def _add_rows(stage: Stage, measure: str) -> Iterator[str]:
    """Forecast how many rows leave little unchecked, or narrow a wide interval."""
    estimate, pilot, plan = stage.measures[measure], _pilot(stage, measure), _plan(stage, measure)
    if pilot is None or plan is None:
        return
    enough = plan.unverified[1]
    if estimate.verified < VERIFIABLE:
        if enough is not None and enough > stage.n:
            share = format_percent(EPSILON)
            yield f"About {enough:,} rows would leave at most {share} unchecked in {measure}."
        return
    low, high = estimate.low, estimate.high
    is_wide = low is not None and high is not None and high - low > 2 * EPSILON
    if is_wide and (narrow := rows_for_width(pilot, EPSILON)) is not None and narrow > stage.n:
        yield f"About {narrow:,} rows would narrow the interval of {measure} to ± {EPSILON:g}."


def _pilot(stage: Stage, measure: str) -> Pilot | None:
    """Return the result as its own pilot; None if its rows are not independent or do not count alike.

    Many rows without an explanation also prevent planning: they would look like rare explanations.
    """
    estimate = stage.measures[measure]
    if estimate.checkable_counts is None or estimate.statistics is None or stage.has_many_unexplained:
        return None
    return Pilot(estimate.checkable_counts, estimate.statistics, estimate.confidence)


def _plan(stage: Stage, measure: str) -> PilotPlan | None:
    """Return a plan from that pilot, if there is one."""
    pilot = _pilot(stage, measure)
    if pilot is None:
        return None
    with contextlib.suppress(ArithmeticError, ValueError):  # a file may have numbers that no sample has
        return plan_samples(EPSILON, pilot=pilot, measure=measure).from_pilot
    return None


def _coarsen(stage: Stage) -> Iterator[str]:
    """Try the suitable discretizers, and propose one under which more can be checked."""
    if stage.consistency.verified >= VERIFIABLE or not stage.can_retry:
        return
    kind = stage.population.kind
    names = [*suitable_discretizers(kind), *discretizer_variants(kind)]
    current = stage.consistency
    best = _best(names, lambda text: _estimate_discretized(text, stage), current.verified, current)
    if best is not None:
        yield _proposal("discretizer", "--discretize", "consistency", *best)


def _estimate_discretized(text: str, stage: Stage) -> Estimate | None:
    """Estimate consistency under a discretizer; None if it learns, since that may need new explanations."""
    discretizer = resolve_component("discretizer", text)
    if text == stage.setup.discretizer.text or learns(discretizer):
        return None
    return estimate_under(discretizer, stage.population, stage.setup, stage.consistency.verified + MIN_GAIN)


def _extend_sufficiency(stage: Stage) -> Iterator[str]:
    """Say how to check sufficiency for more rows: with a pool if the relation reads only instances."""
    estimate, relation = stage.measures.get("sufficiency"), stage.setup.applicability.relation
    if estimate is None:
        return
    takes_pool = relation is not None and relation.instance_only and stage.blocks is None
    if not takes_pool or stage.pool is not None:
        yield from _add_rows(stage, "sufficiency")
    elif estimate.verified < VERIFIABLE:
        plan = _plan(stage, "sufficiency")
        enough = None if plan is None else plan.unverified[1]
        rows = "Further rows" if enough is None or enough <= stage.n else f"About {enough - stage.n:,} rows"
        yield (
            f"{rows} that are predicted but not explained would let more of sufficiency be checked: give "
            "them as a pool (pool=, CLI: --pool)."
        )


def _add_relation(stage: Stage) -> Iterator[str]:
    """Try the suitable relations if sufficiency says nothing yet, and propose one."""
    estimate = stage.measures.get("sufficiency")
    is_checked = estimate is not None and estimate.verified > UNVERIFIABLE
    if is_checked or stage.n > MAX_ROWS_TO_RELATE or not isinstance(stage.population, InMemory):
        return
    if not _is_about_columns(stage.population.sample):
        return
    verified = 0.0 if estimate is None else estimate.verified
    names = _suitable_relations(stage.population)
    best = _best(names, lambda name: _estimate_related(name, stage), verified)
    if best is not None:
        yield _proposal("relation", "--relation", "sufficiency", *best)


def _is_about_columns(sample: Sample) -> bool:
    """Whether the names of vectors end in the names of columns: `phi_age` is about `age`."""
    names = sample.explanations.shared.get("names")
    if names is None or not isinstance(sample.X, pd.DataFrame):
        return True
    columns = list(map(str, sample.X.columns))
    return len(names) == len(columns) and all(map(str.endswith, map(str, names), columns))


def _suitable_relations(population: Population) -> list[str]:
    """Return the installed relations that accept this kind of explanation and these rows."""
    plugins, X = registry(), population.sample.X
    pairs = zip(plugins.entries("relation"), plugins.names("relation"), strict=True)
    return [
        name
        for entry, name in pairs
        if population.kind in (entry.component.kinds or (population.kind,))
        and (X is None or has_input_kind(X, entry.component.inputs))
    ]


def _estimate_related(name: str, stage: Stage) -> Estimate | None:
    relation = resolve_component("relation", name).instance
    if relation.groups:  # that would be consistency, or a coarser form of it
        return None
    fitted = stage.population.fit_relation(relation, stage.setup.background)
    setup = attrs.evolve(stage.setup, permutations=0)
    return stage.population.estimate(stage.population.count(fitted), setup)


def _best(
    names: list[str],
    try_component: Callable[[str], Estimate | None],
    verified: float,
    current: Estimate | None = None,
) -> tuple[str, Estimate] | None:
    """Return the component to propose, with its estimate; None if no component lets more be checked.

    Components whose estimate is above chance come first, then those that halve the unchecked share. The
    current estimate takes part in the recommendation; if it wins, the best of the others is returned.
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
    if position == len(estimates):
        position = recommend(estimates)
    return None if position is None else trials[position]


def _proposal(argument: str, flag: str, measure: str, text: str, estimate: Estimate) -> str:
    ends = "" if estimate.low is None else f" ({format_interval(estimate.low, estimate.high)})"
    level = f"{measure} {format_number(estimate.estimate)}{ends}"
    if estimate.finding != ABOVE:
        level += ", not shown to be above chance"
    return (
        f"{argument}={text!r} (CLI: {flag} {text}) lets {format_percent(estimate.verified)} of these rows "
        f"be checked: {level}. It was chosen on these rows: confirm it on others."
    )


def _last_step(stage: Stage) -> str:
    """Return the step that remains if neither more rows nor an installed component would help."""
    estimate = stage.main_estimate
    if estimate.verified < VERIFIABLE - MIN_GAIN:
        return _coarsen_by_hand(stage)
    violations = "result.violations() (CLI: --violations 5) shows"
    if isinstance(stage.population, SavedPopulation):
        violations = "evaluate or score the rows again, and violations() (CLI: --violations 5) shows"
    if estimate.finding == BELOW:
        return f"Explanations determine the prediction worse than chance: {violations} which contradict it."
    if estimate.finding == NOT_ABOVE:
        outlook = (
            "More rows may show more than chance"
            if _may_exceed_chance(estimate)
            else f"As far as {stage.n:,} rows show, explanations determine the prediction no better than "
            "chance"
        )
        return f"{outlook}; {violations} explanations that contradict each other."
    measure = "sufficiency" if "sufficiency" in stage.measures else "consistency"
    outcome = (
        f"{violations} the explanations that hold for different predictions"
        if estimate.bracket[1] < 1
        else "whatever could be checked agrees"
    )
    return f"{measure.capitalize()} is measured well enough: {outcome}."


def _may_exceed_chance(estimate: Estimate) -> bool:
    """Whether eight times the rows would lift the lower end above chance, if the estimate stayed the same."""
    if estimate.low is None or estimate.chance is None:
        return False
    return (
        estimate.estimate - (estimate.estimate - estimate.low) / math.sqrt(MAX_FORECAST_FACTOR)
        > estimate.chance
    )


def _coarsen_by_hand(stage: Stage) -> str:
    if stage.can_retry:
        return (
            "No installed discretizer lets more rows be checked: give a function from explanations to "
            f"coarser ones (discretizer=){_rows_needed(stage)}."
        )
    advice = "name a discretizer (discretizer=, CLI: --discretize)"
    if not isinstance(stage.population, SavedPopulation):
        advice += ", which faithkit.try_discretizers(result) tries"
    return f"Coarser explanations would let more rows be checked: {advice}{_rows_needed(stage)}."


def _rows_needed(stage: Stage) -> str:
    """Say what the forecast rules out, if it cannot tell how many rows are enough."""
    plan, target = _plan(stage, "consistency"), f"{format_percent(EPSILON)} unchecked"
    if plan is None:
        return ""
    at_least = plan.unverified[0]
    if at_least is None:
        return f"; even {MAX_FORECAST_FACTOR} times the rows would leave more than {target}"
    if at_least > stage.n:
        return f"; or more rows: at least {at_least:,} are needed to leave {target}"
    return f"; or more rows: these are too few to tell how many leave {target}"
