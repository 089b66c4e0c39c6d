"""The matrix of a relation over rows of any weights and clusters: cell by cell."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints, sum_by
from faithkit.arrays.batches import spans, stream
from faithkit.arrays.bitsets import Bits, get_bits, pack_bits, popcount, unpack_bits
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, holds_bits
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.counting.cells import mark_run_starts
from faithkit.measure.counting.owners import Owners, index_codes, sort_runs
from faithkit.measure.counting.pair_ratio import EQUAL_SIZES, CellSizes, Losses, PairRatio, SizeSums, Sums
from faithkit.measure.counting.parts import Levels, Parts

PAIRS = 2**18  # pairs of explanation and instance per batch
MAX_LEVELS = 64  # steps of the heaviest cell, up to which losses are computed for each number of steps


@attrs.frozen(eq=False, slots=False)
class MatrixCells:
    """A relation over rows of any design.

    Attributes
    ----------
    relation : Relation
    samples : list of Sample
        The explained rows, and the rows of a pool in pieces.
    explanations : Explanations
        The distinct ones.
    owned : (n,) int
        The explanation of each row; −1 for those of the pool, which are last.
    unit, labels, steps : (n,) int
        The unit, the label and the weight of each row, in steps.
    n_labels : int
    step : float
        The weight of one step.
    cell_range : tuple of int
        The weights of the smallest and the largest cell that holds something.
    all_sizes : CellSizes
        How unequal the cells are that owners are compared with.
    """

    relation: Relation
    samples: list[Sample]
    explanations: Explanations
    owned: Ints
    unit: Ints
    labels: Ints
    steps: Ints
    n_labels: int
    step: float
    cell_range: tuple[int, int] = (0, 0)
    all_sizes: CellSizes = EQUAL_SIZES

    @property
    def n_units(self) -> int:
        """The number of units."""
        return int(self.unit.max()) + 1

    def batches(self, explanations: Explanations | None = None) -> Iterator[tuple[int, int, Bits]]:
        """Yield the matrix over all rows in batches of explanations: start, stop and packed bits."""
        explanations = self.explanations if explanations is None else explanations
        for start, stop in spans(len(explanations), PAIRS // max(1, len(self.labels))):
            batch = explanations.take(slice(start, stop))
            matrices = [holds_bits(self.relation, sample, batch) for sample in self.samples]
            if len(matrices) == 1:
                yield start, stop, matrices[0]
                continue
            unpacked = map(unpack_bits, matrices, map(len, self.samples))
            yield start, stop, pack_bits(np.concatenate(list(unpacked), axis=1))

    def _entries(self, batch: tuple[int, int, Bits]) -> "_Entries":
        start, stop, bits = batch
        owners = np.flatnonzero((self.owned >= start) & (self.owned < stop))
        return _Entries.of(bits, start, self._columns, owners, self.owned[owners] - start)

    @cached_property
    def _columns(self) -> "_Columns":
        return _Columns.of(self.unit, self.labels, self.steps)

    @classmethod
    def count(cls, agreement: Agreement, **fields: Any) -> "tuple[MatrixCells, Owners, Ints]":
        """Count all cells in one pass; return also the owners, and the unit of each of their entries."""
        source = cls(**fields)
        sizes, columns, totals, extremes = SizeSums(source.n_units), [], [], [0]

        def count(batch: tuple[int, int, Bits]) -> tuple[_Entries, list[NDArray[Any]], list[Parts]]:
            entries = source._entries(batch)
            return entries, entries.owner_columns(agreement), list(source._parts(entries))

        for entries, batch_columns, parts in stream(count, source.batches()):
            columns.append(batch_columns)
            totals.append(entries.totals)
            extremes += entries.extremes
            for part in parts:
                sizes.add(part)
        explanation, unit, label, steps, rows, alike, own, own_agreeing = map(
            np.concatenate, zip(*columns, strict=True)
        )
        owners = Owners(explanation, label, rows, alike, np.concatenate(totals), own, own_agreeing, steps)
        held = [weight for weight in extremes if weight] or [0]
        cell_range = min(held), max(held)
        return attrs.evolve(source, cell_range=cell_range, all_sizes=sizes.sizes), owners, unit

    def sizes(self, label: int | None = None) -> CellSizes:
        """Return how unequal the cells are that owners, or a label's owners, are compared with."""
        if label is None:
            return self.all_sizes
        sums = SizeSums(self.n_units)
        for batch in stream(lambda batch: list(self._parts(self._entries(batch), label)), self.batches()):
            for parts in batch:
                sums.add(parts)
        return sums.sizes

    def _parts(
        self, entries: "_Entries", label: int | None = None, shares: Floats | None = None
    ) -> Iterator[Parts]:
        """Yield the parts of a batch: of owners for which their explanation holds, and of the others."""
        owned = np.asarray(self.steps[entries.owners] * self.step, dtype=np.float64)
        if label is not None:
            owned = np.where(self.labels[entries.owners] == label, owned, 0.0)
        return entries.parts(owned if shares is None else owned * shares[entries.owners], self.step)

    def pair_sums(self, ratio: PairRatio, label: int | None = None, shares: Floats | None = None) -> Sums:
        """Sum over the pairs of all owners, or of a label's owners; rows own `shares` of their weights."""
        ratio = attrs.evolve(ratio, has_influence=ratio.unit_of_explanation is None)

        def sum_batch(batch: tuple[int, int, Bits]) -> list[Losses]:
            parts = self._parts(self._entries(batch), label, shares)
            return [losses for part in parts for losses in ratio.losses(part)]

        return ratio.sum_losses(stream(sum_batch, self.batches()))

    def label_counts(self, explanations: Ints, by_weight: bool = False) -> Ints:
        """Return the number of rows, or their weight, of every label for which these explanations hold."""
        table = np.zeros((len(explanations), self.n_labels), dtype=np.int64)
        for start, stop, bits in self.batches(self.explanations.take(explanations)):
            row, instance = np.nonzero(unpack_bits(bits, len(self.labels)))
            sizes = self.steps[instance] if by_weight else np.ones_like(instance)
            np.add.at(table[start:stop], (row, self.labels[instance]), sizes)
        return table


