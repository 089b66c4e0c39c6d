"""Anchors found in the data itself: no perturbed rows, and no model call but the predictions.

The paper defines an anchor's quality over the data's own distribution. So the search counts in the
background: a conjunction's precision is the share of the background rows it covers that have the
instance's label. Conjunctions are counted once, whoever asks, as packed bitsets.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_scoped_rules.bounds import lower_bound
from faithkit_scoped_rules.vocabulary import NONE, Vocabulary

Conjunction = tuple[int, ...]
CACHE_BYTES = 256 * 2**20
UNSURE = "too little evidence for the threshold"  # remarked on a rule whose bound does not reach it


class EmpiricalAnchors:
    """Anchors by beam search over the background, with KL confidence bounds.

    The rule returned is the one of largest coverage whose precision reaches `threshold`, and whose lower
    confidence bound lies within `tau` of it. Where none does, it is the rule with the highest bound, and the
    row is remarked to have too little evidence for the threshold.

    Parameters
    ----------
    threshold : float
        The precision to reach.
    delta : float
        The probability with which a bound may fail.
    tau : float
        How far below the threshold the lower bound may lie.
    bins : int
        Numeric columns are cut into so many parts of equal mass.
    beam_size : int
        How many conjunctions of each size are extended.
    max_size : int
        The most predicates a rule may have.

    Examples
    --------
    >>> X = np.repeat([[0.0, 1.0], [0.0, 2.0], [5.0, 1.0], [5.0, 2.0]], 50, axis=0)
    >>> model = faithkit.Predictor(lambda X: X[:, 0] > 1)
    >>> anchors = EmpiricalAnchors(bins=2).fit(model, X)
    >>> print(anchors.explain(X[:1], seeds=None).values[0])
    0 ≤ 0
    """

    rows_per_chunk = 2048

    def __init__(
        self,
        threshold: float = 0.95,
        delta: float = 0.1,
        tau: float = 0.0,
        bins: int = 4,
        beam_size: int = 4,
        max_size: int = 6,
    ) -> None:
        for name, value, least in (("bins", bins, 2), ("beam_size", beam_size, 1), ("max_size", max_size, 1)):
            faithkit.whole_number(value, f"empirical-anchors: {name}", least, error=faithkit.ParameterError)
        for name, share in (("threshold", threshold), ("delta", delta)):
            if not 0 < share < 1:
                raise faithkit.ParameterError(
                    f"empirical-anchors: {name} must lie between 0 and 1, got {share!r}."
                )
        if not 0 <= tau < 1:
            raise faithkit.ParameterError(f"empirical-anchors: tau must lie in [0, 1), got {tau!r}.")
        self.threshold = threshold
        self.delta = delta
        self.tau = tau
        self.bins = bins
        self.beam_size = beam_size
        self.max_size = max_size

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "EmpiricalAnchors":
        """Learn the predicates, and count in the background what each covers."""
        if isinstance(background, list):
            raise faithkit.InputError(
                "empirical-anchors explains tables, not texts: use anchors-text or first-word."
            )
        self.predictor_ = predictor
        self.words_ = Vocabulary(background, self.bins)
        labels = predictor.predict(background)
        self.labels_, codes = np.unique(labels, return_inverse=True)
        sample = faithkit.Sample(background, faithkit.Explanations.of([0] * len(labels)))
        single = [faithkit.Rule([predicate]) for predicate in self.words_.predicates]
        self.counts_ = _Counts(faithkit.scope_bits(single, sample), codes, len(self.labels_))
        slots = sum(column.slots for column in self.words_.columns)
        self.level_ = math.log((1 + (self.beam_size - 1) * slots) / self.delta)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one rule per row; rows with the same predicates and label are searched for once."""
        satisfied = self.words_.satisfied(X)
        labels = self._codes(self.predictor_.predict(X))
        questions, place = np.unique(np.column_stack([labels, satisfied]), axis=0, return_inverse=True)
        search = _Search(self, questions[:, 0], questions[:, 1:])
        found, reached = search.run()
        rules = np.fromiter(map(self.words_.rule, found), dtype=object, count=len(found))
        remarks = np.full(len(rules), UNSURE, dtype=object)
        remarks[reached] = None
        place = place.ravel()
        return faithkit.Explanations(
            kind="rule", values=rules[place], instances=X, remarks=remarks[place], relation="in-scope"
        )

    def _codes(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Give labels the background's numbers; one that it lacks agrees with nothing there."""
        known = {label: i for i, label in enumerate(self.labels_.tolist())}
        return np.array([known.get(label, NONE) for label in labels.tolist()], dtype=np.int64)


class _Counts:
    """How many background rows of each label a conjunction covers, together with each further predicate."""

    def __init__(self, bits: NDArray[np.uint64], labels: NDArray[np.int64], n_labels: int) -> None:
        self.bits = bits
        self.label_bits = faithkit.pack_bits(np.arange(n_labels)[:, None] == labels[None, :])
        self.alone = np.bincount(labels, minlength=n_labels)
        self._known: dict[Conjunction, NDArray[np.int32]] = {}
        self._room = max(1, CACHE_BYTES // max(1, 4 * len(bits) * n_labels))

    def with_each(self, conjunction: Conjunction) -> NDArray[np.int32]:
        """Return counts (predicates, labels) of the conjunction extended by every predicate."""
        found = self._known.get(conjunction)
        if found is None:
            covered = self.bits
            if conjunction:
                covered = self.bits & np.bitwise_and.reduce(self.bits[list(conjunction)], axis=0)
            found = faithkit.count_labels(covered, self.label_bits, partition=True).astype(np.int32)
            if len(self._known) >= self._room:
                self._known.clear()
            self._known[conjunction] = found
        return found


class _Search:
    """A beam search for many questions at once, one size of conjunctions after the other."""

    def __init__(
        self, anchors: EmpiricalAnchors, labels: NDArray[np.int64], words: NDArray[np.int64]
    ) -> None:
        self.anchors = anchors
        self.labels = labels
        self.words = words
        alone = anchors.counts_.alone
        covered = np.full(len(labels), alone.sum())
        agree = np.where(labels == NONE, 0, alone[labels])
        bound = lower_bound(agree, covered, anchors.level_)
        self.reached = self._reaches(agree, covered, bound)  # the empty rule covers everything
        self.coverage = np.where(self.reached, covered, 0)
        self.best: list[Conjunction] = [()] * len(labels)
        self.bound = bound
        self.beams: list[list[Conjunction]] = [[] if done else [()] for done in self.reached]
        self.covered: list[list[int]] = [[int(alone.sum())] * len(beam) for beam in self.beams]

    def run(self) -> tuple[list[Conjunction], NDArray[np.bool_]]:
        """Return the best conjunction for every question, and whether it reaches the threshold."""
        for _ in range(self.anchors.max_size):
            if not any(self.beams):
                break
            self._extend()
        return self.best, self.reached

    def _reaches(self, agree: NDArray[Any], covered: NDArray[Any], bound: NDArray[Any]) -> NDArray[np.bool_]:
        threshold, tau = self.anchors.threshold, self.anchors.tau
        return (agree >= threshold * covered) & (covered > 0) & (bound >= threshold - tau)

    def _extend(self) -> None:
        """Extend every beam by one predicate, keep what is valid and covers most, and the next beam."""
        asked = [(q, c) for q, beam in enumerate(self.beams) for c in range(len(beam))]
        question = np.array([q for q, _ in asked])
        parents = [self.beams[q][c] for q, c in asked]
        before = np.array([self.covered[q][c] for q, c in asked])
        distinct = {parent: i for i, parent in enumerate(dict.fromkeys(parents))}
        tables = np.stack([self.anchors.counts_.with_each(parent) for parent in distinct])
        row = np.array([distinct[parent] for parent in parents])
        words = self.words[question]
        found = tables[row[:, None], words]  # (asked, slots, labels)
        covered = found.sum(axis=2)
        labels = self.labels[question]
        agree = np.take_along_axis(found, np.maximum(labels, 0)[:, None, None], axis=2)[..., 0]
        agree = np.where(labels[:, None] == NONE, 0, agree)
        useful = (words != NONE) & (covered < before[:, None]) & (covered > self.coverage[question][:, None])
        self._settle(question, parents, words, np.where(useful, agree, 0), np.where(useful, covered, 0))

    def _settle(
        self,
        question: NDArray[Any],
        parents: list[Conjunction],
        words: NDArray[Any],
        agree: NDArray[Any],
        covered: NDArray[Any],
    ) -> None:
        bound = self._bounds(agree, covered)
        valid = self._reaches(agree, covered, bound)
        starts = np.searchsorted(question, np.arange(len(self.labels) + 1))
        slots = words.shape[1]
        for q in np.unique(question):
            part = slice(starts[q], starts[q + 1])
            candidates = _Candidates(
                [parents[i] for i in range(part.start, part.stop)],
                words[part].ravel(), covered[part].ravel(), bound[part].ravel(), valid[part].ravel(), slots,
            )  # fmt: skip
            self._choose(int(q), candidates)

    def _bounds(self, agree: NDArray[Any], covered: NDArray[Any]) -> NDArray[np.float64]:
        """Bound each distinct pair of counts once."""
        pairs, place = np.unique(agree.astype(np.int64) << 32 | covered.astype(np.int64), return_inverse=True)
        bounds = lower_bound(pairs >> 32, pairs & 0xFFFFFFFF, self.anchors.level_)
        return bounds[place].reshape(agree.shape)

    def _choose(self, q: int, found: "_Candidates") -> None:
        winner = found.widest_valid()
        if winner is not None:
            self.best[q], self.coverage[q], self.reached[q] = (
                found.conjunction(winner),
                found.covered[winner],
                True,
            )
        order = found.by_bound(self.coverage[q])
        if len(order) and not self.reached[q] and found.bound[order[0]] > self.bound[q]:
            self.best[q], self.bound[q] = found.conjunction(order[0]), found.bound[order[0]]
        beam: dict[Conjunction, int] = {}
        for i in order:
            beam.setdefault(found.conjunction(i), int(found.covered[i]))
            if len(beam) == self.anchors.beam_size:
                break
        self.beams[q], self.covered[q] = list(beam), list(beam.values())


class _Candidates:
    """What one question's beam can be extended to."""

    def __init__(
        self,
        parents: list[Conjunction],
        words: NDArray[Any],
        covered: NDArray[Any],
        bound: NDArray[Any],
        valid: NDArray[Any],
        slots: int,
    ) -> None:
        self.parents, self.words, self.slots = parents, words, slots
        self.covered, self.bound, self.valid = covered, bound, valid

    def conjunction(self, i: int) -> Conjunction:
        """Return a candidate's predicates, in order."""
        return tuple(sorted((*self.parents[i // self.slots], int(self.words[i]))))

    def widest_valid(self) -> int | None:
        """Return the valid candidate of largest coverage; the first of the vocabulary where several tie."""
        valid = np.flatnonzero(self.valid)
        if not len(valid):
            return None
        widest = valid[self.covered[valid] == self.covered[valid].max()]
        return int(min(widest, key=self.conjunction))

    def by_bound(self, coverage: int) -> NDArray[np.int64]:
        """Return those that may still lead to a wider rule, the highest bound first."""
        open_ = np.flatnonzero(self.covered > max(int(coverage), 0))
        return open_[np.lexsort((self.words[open_], -self.covered[open_], -self.bound[open_]))]
