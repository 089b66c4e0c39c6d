"""Counts of logs that are read in pieces.

A slot is a pair of explanation and label that occurs. A census counts the slots of a piece, and the censuses
of two pieces can be united. So a log of any length needs memory only for its distinct explanations and their
labels. For a grouping relation that is all.

Other relations need three passes over the log. The first builds the census. The second scans the relation's
matrix of each piece and all explanations; these counts add up. The third computes the pseudo-values of each
piece; the standard error needs only their number, sum and sum of squares.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Ints
from faithkit.arrays.batches import each_batch
from faithkit.arrays.grouping import renumber, sort_distinct
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.relations import Relation, group_explanations
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.counting.bits import Slots
from faithkit.measure.counting.groups import grouped_owners
from faithkit.measure.counting.owners import Owners, broadcast_ones, sort_runs

SAVED = 0.8  # uniting pays off if at most this share of the slots remains
MERGE_DELAY = 32  # otherwise wait until this many times as many slots have arrived

Values = list[Any] | NDArray[np.float64]
"""Labels: a list of any values, or a sorted array of numbers or of rows of numbers.

Single numbers that hardly repeat may be unsorted and may repeat: sorting would take longer than everything
else, and sums do not need it. `Census.with_sorted_labels` sorts them.
"""


@attrs.frozen(eq=False)
class Census:
    """Distinct explanations in order of first appearance, labels, and the count of each slot.

    In slot c, `count[c]` instances have the label `labels[label[c]]` and the explanation `owner[c]`. The
    first of them is the instance `first[c]`. If instances are in `groups`, slot c belongs to `group[c]`.
    `agreement` measures how far two labels agree, once all labels are known.

    Without `label`, `count` and `first`, slot c is the instance ``start + c`` with the label c. Numbers that
    hardly repeat then need memory only for themselves and their owners.

    Examples
    --------
    >>> from faithkit.explanations.relations import SameExplanation
    >>> same = SameExplanation()
    >>> head = Census.of(same, Explanations.of(["a", "b", "a"]), np.array([0, 0, 1]), ["no", "yes"])
    >>> tail = Census.of(same, Explanations.of(["c", "a"]), np.array([0, 0]), ["yes"], start=3)
    >>> census = Census.union(same, [head, tail])
    >>> census.explanations.values, census.owner, census.count, census.first
    (array(['a', 'b', 'c'], dtype=object), array([0, 0, 1, 2]), array([1, 2, 1, 1]), array([0, 2, 1, 3]))
    """

    explanations: Explanations
    labels: Values
    owner: Ints
    _label: Ints | None = None
    _count: Ints | None = None
    _first: Ints | None = None
    group: Ints | None = None
    groups: list[Any] = attrs.field(factory=list)
    agreement: Agreement = SAME_LABEL
    start: int = 0

    @classmethod
    def of(
        cls,
        relation: Relation,
        explanations: Explanations,
        codes: Ints | None,
        labels: Values,
        start: int = 0,
        grouped: tuple[Ints, list[Any]] | None = None,
    ) -> "Census":
        """Count a piece whose first row has the number `start`.

        `codes` are positions in `labels`, or None if row i has the label i. `grouped` has the group codes of
        rows, and the groups.
        """
        owners = group_explanations(relation, explanations)
        group_codes, groups = (None, []) if grouped is None else grouped
        distinct = explanations.take(owners.first)
        census = cls(distinct, labels, owners.codes, codes, group=group_codes, groups=groups, start=start)
        return census if census._is_one_slot_per_label else census._merge_equal()

    @classmethod
    def union(cls, relation: Relation, censuses: Sequence["Census"]) -> "Census":
        """Unite the censuses of pieces, in the order of their rows."""
        if len(censuses) == 1:
            return censuses[0]
        explanations = Explanations.concat([census.explanations for census in censuses])
        owners = group_explanations(relation, explanations)
        owner, distinct = _renumber_owners(owners.codes, censuses), explanations.take(owners.first)
        if _are_consecutive_rows(censuses):
            numbers = _fill_by_census(censuses, lambda i, out: np.copyto(out, censuses[i].labels), np.float64)
            return cls(distinct, numbers, owner, start=censuses[0].start)
        codes = [census.label for census in censuses]
        labels, label = _join_values([census.labels for census in censuses], codes)
        groups: Values = []
        group_codes = None
        if codes := [census.group for census in censuses if census.group is not None]:
            groups, group_codes = _join_values([census.groups for census in censuses], codes)
        count = np.concatenate([census.count for census in censuses])
        first = np.concatenate([census.first for census in censuses])
        union = cls(distinct, labels, owner, label, count, first, group_codes, list(groups))
        return union if union._is_one_slot_per_label else union._merge_equal()

    @cached_property
    def label(self) -> Ints:
        """The label of each slot."""
        return np.arange(len(self.owner)) if self._label is None else self._label

    @cached_property
    def count(self) -> Ints:
        """The number of instances in each slot."""
        return broadcast_ones(len(self.owner)) if self._count is None else self._count

    @cached_property
    def first(self) -> Ints:
        """The first instance in each slot."""
        return self.start + np.arange(len(self.owner)) if self._first is None else self._first

    @property
    def are_rows(self) -> bool:
        """Whether every slot is a row with its own label; uniting then saves no memory."""
        return self._label is None

    @property
    def with_sorted_labels(self) -> "Census":
        """The same census with sorted labels, each of them once."""
        if isinstance(self.labels, list):
            return self
        values, codes = sort_distinct(self.labels)
        return self.relabel(codes, values)

    def relabel(self, codes: Ints, labels: Values) -> "Census":
        """Replace the labels; `codes` are the positions of the old labels among the new ones.

        Labels that become the same are counted together.
        """
        return attrs.evolve(self, labels=labels, label=codes[self.label])._merge_equal()

    def without_groups(self) -> "Census":
        """Return the census without groups."""
        return self if self.group is None else attrs.evolve(self, group=None, groups=[])._merge_equal()

    def coarsen(self, relation: Relation, explanations: Explanations) -> "Census":
        """Replace the distinct explanations by others, of which some may have become the same."""
        owners = group_explanations(relation, explanations)
        distinct = explanations.take(owners.first)
        return attrs.evolve(self, explanations=distinct, owner=owners.codes[self.owner])._merge_equal()

    def take(self, slots: NDArray[Any]) -> "Census":
        """Return the census of the instances in the selected slots only, without groups."""
        order = np.asarray(slots)[np.argsort(self.first[slots], kind="stable")]
        owners = renumber(self.owner[order])
        label_codes, label = np.unique(self.label[order], return_inverse=True)
        is_list = isinstance(self.labels, list)
        labels = [self.labels[code] for code in label_codes] if is_list else self.labels[label_codes]
        explanations = self.explanations.take(self.owner[order][owners.first])
        census = Census(explanations, labels, owners.codes, label, self.count[order], self.first[order])
        return census if self.group is None else census._merge_equal()

    @property
    def labels_vary(self) -> bool:
        """Whether at least two labels differ."""
        labels = self.labels
        return len(labels) > 1 if isinstance(labels, list) else bool((labels[1:] != labels[:1]).any())

    @property
    def by_label(self) -> Ints:
        """The number of instances of each label."""
        if self.are_rows:
            return self.count
        counts = np.zeros(len(self.labels), dtype=np.int64)
        np.add.at(counts, self.label, self.count)
        return counts

    @property
    def sorted_slots(self) -> tuple[Ints, Ints, Ints]:
        """The explanation, label and count of each slot, sorted by the first two."""
        keys = self.owner * len(self.labels) + self.label  # all different
        if (keys[1:] > keys[:-1]).all():
            return self.owner, self.label, self.count
        order, _ = sort_runs(keys)
        return self.owner[order], self.label[order], self.count[order]

    @property
    def slots(self) -> Slots:
        """All slots, as a pass over a relation's matrix counts them."""
        explanation, label, _ = self.sorted_slots
        return Slots(self.explanations, len(self.labels), self.agreement, explanation, label)

    @property
    def owners(self) -> Owners:
        """The owners of the grouping relation; unsorted if distances are summed and numbers do not repeat."""
        needs_no_order = self._is_one_slot_per_label and not self.agreement.is_binary
        columns = (self.owner, self._label, self.count) if needs_no_order else self.sorted_slots
        return grouped_owners(*columns, ~self.explanations.missing, self.agreement)

    @property
    def _is_one_slot_per_label(self) -> bool:
        """Whether no two slots are equal, because each has its own number as its label."""
        return not isinstance(self.labels, list) and len(self.owner) == len(self.labels)

    def _merge_equal(self) -> "Census":
        """Count equal slots together; keep their smallest first instance."""
        keys = _slot_keys(self.owner, self.label, len(self.labels), self.group, len(self.groups))
        order, start = sort_runs(keys)
        first_of_run = order[start]
        return attrs.evolve(
            self,
            owner=self.owner[first_of_run],
            label=self.label[first_of_run],
            count=np.add.reduceat(self.count[order], start),
            first=np.minimum.reduceat(self.first[order], start),
            group=None if self.group is None else self.group[first_of_run],
        )


