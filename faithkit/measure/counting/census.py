"""The tally of grouping as it streams: who has which explanation, label by label, and who was the first.

A slot is an explanation with a label that some of its owners have. The censuses of two pieces of a log
unite, so a sample of any length needs memory for its distinct explanations and their labels only.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.blocks import each_block
from faithkit.arrays.grouping import group, ordered, renumbered
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.relations import Relation, key_of
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.counting.owners import Owners, constant, runs
from faithkit.measure.counting.scans import ScanTarget
from faithkit.measure.counting.tally import grouped_owners

Ints = NDArray[np.int64]
SAVED = 0.8  # of all cells, that are left where it pays to unite them
PATIENCE = 32

Values = list[Any] | NDArray[np.float64]
"""What labels are: any values; or numbers, or rows of them, in order.

Single numbers of which hardly any occurs twice may be in any order, and more than once: to sort them would
take longer than all else, and what they add up to needs none. `Census.settled` does.
"""


@attrs.frozen(eq=False)
class Census:
    """Distinct explanations by their first row, labels, and for each pair of them that occurs how often.

    Cell c says that `count[c]` instances of label `labels[label[c]]` have the explanation `owner[c]`, the
    first of them being the instance `first[c]`. Where instances are in `groups`, a cell has one of these,
    too. `agreement` says how far two labels agree, once all of them are known.

    Without these three, cell c is the instance ``start + c``, which has the label c: so numbers that hardly
    repeat need no memory but for themselves and their owners.

    Examples
    --------
    >>> from faithkit.explanations.relations import SameExplanation
    >>> same = SameExplanation()
    >>> one = Census.of(same, Explanations.of(["a", "b", "a"]), np.array([0, 0, 1]), ["no", "yes"])
    >>> two = Census.of(same, Explanations.of(["c", "a"]), np.array([0, 0]), ["yes"], start=3)
    >>> both = Census.united(same, [one, two])
    >>> both.explanations.values, both.owner, both.count, both.first
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

        `codes` are places in `labels`, None where every row has its own, and `grouped` is the same of groups.
        """
        owners = group(key_of(relation, explanations), explanations.missing)
        member, groups = (None, []) if grouped is None else grouped
        distinct = explanations.take(owners.first)
        found = cls(distinct, labels, owners.codes, codes, group=member, groups=groups, start=start)
        return found if found._is_merged else found._merged()

    @classmethod
    def united(cls, relation: Relation, parts: Sequence["Census"]) -> "Census":
        """Unite the censuses of pieces, given in the order of their rows."""
        if len(parts) == 1:
            return parts[0]
        explanations = Explanations.concat([part.explanations for part in parts])
        owners = group(key_of(relation, explanations), explanations.missing)
        owner, distinct = _owners(owners.codes, parts), explanations.take(owners.first)
        if _are_rows(parts):
            numbers = _filled(parts, lambda which, out: np.copyto(out, parts[which].labels), np.float64)
            return cls(distinct, numbers, owner, start=parts[0].start)
        labels, label = _joined([part.labels for part in parts], [part.label for part in parts])
        members = [part.group for part in parts if part.group is not None]
        groups, member = _joined([part.groups for part in parts], members) if members else ([], None)
        count = np.concatenate([part.count for part in parts])
        first = np.concatenate([part.first for part in parts])
        whole = cls(distinct, labels, owner, label, count, first, member, list(groups))
        return whole if whole._is_merged else whole._merged()

    @cached_property
    def label(self) -> Ints:
        """The label of each cell."""
        return np.arange(len(self.owner)) if self._label is None else self._label

    @cached_property
    def count(self) -> Ints:
        """How many instances each cell has."""
        return constant(1, len(self.owner)) if self._count is None else self._count

    @cached_property
    def first(self) -> Ints:
        """The first instance of each cell."""
        return self.start + np.arange(len(self.owner)) if self._first is None else self._first

    @property
    def are_rows(self) -> bool:
        """Whether every cell is a row with a label of its own: so many will be left however they unite."""
        return self._label is None

    @property
    def settled(self) -> "Census":
        """The slots with numbers in order, each of them once."""
        if isinstance(self.labels, list):
            return self
        values, codes = ordered(self.labels)
        return self.relabelled(codes, values)

    def relabelled(self, codes: Ints, labels: Values) -> "Census":
        """Return the slots with other labels, in which `codes` are the places of the old ones.

        Labels that fall together are counted together.
        """
        return attrs.evolve(self, labels=labels, label=codes[self.label])._merged()

    def together(self) -> "Census":
        """Return the slots of all groups together."""
        return self if self.group is None else attrs.evolve(self, group=None, groups=[])._merged()

    def coarser(self, relation: Relation, explanations: Explanations) -> "Census":
        """Return the slots where some of the distinct explanations have become the same."""
        owners = group(key_of(relation, explanations), explanations.missing)
        distinct = explanations.take(owners.first)
        return attrs.evolve(self, explanations=distinct, owner=owners.codes[self.owner])._merged()

    def taken(self, some: NDArray[Any]) -> "Census":
        """Return some of the slots, as if the others' instances and all groups had never been there."""
        order = np.asarray(some)[np.argsort(self.first[some], kind="stable")]
        owners = renumbered(self.owner[order])
        known, label = np.unique(self.label[order], return_inverse=True)
        is_list = isinstance(self.labels, list)
        labels = [self.labels[code] for code in known] if is_list else self.labels[known]
        explanations = self.explanations.take(self.owner[order][owners.first])
        found = Census(explanations, labels, owners.codes, label, self.count[order], self.first[order])
        return found if self.group is None else found._merged()

    @property
    def varies(self) -> bool:
        """Whether two labels differ."""
        some = self.labels
        return len(some) > 1 if isinstance(some, list) else bool((some[1:] != some[:1]).any())

    @property
    def by_label(self) -> Ints:
        """How many instances have each label."""
        if self.are_rows:
            return self.count
        times = np.zeros(len(self.labels), dtype=np.int64)
        np.add.at(times, self.label, self.count)
        return times

    @property
    def ordered(self) -> tuple[Ints, Ints, Ints]:
        """The explanation, the label and the number of owners of each slot, in order of the first two."""
        cells = self.owner * len(self.labels) + self.label  # which differ
        if (cells[1:] > cells[:-1]).all():
            return self.owner, self.label, self.count
        order, _ = runs(cells)
        return self.owner[order], self.label[order], self.count[order]

    @property
    def whole(self) -> ScanTarget:
        """What instances are counted against, with all slots."""
        row, label, _ = self.ordered
        return ScanTarget(self.explanations, len(self.labels), row, label, self.agreement)

    @property
    def grouped(self) -> Owners:
        """The owners of grouping: in any order where distances are added up and each has its own number."""
        any_order = self._is_merged and not self.agreement.is_whole
        cells = (self.owner, self._label, self.count) if any_order else self.ordered
        return grouped_owners(*cells, ~self.explanations.missing, self.agreement)

    @property
    def _is_merged(self) -> bool:
        """Whether no two cells are equal, since there is a number for each of them."""
        return not isinstance(self.labels, list) and len(self.owner) == len(self.labels)

    def _merged(self) -> "Census":
        """Count equal cells together; of these the first has the first instance."""
        keys = _cells(self.owner, self.label, len(self.labels), self.group, len(self.groups))
        order, start = runs(keys)
        kept = order[start]
        return attrs.evolve(
            self,
            owner=self.owner[kept],
            label=self.label[kept],
            count=np.add.reduceat(self.count[order], start),
            first=np.minimum.reduceat(self.first[order], start),
            group=None if self.group is None else self.group[kept],
        )


