"""The tally of grouping as it streams: who has which explanation, label by label, and who was the first.

A slot is an explanation with a label that some of its owners have. The censuses of two pieces of a log
unite, so a sample of any length needs memory for its distinct explanations and their labels only.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.asking import Whole
from faithkit.measure.explanations import Explanations
from faithkit.measure.grouping import group, renumbered
from faithkit.measure.relations import Relation, key_of
from faithkit.measure.slots import Slots
from faithkit.measure.tally import grouped_slots

Ints = NDArray[np.int64]


@attrs.frozen(eq=False)
class Census:
    """Distinct explanations by their first row, labels, and for each pair of them that occurs how often.

    Cell c says that `count[c]` instances of label `labels[label[c]]` have the explanation `owner[c]`, the
    first of them being the instance `first[c]`.

    Examples
    --------
    >>> from faithkit.measure.relations import SameExplanation
    >>> same = SameExplanation()
    >>> one = Census.of(same, Explanations.of(["a", "b", "a"]), np.array([0, 0, 1]), ["no", "yes"])
    >>> two = Census.of(same, Explanations.of(["c", "a"]), np.array([0, 0]), ["yes"], start=3)
    >>> both = Census.united(same, [one, two])
    >>> both.explanations.values, both.owner, both.count, both.first
    (array(['a', 'b', 'c'], dtype=object), array([0, 1, 0, 2]), array([1, 1, 2, 1]), array([0, 1, 2, 3]))
    """

    explanations: Explanations
    labels: list[Any]
    owner: Ints
    label: Ints
    count: Ints
    first: Ints

    @classmethod
    def of(
        cls,
        relation: Relation,
        explanations: Explanations,
        codes: Ints,
        labels: Sequence[Any],
        start: int = 0,
    ) -> "Census":
        """Count a piece whose first row has the number `start`; `codes` are places in `labels`."""
        groups = group(key_of(relation, explanations), explanations.missing)
        slots = renumbered(groups.codes * len(labels) + codes)
        return cls(
            explanations.take(groups.first),
            list(labels),
            groups.codes[slots.first],
            codes[slots.first],
            np.bincount(slots.codes, minlength=len(slots)),
            slots.first + start,
        )

    @classmethod
    def united(cls, relation: Relation, parts: Sequence["Census"]) -> "Census":
        """Unite the censuses of pieces, given in the order of their rows."""
        if len(parts) == 1:
            return parts[0]
        explanations = Explanations.concat([part.explanations for part in parts])
        groups = group(key_of(relation, explanations), explanations.missing)
        labels = list(dict.fromkeys(label for part in parts for label in part.labels))
        place = {label: code for code, label in enumerate(labels)}
        starts = np.cumsum([0, *(len(part.explanations) for part in parts)])
        whole = cls(
            explanations.take(groups.first),
            labels,
            groups.codes[np.concatenate([p.owner + a for p, a in zip(parts, starts, strict=False)])],
            np.concatenate([np.array([place[y] for y in p.labels], np.int64)[p.label] for p in parts]),
            np.concatenate([part.count for part in parts]),
            np.concatenate([part.first for part in parts]),
        )
        return whole._merged()

    def relabelled(self, codes: Ints, labels: list[Any]) -> "Census":
        """Return the slots with other labels, in which `codes` are the places of the old ones.

        Labels that fall together are counted together.
        """
        return attrs.evolve(self, labels=labels, label=codes[self.label])._merged()

    def taken(self, some: NDArray[Any]) -> "Census":
        """Return some of the slots, as if the others' instances had never been there."""
        order = np.asarray(some)[np.argsort(self.first[some], kind="stable")]
        owners, labels = renumbered(self.owner[order]), renumbered(self.label[order])
        return Census(
            self.explanations.take(self.owner[order][owners.first]),
            [self.labels[code] for code in self.label[order][labels.first]],
            owners.codes,
            labels.codes,
            self.count[order],
            self.first[order],
        )

    @property
    def ordered(self) -> tuple[Ints, Ints, Ints]:
        """The explanation, the label and the number of owners of each slot, in order of the first two."""
        order = np.lexsort((self.label, self.owner))
        return self.owner[order], self.label[order], self.count[order]

    @property
    def whole(self) -> Whole:
        """What instances are counted against, with all slots."""
        row, label, _ = self.ordered
        return Whole(self.explanations, len(self.labels), row, label)

    @property
    def grouped(self) -> Slots:
        """The slots of grouping."""
        return grouped_slots(*self.ordered, ~self.explanations.missing)

    def _merged(self) -> "Census":
        slots = renumbered(self.owner * len(self.labels) + self.label)
        count = np.zeros(len(slots), dtype=np.int64)
        np.add.at(count, slots.codes, self.count)
        first = np.full(len(slots), np.iinfo(np.int64).max)
        np.minimum.at(first, slots.codes, self.first)
        return attrs.evolve(
            self, owner=self.owner[slots.first], label=self.label[slots.first], count=count, first=first
        )


def gathered(relation: Relation, censuses: Iterable[Census]) -> Census:
    """Unite censuses that come in one by one, whenever the new ones are as many as the old.

    Uniting all at every turn would cost the square of their number; so the sum of all work stays near it.

    Examples
    --------
    >>> from faithkit.measure.relations import SameExplanation
    >>> same, yes = SameExplanation(), np.array([0])
    >>> parts = (Census.of(same, Explanations.of([word]), yes, ["yes"]) for word in ["a", "b", "a"])
    >>> gathered(same, parts).count
    array([2, 1])
    """
    parts: list[Census] = []
    for census in censuses:
        parts.append(census)
        if sum(len(part.count) for part in parts[1:]) >= len(parts[0].count):
            parts = [Census.united(relation, parts)]
    return Census.united(relation, parts)