def _slot_keys(owner: Ints, label: Ints, n_labels: int, group_codes: Ints | None, n_groups: int) -> Ints:
    """Return a key for each slot: equal slots have equal keys."""
    codes = owner * n_labels + label
    return codes if group_codes is None else codes * n_groups + group_codes


def _renumber_owners(codes: Ints, censuses: Sequence[Census]) -> Ints:
    """Return the owner of every slot; `codes` has the new codes of the explanations, census after census."""
    codes_by_census = np.split(codes, np.cumsum([len(census.explanations) for census in censuses])[:-1])
    return _fill_by_census(
        censuses, lambda i, out: codes_by_census[i].take(censuses[i].owner, out=out, mode="clip"), np.int64
    )


def _fill_by_census(
    censuses: Sequence[Census], fill: Callable[[int, NDArray[Any]], Any], dtype: type[np.generic]
) -> NDArray[Any]:
    """Return an array over all slots; ``fill(i, out)`` writes the part of census i, on threads."""
    bounds = np.cumsum([0, *(len(census.owner) for census in censuses)]).tolist()
    values = np.empty(bounds[-1], dtype)
    each_batch(lambda i, stop: fill(i, values[bounds[i] : bounds[stop]]), len(censuses), 1)
    return values


def _are_consecutive_rows(censuses: Sequence[Census]) -> bool:
    """Return whether every slot is a row with its own label, and the pieces follow each other."""
    stops = (census.start + len(census.owner) for census in censuses)
    is_consecutive = all(stop == census.start for stop, census in zip(stops, censuses[1:], strict=False))
    return is_consecutive and all(census.are_rows for census in censuses)


