"""A log on disk whose rows have weights or clusters: four numbers per row are kept in memory."""

from functools import partial
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays import Floats
from faithkit.arrays.containers import as_objects, as_series
from faithkit.arrays.grouping import group, sort_distinct
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, SameExplanation, key_of
from faithkit.inputs.files.parquet import Piece
from faithkit.inputs.logs.log import Log
from faithkit.inputs.predictions.labels import class_list, encode_labels, no_variance_error
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.counting.count import CodedRows, Count
from faithkit.measure.counting.design import Design, read_clusters, read_weights
from faithkit.measure.counting.owners import Counts
from faithkit.measure.instances.rows import SampleRow
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.diagnostics import ExplainedRows
from faithkit.run.instances.contradictions import find_rows_of_two_clusters
from faithkit.run.populations.log_passes import LogReader, encode_log_predictions
from faithkit.run.populations.on_disk import OnDisk


@attrs.frozen(eq=False)
class RowCodes:
    """The rows of a log, or of pieces of it, as codes.

    Attributes
    ----------
    explanations : Explanations
        The distinct explanations.
    owned : (n,) int
        For each row, the position of its explanation.
    labels : list or array
        The distinct predictions.
    label : (n,) int
        For each row, the code of its prediction.
    weights : (n,) float or None
    cluster_names : sequence or None
        The distinct clusters; None where they are not needed any more.
    cluster : (n,) int or None
        For each row, the code of its cluster.
    """

    explanations: Explanations
    owned: Counts
    labels: Any
    label: Counts
    weights: Floats | None
    cluster_names: Any
    cluster: Counts | None

    @classmethod
    def of(cls, log: Log, start: int, reader: LogReader) -> "RowCodes":
        """Encode a piece whose first row has the number `start`."""
        explanations = attrs.evolve(log.explanations, instances=None)  # saves memory: grouping reads none
        n = len(explanations)
        groups = group(key_of(SameExplanation(), explanations), explanations.missing)
        codes, labels = encode_log_predictions(log, reader.outcome, start)
        label = np.arange(n) if codes is None else codes
        weights = None if log.weights is None else read_weights(log.weights, n, start)
        cluster, names = (None, None) if log.clusters is None else read_clusters(log.clusters, n, start)
        return cls(explanations.take(groups.first), groups.codes, labels, label, weights, names, cluster)

    @classmethod
    def concat(cls, pieces: "list[RowCodes]") -> "RowCodes":
        """Join pieces, in the order of their rows, with common codes."""
        explanations = Explanations.concat([piece.explanations for piece in pieces])
        groups = group(key_of(SameExplanation(), explanations), explanations.missing)
        owned_explanation = _recode(
            [piece.explanations for piece in pieces], groups.codes, [piece.owned for piece in pieces]
        )
        labels, label_codes = _merge_labels([piece.labels for piece in pieces])
        label = _recode([piece.labels for piece in pieces], label_codes, [piece.label for piece in pieces])
        has_weights, has_clusters = pieces[0].weights is not None, pieces[0].cluster is not None
        weights = np.concatenate([piece.weights for piece in pieces]) if has_weights else None
        cluster = None
        if has_clusters:
            names = [piece.cluster_names for piece in pieces]
            codes, _ = pd.factorize(as_series(np.concatenate(list(map(as_objects, names)))))
            cluster = _recode(names, codes, [piece.cluster for piece in pieces])
        return cls(explanations.take(groups.first), owned_explanation, labels, label, weights, None, cluster)


def _recode(values: list[Any], new_codes: Counts, row_codes: list[Any]) -> Counts:
    """Return the common codes of all rows.

    Parameters
    ----------
    values : list of sequences
        The distinct values of each piece.
    new_codes : array of int
        The common code of each of these values, piece after piece.
    row_codes : list of arrays of int
        For each row of each piece, the position of its value in the piece.
    """
    starts = np.cumsum([0, *map(len, values)])[:-1]
    return np.concatenate([new_codes[start + codes] for start, codes in zip(starts, row_codes, strict=True)])


