"""What measures are taken of: rows in memory, a log on disk, or rows of which only a result was kept.

All have the same few operations, and the pipeline uses no others. What a kind of population cannot do is
refused here, in one sentence that says what to do instead.
"""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import FaithkitWarning, InputError
from faithkit.explanations.explanations import Sample
from faithkit.explanations.relations import Relation, fitted
from faithkit.inputs.predictions.labels import Labels
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.counting.owners import Counts
from faithkit.measure.counting.tally import Count
from faithkit.measure.estimate import Estimate, estimate
from faithkit.measure.intervals import MeasureStatistics
from faithkit.measure.jackknife.summary import JackknifeEstimate
from faithkit.measure.witnesses import LocalResult, Witness
from faithkit.run.comparisons.row_pairing import RowNames
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.components.setup import Setup
from faithkit.run.components.system import System
from faithkit.run.diagnostics import ExplainedRows
from faithkit.run.populations.row_groups import members
from faithkit.wording import few

Parts = tuple[str, dict[Any, "Population"], dict[Any, "Population"]]
"""A population divided into groups: what divides it, each group, and everybody else beside each."""


class Population:
    """Instances with their predictions and explanations."""

    where = "here"
    remedy = "give faithkit.score the rows"

    @property
    def kind(self) -> str:
        """The kind of the explanations."""
        self.refuse("explanations cannot be had")

    @property
    def sample(self) -> Sample:
        """The rows and their explanations."""
        self.refuse("rows and explanations cannot be had")

    @property
    def coded(self) -> Labels:
        """The prediction of every row."""
        self.refuse("the predictions of rows cannot be had")

    @property
    def labels(self) -> list[Any]:
        """The predictions that occur, in order of their codes."""
        self.refuse("predictions cannot be listed")

    @property
    def index(self) -> pd.Index | None:
        """The index of pandas that names the rows; None where there is none."""
        return None

    @property
    def says_nothing(self) -> bool:
        """Whether there is nothing to explain: numbers without any variance."""
        return False

    def remarks(self) -> tuple[int, dict[str, int], dict[str, int]]:
        """Return how many instances are unexplained, why, and what was remarked on explanations."""
        self.refuse("explanations cannot be looked at")

    def drawn(self, sufficiency: Count | None) -> dict[str, Any]:
        """Return what is to be told of weights, clusters and a pool; nothing where there are none."""
        return {}

    def data(self) -> dict[str, Any]:
        """Return the size and the fingerprint, which takes reading everything."""
        self.refuse("rows cannot be read")

    def teach(self, discretizer: ResolvedComponent, system: System | None = None) -> None:
        """Let a discretizer learn from the explanations, or from those of a system's background."""
        self.refuse(f"{discretizer.text} cannot learn from the explanations")

    def under(self, discretizer: ResolvedComponent) -> "Population":
        """Return the same rows, whose explanations have the identity that a discretizer gives them."""
        self.refuse("explanations cannot be discretized")

    def fitted(self, relation: Relation, background: Any) -> Relation:
        """Let a relation learn what it needs."""
        return fitted(relation, background)

    def count(self, relation: Relation) -> Count:
        """Tally a relation."""
        self.refuse(f"{relation} cannot be counted")

    def moments(self, counted: Count, n_classes: int | None = None) -> MeasureStatistics:
        """Find the standard errors of what was counted."""
        self.refuse("standard errors cannot be found")

    def p_value(self, counted: Count, facts: MeasureStatistics, permutations: int, seed: int) -> float | None:
        """Permute the predictions; None where clusters leave nothing to permute."""
        self.refuse("predictions cannot be permuted")

    def estimate(self, counted: Count, setup: Setup) -> Estimate:
        """Turn what was counted into a value, and say how sure the sample makes us of it."""
        times, facts = setup.permutations, self.moments(counted, setup.n_classes)
        p_value = self.p_value(counted, facts, times, setup.seed) if times else None
        asked = setup.estimator.instance, setup.confidence, p_value
        return estimate(counted, facts, *asked, setup.n_classes)

    @property
    def row_names(self) -> RowNames:
        """What rows are told apart by, to pair them with others."""
        self.refuse("rows cannot be paired", "say paired=False, or ")

    def side(self, counted: Count | None, n_classes: int | None = None) -> JackknifeEstimate:
        """Return what a paired comparison needs of every row."""
        self.refuse("rows cannot be paired", "say paired=False, or ")

    def parts(self, groups: Any) -> Parts:
        """Divide the population."""
        self.refuse("rows cannot be grouped")

    def witnesses(self, counted: Count, explanation: int, held: Counts) -> tuple[Witness, Witness]:
        """Return the first owner of an explanation that is contradicted, and who contradicts it.

        `held` says how many instances of each label the explanation holds for.
        """
        self.refuse("rows that contradict each other cannot be shown")

    def explained_rows(self, outcome: Outcome) -> ExplainedRows:
        """Return the rows as diagnostics see them."""
        self.refuse("rows and explanations cannot be had")

    def local(self, row: Any, counts: Mapping[str, Count], setup: Setup) -> LocalResult:
        """Measure one row, of the population or a new one."""
        self.refuse("a row cannot be looked up")

    def refuse(self, what: str, instead: str = "") -> NoReturn:
        """Say what cannot be done, and what can be done instead."""
        raise InputError(f"{what} {self.where}: {instead}{self.remedy}.")


def divided(groups: Any, X: Any, labels: Counts, part: Callable[[Counts], Population]) -> Parts:
    """Divide a population as `members` says; `part` makes one of some of its rows."""
    name, rows = members(groups, X, labels)
    everything = np.arange(len(labels))
    others = {group: np.setdiff1d(everything, mine) for group, mine in rows.items()}

    def one(group: Any, mine: Counts, of: str) -> Population:
        try:
            return part(mine)
        except InputError as error:
            raise InputError(f"{of} {name} = {group}: {error}") from None

    parts = {group: one(group, mine, "the rows of") for group, mine in rows.items()}
    rests = {group: one(group, rest, "all but") for group, rest in others.items() if len(rest)}
    return (
        name,
        _telling(name, parts),
        {group: rest for group, rest in rests.items() if not rest.says_nothing},
    )


def _telling(name: str, parts: dict[Any, Population]) -> dict[Any, Population]:
    """Leave out groups in which there is nothing to explain, and say so."""
    silent = [group for group, part in parts.items() if part.says_nothing]
    if len(silent) == len(parts):
        raise InputError(f"in no group of {name} is there anything to explain: each has one prediction.")
    if silent:
        warnings.warn(
            f"{name} = {few(map(str, silent))}: left out, since all predictions of the group are the same "
            "number, and there is no variance to account for.",
            FaithkitWarning,
            stacklevel=5,
        )
    return {group: part for group, part in parts.items() if group not in silent}


@attrs.frozen(eq=False)
class SavedPopulation(Population):
    """Rows of which only the result was kept."""

    told: Mapping[str, Any]

    where = "in a result that was loaded from a file"
    remedy = "evaluate or score the rows again"

    def data(self) -> dict[str, Any]:
        """Return the size and the fingerprint as they were saved."""
        return dict(self.told)
