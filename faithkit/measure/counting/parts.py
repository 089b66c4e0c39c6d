"""Parts: the cells of an explanation, for its owners for which it holds, or for the others.

A *cell* is what one unit has in a part: the weight of its rows that own the part, and the weight of its rows
for which the explanation holds. Two rows are compared if one of them owns the part, the explanation holds for
the other, and they are of two units. So every measure is a sum over pairs of cells, which is one over cells:

    Σ_{c≠d} x_c·y_d = Σ_c x_c·(Y − y_c)        without cell c: that − x_c·(Y − y_c) − (X − x_c)·y_c

Where one cell has most of a part, it is kept apart: nothing is computed as a small rest of its weight.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints, sum_by
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.counting.cells import Cells, mark_run_starts
from faithkit.measure.counting.owners import index_codes


@attrs.frozen(eq=False)
class PairSums:
    """ΣF over the pairs of rows of each part, and without each cell: by weight, and times disagreement.

    F is 1, the weight that the cell of the held row holds, or that of the owner's cell.
    """

    weight: list[Floats]  # three times (p,)
    weight_left: list[Floats]  # three times (c,)
    disagreement: list[Floats]
    disagreement_left: list[Floats]


@attrs.frozen(eq=False, slots=False)
class Parts:
    """Cells by part and unit, and their entries by label.

    Attributes
    ----------
    explanation : (p,) int
        The explanation of each part.
    part, unit : (c,) int
        The part and the unit of each cell, sorted.
    cell, label : (e,) int
        The cell and the label of each entry, sorted.
    entry_owned, entry_held : (e,) float
        The weight of the entry's rows that own the part, and of those for which its explanation holds.

    Examples
    --------
    Rows 0 and 1 are of one unit; all three share an explanation:

    >>> unit, label, weight = np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([1, 1, 2])
    >>> cells = Cells.of(0 * unit, unit, label, scope_weight=weight, owner_weight=weight)
    >>> Parts.of(cells).held
    array([2., 2.])
    """

    explanation: Ints
    part: Ints
    unit: Ints
    cell: Ints
    label: Ints
    entry_owned: Floats
    entry_held: Floats

    @classmethod
    def of(cls, cells: Cells, step: float = 1.0, label: int | None = None) -> "Parts":
        """Return the parts that some row owns; with a `label`, only rows of this label own any.

        One step of the cells' weights has the value `step`.
        """
        by_place = [cells.owner_weight - cells.outside_weight, cells.outside_weight]
        if label is not None:
            by_place = [np.where(cells.label == label, owned, 0) for owned in by_place]
        inside, outside = (_with_owners(cells, owned) for owned in by_place)
        rows = inside if not len(outside[0]) else np.concatenate([inside, outside], axis=1)
        (entry, owned), n_inside = rows, inside.shape[1]
        explanation, unit, label_of_entry, scope_weight = (
            values[entry] for values in (cells.explanation, cells.unit, cells.label, cells.scope_weight)
        )
        starts_part = mark_run_starts(explanation)
        starts_part[n_inside : n_inside + 1] = True  # of the owners for which their explanation does not hold
        starts_cell = starts_part | mark_run_starts(unit)
        held = scope_weight * step
        return cls(
            explanation=explanation[starts_part],
            part=(np.cumsum(starts_part) - 1)[starts_cell],
            unit=unit[starts_cell],
            cell=np.cumsum(starts_cell) - 1,
            label=label_of_entry,
            entry_owned=held if np.array_equal(owned, scope_weight) else owned * step,
            entry_held=held,
        )

    def __len__(self) -> int:
        return len(self.explanation)

    @cached_property
    def owned(self) -> Floats:
        """The weight that each cell owns."""
        return self.held if self.entry_owned is self.entry_held else self.by_cell(self.entry_owned)

    @cached_property
    def held(self) -> Floats:
        """The weight that each cell holds."""
        return self.by_cell(self.entry_held)

    @cached_property
    def owners(self) -> Ints:
        """The cells that own something."""
        return np.flatnonzero(self.owned > 0)

    @cached_property
    def is_dominated(self) -> NDArray[np.bool_]:
        """Which parts have a cell that owns or holds most of them."""
        columns = (self.held,) if self.owned is self.held else (self.owned, self.held)
        most = [2 * np.maximum.reduceat(values, self.starts) > self.by_part(values) for values in columns]
        return np.asarray(np.any(most, axis=0))

    def split(self) -> "Iterator[Parts]":
        """Yield the parts that no cell dominates, and those that one does."""
        if self.is_dominated.any() and not self.is_dominated.all():
            yield self._take(~self.is_dominated)
            yield self._take(self.is_dominated)
        else:
            yield self

    def _take(self, is_selected: NDArray[np.bool_]) -> "Parts":
        cells = is_selected[self.part]
        entries = cells[self.cell]
        held = self.entry_held[entries]
        return Parts(
            self.explanation[is_selected],
            np.cumsum(mark_run_starts(self.part[cells])) - 1,
            self.unit[cells],
            np.cumsum(mark_run_starts(self.cell[entries])) - 1,
            self.label[entries],
            held if self.entry_owned is self.entry_held else self.entry_owned[entries],
            held,
        )

    @cached_property
    def is_light(self) -> NDArray[np.bool_]:
        """Which cells are not the heaviest of their part."""
        weight = self.held + self.owned
        candidates = np.flatnonzero(weight == self.of_part(np.maximum.reduceat(weight, self.starts)))
        is_light = np.ones(len(weight), dtype=bool)
        is_light[candidates[mark_run_starts(self.part[candidates])]] = False
        return is_light

    @cached_property
    def starts(self) -> Ints:
        """The first cell of each part."""
        return np.flatnonzero(mark_run_starts(self.part))

    def by_cell(self, values: Floats) -> Floats:
        """Sum the values of the entries of each cell."""
        return values if len(self.cell) == len(self.part) else sum_by(self.cell, values, len(self.part))

    def by_part(self, values: Floats) -> Floats:
        """Sum the values of the cells of each part."""
        return np.add.reduceat(values, self.starts) if len(values) else values

    def of_part(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the value of each cell's part."""
        return np.repeat(values, np.diff(self.starts, append=len(self.part)))

    def without_cell(self, values: Floats, only_owners: bool = False) -> Floats:
        """Sum, for each cell, the values of the other cells of its part.

        With `only_owners`, cells that own nothing have the value 0.
        """
        left = self.of_part(self.by_part(values))
        if only_owners:
            left[self.owners] -= values[self.owners]
        else:
            left -= values
        if self.is_dominated.any():
            np.copyto(left, self.of_part(self.by_part(values * self.is_light)), where=~self.is_light)
        return left

    def pair_sums(self, agreement: Agreement) -> PairSums:
        """Return the sums over the pairs of each part."""
        return PairSums(*self._weights(self.owned).sum_pairs(), *self._disagreement(agreement).sum_pairs())

    def whole_sums(self, agreement: Agreement) -> tuple[list[Floats], list[Floats]]:
        """Return the same of all cells alone: by weight, and times disagreement."""
        return self._weights(self.owned).sum_whole(), self._disagreement(agreement).sum_whole()

    def holder_sums(self) -> tuple[list[Floats], list[Floats]]:
        """Return ΣF over the pairs of each part and without each cell, if all that is held owned the part."""
        return self._weights(self.held).sum_pairs()

    def _weights(self, owned: Floats) -> "_Points":
        points = _PointsApart if self.is_dominated.any() else _Points
        return points(self, owned, self.held, None, self._total, lambda weights: weights)

    def _disagreement(self, agreement: Agreement) -> "_Points":
        meets, points = _Disagreement(self, agreement), _PointsApart if self.is_dominated.any() else _Points
        cell = None if len(self.cell) == len(self.part) else self.cell
        return points(self, self.entry_owned, self.entry_held, cell, meets.total, meets.own)

    def _total(self, weights: Floats) -> Floats:
        return np.asarray(self.of_part(self.by_part(weights)))