@attrs.frozen(eq=False)
class _Columns:
    """The columns of a relation's matrix, in the order of their units and labels.

    A place is a pair of unit and label that occurs.

    Attributes
    ----------
    order : (n,) int or None
        The row of each column; None if they are in order.
    steps, place : (n,) int
        The weight and the place of each column.
    steps_of_row : (n,) int
    unit, label : (p,) int
        The unit and the label of each place.
    place_of_row : (n,) int
    has_one_place_per_unit : bool
    """

    order: Ints | None
    steps: Ints
    place: Ints
    steps_of_row: Ints
    unit: Ints
    label: Ints
    place_of_row: Ints
    has_one_place_per_unit: bool

    @classmethod
    def of(cls, unit: Ints, label: Ints, steps: Ints) -> "_Columns":
        """Sort rows by unit and label; `steps` are their weights."""
        n_labels = int(label.max(initial=0)) + 1
        keys = unit * n_labels + label
        order = np.arange(len(keys)) if (keys[1:] >= keys[:-1]).all() else sort_runs(keys)[0]
        keys = keys[order]
        starts = mark_run_starts(keys)
        place = np.cumsum(starts) - 1
        place_of_row = np.empty_like(place)
        place_of_row[order] = place
        is_in_order = bool((order[1:] > order[:-1]).all())
        unit_of_place, label_of_place = np.divmod(keys[starts], n_labels)
        return cls(
            None if is_in_order else order,
            steps[order],
            place,
            steps,
            unit_of_place,
            label_of_place,
            place_of_row,
            has_one_place_per_unit=len(unit_of_place) == int(unit_of_place[-1]) + 1,
        )