def _join_values(parts: list[Values], codes: list[Ints]) -> tuple[Values, Ints]:
    """Return the distinct values of all parts, and the position of every code's value among them."""
    if isinstance(parts[0], list):
        values: Values = list(dict.fromkeys(value for part in parts for value in part))
        position_by_value = {value: position for position, value in enumerate(values)}
        positions = [np.array([position_by_value[value] for value in part], dtype=np.int64) for part in parts]
    elif all(map(_is_sorted, parts)):
        values, all_positions = sort_distinct(np.concatenate(parts), in_parts=True)
        positions = np.split(all_positions, np.cumsum([len(part) for part in parts])[:-1])
    else:
        starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
        offset_codes = [start + part_codes for start, part_codes in zip(starts, codes, strict=True)]
        return np.concatenate(parts), np.concatenate(offset_codes)
    new_codes = [position[part_codes] for position, part_codes in zip(positions, codes, strict=True)]
    return values, np.concatenate(new_codes)


def _is_sorted(values: Values) -> bool:
    """Return whether numbers are strictly increasing; rows of several numbers always are."""
    return isinstance(values, list) or values.ndim > 1 or bool((values[1:] > values[:-1]).all())


def merge_censuses(relation: Relation, censuses: Iterable[Census]) -> Census:
    """Unite censuses that arrive one by one, whenever the new slots are as many as the united ones.

    Uniting at every arrival would cost time quadratic in their number; this way the total work stays almost
    linear. If uniting saves little memory, as with numbers that hardly repeat, it waits longer.

    Examples
    --------
    >>> from faithkit.explanations.relations import SameExplanation
    >>> same, yes = SameExplanation(), np.array([0])
    >>> pending = (Census.of(same, Explanations.of([word]), yes, ["yes"]) for word in ["a", "b", "a"])
    >>> merge_censuses(same, pending).count
    array([2, 1])
    """
    pending: list[Census] = []
    delay = 1
    for census in censuses:
        pending.append(census)
        delay = MERGE_DELAY if census.are_rows else delay
        n_merged, *n_new = (len(waiting.owner) for waiting in pending)
        if sum(n_new) >= delay * n_merged:
            pending = [Census.union(relation, pending)]
            delay = 1 if len(pending[0].owner) <= SAVED * (n_merged + sum(n_new)) else MERGE_DELAY
    return Census.union(relation, pending)
