"""Parts: the cells of an explanation, for its owners for which it holds, or for the others.

A *cell* is what one unit has in a part: the weight of its rows that own the part, and the weight of its rows
for which the explanation holds. Two rows are compared if one of them owns the part, the explanation holds for
the other, and they are of two units. So every measure is a sum over pairs of cells, which is one over cells:

    Σ_{c≠d} x_c·y_d = Σ_c x_c·(Y − y_c)        without cell c: that − x_c·(Y − y_c) − (X − x_c)·y_c

Where one cell has nearly all of a part, it is kept apart: nothing is computed as a small rest of its weight.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints, sum_by
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.counting.cells import Cells, mark_run_starts
from faithkit.measure.counting.owners import index_codes

DOMINANT = 3 / 4  # of a part: at most two bits are lost where a smaller cell is left out


@attrs.frozen(eq=False)
class Levels:
    """Cells of few weights: these, and the position of each cell's weight among them."""

    weights: Floats
    level: Ints


@attrs.frozen(eq=False, slots=False)
class Parts:
    """Cells by part and unit, and their entries by label.

    Attributes
    ----------
    explanation : (p,) int
        The explanation of each part.
    part, unit : (c,) int
        The part and the unit of each cell, sorted.
    cell : (e,) int or None
        The cell of each entry, sorted; None if every cell has one entry.
    label : (e,) int
        The label of each entry.
    entry_held : (e,) float
        The weight of the entry's rows for which the explanation holds.
    owner : (o,) int or None
        The entries whose rows own the part, sorted; None if all do.
    entry_owned : (o,) float
        The weight of these rows.
    times : (c,) float or None
        How many equal cells each one stands for; None if one.
    levels : Levels or None
        What cells hold, if they are of few weights.

    Examples
    --------
    Rows 0 and 1 are of one unit; all three share an explanation:

    >>> unit, label, weight = np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([1, 1, 2])
    >>> cells = Cells.of(0 * unit, unit, label, held=weight, owned=weight)
    >>> Parts.of(cells).held
    array([2., 2.])
    """

    explanation: Ints
    part: Ints
    unit: Ints
    cell: Ints | None
    label: Ints
    entry_held: Floats
    owner: Ints | None
    entry_owned: Floats
    times: Floats | None = None
    levels: Levels | None = None

    @classmethod
    def of(cls, cells: Cells, step: float = 1.0, label: int | None = None) -> "Parts":
        """Return the parts that some row owns; with a `label`, only rows of this label own any.

        One step of the cells' weights has the value `step`.
        """
        owned_by_place = [cells.owned - cells.outside, cells.outside]
        if label is not None:
            owned_by_place = [np.where(cells.label == label, owned, 0) for owned in owned_by_place]
        inside, outside = (_with_owners(cells, owned) for owned in owned_by_place)
        places = zip(owned_by_place, (inside, outside), strict=True)
        owned = np.concatenate([owned[entries] for owned, entries in places])
        entry = np.concatenate([inside, outside]) if len(outside) else inside
        explanation, unit, held = cells.explanation[entry], cells.unit[entry], cells.held[entry]
        starts_part = mark_run_starts(explanation)
        starts_part[len(inside) : len(inside) + 1] = True  # owners for which their explanation does not hold
        starts_cell = starts_part | mark_run_starts(unit)
        owner, entry_held = None if owned.all() else np.flatnonzero(owned), held * step
        is_alike = owner is None and np.array_equal(owned, held)
        return cls(
            explanation=explanation[starts_part],
            part=(np.cumsum(starts_part) - 1)[starts_cell],
            unit=unit[starts_cell],
            cell=None if starts_cell.all() else np.cumsum(starts_cell) - 1,
            label=cells.label[entry],
            entry_held=entry_held,
            owner=owner,
            entry_owned=entry_held if is_alike else (owned if owner is None else owned[owner]) * step,
            times=None if cells.times is None else cells.times[entry[starts_cell]].astype(np.float64),
        )

    def __len__(self) -> int:
        return len(self.explanation)

    @cached_property
    def starts(self) -> Ints:
        """The first cell of each part."""
        return np.flatnonzero(mark_run_starts(self.part))

    @cached_property
    def owners(self) -> Ints | slice:
        """The cells that own something."""
        if self.owner is None:
            return slice(None)
        cell = self.owner if self.cell is None else self.cell[self.owner]
        return cell[mark_run_starts(cell)]

    @property
    def with_all_owners(self) -> "Parts":
        """The same parts, in which every cell owns something, or the weight 0."""
        owned = np.zeros(len(self.entry_held))
        owned[self.owning_entries] = self.entry_owned
        return attrs.evolve(self, owner=None, entry_owned=owned)

    @property
    def is_symmetric(self) -> bool:
        """Whether all cells own what they hold."""
        return self.entry_owned is self.entry_held

    @cached_property
    def held(self) -> Floats:
        """The weight that each cell holds."""
        return self.by_cell(self.entry_held)

    @cached_property
    def owned(self) -> Floats:
        """The weight that each of the owning cells owns."""
        return self.held if self.is_symmetric else self.by_owner(self.entry_owned)

    @cached_property
    def entry_part(self) -> Ints:
        """The part of each entry."""
        return self.part if self.cell is None else self.part[self.cell]

    def by_cell(self, values: Floats) -> Floats:
        """Sum the values of the entries of each cell."""
        return values if self.cell is None else np.add.reduceat(values, self._cell_starts)

    def by_owner(self, values: Floats) -> Floats:
        """Sum the values of the owning entries of each cell that owns something."""
        if self.cell is None:
            return values
        starts = (
            self._cell_starts if self.owner is None else mark_run_starts(self.cell[self.owner]).nonzero()[0]
        )
        return np.add.reduceat(values, starts) if len(values) else values

    def by_part(self, values: NDArray[Any], owners: bool = False) -> Floats:
        """Sum the values of the cells of each part, or of those cells that own something."""
        cells = self.owners if owners else slice(None)
        values = values if self.times is None else values * self.times[cells]
        if isinstance(cells, slice):
            return (
                np.add.reduceat(values, self.starts, dtype=np.float64) if len(values) else np.zeros(len(self))
            )
        return np.asarray(sum_by(self.part[cells], values.astype(np.float64, copy=False), len(self)))

    def of_part(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the value of each cell's part."""
        return np.repeat(values, np.diff(self.starts, append=len(self.part)))

    @cached_property
    def _cell_starts(self) -> Ints:
        assert self.cell is not None
        return np.flatnonzero(mark_run_starts(self.cell))

    # -- cells that have nearly all of a part --

    @cached_property
    def is_dominated(self) -> NDArray[np.bool_]:
        """Which parts have a cell that owns or holds nearly all of them, beside others."""
        is_dominated = np.maximum.reduceat(self.held, self.starts) > DOMINANT * self.by_part(self.held)
        is_dominated &= self.by_part(np.ones(len(self.part))) > 1
        if self.owned is not self.held:
            most = np.zeros(len(self))
            np.maximum.at(most, self.part[self.owners], self.owned)
            has_several = self.by_part(np.ones(len(self.owned)), owners=True) > 1
            is_dominated |= has_several & (most > DOMINANT * self.by_part(self.owned, owners=True))
        return is_dominated

    @cached_property
    def heaviest(self) -> Ints:
        """The heaviest cell of each part that it dominates."""
        weight = self.held.copy()
        weight[self.owners] += self.owned
        most = np.where(self.is_dominated, np.maximum.reduceat(weight, self.starts), np.inf)
        candidates = np.flatnonzero(weight == self.of_part(most))
        return candidates[mark_run_starts(self.part[candidates])]

    @property
    def is_heaviest_owner(self) -> NDArray[np.bool_]:
        """Which of the owning cells dominate their parts."""
        return _mask(self.heaviest, len(self.part))[self.owners]

    def split(self) -> "Iterator[Parts]":
        """Yield the parts that no cell dominates, and those that one does."""
        if self.is_dominated.any() and not self.is_dominated.all():
            yield self._take(~self.is_dominated)
            yield self._take(self.is_dominated)
        else:
            yield self

    def _take(self, is_selected: NDArray[np.bool_]) -> "Parts":
        cells, entries = is_selected[self.part], is_selected[self.entry_part]
        owns = entries if self.owner is None else entries[self.owner]
        held = self.entry_held[entries]
        return Parts(
            self.explanation[is_selected],
            np.cumsum(mark_run_starts(self.part[cells])) - 1,
            self.unit[cells],
            None if self.cell is None else np.cumsum(mark_run_starts(self.cell[entries])) - 1,
            self.label[entries],
            held,
            None if self.owner is None else (np.cumsum(entries) - 1)[self.owner[owns]],
            held if self.is_symmetric else self.entry_owned[owns],
            None if self.times is None else self.times[cells],
            None if self.levels is None else attrs.evolve(self.levels, level=self.levels.level[cells]),
        )

    @cached_property
    def without_heaviest(self) -> "Parts":
        """The same cells, but those that dominate their parts weigh nothing."""
        light = ~_mask(self.heaviest, len(self.part))
        entries = light if self.cell is None else light[self.cell]
        held = self.entry_held * entries
        owned = held if self.is_symmetric else self.entry_owned * entries[self.owning_entries]
        return attrs.evolve(self, entry_held=held, entry_owned=owned)

    # -- what cells meet in the others of their part --

    @property
    def owning_entries(self) -> Ints | slice:
        """The entries whose rows own the part."""
        return slice(None) if self.owner is None else self.owner

    def meet_held(self, agreement: Agreement, n_powers: int, weights: "Parts | None" = None) -> "MetByOwners":
        """Return what owning cells meet in the other cells of their part, which may have other `weights`.

        The sums are those of weights times a power of the weight that their cell holds.
        """
        weights = self if weights is None else weights
        held, cell_held, owning, owners = weights.entry_held, weights.held, self.owning_entries, self.owners
        within = self.by_owner(self.entry_owned * self._disagreement.own(agreement, held)[owning])
        met = MetByOwners([], [], [])
        for power in range(n_powers):
            if power:
                held = held * (cell_held if self.cell is None else cell_held[self.cell])
                within = within * cell_held[owners]
            sums, total = self.by_cell(held), self._disagreement.total(agreement, held)
            met.held.append((self.of_part(self.by_part(sums)) - sums)[owners])
            met.apart.append(self.by_owner(self.entry_owned * total[owning]) - within)
            met.within.append(within)
        return met

    def meet_owned(self, agreement: Agreement, met: "MetByOwners") -> list[Floats]:
        """Return, for each cell, what it holds times what owners of other cells own and disagrees.

        The sums are those of weights times a power of the weight that the owner's cell holds.
        """
        if self.is_symmetric:
            return met.apart
        owned, apart = self.entry_owned, []
        for power, within in enumerate(met.within):
            if power:
                factor = self.held if self.cell is None else self.held[self.cell]
                owned = owned * factor[self.owning_entries]
            total = self._disagreement.total(agreement, owned, self.owner)
            apart.append(self.by_cell(self.entry_held * total))
            apart[-1][self.owners] -= within
        return apart

    @cached_property
    def _disagreement(self) -> "_Disagreement":
        return _Disagreement(self)


def _with_owners(cells: Cells, owned: Ints) -> Ints:
    """Return the entries of all explanations that own something, and hold or own something themselves."""
    is_owner = owned > 0
    if is_owner.all():
        return np.arange(len(owned))
    if not is_owner.any():
        return np.zeros(0, dtype=np.int64)
    is_owned = _mask(cells.explanation[is_owner], int(cells.explanation[-1]) + 1)
    return np.flatnonzero(is_owned[cells.explanation] & (is_owner | (cells.held > 0)))


def _mask(positions: Ints, size: int) -> NDArray[np.bool_]:
    mask = np.zeros(size, dtype=bool)
    mask[positions] = True
    return mask


@attrs.frozen(eq=False)
class MetByOwners:
    """What each owning cell meets in the other cells of its part.

    Each list has the sums with the weights themselves and, if there is a second item, with these times the
    weight that their cell holds.

    Attributes
    ----------
    held : list of (o,) float
        The weight that others hold.
    apart : list of (o,) float
        What the cell owns, times what others hold and disagrees.
    within : list of (o,) float
        The same within the cell itself.
    """

    held: list[Floats]
    apart: list[Floats]
    within: list[Floats]

    def replace(self, is_replaced: NDArray[np.bool_], others: "MetByOwners") -> "MetByOwners":
        """Return the same with the values of `others` where a mask says so."""

        def replace(olds: list[Floats], news: list[Floats]) -> list[Floats]:
            return [np.where(is_replaced, new, old) for old, new in zip(olds, news, strict=True)]

        return MetByOwners(
            replace(self.held, others.held),
            replace(self.apart, others.apart),
            replace(self.within, others.within),
        )


class _Disagreement:
    """How much weight disagrees with each entry, in its part or in its cell."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.times = parts, parts.times  # every cell that stands for several has one entry
        n_labels = int(parts.label.max(initial=0)) + 1
        codes, n_slots = parts.entry_part * n_labels + parts.label, len(parts) * n_labels
        if n_slots <= 2 * len(codes):
            self.slot = codes
            self.slot_part, self.slot_label = np.divmod(np.arange(n_slots), n_labels)
        else:
            slots, _, self.slot = index_codes(codes)
            self.slot_part, self.slot_label = np.divmod(slots, n_labels)

    def total(self, agreement: Agreement, weights: Floats, entries: Ints | None = None) -> Floats:
        """Return the weight in the part of each entry that disagrees with it.

        The weights are those of all entries, or of some.
        """
        slot, times = self.slot, self.times
        if entries is not None:
            slot, times = slot[entries], None if times is None else times[entries]
        weights = weights if times is None else weights * times
        by_slot = sum_by(slot, weights, len(self.slot_part))
        return np.asarray(_disagreeing(agreement, self.slot_part, self.slot_label, by_slot)[self.slot])

    def own(self, agreement: Agreement, weights: Floats) -> Floats:
        """Return the weight in the cell of each entry that disagrees with it."""
        parts = self.parts
        if parts.cell is None:
            return np.zeros(len(weights))
        return _disagreeing(agreement, parts.cell, parts.label, weights)


def _disagreeing(agreement: Agreement, row: Ints, label: Ints, weights: Floats) -> Floats:
    """Return the weight in the row of each slot that disagrees with it."""
    total = sum_by(row, weights)
    agreeing = agreement.sum_over_slots(row, label, weights, total)
    return np.asarray(np.maximum(0.0, total[row] - agreeing))
