"""Passes over a log that may be larger than memory: on threads here, or file by file on a cluster.

Results are taken in the order of the rows, and what is counted are whole numbers, which add up; so neither
threads nor workers change a result.
"""

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import reduce
from operator import add
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.blocks import MAX_THREADS
from faithkit.arrays.grouping import group, ordered
from faithkit.errors import InputError
from faithkit.explanations.explanations import Sample
from faithkit.explanations.relations import Relation
from faithkit.inputs.files.parquet import Piece
from faithkit.inputs.logs.log import Log
from faithkit.inputs.logs.parquet_log import ParquetLog
from faithkit.inputs.predictions.labels import checked_numbers, encode_labels
from faithkit.inputs.predictions.outcome import LABELS, OF_LABELS, Outcome
from faithkit.measure.counting.census import SAVED, Census, Values, gathered
from faithkit.measure.counting.chunk_counts import ask_piece, count_piece
from faithkit.measure.counting.owners import Counts, Owners
from faithkit.measure.counting.scans import ScanCounts, ScanTarget
from faithkit.measure.counting.tally import RowCount
from faithkit.measure.jackknife.central_moments import CentralMoments
from faithkit.measure.jackknife.deletions import MeasureTotals, added, largest_share, related_rows, spreads_of
from faithkit.run.components.discretization import discretize
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.explaining.cluster import active_cluster, on_workers

SOME = 4096


@attrs.frozen(eq=False)
class LogReading:
    """A log, how its explanations get their identity, and what its predictions are.

    That is all that a worker needs to read a part of it.
    """

    log: ParquetLog
    discretizer: ResolvedComponent
    outcome: Outcome = OF_LABELS

    def logs(self, pieces: list[Piece]) -> Iterator[tuple[int, Log]]:
        """Yield the logs of some pieces, each with the number of its first row."""
        for piece in pieces:
            start = piece.start
            for log in self.log.logs(piece):
                yield start, attrs.evolve(log, explanations=discretize(self.discretizer, log.explanations))
                start += len(log.explanations)

    def each(self, part: Any, method: str) -> Iterator[Any]:
        """Yield what a method of `part` makes of the log's pieces, in order: of one here, of a file there."""
        table = self.log.table
        cluster = active_cluster()
        if cluster is not None:
            yield from on_workers(cluster, part, method, table.files(), (self.discretizer,))
            return
        threads = min(MAX_THREADS, os.cpu_count() or 1)
        with ThreadPoolExecutor(threads) as pool:
            yield from _in_order(pool, getattr(part, method), [[piece] for piece in table.pieces], threads)


def _in_order(pool: ThreadPoolExecutor, work: Any, tasks: list[Any], ahead: int) -> Iterator[Any]:
    """Yield results in the order of the tasks, with only a few of them waiting in memory."""
    running: deque[Future[Any]] = deque()
    try:
        for task in tasks:
            running.append(pool.submit(work, task))
            if len(running) > ahead:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        for future in running:
            future.cancel()


@attrs.frozen(eq=False)
class FirstPass:
    """Gather the distinct explanations, by what a relation reads of them, and who has them."""

    reading: LogReading
    relation: Relation

    def run(self) -> Census:
        """Go over the whole log."""
        return gathered(self.relation, self.reading.each(self, "census"))

    def census(self, pieces: list[Piece]) -> Census:
        """Go over some pieces."""
        return gathered(self.relation, (self._count(*part) for part in self.reading.logs(pieces)))

    def _count(self, start: int, log: Log) -> Census:
        found = log.explanations
        if self.relation.groups:
            found = attrs.evolve(found, instances=None)  # nobody will read them
        codes, labels = labels_of(log, self.reading.outcome, start)
        return Census.of(self.relation, found, codes, labels, start, _grouped(log))


