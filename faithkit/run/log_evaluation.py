"""The result of a log that was read in pieces: all that its cells tell, without its rows."""

from functools import cached_property
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.measure.cells import Cells
from faithkit.measure.comparison import Difference, Side
from faithkit.measure.estimate import Estimate, estimate
from faithkit.measure.explanations import Sample
from faithkit.measure.inference import Moments, chance
from faithkit.measure.owned import Counts
from faithkit.measure.relations import Relation, SameExplanation
from faithkit.measure.tally import Count
from faithkit.measure.witnesses import LocalResult, Witness
from faithkit.run.components import component
from faithkit.run.evaluation import Evaluation
from faithkit.run.log_counts import LogCount, count_log, log_moments, witnesses
from faithkit.run.passes import FirstPass, Reading
from faithkit.run.pipeline import Labels, encode_labels
from faithkit.run.readable import cells_of
from faithkit.run.subgroups import Subgroups, members

REMEDY = "read the log into memory and give faithkit.score its columns"


@attrs.define(eq=False, slots=False, kw_only=True, repr=False)
class LogEvaluation(Evaluation):
    """An evaluation whose rows stayed on disk.

    Its `sample` holds one row per distinct explanation, and its counts one instance per cell. `cells` has
    predictions for labels, `grouped_cells` pairs of group and prediction where there are groups.
    """

    reading: Reading
    cells: Cells
    grouped_cells: Cells | None = None

    @property
    def n(self) -> int:
        """The number of instances."""
        return int(self.cells.count.sum())

    @property
    def unexplained(self) -> int:
        """The number of instances without an explanation."""
        return int(self.cells.count[~self.cells.reflexive].sum())

    @property
    def why_unexplained(self) -> dict[str, int]:
        """How many instances have no explanation; a log does not say why."""
        return {"no explanation": self.unexplained} if self.unexplained else {}

    @property
    def remarks(self) -> dict[str, int]:
        """Nothing: a log has no remarks."""
        return {}

    @property
    def singletons(self) -> float:
        """The share of instances whose explanation nobody else has."""
        return float((self._grouped.cells.sizes == 1).sum() / self.n)

    @property
    def chance(self) -> float | None:
        """What a constant explainer would get; compare a value with `verified` × chance."""
        return chance(self._grouped.cells.by_label())

    @cached_property
    def data(self) -> dict[str, Any]:
        """The size and the fingerprint of the log: computed when asked for, since it reads all once more."""
        try:
            return self.reading.log.fingerprint()
        except (TypeError, ValueError):
            return {"rows": self.n, "columns": None, "fingerprint": None}

    def measure(self, relation: Any) -> Estimate:
        """Estimate the measure of any relation that does not learn from all rows."""
        chosen = component("relation", relation).instance
        if learns_from_rows(chosen):
            raise InputError(f"{chosen} learns from all rows, which were read in pieces: {REMEDY}.")
        return self._estimate(self._count(chosen))

    def local(self, row: Any) -> LocalResult:
        """Refuse: the rows are on disk."""
        raise InputError(f"a row cannot be looked up in a log that was read in pieces: {REMEDY}.")

    def difference(self, other: Evaluation, measure: str = "consistency", paired: bool = True) -> Difference:
        """Return this measure minus the other's, of disjoint samples only."""
        if paired:
            raise InputError(
                f"rows cannot be paired when a log was read in pieces: say paired=False, or {REMEDY}."
            )
        return super().difference(other, measure, paired)

    def by(self, groups: Any) -> Subgroups:
        """Re-estimate inside each group of the column that the log was read with."""
        pairs = self.grouped_cells
        if pairs is None or groups != self.reading.log.roles.by:
            raise InputError(f"the log was not read with the groups {groups!r}: name their column with --by.")
        values = np.array([pairs.labels[code][0] for code in pairs.label], dtype=object)
        codes = encode_labels([pairs.labels[code][1] for code in pairs.label]).codes
        name, rows = members(pd.Series(values, name=groups, dtype=object), None, codes)
        return self._divided(name, rows, len(values))

    def _part(self, rows: Any) -> "LogEvaluation":
        assert self.grouped_cells is not None
        cells = predictions_of(self.grouped_cells.taken(rows))
        return attrs.evolve(self, grouped_cells=None, **rows_of(cells))

    def _count(self, relation: Relation) -> LogCount:
        if isinstance(relation, SameExplanation):
            return count_log(self.reading, relation, self.cells)
        cells = FirstPass(self.reading, relation).run()
        return count_log(self.reading, relation, predictions_of(cells))

    def _estimate(self, counted: Count) -> Estimate:
        return estimate(counted, self._facts(counted), self.estimator.instance, self.confidence)

    def _facts(self, counted: Count) -> Moments:
        assert isinstance(counted, LogCount)
        return log_moments(counted)

    def _side(self, measure: str) -> Side:
        counted = self._applied if measure == "sufficiency" else self._grouped
        if counted is None:
            raise InputError(f"{measure} cannot be compared: {self.why_no_sufficiency}.")
        return Side(self._facts(counted), np.empty(0), np.empty(0))  # nothing can be paired

    def _witnesses(self, counted: Count, u: int, held: Counts) -> tuple[Witness, Witness]:
        assert isinstance(counted, LogCount)
        owner, other = witnesses(counted, u, held)
        return self._seen(*owner), self._seen(*other)

    def _seen(self, row: int, label: int) -> Witness:
        log = self.reading.log
        X = log.table.using(log.roles.features).row(row).frame() if log.roles.features else None
        return Witness(row, self.labels.classes[label], cells_of(X, 0))


def learns_from_rows(relation: Relation) -> bool:
    """Whether a relation is fitted to the rows it is asked about, and so needs all of them at once."""
    return type(relation).fit is not Relation.fit


def predictions_of(cells: Cells) -> Cells:
    """Return cells by prediction, in the order that predictions have everywhere: groups are forgotten."""
    if cells.labels and isinstance(cells.labels[0], tuple):
        cells = cells.relabelled(lambda pair: pair[1])
    found = encode_labels(cells.labels)
    return cells.sorted_as(found.codes, found.classes)


def rows_of(cells: Cells) -> dict[str, Any]:
    """Return what stands in place of an evaluation's rows."""
    return {
        "cells": cells,
        "sample": Sample(None, cells.explanations),
        "labels": Labels(cells.label, cells.labels),
    }
