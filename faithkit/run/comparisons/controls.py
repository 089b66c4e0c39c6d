"""The control of sufficiency, drawn where the relation offers one and the sample is not too large."""

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays import Floats, Ints
from faithkit.arrays.grouping import group
from faithkit.errors import ContractError, InputError
from faithkit.measure.baselines.control import (
    MIN_DRAWS,
    Ceiling,
    Control,
    compare_with_control,
    measure_ceiling,
)
from faithkit.measure.counting.tally import Count, RowCount
from faithkit.run.components.setup import Setup
from faithkit.run.populations.in_memory import InMemory
from faithkit.run.populations.population import Population

MAX_ROWS = 10_000  # a larger sample has a control only on request


@attrs.frozen(eq=False)
class ControlComparison:
    """A control and the counts of its draws, or the reason why there is none."""

    control: Control | None = None
    counts: tuple[RowCount, ...] = ()
    why_not: str | None = None

    @classmethod
    def of(cls, population: Population, count: Count | None, setup: Setup) -> "ControlComparison":
        """Draw the control of sufficiency and compare it."""
        reason = why_no_control(population, count, setup)
        if reason is not None:
            return cls(why_not=reason)
        assert isinstance(population, InMemory)
        assert isinstance(count, RowCount)
        relation = setup.applicability.relation
        assert relation is not None
        measure = population.jackknife_estimate(count, setup.n_classes)
        try:
            counts = tuple(population.draw_controls(relation, setup.seed, setup.draws or MIN_DRAWS))
            draws = [population.jackknife_estimate(draw, setup.n_classes) for draw in counts]
            control = compare_with_control(measure, draws, _ceiling(population, count), setup.confidence)
        except ContractError:
            raise
        except InputError as error:  # the measure stands without its control
            return cls(why_not=str(error).rstrip("."))
        return cls(control, counts)


def why_no_control(population: Population, count: Count | None, setup: Setup) -> str | None:
    """Return why sufficiency has no control; None if one can be drawn."""
    relation = setup.applicability.relation
    if count is None or relation is None:
        return "sufficiency was not measured"
    if relation.control is None:
        return f"the relation {relation} offers none"
    if setup.draws == 0:
        return "none was asked for (control_draws=0)"
    request = f"ask for it by control_draws={MIN_DRAWS} (CLI: --control-draws {MIN_DRAWS})"
    if not isinstance(population, InMemory):
        return f"the log was read in pieces: {request}, which reads all rows at once"
    if setup.draws is None and len(population.sample) > MAX_ROWS:
        return f"{len(population.sample):,} rows are many: {request}"
    return None


def _ceiling(population: InMemory, count: RowCount) -> Ceiling:
    """Return the agreement of the model with itself, without each unit that the jackknife deletes."""
    words, block = population.row_content.words, population.sample.explanations.block
    rows = np.arange(len(population.sample))
    instance = rows if words is None else pd.factorize(words)[0].astype(np.int64)
    if block is not None:  # the same row of two blocks, such as questions, is no instance asked twice
        instance = group(np.column_stack([instance, block])).codes
    unit, weight = _sampling_units(population)
    labels = population.encoded_labels.codes
    ceiling = measure_ceiling(instance, labels, count.agreement, unit, weight)
    has_weight = np.bincount(unit, weights=weight) > 0
    return attrs.evolve(ceiling, without=ceiling.without[has_weight])


def _sampling_units(population: InMemory) -> tuple[Ints, Floats]:
    """Return the unit of each row, which is itself, its cluster or its block, and its weight."""
    n, design, block = (
        len(population.sample),
        population.explained_design,
        population.sample.explanations.block,
    )
    if block is not None:
        return np.unique(block, return_inverse=True)[1], np.ones(n)
    return (np.arange(n), np.ones(n)) if design is None else (design.unit, design.weights)