def _with_owners(cells: Cells, owned: Ints) -> Ints:
    """Return the entries of all explanations that own something, and what each of them owns."""
    if not owned.any():
        return np.zeros((2, 0), dtype=np.int64)
    is_owned = np.zeros(int(cells.explanation[-1]) + 1, dtype=bool)
    is_owned[cells.explanation[owned > 0]] = True
    entry = np.flatnonzero(is_owned[cells.explanation] & ((owned > 0) | (cells.scope_weight > 0)))
    return np.array([entry, owned[entry]])


class _Disagreement:
    """How much weight disagrees with each entry, in its part or in its cell."""

    def __init__(self, parts: Parts, agreement: Agreement) -> None:
        self.parts, self.agreement = parts, agreement
        n_labels = int(parts.label.max(initial=0)) + 1
        has_one_entry_per_cell = len(parts.cell) == len(parts.part)
        part = parts.part if has_one_entry_per_cell else parts.part[parts.cell]
        slots, _, self.slot = index_codes(part * n_labels + parts.label)
        self.slot_part, self.slot_label = np.divmod(slots, n_labels)

    def total(self, weights: Floats) -> Floats:
        """Return the weight in the part of each entry that disagrees with it."""
        by_slot = sum_by(self.slot, weights, len(self.slot_part))
        return self._disagreeing(self.slot_part, self.slot_label, by_slot)[self.slot]

    def own(self, weights: Floats) -> Floats:
        """Return the weight in the cell of each entry that disagrees with it."""
        parts = self.parts
        has_one_entry_per_cell = len(parts.cell) == len(parts.part)
        return 0 * weights if has_one_entry_per_cell else self._disagreeing(parts.cell, parts.label, weights)

    def _disagreeing(self, row: Ints, label: Ints, weights: Floats) -> Floats:
        total = sum_by(row, weights)
        agreeing = self.agreement.sum_over_slots(row, label, weights, total)
        return np.asarray(np.maximum(0.0, total[row] - agreeing))


