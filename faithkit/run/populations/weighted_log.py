"""A log on disk whose rows have weights or clusters: of every row, four numbers are kept in memory."""

from functools import cached_property
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays import Floats
from faithkit.arrays.containers import as_objects, as_series
from faithkit.arrays.grouping import group, ordered
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, SameExplanation, key_of
from faithkit.inputs.files.parquet import Piece
from faithkit.inputs.logs.log import Log
from faithkit.inputs.predictions.labels import encode_labels, listed, nothing_to_explain
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.counting.cell_count import CellCount, count_coded
from faithkit.measure.counting.design import Design, read_clusters, read_weights
from faithkit.measure.counting.owners import Counts
from faithkit.measure.counting.tally import Count
from faithkit.measure.intervals import MeasureStatistics
from faithkit.measure.jackknife.summary import JackknifeEstimate
from faithkit.measure.witnesses import Witness
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.diagnostics import ExplainedRows, explained_rows
from faithkit.run.populations.log_passes import LogReading, labels_of
from faithkit.run.populations.on_disk import OnDisk


@attrs.frozen(eq=False)
class RowCodes:
    """The rows of a piece as numbers: places among its explanations, labels and clusters; and weights."""

    explanations: Explanations
    owned: Counts
    labels: Any
    label: Counts
    weights: Floats | None
    clusters: Any
    cluster: Counts | None

    @classmethod
    def of(cls, log: Log, start: int, reading: LogReading) -> "RowCodes":
        """Encode a piece whose first row has the number `start`."""
        found = attrs.evolve(log.explanations, instances=None)  # nobody will read them
        groups = group(key_of(SameExplanation(), found), found.missing)
        codes, labels = labels_of(log, reading.outcome, start)
        label = np.arange(len(found)) if codes is None else codes
        n = len(found)
        weights = None if log.weights is None else read_weights(log.weights, n, start)
        cluster, names = (None, None) if log.clusters is None else read_clusters(log.clusters, n, start)
        return cls(found.take(groups.first), groups.codes, labels, label, weights, names, cluster)

    @classmethod
    def joined(cls, parts: "list[RowCodes]") -> "RowCodes":
        """Put pieces together, in the order of their rows."""
        explanations = Explanations.concat([part.explanations for part in parts])
        groups = group(key_of(SameExplanation(), explanations), explanations.missing)
        owned = _places([part.explanations for part in parts], groups.codes, [part.owned for part in parts])
        labels, place = _together([part.labels for part in parts])
        label = _places([part.labels for part in parts], place, [part.label for part in parts])
        first = parts[0]
        weights = None if first.weights is None else np.concatenate([part.weights for part in parts])
        cluster = None
        if first.cluster is not None:
            names = [part.clusters for part in parts]
            codes, _ = pd.factorize(as_series(np.concatenate([as_objects(some) for some in names])))
            cluster = _places(names, codes, [part.cluster for part in parts])
        return cls(explanations.take(groups.first), owned, labels, label, weights, None, cluster)


def _places(known: list[Any], codes: Counts, used: list[Any]) -> Counts:
    """Return the new codes of all rows, where `codes` are those of what the pieces know, in order."""
    ends = np.cumsum([0, *map(len, known)])
    return np.concatenate([codes[start + one] for start, one in zip(ends, used, strict=False)])


def _together(parts: list[Any]) -> tuple[Any, Counts]:
    """Return all labels, each once and in order, and where those of each piece stand."""
    if isinstance(parts[0], list):
        found = encode_labels([label for part in parts for label in part])
        return found.classes, found.codes
    return ordered(np.concatenate(parts))


@attrs.frozen(eq=False)
class RowPass:
    """Read what cells need of every row."""

    reading: LogReading

    def run(self) -> RowCodes:
        """Go over the whole log."""
        return RowCodes.joined([one for some in self.reading.each(self, "codes") for one in some])

    def codes(self, pieces: list[Piece]) -> list[RowCodes]:
        """Go over some pieces."""
        return [RowCodes.of(log, start, self.reading) for start, log in self.reading.logs(pieces)]


