"""Passes over a log that may be larger than memory, on threads.

Results are taken in the order of the rows, and counts are whole numbers, which add up exactly. So threads do
not change a result.
"""

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import chain
from typing import Any, TypeVar

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays import Ints
from faithkit.arrays.batches import stream
from faithkit.arrays.containers import concat_rows
from faithkit.arrays.grouping import group, sort_distinct
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, key_of
from faithkit.inputs.files.parquet import Piece as FilePiece
from faithkit.inputs.logs.log import Log
from faithkit.inputs.logs.log_files import ParquetLog
from faithkit.inputs.predictions.labels import MissingPredictionError, as_checked_numbers, encode_labels
from faithkit.inputs.predictions.outcome import LABEL_OUTCOME, LABELS, Outcome
from faithkit.measure.counting.bits import Piece
from faithkit.measure.counting.census import SAVED, Census, Values, merge_censuses
from faithkit.run.components.discretization import discretize
from faithkit.run.components.resolution import ResolvedComponent

T = TypeVar("T")

N_INSPECTED = 4096  # numbers that decide whether predictions hardly repeat


@attrs.frozen(eq=False, slots=False)
class LogReader:
    """A log, the discretizer of its explanations, and what its predictions are."""

    log: ParquetLog
    discretizer: ResolvedComponent
    outcome: Outcome = LABEL_OUTCOME

    @cached_property
    def example(self) -> Explanations:
        """An empty set of this log's explanations, which shows their kind."""
        return self.log.roles.read_log(self.log.table.empty()).explanations

    def logs(self, pieces: list[FilePiece]) -> Iterator[tuple[int, Log]]:
        """Read pieces, and yield each as a log with discretized explanations and its first row number."""
        for piece in pieces:
            start = piece.start
            for log in self.log.logs(piece):
                yield start, attrs.evolve(log, explanations=discretize(self.discretizer, log.explanations))
                start += len(log.explanations)

    def map_pieces(self, function: Callable[[list[FilePiece]], T]) -> Iterator[T]:
        """Call a function for each piece of the log, on threads, and yield the results in order."""
        return stream(lambda piece: function([piece]), self.log.table.pieces)


def take_census(reader: LogReader, relation: Relation) -> Census:
    """Collect the distinct explanations of a log, as a relation sees them, and their owners."""
    return merge_censuses(relation, reader.map_pieces(partial(_take_census_of_pieces, reader, relation)))


def _take_census_of_pieces(reader: LogReader, relation: Relation, pieces: list[FilePiece]) -> Census:
    censuses = (_count_log(log, start, reader.outcome, relation) for start, log in reader.logs(pieces))
    return merge_censuses(relation, censuses)


def _count_log(log: Log, start: int, outcome: Outcome, relation: Relation) -> Census:
    explanations = log.explanations
    if relation.groups:
        explanations = attrs.evolve(explanations, instances=None)  # saves memory: grouping reads none
    codes, labels = encode_log_predictions(log, outcome, start)
    return Census.of(relation, explanations, codes, labels, start, _encode_groups(log))


def encode_log_predictions(log: Log, outcome: Outcome, start: int) -> tuple[Ints | None, Values]:
    """Return the codes and the distinct values of predictions.

    The codes are None where each row has a code of its own. Errors name the row in the whole log, whose
    first row in `log` is `start`.
    """
    is_missing = log.predictions.isna().to_numpy()
    if is_missing.any():
        row = start + _first_row(is_missing)
        kind = MissingPredictionError if outcome.has_labels else InputError
        raise kind(f"the prediction of row {row} is missing: drop such rows.")
    if outcome.kind == LABELS:
        encoded = encode_labels(log.predictions)
        return encoded.codes, encoded.classes
    if _are_floats(log.predictions):
        is_infinite = np.isinf(np.asarray(log.predictions, dtype=np.float64))
        if is_infinite.any():
            row = start + _first_row(is_infinite)
            raise InputError(f"the prediction of row {row} is infinite: drop such rows.")
    numbers = as_checked_numbers(log.predictions, outcome)
    if outcome.is_normalised and log.groups is None and _hardly_repeat(numbers):
        return None, numbers
    values, codes = sort_distinct(numbers)
    return codes, values


def _first_row(mask: NDArray[np.bool_]) -> int:
    """Return the first row of a mask, of one or several columns, in which a value is true."""
    return int(mask.reshape(len(mask), -1).any(axis=1).argmax())


def _hardly_repeat(numbers: NDArray[np.float64]) -> bool:
    """Whether nearly all of the first numbers differ; this only affects memory."""
    first_numbers = numbers[:N_INSPECTED]
    return numbers.ndim == 1 and len(np.unique(first_numbers)) > SAVED * len(first_numbers)


def _are_floats(predictions: Any) -> bool:
    dtypes = [predictions.dtype] if predictions.ndim == 1 else predictions.dtypes
    return all(dtype.kind in "biuf" for dtype in dtypes)


def _encode_groups(log: Log) -> tuple[Ints, list[Any]] | None:
    """Return the codes and the names of the groups; the name None is that of rows without a group."""
    if log.groups is None:
        return None
    codes, names = pd.factorize(log.groups)
    codes[codes < 0] = len(names)
    return codes.astype(np.int64), [*names.tolist(), None]


def find_label_codes(labels: Values, predictions: Any, outcome: Outcome) -> Ints:
    """Return the position of each prediction in a list of known labels."""
    if not isinstance(labels, list):
        numbers = as_checked_numbers(predictions, outcome)
        if numbers.ndim == 1:
            return np.searchsorted(labels, numbers)
        return group(np.concatenate([labels, numbers])).codes[len(labels) :]  # the known labels are distinct
    encoded, position = encode_labels(predictions), {label: code for code, label in enumerate(labels)}
    return np.array([position[label] for label in encoded.classes], dtype=np.int64)[encoded.codes]


def read_pieces(
    reader: LogReader, relation: Relation, census: Census, function: Callable[[Piece], T]
) -> Iterator[T]:
    """Call a function for each piece of the log, on threads, and yield the results in order.

    Rows own the distinct explanations of the census.
    """

    def call(pieces: list[FilePiece]) -> list[T]:
        return [function(_read_piece(log, start)) for start, log in reader.logs(pieces)]

    def _read_piece(log: Log, start: int) -> Piece:
        labels = find_label_codes(census.labels, log.predictions, reader.outcome)
        owned = _find_explanations(relation, log.explanations, census.explanations)
        rows = np.arange(start, start + len(labels))
        return Piece(Sample(log.X, log.explanations), labels, owned, 0, rows)

    return chain.from_iterable(reader.map_pieces(call))


def _find_explanations(relation: Relation, explanations: Explanations, distinct: Explanations) -> Ints:
    """Return the position of each explanation among the distinct ones; all missing ones have one position."""
    keys = concat_rows([key_of(relation, distinct), key_of(relation, explanations)])
    codes = group(keys, np.concatenate([distinct.missing, explanations.missing])).codes[len(distinct) :]
    return np.where(explanations.missing, distinct.missing.argmax(), codes)
