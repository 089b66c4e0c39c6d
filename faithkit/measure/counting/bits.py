"""The matrix of a relation over rows of few different weights: as bits, 64 rows at a time.

Every row is a unit, and rows of one weight and one label are alike to an explanation that none of them owns.
So one pass over the matrix counts them, and a second one adds up what is lost without each of them. The sums
are those of `pair_ratio`. A piece of the rows may be in memory or in a log: counts of pieces add up.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.arrays.batches import spans
from faithkit.arrays.bitsets import Bits, get_bits, n_words, popcount
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, holds_bits
from faithkit.measure.agreement.base import Agreement, HeldLosses
from faithkit.measure.agreement.same_label import ScopeLabels
from faithkit.measure.counting.owners import Owners, count_codes, find_positions, index_codes
from faithkit.measure.counting.pair_ratio import CellSizes, PairRatio, Sums, Totals, sizes_of_units
from faithkit.measure.counting.parts import MetByOwners

BATCH_BYTES = 32 * 2**20  # packed bits per batch, for any number of explanations
DENSE = 2**22  # entries of a table over all labels; a larger table is not stored
T = TypeVar("T")
NO_SLOTS = np.zeros(0, dtype=np.int64)


def bit_batches(
    relation: Relation, sample: Sample, explanations: Explanations
) -> Iterator[tuple[int, int, Bits]]:
    """Yield a relation's matrix in batches of explanations: start, stop and packed bits."""
    size = BATCH_BYTES // max(1, 8 * n_words(len(sample)))
    for start, stop in spans(len(explanations), size):
        yield start, stop, holds_bits(relation, sample, explanations.take(slice(start, stop)))


@attrs.frozen(eq=False)
class Piece:
    """Rows of one weight: their labels, the explanation that each owns, and their positions among all rows.

    Rows that own none, such as those of a pool, have the explanation −1. `weight` is a position among the
    weights.
    """

    sample: Sample
    labels: Ints
    owned: Ints
    weight: int
    rows: Ints


class MapPieces(Protocol):
    """Calls a function for each piece of some rows, in one pass over them."""

    def __call__(self, function: Callable[[Piece], T]) -> Iterator[T]:
        """Yield the results in order."""


@attrs.frozen(eq=False)
class Slots:
    """The explanations that rows are counted for, and the sorted pairs of explanation and label."""

    explanations: Explanations
    n_labels: int
    agreement: Agreement
    explanation: Ints = NO_SLOTS
    label: Ints = NO_SLOTS

    def find(self, piece: Piece) -> Ints:
        """Return the slot of each row; that of a row that owns nothing means nothing."""
        codes = self.explanation * self.n_labels + self.label
        size = len(self.explanations) * self.n_labels
        return find_positions(codes, np.maximum(piece.owned, 0) * self.n_labels + piece.labels, size)


@attrs.frozen(eq=False)
class PieceCounts:
    """The counts of a piece; those of two pieces of one weight add up.

    Attributes
    ----------
    totals : (m,) int
        The number of rows for which each explanation holds.
    sums : (c,) or (m, …)
        How far they agree with each slot, or the sums per explanation that `Agreement.counts` turns into it.
    table : (m, k) int or None
        The number of rows of each label for which each explanation holds; None if that is too large.
    """

    totals: Ints
    sums: NDArray[Any]
    table: Ints | None

    def __add__(self, other: "PieceCounts") -> "PieceCounts":
        table = None if self.table is None or other.table is None else self.table + other.table
        return PieceCounts(self.totals + other.totals, self.sums + other.sums, table)