def _merge_labels(labels_of_pieces: list[Any]) -> tuple[Any, Counts]:
    """Return the distinct labels in order, and the common codes of the labels of each piece."""
    if isinstance(labels_of_pieces[0], list):
        encoded = encode_labels([label for labels in labels_of_pieces for label in labels])
        return encoded.classes, encoded.codes
    return sort_distinct(np.concatenate(labels_of_pieces))


def _encode_pieces(reader: LogReader, pieces: list[Piece]) -> list[RowCodes]:
    return [RowCodes.of(log, start, reader) for start, log in reader.logs(pieces)]


def open_weighted_log(reader: LogReader, uninformative: bool = False) -> OnDisk:
    """Read the weights and clusters of a log; rows that are equal and independent need no design."""
    rows_of_files = reader.map_pieces(partial(_encode_pieces, reader))
    rows = RowCodes.concat([codes for file in rows_of_files for codes in file])
    design = Design.of(rows.weights, rows.cluster, len(rows.owned), uninformative)
    return OnDisk(reader) if design is None else WeightedLog(reader, rows=rows, design=design)


@attrs.frozen(eq=False, slots=False, kw_only=True)
class WeightedLog(OnDisk):
    """A log whose rows have weights or clusters: all rows as codes, and their design."""

    rows: RowCodes
    design: Design

    @property
    def has_no_variance(self) -> bool:
        """Whether all predictions are the same number, so that there is nothing to explain."""
        return self.reader.outcome.is_normalised and len(self.rows.labels) < 2

    @property
    def labels(self) -> list[Any]:
        """The distinct predictions, in the order of their codes."""
        return class_list(self.rows.labels)

    def remarks(self) -> tuple[int, dict[str, int], dict[str, int]]:
        """Return the number of unexplained rows, its reason, and the counts of remarks."""
        n_missing = int(self.rows.explanations.missing[self.rows.owned].sum())
        reasons = {"no explanation": n_missing} if n_missing else {}
        return n_missing, reasons, self.reader.log.remarks()

    def design_fields(self, sufficiency: Count | None) -> dict[str, Any]:
        """Return the effective sample size and the number of clusters."""
        return self.design.summary_fields()

    def with_discretizer(self, discretizer: ResolvedComponent) -> OnDisk:
        """Return the same log with another discretizer, in one more pass."""
        if discretizer is self.reader.discretizer:
            return self
        reader = attrs.evolve(self.reader, discretizer=discretizer)
        return open_weighted_log(reader, self.design.uninformative)

    def count(self, relation: Relation) -> Count:
        """Count equality, with weights and clusters."""
        if not relation.groups:
            self.refuse(f"{relation} cannot be counted where rows have weights or clusters")
        rows, n_labels = self.rows, len(self.rows.labels)
        if self.has_no_variance:
            raise no_variance_error(len(rows.owned), self.labels[0])
        label_counts = np.bincount(rows.label, minlength=n_labels)
        empty_sample = Sample(None, self.reader.example)
        coded = CodedRows(
            relation, empty_sample, None, rows.explanations, rows.owned, rows.label, n_labels, self.design
        )
        return coded.count(self.reader.outcome.agreement(rows.labels, label_counts))

    def explained_rows(self, outcome: Outcome) -> ExplainedRows:
        """Return the rows in the form that diagnostics receive, without a pass over the log."""
        rows = self.rows
        explanations = rows.explanations.take(rows.owned)
        return ExplainedRows.of(explanations, rows.label, self.labels, outcome=outcome, design=self.design)

    def find_pair(self, count: Count, explanation: int, label_counts: Counts) -> tuple[SampleRow, SampleRow]:
        """Find two rows that contradict each other, with weights above 0 and of different clusters."""
        rows = find_rows_of_two_clusters(count, explanation, np.flatnonzero(count.owned == explanation))
        first, second = (self._read_row(row, int(count.labels[row])) for row in rows)
        return first, second