def _cells(owner: Ints, label: Ints, n_labels: int, member: Ints | None, n_groups: int) -> Ints:
    """Return a number for each cell, by what it is of."""
    codes = owner * n_labels + label
    return codes if member is None else codes * n_groups + member


def _owners(codes: Ints, parts: Sequence[Census]) -> Ints:
    """Return the owners of all cells, where `codes` are the new ones of each piece's, one after the other."""
    mine = np.split(codes, np.cumsum([len(part.explanations) for part in parts])[:-1])
    return _filled(
        parts, lambda which, out: mine[which].take(parts[which].owner, out=out, mode="clip"), np.int64
    )


def _filled(
    parts: Sequence[Census], fill: Callable[[int, NDArray[Any]], Any], dtype: type[np.generic]
) -> NDArray[Any]:
    """Return something of all cells, piece after piece: each is filled by its place, on threads."""
    ends = np.cumsum([0, *(len(part.owner) for part in parts)]).tolist()
    found = np.empty(ends[-1], dtype)
    each_block(lambda which, stop: fill(which, found[ends[which] : ends[stop]]), len(parts), 1)
    return found


def _are_rows(parts: Sequence[Census]) -> bool:
    """Whether every cell of some pieces is a row with a label of its own, and they follow each other."""
    follow = all(one.start + len(one.owner) == two.start for one, two in pairwise(parts))
    return follow and all(part.are_rows for part in parts)


def _joined(parts: list[Values], codes: list[Ints]) -> tuple[Values, Ints]:
    """Return the values of all pieces, each once, and the places there of what their codes stand for."""
    if isinstance(parts[0], list):
        values: Values = list(dict.fromkeys(one for part in parts for one in part))
        known = {one: place for place, one in enumerate(values)}
        places = [np.array([known[one] for one in part], dtype=np.int64) for part in parts]
    elif all(map(_are_in_order, parts)):
        values, every = ordered(np.concatenate(parts), in_parts=True)
        places = np.split(every, np.cumsum([len(part) for part in parts])[:-1])
    else:
        starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
        return np.concatenate(parts), np.concatenate([a + b for a, b in zip(starts, codes, strict=True)])
    return values, np.concatenate([place[code] for place, code in zip(places, codes, strict=True)])


def _are_in_order(values: Values) -> bool:
    """Whether every number is larger than the one before; rows of several always are in order."""
    return isinstance(values, list) or values.ndim > 1 or bool((values[1:] > values[:-1]).all())


def gathered(relation: Relation, censuses: Iterable[Census]) -> Census:
    """Unite censuses that come in one by one, whenever the new ones are as many as the old.

    Uniting all at every turn would cost the square of their number; so the sum of all work stays near it.
    Where uniting saves next to nothing, as with numbers that hardly repeat, it waits for longer.

    Examples
    --------
    >>> from faithkit.explanations.relations import SameExplanation
    >>> same, yes = SameExplanation(), np.array([0])
    >>> parts = (Census.of(same, Explanations.of([word]), yes, ["yes"]) for word in ["a", "b", "a"])
    >>> gathered(same, parts).count
    array([2, 1])
    """
    parts: list[Census] = []
    patience = 1
    for census in censuses:
        parts.append(census)
        patience = PATIENCE if census.are_rows else patience
        old, *new = (len(part.owner) for part in parts)
        if sum(new) >= patience * old:
            parts = [Census.united(relation, parts)]
            patience = 1 if len(parts[0].owner) <= SAVED * (old + sum(new)) else PATIENCE
    return Census.united(relation, parts)