def count_piece(relation: Relation, piece: Piece, slots: Slots) -> tuple[PieceCounts, NDArray[np.bool_]]:
    """Count the matrix over the rows of a piece; also return which rows are held by their own explanation."""
    m, k, labels = len(slots.explanations), slots.n_labels, piece.labels
    scope = slots.agreement.scope_predictions(labels, k)
    no_bits = np.empty((0, n_words(len(labels))), dtype=np.uint64)
    totals, sums = np.zeros(m, dtype=np.int64), [scope.sums(no_bits, NO_SLOTS, NO_SLOTS)]
    keeps_table = m * k <= max(DENSE, k) and isinstance(scope, ScopeLabels)
    table = np.zeros((m, k), dtype=np.int64) if keeps_table else None
    is_inside = np.zeros(len(labels), dtype=bool)
    for start, stop, bits in bit_batches(relation, piece.sample, slots.explanations):
        first, last = np.searchsorted(slots.explanation, [start, stop])
        batch_slots = slots.explanation[first:last] - start, slots.label[first:last]
        if table is not None and isinstance(scope, ScopeLabels):
            table[start:stop] = batch_table = scope.table(bits)
            totals[start:stop] = batch_table.sum(axis=1)
            sums.append(batch_table[batch_slots])
        else:
            totals[start:stop] = popcount(bits)
            sums.append(scope.sums(bits, *batch_slots))
        owners = np.flatnonzero((piece.owned >= start) & (piece.owned < stop))
        is_inside[owners] = get_bits(bits, piece.owned[owners] - start, owners)
        del bits  # otherwise two batches would be in memory
    return PieceCounts(totals, np.concatenate(sums), table), is_inside


