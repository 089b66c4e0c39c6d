"""The control of sufficiency: drawn for rows in memory, and compared with the measure."""

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import ContractError, InputError
from faithkit.measure.baselines.ceiling import Ceiling, measure_ceiling
from faithkit.measure.baselines.control import MIN_DRAWS, Control, compare_with_control
from faithkit.measure.baselines.paired_rows import PairedRows
from faithkit.measure.counting.count import Count
from faithkit.run.comparisons.control_draws import ControlDraws, draw_controls
from faithkit.run.components.setup import Setup
from faithkit.run.populations.in_memory import InMemory
from faithkit.run.populations.population import Population


@attrs.frozen(eq=False)
class ControlComparison:
    """A control and its mean by predicted label, or the reason why there is none.

    The keys of `by_label` are the codes of labels.
    """

    control: Control | None = None
    by_label: dict[int, float] = attrs.field(factory=dict)
    why_not: str | None = None

    @classmethod
    def of(cls, population: Population, count: Count | None, setup: Setup) -> "ControlComparison":
        """Draw the control of sufficiency and compare it."""
        reason = why_no_control(population, count, setup)
        if reason is not None:
            return cls(why_not=reason)
        assert isinstance(population, InMemory)
        assert count is not None
        relation = setup.applicability.relation
        assert relation is not None
        try:
            drawn = draw_controls(population, count, relation, setup.seed, setup.draws or MIN_DRAWS)
            paired = PairedRows(drawn.measure, drawn.draws)
            ceiling = _ceiling(population, drawn)
            control = compare_with_control(paired, ceiling, setup.confidence)
        except ContractError:
            raise
        except InputError as error:  # the measure stands without its control
            return cls(why_not=str(error).rstrip("."))
        return cls(control, paired.control_by_label())


def why_no_control(population: Population, count: Count | None, setup: Setup) -> str | None:
    """Return why sufficiency has no control; None if one can be drawn."""
    if count is None or setup.applicability.relation is None:
        return "sufficiency was not measured"
    if setup.draws == 0:
        return "none was asked for (control_draws=0)"
    if not isinstance(population, InMemory):
        request = f"ask for it by control_draws={MIN_DRAWS} (CLI: --control-draws {MIN_DRAWS})"
        return f"the log was read in pieces: {request}, which reads all rows at once"
    return None


def _ceiling(population: InMemory, drawn: ControlDraws) -> Ceiling:
    """Return the agreement of the model with itself on the rows of a control, without each unit of them."""
    measure, n = drawn.measure, len(drawn.rows)
    words, design = population.row_content.words, measure.design
    instance = np.arange(n) if words is None else pd.factorize(words[drawn.rows])[0].astype(np.int64)
    unit, weight = design.independent_unit[:n], design.weights[:n]
    return measure_ceiling(instance, measure.labels[:n], measure.agreement, unit, weight)
