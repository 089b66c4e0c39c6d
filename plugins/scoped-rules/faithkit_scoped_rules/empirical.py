"""Anchors found in the data itself: no perturbed rows, and no model call but the predictions.

The paper defines an anchor's quality over the data's own distribution. So the search counts in the
background: a conjunction's precision is the share of the background rows it covers that have the
instance's label, or a number near its own. Rows are counted as packed bitsets.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_scoped_rules.bounds import lower_bound
from faithkit_scoped_rules.evidence import Conjunction, evidence
from faithkit_scoped_rules.vocabulary import NONE, Vocabulary

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
    within : float, optional
        By how much a number may differ from the instance's and still agree, where the model predicts numbers;
        `shared` tells it. By default what the measure counts as equal (``agree="within:ε"``), else half a
        standard deviation of the predictions for the background.

    Examples
    --------
    >>> X = np.repeat([[0.0, 1.0], [0.0, 2.0], [5.0, 1.0], [5.0, 2.0]], 50, axis=0)
    >>> model = faithkit.Predictor(lambda X: X[:, 0] > 1)
    >>> anchors = EmpiricalAnchors(bins=2).fit(model, X)
    >>> print(anchors.explain(X[:1], seeds=None).values[0])
    0 ≤ 0

    A rule for a number keeps it within ε:

    >>> model = faithkit.Predictor(lambda X: X[:, 0] + X[:, 1] / 10, background=X)
    >>> found = EmpiricalAnchors(bins=2, within=0.5).fit(model, X).explain(X[:1], seeds=None)
    >>> print(found.values[0], found.shared)
    0 ≤ 0 {'within': 0.5}
    """

    outcomes = ("labels", "numbers")
    rows_per_chunk = 2048

    def __init__(
        self,
        threshold: float = 0.95,
        delta: float = 0.1,
        tau: float = 0.0,
        bins: int = 4,
        beam_size: int = 4,
        max_size: int = 6,
        within: float | None = None,
    ) -> None:
        for name, value, least in (("bins", bins, 2), ("beam_size", beam_size, 1), ("max_size", max_size, 1)):
            faithkit.plugin.whole_number(
                value, f"empirical-anchors: {name}", least, error=faithkit.errors.ParameterError
            )
        for name, share in (("threshold", threshold), ("delta", delta)):
            if not 0 < share < 1:
                raise faithkit.errors.ParameterError(
                    f"empirical-anchors: {name} must lie between 0 and 1, got {share!r}."
                )
        if not 0 <= tau < 1:
            raise faithkit.errors.ParameterError(f"empirical-anchors: tau must lie in [0, 1), got {tau!r}.")
        self.threshold = threshold
        self.delta = delta
        self.tau = tau
        self.bins = bins
        self.beam_size = beam_size
        self.max_size = max_size
        self.within = faithkit.plugin.Tolerance.checked("empirical-anchors", within)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "EmpiricalAnchors":
        """Learn the predicates, and count in the background what each covers."""
        if isinstance(background, list):
            raise faithkit.errors.InputError(
                "empirical-anchors explains tables, not texts: use anchors-text or first-word."
            )
        self.predictor_ = predictor
        self.words_ = Vocabulary(background, self.bins)
        self.tolerance_ = faithkit.plugin.Tolerance.of(
            "empirical-anchors", predictor, background, self.within
        )
        predictions = predictor.predict(background)
        self.n_rows_ = len(predictions)
        self.evidence_ = evidence(self.words_.predicates, background, predictions, self.tolerance_)
        slots = sum(column.slots for column in self.words_.columns)
        self.level_ = math.log((1 + (self.beam_size - 1) * slots) / self.delta)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one rule per row; rows with the same predicates that agree alike are searched for once."""
        satisfied = self.words_.satisfied(X)
        keys = self.evidence_.keys(self.predictor_.predict(X))
        questions, place = np.unique(np.column_stack([keys, satisfied]), axis=0, return_inverse=True)
        search = _Search(self, questions[:, : keys.shape[1]], questions[:, keys.shape[1] :])
        found, reached = search.run()
        rules = np.fromiter(map(self.words_.rule, found), dtype=object, count=len(found))
        remarks = np.full(len(rules), UNSURE, dtype=object)
        remarks[reached] = None
        place = place.ravel()
        return faithkit.Explanations(
            kind="rule",
            values=rules[place],
            instances=X,
            remarks=remarks[place],
            shared=self.tolerance_.to_shared(),
            relation="in-scope",
        )


class _Search:
    """A beam search for many questions at once, one size of conjunctions after the other."""

    def __init__(self, anchors: EmpiricalAnchors, keys: NDArray[np.int64], words: NDArray[np.int64]) -> None:
        self.anchors = anchors
        self.keys = keys
        self.words = words
        covered = np.full(len(keys), anchors.n_rows_)
        agree = anchors.evidence_.alone(keys)
        bound = lower_bound(agree, covered, anchors.level_)
        self.reached = self._reaches(agree, covered, bound)  # the empty rule covers everything
        self.coverage = np.where(self.reached, covered, 0)
        self.best: list[Conjunction] = [()] * len(keys)
        self.bound = bound
        self.beams: list[list[Conjunction]] = [[] if done else [()] for done in self.reached]
        self.covered: list[list[int]] = [[anchors.n_rows_] * len(beam) for beam in self.beams]

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
        words = self.words[question]
        agree, covered = self.anchors.evidence_.extended(parents, self.keys[question], words)
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
        starts = np.searchsorted(question, np.arange(len(self.keys) + 1))
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