@attrs.frozen(eq=False, slots=False)
class _Entries:
    """What a batch of explanations holds, by explanation and place, and the rows that own them.

    Attributes
    ----------
    columns : _Columns
    start : int
        The number of the first explanation.
    totals : (m,) int
        The weight that each explanation holds.
    row, place, held : (e,) int
        The explanation (0 is the first of the batch), place and weight of each entry, sorted.
    owners, owned : (o,) int
        The rows that own one of these explanations, and which.
    is_inside : (o,) bool
        Whether it holds for them.
    """

    columns: _Columns
    start: int
    totals: Ints
    row: Ints
    place: Ints
    held: Ints
    owners: Ints
    owned: Ints
    is_inside: NDArray[np.bool_]

    @classmethod
    def of(cls, bits: Bits, start: int, columns: _Columns, owners: Ints, owned: Ints) -> "_Entries":
        """Read the matrix of a batch; every owner gets an entry, if its explanation holds for it or not."""
        n, n_places = len(columns.steps), len(columns.unit)
        matrix = unpack_bits(bits, n)
        cells = np.flatnonzero(matrix if columns.order is None else matrix[:, columns.order])
        row = np.repeat(np.arange(len(bits)), popcount(bits))
        column = cells - row * n
        place, held = column, columns.steps[column]
        if n_places < n:
            place = columns.place[column]
            starts = np.flatnonzero(mark_run_starts(row, place))
            row, place = row[starts], place[starts]
            held = np.add.reduceat(held, starts) if len(starts) else held
        is_inside = get_bits(bits, owned, owners)
        if not is_inside.all():
            outside = owned[~is_inside] * n_places + columns.place_of_row[owners[~is_inside]]
            keys, outside = row * n_places + place, np.unique(outside)
            position = np.searchsorted(keys, outside)
            is_new = np.append(keys, -1)[position] != outside
            new, position = outside[is_new], position[is_new]
            row, place = (
                np.insert(old, position, values)
                for old, values in zip((row, place), np.divmod(new, n_places), strict=True)
            )
            held = np.insert(held, position, 0)
        totals = sum_steps(row, held, len(bits))
        return cls(columns, start, totals, row, place, held, owners, owned, is_inside)

    @cached_property
    def starts_cell(self) -> NDArray[np.bool_]:
        """Which entries are the first of their explanation and unit."""
        if self.columns.has_one_place_per_unit:
            return np.ones(len(self.row), dtype=bool)
        return mark_run_starts(self.row, self.columns.unit[self.place])

    @cached_property
    def cell(self) -> Ints:
        """The cell of each entry: its explanation and unit."""
        return np.cumsum(self.starts_cell) - 1

    @cached_property
    def cell_held(self) -> Ints:
        """The weight that each cell holds."""
        if self.starts_cell.all():
            return self.held
        return np.add.reduceat(self.held, np.flatnonzero(self.starts_cell))

    @property
    def extremes(self) -> list[int]:
        """The weights of the smallest and the largest cell that holds something, if there are any."""
        weight = self.cell_held[self.cell_held > 0]
        return [int(weight.min()), int(weight.max())] if len(weight) else []

    @cached_property
    def _keys(self) -> Ints:
        return self.row * len(self.columns.unit) + self.place

    @cached_property
    def _entry_of_owner(self) -> Ints:
        """The entry of each owner."""
        keys = self.owned * len(self.columns.unit) + self.columns.place_of_row[self.owners]
        return np.searchsorted(self._keys, keys)

    def owner_columns(self, agreement: Agreement) -> list[NDArray[Any]]:
        """Return the columns of the owners and the unit of each: an entry has the rows of one place."""
        entry, n_rows, position = index_codes(self._entry_of_owner)
        steps = sum_by(position, self.columns.steps_of_row[self.owners], len(entry))
        label = self.columns.label[self.place]
        n_labels = int(label.max(initial=0)) + 1
        slots, _, slot = index_codes(self.row * n_labels + label)
        by_slot = sum_steps(slot, self.held, len(slots))
        alike = agreement.sum_over_slots(slots // n_labels, slots % n_labels, by_slot)[slot[entry]]
        own, own_agreeing = self.held[entry], self.held[entry]
        if not self.starts_cell.all():
            own = self.cell_held[self.cell[entry]]
            own_agreeing = agreement.sum_over_slots(self.cell, label, self.held)[entry]
        columns = self.row[entry] + self.start, self.columns.unit[self.place[entry]], label[entry]
        return [*columns, steps, n_rows, alike, own, own_agreeing]

    def parts(self, owned: Floats, step: float) -> Iterator[Parts]:
        """Yield the parts of owners for which their explanation holds, and of the others."""
        for is_here in (self.is_inside, ~self.is_inside):
            owns = np.flatnonzero(is_here & (owned > 0))
            if len(owns):
                yield self._build_parts(owns, owned[owns], step)

    def _build_parts(self, owns: Ints, owned: Floats, step: float) -> Parts:
        """Return the parts of the owners at these positions."""
        is_owned = np.zeros(len(self.totals), dtype=bool)
        is_owned[self.owned[owns]] = True
        row, place, held, starts = self.row, self.place, self.held, self.starts_cell
        entry = self._entry_of_owner[owns]
        if not is_owned.all():
            kept = is_owned[row]
            row, place, held, starts = row[kept], place[kept], held[kept], starts[kept]
            entry = (np.cumsum(kept) - 1)[entry]
        owner, _, position = index_codes(entry)
        part = row if is_owned.all() else (np.cumsum(is_owned) - 1)[row]
        has_one_entry_per_cell = bool(starts.all())
        first = slice(None) if has_one_entry_per_cell else np.flatnonzero(starts)
        return Parts(
            explanation=self.start + np.flatnonzero(is_owned),
            part=part[first],
            unit=self.columns.unit[place[first]],
            cell=None if has_one_entry_per_cell else np.cumsum(starts) - 1,
            label=self.columns.label[place],
            entry_held=np.asarray(held * step, dtype=np.float64),
            owner=owner,
            entry_owned=sum_by(position, owned, len(owner)),
            levels=self._find_levels(is_owned, step),
        )

    def _find_levels(self, is_owned: NDArray[np.bool_], step: float) -> Levels | None:
        """Return what the cells of these explanations hold, if that is a small number of steps."""
        most = int(self.cell_held.max(initial=0))
        if most > MAX_LEVELS:
            return None
        level = self.cell_held
        if not is_owned.all():
            level = level[is_owned[self.row[self.starts_cell]]]
        return Levels(np.asarray(np.arange(most + 1) * step, dtype=np.float64), level)


def sum_steps(code: Ints, steps: Ints, size: int) -> Ints:
    """Sum whole weights of each code exactly; floats are exact up to 2⁵³, and faster."""
    if len(steps) and int(steps.max()) * len(steps) < 2**53:
        return np.bincount(code, weights=steps, minlength=size).astype(np.int64)
    return np.asarray(sum_by(code, steps, size))