def labels_of(log: Log, outcome: Outcome, start: int) -> tuple[Counts | None, Values]:
    """Encode predictions, as None where each has its own code; of bad ones the row in the log is told."""
    gone = log.predictions.isna().to_numpy()
    if gone.any():
        row = start + int(gone.reshape(len(gone), -1).any(axis=1).argmax())
        otherwise = ", or name the label" if outcome.kind == LABELS else ""
        raise InputError(f"the prediction of row {row} is missing: drop such rows{otherwise}.")
    if outcome.kind == LABELS:
        found = encode_labels(log.predictions)
        return found.codes, found.classes
    bad = np.isinf(np.asarray(log.predictions, dtype=np.float64)) if _are_floats(log.predictions) else gone
    if bad.any():
        row = start + int(bad.reshape(len(bad), -1).any(axis=1).argmax())
        raise InputError(f"the prediction of row {row} is infinite: drop such rows.")
    numbers = checked_numbers(log.predictions, outcome)
    if outcome.is_divided and log.groups is None and _hardly_repeat(numbers):
        return None, numbers
    values, codes = ordered(numbers)
    return codes, values


def _hardly_repeat(numbers: NDArray[np.float64]) -> bool:
    """Whether single numbers are nearly all different, by some of them: only memory depends on it."""
    return numbers.ndim == 1 and len(np.unique(numbers[:SOME])) > SAVED * len(numbers[:SOME])


def _are_floats(predictions: Any) -> bool:
    dtypes = [predictions.dtype] if predictions.ndim == 1 else predictions.dtypes
    return all(dtype.kind in "biuf" for dtype in dtypes)


def _grouped(log: Log) -> tuple[Counts, list[Any]] | None:
    """Encode the groups, of which None is that of rows without a value."""
    if log.groups is None:
        return None
    codes, names = pd.factorize(log.groups)
    codes[codes < 0] = len(names)
    return codes.astype(np.int64), [*names.tolist(), None]


def label_places(labels: Values, predictions: Any) -> Counts:
    """Return where predictions stand among the labels that are known."""
    if not isinstance(labels, list):
        given = np.asarray(predictions, dtype=np.float64)
        if given.ndim == 1:
            return np.searchsorted(labels, given)
        return group(np.concatenate([labels, given])).codes[len(labels) :]  # those before are all distinct
    found, place = encode_labels(predictions), {label: code for code, label in enumerate(labels)}
    return np.array([place[label] for label in found.classes], dtype=np.int64)[found.codes]


@attrs.frozen(eq=False)
class LaterPasses:
    """Ask a relation other than grouping about every piece, with all distinct explanations at hand.

    `owners` are those of all instances, once they have been counted, and `level` is what they agree in.
    """

    reading: LogReading
    relation: Relation
    whole: ScanTarget
    labels: Values
    owners: Owners | None = None
    level: MeasureTotals | None = None

    def asked(self, pieces: list[Piece]) -> ScanCounts:
        """Count some pieces."""
        return reduce(add, (ask_piece(*sample, self.whole) for sample in self._samples(pieces)))

    def spreads(self, pieces: list[Piece]) -> tuple[CentralMoments, CentralMoments]:
        """Measure the spread of pseudo-values in some pieces."""
        level = self.level
        assert level is not None
        units = round(level.whole)
        return added(spreads_of(related_rows(one), level, units) for one in self.counts(pieces))

    def share(self, pieces: list[Piece]) -> float:
        """Return the largest share that an instance has in the values of others."""
        return max(largest_share(counted) for counted in self.counts(pieces))

    def counts(self, pieces: list[Piece]) -> Iterator[RowCount]:
        """Say where the instances of some pieces stand in the counts of all."""
        assert self.owners is not None
        return (count_piece(*sample, self.whole, self.owners) for sample in self._samples(pieces))

    def _samples(self, pieces: list[Piece]) -> Iterator[tuple[Relation, Sample, Counts]]:
        for _, log in self.reading.logs(pieces):
            codes = label_places(self.labels, log.predictions)
            yield self.relation, Sample(log.X, log.explanations), codes
