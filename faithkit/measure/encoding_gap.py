"""The encoding gap: how much the choice of an explanation tells beyond what it says.

An explanation applies to instances that have it and to others that have another one. If it is right about
what it says, both agree with it alike. If only those agree that have it, then its being chosen tells the
prediction, and its content does not.
"""

import math
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from faithkit.errors import InputError
from faithkit.measure.agreement.base import Influence
from faithkit.measure.estimators import ratio
from faithkit.measure.inference import share_limits
from faithkit.measure.relations import Relation, SameExplanation
from faithkit.measure.slots import Counts, Slots
from faithkit.measure.spread import Spread
from faithkit.measure.sums import Floats, exact_sum, quotient
from faithkit.measure.tally import Count, RowCount
from faithkit.shown import Shown

FEWEST = 100  # instances for which an interval was found to hold


@attrs.frozen(repr=False)
class EncodingGap(Shown):
    """How much better an explanation does among those who have it than among others to whom it applies.

    Only instances that have both can be compared. Attributes that are a mean over them are None where these
    are fewer than 2, and the interval where they are fewer than 100.

    Attributes
    ----------
    value : float or None
        Γ, the mean of the difference: `same` − `other`.
    low, high : float or None
        Its interval.
    same : float or None
        The mean share that agrees among others with the same explanation to whom it applies.
    other : float or None
        The mean share that agrees among those to whom it applies and who have another explanation, or none.
    n, compared : int
        The number of instances, and of those that have both.
    without_same, without_other : int
        How many instances have nobody of the first kind, and how many nobody of the second; some have
        neither.
    confidence : float
        Of the interval.
    relation : str
        It says where an explanation applies.

    Examples
    --------
    Either of two explanations applies to everybody, and which one is chosen tells the label:

    >>> import faithkit, numpy as np
    >>> X, y = np.zeros((200, 1)), np.arange(200) % 2
    >>> result = faithkit.score(y, y.tolist(), X=X, relation=lambda x, explanation: True)
    >>> found = result.encoding_gap()
    >>> found.value, found.same, found.other, found.compared
    (1.0, 1.0, 0.0, 200)
    """

    value: float | None
    low: float | None
    high: float | None
    same: float | None
    other: float | None
    n: int
    compared: int
    without_same: int
    without_other: int
    confidence: float
    relation: str

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> "EncodingGap":
        """Make it of what `to_dict` told."""
        return cls(**{field.name: told[field.name] for field in attrs.fields(cls)})


@attrs.frozen
class Spreads:
    """How pseudo-values of both means spread, and those of their difference; that of two pieces adds up."""

    same: Spread
    other: Spread
    apart: Spread

    def __add__(self, more: "Spreads") -> "Spreads":
        return Spreads(self.same + more.same, self.other + more.other, self.apart + more.apart)

    @property
    def correlation(self) -> float:
        """That of both, by how far their difference spreads."""
        if self.same.standard_error is None or self.other.standard_error is None:
            return 0.0
        one, two = self.same.variance, self.other.variance
        return max(-1.0, min(1.0, (one + two - self.apart.variance) / (2 * math.sqrt(one * two))))


def both_kinds(relation: Relation) -> tuple[Relation, Relation]:
    """Return who has the same explanation, of those to whom it applies, and who has not.

    Examples
    --------
    >>> from faithkit.measure.relations import NearExplanation
    >>> [str(one) for one in both_kinds(NearExplanation(tau=0.5))]
    ['(same-explanation & near-explanation:tau=0.5)', '(~same-explanation & near-explanation:tau=0.5)']
    """
    if isinstance(relation, SameExplanation):
        raise InputError(
            "the encoding gap needs a relation that an explanation has to those with another one, and "
            "same-explanation has none: name one such as in-scope or same-top-features."
        )
    return SameExplanation() & relation, ~SameExplanation() & relation