@attrs.frozen(eq=False, slots=False)
class RowBits:
    """A relation over rows of few weights, each of which is a unit.

    Attributes
    ----------
    relation : Relation
    slots : Slots
    map_pieces : callable
        Calls a function for each piece of the rows, and yields the results in order: one pass.
    weights : (w,) int
        The different weights, in steps.
    step : float
        The weight of one step.
    counts : list of PieceCounts
        The counts of the rows of each weight.
    agreeing : list of (c,) arrays
        How far these rows agree with each slot, where its explanation holds for them.
    slot, entry_weight, entry_code : (c,) int
        The slot of each entry of the owners, the position of its weight, and the sorted code of both, which
        also says whether the explanation holds.
    owners : Owners
    entry_of_row : (n,) int
        The entry of each explained row in the owners.
    n_units : int
        The number of rows.
    """

    relation: Relation
    slots: Slots
    map_pieces: "MapPieces"
    weights: Ints
    step: float
    counts: list[PieceCounts]
    agreeing: list[NDArray[Any]]
    slot: Ints
    entry_weight: Ints
    entry_code: Ints
    owners: Owners
    entry_of_row: Ints
    n_units: int

    @classmethod
    def count(
        cls,
        relation: Relation,
        slots: Slots,
        map_pieces: "MapPieces",
        weights: Ints,
        step: float = 1.0,
    ) -> "RowBits":
        """Count all pieces, in one pass."""
        counts: list[PieceCounts | None] = [None] * len(weights)
        codes, rows, n_units = [], [], 0
        size = 2 * len(weights) * len(slots.explanation)
        for piece, (piece_counts, is_inside) in map_pieces(
            lambda piece: (piece, count_piece(relation, piece, slots))
        ):
            so_far = counts[piece.weight]
            counts[piece.weight] = piece_counts if so_far is None else so_far + piece_counts
            owning = np.flatnonzero(piece.owned >= 0)
            n_units += len(piece.labels)
            codes.append((slots.find(piece)[owning] * len(weights) + piece.weight) * 2 + is_inside[owning])
            rows.append(piece.rows[owning])
        code, row = np.concatenate(codes), np.concatenate(rows)
        entry_code, n_rows = count_codes(code, size)
        entry_of_row = np.empty_like(row)
        entry_of_row[row] = find_positions(entry_code, code, size)
        slot, kind = np.divmod(entry_code, 2 * len(weights))
        entry_weight, own = np.divmod(kind, 2)
        known = [piece_counts for piece_counts in counts if piece_counts is not None]
        agreement, pairs = slots.agreement, (slots.explanation, slots.label)
        agreeing = [agreement.counts(counted.sums, counted.totals, *pairs) for counted in known]
        own_weight = own * weights[entry_weight]
        owners = Owners(
            slots.explanation[slot],
            slots.label[slot],
            n_rows,
            np.asarray(sum(weight * each[slot] for weight, each in zip(weights, agreeing, strict=True))),
            np.asarray(sum(weight * counted.totals for weight, counted in zip(weights, known, strict=True))),
            own_weight,
            own_weight,
            None if len(weights) == 1 else n_rows * weights[entry_weight],
        )
        return cls(
            relation=relation,
            slots=slots,
            map_pieces=map_pieces,
            weights=weights,
            step=step,
            counts=known,
            agreeing=agreeing,
            slot=slot,
            entry_weight=entry_weight,
            entry_code=entry_code,
            owners=owners,
            entry_of_row=entry_of_row,
            n_units=n_units,
        )

    @property
    def cell_range(self) -> tuple[int, int]:
        """The smallest and the largest weight above 0."""
        weights = self.weights[self.weights > 0]
        return int(weights.min()), int(weights.max())

    def label_counts(self, explanations: Ints, by_weight: bool = False) -> Ints:
        """Return the number of rows, or their weight, of every label for which these explanations hold."""
        factors = self.weights if by_weight else np.ones_like(self.weights)
        tables = [counts.table for counts in self.counts]
        if all(table is not None for table in tables):
            return np.asarray(
                sum(
                    factor * table[explanations]
                    for factor, table in zip(factors, tables, strict=True)
                    if table is not None
                )
            )
        chosen = self.slots.explanations.take(explanations)

        def count(piece: Piece) -> Ints:
            scope = ScopeLabels(piece.labels, self.slots.n_labels)
            batches = bit_batches(self.relation, piece.sample, chosen)
            return np.concatenate([factors[piece.weight] * scope.table(bits) for _, _, bits in batches])

        return np.asarray(sum(self.map_pieces(count)))

    # -- sums over pairs --

    def sizes(self, label: int | None = None) -> CellSizes:
        """Return how unequal the cells are that owners, or a label's owners, are compared with."""
        entries, held = self._entries(label, None), self._held(1)
        owned = np.bincount(entries.part // 2, weights=entries.rows * entries.owned, minlength=len(held))
        factor = divide_safely(owned, held)
        losses = HeldLosses(NO_SLOTS, NO_SLOTS, np.zeros(0), factor, np.zeros((len(factor), 0)))
        by_row = np.zeros((3, self.n_units))
        for piece, (sums, _) in self.map_pieces(lambda piece: (piece, self._sum_matrix(piece, losses))):
            weight = float(self.weights[piece.weight]) * self.step
            by_row[:, piece.rows] = sums[:, 0] * np.array([[weight > 0], [weight], [weight**2]])
        return sizes_of_units(by_row)

    def pair_sums(self, ratio: PairRatio, label: int | None = None, shares: Floats | None = None) -> Sums:
        """Sum over the pairs of all owners, or of a label's owners; rows own `shares` of their weights."""
        entries = self._entries(label, shares)
        totals, losses, own = self._losses(ratio, entries)

        def sum_piece(piece: Piece) -> tuple[Piece, Floats]:
            sums, is_inside = self._sum_matrix(piece, losses[piece.weight])
            owners = np.flatnonzero(piece.owned >= 0)
            code = (self.slots.find(piece)[owners] * len(self.weights) + piece.weight) * 2 + is_inside[owners]
            lost = sums[:, [1, 0, 2]].T
            entry = np.searchsorted(self.entry_code, code)
            lost[:, owners] += own[:, entries.find(entry, piece.rows[owners])]
            return piece, lost

        lost = np.zeros((3, self.n_units))
        for piece, lost_rows in self.map_pieces(sum_piece):
            lost[:, piece.rows] = lost_rows
        return Sums(*totals.tolist(), *lost)

    def _entries(self, label: int | None, shares: Floats | None) -> "_Entries":
        """Return the entries of the owners with what each of their rows owns."""
        owners, is_inside = self.owners, self.owners.own > 0
        weight = np.asarray(self.weights[self.entry_weight] * self.step, dtype=np.float64)
        held = np.asarray(weight * is_inside, dtype=np.float64)
        part = 2 * owners.explanation + is_inside
        if shares is None:
            owned = weight if label is None else np.where(owners.label == label, weight, 0.0)
            code, label_of_entry = np.arange(len(owners)), owners.label
            columns = self.slot, self.entry_weight, owners.rows
            return _Entries(code, part, label_of_entry, *columns, owned, held)
        values, share = np.unique(shares, return_inverse=True)
        codes, rows = np.unique(self.entry_of_row * len(values) + share, return_counts=True)
        entry, value = np.divmod(codes, len(values))
        return _Entries(
            code=codes,
            part=part[entry],
            label=owners.label[entry],
            slot=self.slot[entry],
            weight=self.entry_weight[entry],
            rows=rows,
            owned=np.asarray(weight[entry] * values[value], dtype=np.float64),
            held=held[entry],
            share=share,
            n_shares=len(values),
        )

    def _sum_matrix(self, piece: Piece, losses: HeldLosses) -> tuple[Floats, NDArray[np.bool_]]:
        """Return what is lost without each row, and which rows are held by their own explanation."""
        scope = self.slots.agreement.scope_predictions(piece.labels, self.slots.n_labels)
        used = np.asarray(losses.further.any(axis=0))
        some = attrs.evolve(losses, further=losses.further[:, used])
        sums, is_inside = (
            np.zeros((len(piece.labels), 1 + len(used))),
            np.zeros(len(piece.labels), dtype=bool),
        )
        columns = np.append(0, 1 + np.flatnonzero(used))
        for start, stop, bits in bit_batches(self.relation, piece.sample, self.slots.explanations):
            sums[:, columns] += scope.sum_losses((start, stop, bits), some)
            owners = np.flatnonzero((piece.owned >= start) & (piece.owned < stop))
            is_inside[owners] = get_bits(bits, piece.owned[owners] - start, owners)
            del bits  # otherwise two batches would be in memory
        return sums, is_inside

    def _held(self, power: int) -> Floats:
        """Return the sums over the rows for which each explanation holds of a power of their weights."""
        factors = np.where(self.weights > 0, (self.weights * self.step) ** power, 0.0)
        return np.asarray(
            sum(factor * counts.totals for factor, counts in zip(factors, self.counts, strict=True))
        )

    def _losses(self, ratio: PairRatio, entries: "_Entries") -> tuple[Floats, list[HeldLosses], Floats]:
        """Return the totals, what is lost without rows that own nothing, and how much more without owners.

        An explanation has two parts: the first has the owners for which it does not hold.
        """
        agreement, m, part = self.slots.agreement, len(self.slots.explanations), entries.part
        owned, held, weights = entries.owned, entries.held, self.weights * self.step
        n_holding, total, squares = (np.repeat(self._held(power), 2) for power in range(3))

        def by_part(values: NDArray[Any]) -> Floats:
            return sum_by(part, (values * entries.rows).astype(np.float64), 2 * m)

        met = MetByOwners([], [], [])
        for power, all_held in zip(range(1, ratio.n_powers + 1), (total, squares), strict=False):
            agreeing = sum(
                weight**power * each[entries.slot]
                for weight, each in zip(weights.tolist(), self.agreeing, strict=True)
            )
            met.held.append(all_held[part] - held**power)
            met.apart.append(owned * np.maximum(0.0, all_held[part] - agreeing))
        pairs, apart = [owned * values for values in met.held], list(met.apart)
        if len(pairs) > 1:
            pairs.append(held * pairs[0])
            apart.append(held * apart[0])
        whole = Totals(
            by_part(owned),
            total,
            squares,
            by_part(owned * held),
            n_holding,
            by_part(owned > 0),
            by_part((owned > 0) & (held > 0)),
            list(map(by_part, pairs)),
            list(map(by_part, apart)),
        )
        totals, compared, disagreement = ratio.sum_totals(whole)
        parts = whole, compared, disagreement
        disagreeing = _OwnedDisagreement(part, entries.label, 2 * m, agreement)
        own_apart = [
            held * disagreeing.total(entries.rows * owned * held**power) for power in range(ratio.n_powers)
        ]
        held_by_others = self._held_by_others(entries)
        as_other = (held > 0) * held_by_others[entries.weight, part]
        own_apart_as_other = [divide_safely(as_other * values, held) for values in own_apart]
        own = ratio.without_cells(parts, part, held, own_apart, owned, met)
        own -= (as_other > 0) * ratio.without_cells(parts, part, as_other, own_apart_as_other)
        losses = [self._held_losses(ratio, parts, other_held, entries) for other_held in held_by_others]
        return totals, losses, own

    def _held_by_others(self, entries: "_Entries") -> Floats:
        """Return, for each weight, what a part holds of a row that owns nothing of it; 0 if there is none."""
        n_parts = 2 * len(self.slots.explanations)
        owning = entries.rows * ((entries.owned > 0) & (entries.held > 0))
        weights = self.weights * self.step
        return np.array(
            [
                weight
                * (
                    np.repeat(counts.totals, 2)
                    > sum_by(entries.part, owning * (entries.weight == place), n_parts)
                )
                for place, (weight, counts) in enumerate(zip(weights, self.counts, strict=True))
            ]
        )

    def _held_losses(
        self, ratio: PairRatio, parts: tuple[Totals, Floats, Floats], held: Floats, entries: "_Entries"
    ) -> HeldLosses:
        """Return what is lost without a row that owns nothing, and of which a part holds this."""
        whole = parts[0]
        lost, slope, slope_by_held = ratio.without_equal_cells(parts, np.arange(len(held)), held)
        slope, slope_by_held = held * slope, held * slope_by_held
        lost[1] += slope * whole.owned + slope_by_held * whole.owned_by_held
        part, owned = entries.part, entries.rows * entries.owned
        agreeing = owned * (slope[part] + slope_by_held[part] * entries.held)
        by_explanation = lost.reshape(3, -1, 2).sum(axis=2)
        return HeldLosses(part // 2, entries.label, agreeing, by_explanation[1], by_explanation[[0, 2]].T)


@attrs.frozen(eq=False)
class _Entries:
    """Entries of the owners whose rows own the same weight.

    Attributes
    ----------
    code : (c,) int
        The number of the entry, or with shares that number times their number, plus the share's.
    part, label, slot, weight : (c,) int
    rows : (c,) int
    owned, held : (c,) float
        What each row owns, and what of its own weight its explanation holds.
    share : (n,) int or None
        The number of each row's share, of `n_shares`.
    """

    code: Ints
    part: Ints
    label: Ints
    slot: Ints
    weight: Ints
    rows: Ints
    owned: Floats
    held: Floats
    share: Ints | None = None
    n_shares: int = 1

    def find(self, entry: Ints, rows: Ints) -> Ints:
        """Return the position of rows, given the entry of each in the owners."""
        return (
            entry
            if self.share is None
            else np.searchsorted(self.code, entry * self.n_shares + self.share[rows])
        )


class _OwnedDisagreement:
    """How much of what a part owns disagrees with each entry of its owners."""

    def __init__(self, part: Ints, label: Ints, n_parts: int, agreement: Agreement) -> None:
        k = int(label.max(initial=0)) + 1
        slots, _, self.slot = index_codes(part * k + label)
        (self.slot_part, self.slot_label), self.agreement = np.divmod(slots, k), agreement
        self.n_parts = n_parts

    def total(self, weights: Floats) -> Floats:
        """Return the weight in the part of each entry that disagrees with it."""
        by_slot = np.bincount(self.slot, weights=weights, minlength=len(self.slot_part))
        total = np.bincount(self.slot_part, weights=by_slot, minlength=self.n_parts)
        agreeing = self.agreement.sum_over_slots(self.slot_part, self.slot_label, by_slot, total)
        return np.asarray(np.maximum(0.0, total[self.slot_part] - agreeing))[self.slot]