@attrs.frozen(eq=False, slots=False, kw_only=True)
class WeightedLog(OnDisk):
    """A log whose rows have weights or clusters."""

    uninformative: bool = False

    @cached_property
    def rows(self) -> RowCodes:
        """All rows, as numbers."""
        return RowPass(self.reading).run()

    @cached_property
    def design(self) -> Design | None:
        """What weights and clusters say."""
        rows = self.rows
        return Design.of(rows.weights, rows.cluster, len(rows.owned), self.uninformative)

    @property
    def says_nothing(self) -> bool:
        """Whether predictions are numbers without any variance."""
        return self.reading.outcome.is_divided and len(self.rows.labels) < 2

    @property
    def labels(self) -> list[Any]:
        """The predictions that occur."""
        return listed(self.rows.labels)

    def remarks(self) -> tuple[int, dict[str, int], dict[str, int]]:
        """Count the rows without an explanation, of which a log does not say why, and what was remarked."""
        gone = int(self.rows.explanations.missing[self.rows.owned].sum())
        return gone, {"no explanation": gone} if gone else {}, self.reading.log.remarks()

    def drawn(self, sufficiency: Count | None) -> dict[str, Any]:
        """Tell what the rows are worth, and how many clusters there are."""
        return {} if self.design is None else self.design.told()

    def under(self, discretizer: ResolvedComponent) -> "WeightedLog":
        """Read the log with another discretizer."""
        if discretizer is self.reading.discretizer:
            return self
        return attrs.evolve(self, reading=attrs.evolve(self.reading, discretizer=discretizer))

    def count(self, relation: Relation) -> Any:
        """Tally equality; where weights and clusters say nothing, as any log."""
        if self.design is None:
            return OnDisk(self.reading).count(relation)
        if not relation.groups:
            self.refuse(f"{relation} cannot be counted where rows have weights or clusters")
        rows, outcome = self.rows, self.reading.outcome
        times = np.bincount(rows.label, minlength=len(rows.labels))
        if self.says_nothing:
            raise nothing_to_explain(len(rows.owned), listed(rows.labels)[0])
        known = rows.owned, rows.label, len(rows.labels)
        agreement = outcome.agreement(rows.labels, times)
        nobody = Sample(None, self.example)
        return count_coded(relation, nobody, rows.explanations, *known, self.design, agreement)

    def moments(self, counted: Count, n_classes: int | None = None) -> MeasureStatistics:
        """Jackknife what was counted."""
        if isinstance(counted, CellCount):
            return JackknifeEstimate.of(counted, n_classes).facts
        return OnDisk(self.reading).moments(counted, n_classes)

    def explained_rows(self, outcome: Outcome) -> ExplainedRows:
        """Return the rows as diagnostics see them; nothing is read, as explanations are in memory."""
        rows = self.rows
        every = rows.explanations.take(rows.owned)
        return explained_rows(every, rows.label, listed(rows.labels), outcome, self.design)

    def witnesses(self, counted: Count, explanation: int, held: Counts) -> tuple[Witness, Witness]:
        """Find two rows that count, of different clusters: the others are no evidence."""
        if not isinstance(counted, CellCount):
            return OnDisk(self.reading).witnesses(counted, explanation, held)
        design, labels = counted.design, counted.labels
        rows = np.flatnonzero((counted.owned == explanation) & (design.steps > 0))
        for owner in rows.tolist():
            others = rows[design.unit[rows] != design.unit[owner]]
            apart = counted.agreement.apart(int(labels[owner]), labels[others])
            if apart.any():
                other = int(others[apart.argmax()])
                return self._witness(owner, int(labels[owner])), self._witness(other, int(labels[other]))
        raise AssertionError("the tally counted an instance that is not there")