@attrs.frozen(eq=False)
class Kinds:
    """The counts of both kinds of others, slot by slot: who has which explanation is the same in both.

    Examples
    --------
    >>> from faithkit.measure.explanations import Explanations, Sample
    >>> from faithkit.measure.relations import NearExplanation
    >>> from faithkit.measure.tally import count
    >>> phi, y = Explanations.vectors([[0.0], [0.0], [0.1], [0.1]]), np.array([0, 0, 1, 1])
    >>> kinds = Kinds.of(*(count(one, Sample(None, phi), y, 2) for one in both_kinds(NearExplanation(0.5))))
    >>> kinds.compared, kinds.means
    (4, (1.0, 0.0))
    """

    slots: Slots  # of the same
    D: tuple[Counts, Counts]
    h: tuple[Floats, Floats]
    members: Counts  # the owners of each slot that have both, by s

    @classmethod
    def of(cls, same: Count, other: Count) -> "Kinds":
        """Put two counts together."""
        for counted in (same, other):
            _check(counted)
        mine, theirs = same.slots, other.slots
        assert np.array_equal(mine.row, theirs.row)  # by the same keys
        D = mine.others, np.broadcast_to(theirs.totals[theirs.row], mine.owners.shape)
        h = mine.scores, ratio(np.broadcast_to(theirs.counts, D[1].shape), D[1])
        return cls(mine, D, h, np.where((D[0] > 0) & (D[1] > 0), mine.owners, 0))

    @property
    def compared(self) -> int:
        """|B|: the instances that have both."""
        return int(self.members.sum())

    @property
    def means(self) -> tuple[float, float]:
        """M_O and M_R: the mean shares that agree."""
        used = self.members > 0
        same, other = (quotient(exact_sum(h[used], self.members[used]), self.compared or 1) for h in self.h)
        return same, other

    def without(self, kind: int) -> int:
        """Return how many instances have nobody of a kind."""
        return int(self.slots.owners[self.D[kind] == 0].sum())

    def spreads(self, same: RowCount, other: RowCount) -> Spreads:
        """Measure the pseudo-values of rows, which may be some of those that were counted."""
        one, two = (self._pseudo_values(side, kind, same) for kind, side in enumerate((same, other)))
        return Spreads(*(Spread.of(some, 0.0) for some in (one, two, one - two)))

    def _pseudo_values(self, side: RowCount, kind: int, same: RowCount) -> Floats:
        """Return n/|B| × what each row adds: as one that is judged, and as a witness of all that are."""
        h, lost = self.h[kind], ratio(self.members.astype(np.float64), np.maximum(self.D[kind] - 1, 1))
        nobody = np.zeros(len(self.slots.totals), dtype=np.int64)
        influence = Influence(self.slots, lost * h, lost, nobody)
        gained, _ = side.instances.lost(side.blocks(), influence)
        own = same.reflexive.astype(np.int64), same.place
        is_judged = self.members[own] > 0
        itself = side.reflexive * ratio(1.0 - h[own], np.maximum(self.D[kind][own] - 1, 1))
        found = np.where(is_judged, h[own] - self.means[kind] - itself, 0.0) - gained
        return found * (self.slots.n / self.compared)


def encoding_gap(
    kinds: Kinds, spreads: Spreads | None, relation: str, confidence: float = 0.95
) -> EncodingGap:
    """Put a gap together; without spreads it has no interval."""
    value = low = high = same = other = None
    if kinds.compared > 1:
        same, other = kinds.means
        value = same - other
        if spreads is not None:
            low, high = _interval((same, other), spreads, kinds.compared, confidence)
    empty = kinds.without(0), kinds.without(1)
    return EncodingGap(
        value, low, high, same, other, kinds.slots.n, kinds.compared, *empty, confidence, relation
    )


def _interval(
    means: tuple[float, float], spreads: Spreads, compared: int, confidence: float
) -> tuple[float, float]:
    """Return Γ ± the root of p² + q² − 2ρpq, where p and q are the distances of the limits on that side."""
    (same, other), rho = means, spreads.correlation
    (a, b), (c, d) = (
        share_limits(x, spread.standard_error, compared / 2, confidence)
        for x, spread in ((same, spreads.same), (other, spreads.other))
    )

    def length(p: float, q: float) -> float:
        return math.sqrt(max(0.0, p * p + q * q - 2 * rho * p * q))

    gap = same - other
    return max(-1.0, gap - length(same - a, d - other)), min(1.0, gap + length(b - same, other - c))


def _check(counted: Count) -> None:
    """Refuse what the interval was not derived for."""
    if not counted.agreement.is_whole:
        raise InputError(
            "the encoding gap is one of predictions that agree or do not, and these agree more or less: say "
            "how near numbers must be to agree (agree=, CLI: --agree within:N), or measure labels."
        )
    if counted.slots.rows is not None:
        raise InputError(
            "the encoding gap has no interval for rows with weights or clusters: measure without."
        )