@attrs.frozen(eq=False)
class _Points:
    """Points of parts that are summed in pairs: the cells themselves, or their entries.

    `cell` has the cell of each point, or None if points are cells. `total` returns for each point the sum
    over all points of its part that it meets, and `own` the sum over those of its own cell.
    """

    parts: Parts
    owned: Floats
    held: Floats
    cell: Ints | None
    total: Callable[[Floats], Floats]
    own: Callable[[Floats], Floats]

    def sum_whole(self) -> list[Floats]:
        """Return ΣF of each part, for all three F."""
        as_owner, _ = self._as_owner()
        return [np.maximum(0.0, self.parts.by_part(values)) for values in as_owner]

    def sum_pairs(self) -> tuple[list[Floats], list[Floats]]:
        """Return ΣF of each part, for all three F, and the same without each cell."""
        parts, held = self.parts, self.parts.held
        owners = parts.owners if self.owned is not self.held else slice(None)
        as_owner, own = self._as_owner()
        as_held = self._by_cell(self.held * self.total(self.owned)) - own
        as_held_by_owner = (
            self._by_cell(self.held * self.total(self.owned * self._of_cell(held))) - held * own
        )
        wholes, lefts = [], []
        for owner, holder in zip(as_owner, (as_held, held * as_held, as_held_by_owner), strict=True):
            whole = np.maximum(0.0, parts.by_part(owner))
            left = parts.of_part(whole)
            left -= holder
            left[owners] -= owner[owners]
            wholes.append(whole)
            lefts.append(np.maximum(0.0, left, out=left))
        return wholes, lefts

    def _as_owner(self) -> tuple[list[Floats], Floats]:
        """Return, for each F, the sum of each cell's owners; and the sum of each cell with itself."""
        held = self.parts.held
        own = self._by_cell(self.owned * self.own(self.held))
        first = self._by_cell(self.owned * self.total(self.held)) - own
        by_holder = self._by_cell(self.owned * self.total(self.held * self._of_cell(held))) - held * own
        return [first, by_holder, held * first], own

    def _by_cell(self, values: Floats) -> Floats:
        return values if self.cell is None else self.parts.by_cell(values)

    def _of_cell(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.cell is None else values[self.cell]


class _PointsApart(_Points):
    """The same, with the heaviest cell of each part apart."""

    def sum_whole(self) -> list[Floats]:
        """Return ΣF of each part, for all three F."""
        return [np.maximum(0.0, self.parts.by_part(light + heavy)) for light, heavy in self._pairs_as_owner()]

    def sum_pairs(self) -> tuple[list[Floats], list[Floats]]:
        """Return ΣF of each part, for all three F, and the same without each cell."""
        parts, held, own = self.parts, self.parts.held, self._own_pairs()
        as_held, as_held_by_owner = (
            self._by_cell(self.held * light) + parts.is_light * self._by_cell(self.held * heavy)
            for light, heavy in self._meet_both(self.owned)
        )
        as_held -= own
        held_by = as_held, held * as_held, as_held_by_owner - held * own
        wholes, lefts = [], []
        for (light, heavy), others in zip(self._pairs_as_owner(), held_by, strict=True):
            whole = parts.by_part(light + heavy)
            left = parts.of_part(whole) - light - heavy - others
            np.copyto(left, parts.of_part(parts.by_part(light * parts.is_light)), where=~parts.is_light)
            wholes.append(np.maximum(0.0, whole))
            lefts.append(np.maximum(0.0, left, out=left))
        return wholes, lefts

    def _pairs_as_owner(self) -> list[tuple[Floats, Floats]]:
        """Return, for each F and cell, the sum of its owners with light cells, and with the heaviest one."""
        held, is_light, own = self.parts.held, self.parts.is_light, self._own_pairs()
        (light, heavy), (light_by_holder, heavy_by_holder) = (
            (self._by_cell(self.owned * light), is_light * self._by_cell(self.owned * heavy))
            for light, heavy in self._meet_both(self.held)
        )
        light = light - own
        return [(light, heavy), (light_by_holder - held * own, heavy_by_holder), (held * light, held * heavy)]

    def _own_pairs(self) -> Floats:
        """Return the sum of each light cell with itself."""
        return self.parts.is_light * self._by_cell(self.owned * self.own(self.held))

    def _meet_both(self, weights: Floats) -> list[tuple[Floats, Floats]]:
        """Return what points meet of these weights, and of them times what cells hold: light, heaviest."""
        is_light = self._of_cell(self.parts.is_light)
        return [
            (self.total(values * is_light), self.total(values * ~is_light))
            for values in (weights, weights * self._of_cell(self.parts.held))
        ]
