"""Anchors from the background alone, without perturbed rows.

The paper defines the quality of an anchor over the distribution of the data. So the search counts in the
background: the precision of a conjunction is the share of the background rows it covers that have the
instance's label, or a number near its own. Rows are counted as packed bitsets.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_scoped_rules.evidence import Conjunction, build_evidence, lower_bound
from faithkit_scoped_rules.predicate_vocabulary import NONE, Vocabulary

UNSURE = "too little evidence for the threshold"  # the remark on a rule whose bound does not reach it


class EmpiricalAnchors:
    """Anchors by beam search over the background, with KL confidence bounds.

    The rule returned is the one of largest coverage whose precision reaches `threshold`, and whose lower
    confidence bound lies within `tau` of it. Where there is none, it is the rule with the highest bound, with
    a remark that there is too little evidence for the threshold.

    Parameters
    ----------
    threshold : float
        The precision to reach.
    delta : float
        The probability with which a bound may fail.
    tau : float
        How far below the threshold the lower bound may lie.
    bins : int
        The number of parts of equal mass into which a numeric column is cut.
    beam_size : int
        How many conjunctions of each size are extended.
    max_size : int
        The largest number of predicates in a rule.
    within : float, optional
        For a model that predicts numbers, the largest difference to the instance's number that counts as
        agreement; `shared` has it. By default that of the measure (``agree="within:ε"``), else half a
        standard deviation of the predictions for the background.

    Examples
    --------
    >>> X = np.repeat([[0.0, 1.0], [0.0, 2.0], [5.0, 1.0], [5.0, 2.0]], 50, axis=0)
    >>> model = faithkit.Predictor(lambda X: X[:, 0] > 1)
    >>> anchors = EmpiricalAnchors(bins=2).fit(model, X)
    >>> print(anchors.explain(X[:1], seeds=None).values[0])
    0 ≤ 0

    For numbers, a rule covers rows whose predictions differ by at most ε:

    >>> model = faithkit.Predictor(lambda X: X[:, 0] + X[:, 1] / 10, background=X)
    >>> rules = EmpiricalAnchors(bins=2, within=0.5).fit(model, X).explain(X[:1], seeds=None)
    >>> print(rules.values[0], rules.shared)
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
        for name, value, minimum in (
            ("bins", bins, 2),
            ("beam_size", beam_size, 1),
            ("max_size", max_size, 1),
        ):
            faithkit.plugin.check_integer(
                value, f"empirical-anchors: {name}", minimum=minimum, error=faithkit.errors.ParameterError
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
        self.within = faithkit.plugin.Tolerance.check_within("empirical-anchors", within)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "EmpiricalAnchors":
        """Build the predicates from the background, and prepare the counts."""
        if isinstance(background, list):
            raise faithkit.errors.InputError(
                "empirical-anchors explains tables, not texts: use anchors-text or first-word."
            )
        self.predictor_ = predictor
        self.vocabulary_ = Vocabulary(background, self.bins)
        self.tolerance_ = faithkit.plugin.Tolerance.of(
            "empirical-anchors", predictor, background, within=self.within
        )
        predictions = predictor.predict(background)
        self.n_rows_ = len(predictions)
        self.evidence_ = build_evidence(self.vocabulary_.predicates, background, predictions, self.tolerance_)
        slots = sum(column.slots for column in self.vocabulary_.columns)
        self.level_ = math.log((1 + (self.beam_size - 1) * slots) / self.delta)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one rule per row; equal rows with the same key are searched once."""
        satisfied = self.vocabulary_.satisfied(X)
        keys = self.evidence_.keys(self.predictor_.predict(X))
        queries, position = np.unique(np.column_stack([keys, satisfied]), axis=0, return_inverse=True)
        search = _BeamSearch(self, queries[:, : keys.shape[1]], queries[:, keys.shape[1] :])
        conjunctions, reached = search.run()
        rules = np.fromiter(map(self.vocabulary_.rule, conjunctions), dtype=object, count=len(conjunctions))
        remarks = np.full(len(rules), UNSURE, dtype=object)
        remarks[reached] = None
        position = position.ravel()
        return faithkit.Explanations(
            kind="rule",
            values=rules[position],
            instances=X,
            remarks=remarks[position],
            shared=self.tolerance_.to_shared(),
            relation="in-scope",
        )


class _BeamSearch:
    """A beam search for many queries at once, one size of conjunctions after the other.

    Parameters
    ----------
    anchors : EmpiricalAnchors
    keys : (queries, width) int
        What the predictions of each query agree with.
    predicates : (queries, slots) int
        The predicates that the rows of each query satisfy.
    """

    def __init__(
        self, anchors: EmpiricalAnchors, keys: NDArray[np.int64], predicates: NDArray[np.int64]
    ) -> None:
        self.anchors = anchors
        self.keys = keys
        self.predicates = predicates
        n_in_scope = np.full(len(keys), anchors.n_rows_)
        agreeing = anchors.evidence_.count_agreeing(keys)
        bound = lower_bound(agreeing, n_in_scope, anchors.level_)
        self.reached = self._is_valid(agreeing, n_in_scope, bound)  # the empty rule covers everything
        self.coverage = np.where(self.reached, n_in_scope, 0)
        self.best: list[Conjunction] = [()] * len(keys)
        self.bound = bound
        self.beams: list[list[Conjunction]] = [[] if reached else [()] for reached in self.reached]
        self.covered: list[list[int]] = [[anchors.n_rows_] * len(beam) for beam in self.beams]

    def run(self) -> tuple[list[Conjunction], NDArray[np.bool_]]:
        """Return the best conjunction of each query, and whether it reaches the threshold."""
        for _ in range(self.anchors.max_size):
            if not any(self.beams):
                break
            self._extend_beams()
        return self.best, self.reached

    def _is_valid(
        self, agreeing: NDArray[Any], n_in_scope: NDArray[Any], bound: NDArray[Any]
    ) -> NDArray[np.bool_]:
        threshold, tau = self.anchors.threshold, self.anchors.tau
        return (agreeing >= threshold * n_in_scope) & (n_in_scope > 0) & (bound >= threshold - tau)

    def _extend_beams(self) -> None:
        """Extend every beam by one predicate, update the best rules, and choose the next beams."""
        members = [(q, position) for q, beam in enumerate(self.beams) for position in range(len(beam))]
        query = np.array([q for q, _ in members])
        parents = [self.beams[q][position] for q, position in members]
        parent_covered = np.array([self.covered[q][position] for q, position in members])
        predicates = self.predicates[query]
        agreeing, n_in_scope = self.anchors.evidence_.count_extensions(parents, self.keys[query], predicates)
        is_useful = (
            (predicates != NONE)
            & (n_in_scope < parent_covered[:, None])
            & (n_in_scope > self.coverage[query][:, None])
        )
        self._update(
            query, parents, predicates, np.where(is_useful, agreeing, 0), np.where(is_useful, n_in_scope, 0)
        )

    def _update(
        self,
        query: NDArray[Any],
        parents: list[Conjunction],
        predicates: NDArray[Any],
        agreeing: NDArray[Any],
        n_in_scope: NDArray[Any],
    ) -> None:
        bound = self._lower_bounds(agreeing, n_in_scope)
        valid = self._is_valid(agreeing, n_in_scope, bound)
        starts = np.searchsorted(query, np.arange(len(self.keys) + 1))
        slots = predicates.shape[1]
        for q in np.unique(query):
            rows = slice(starts[q], starts[q + 1])
            candidates = _Candidates(
                parents[rows],
                predicates[rows].ravel(),
                n_in_scope[rows].ravel(),
                bound[rows].ravel(),
                valid[rows].ravel(),
                slots,
            )
            self._choose(int(q), candidates)

    def _lower_bounds(self, agreeing: NDArray[Any], n_in_scope: NDArray[Any]) -> NDArray[np.float64]:
        """Return the lower bounds of precision, computed once for each distinct pair of counts."""
        pairs, position = np.unique(
            agreeing.astype(np.int64) << 32 | n_in_scope.astype(np.int64), return_inverse=True
        )
        bounds = lower_bound(pairs >> 32, pairs & 0xFFFFFFFF, self.anchors.level_)
        return bounds[position].reshape(agreeing.shape)

    def _choose(self, q: int, candidates: "_Candidates") -> None:
        """Update the best rule of a query, and choose its next beam."""
        winner = candidates.widest_valid()
        if winner is not None:
            self.best[q] = candidates.conjunction(winner)
            self.coverage[q] = candidates.covered[winner]
            self.reached[q] = True
        order = candidates.by_bound(self.coverage[q])
        if len(order) and not self.reached[q] and candidates.bound[order[0]] > self.bound[q]:
            self.best[q], self.bound[q] = candidates.conjunction(order[0]), candidates.bound[order[0]]
        beam: dict[Conjunction, int] = {}
        for i in order:
            beam.setdefault(candidates.conjunction(i), int(candidates.covered[i]))
            if len(beam) == self.anchors.beam_size:
                break
        self.beams[q], self.covered[q] = list(beam), list(beam.values())


class _Candidates:
    """The conjunctions to which the beam of one query can be extended."""

    def __init__(
        self,
        parents: list[Conjunction],
        predicates: NDArray[Any],
        n_in_scope: NDArray[Any],
        bound: NDArray[Any],
        valid: NDArray[Any],
        slots: int,
    ) -> None:
        self.parents, self.predicates, self.slots = parents, predicates, slots
        self.covered, self.bound, self.valid = n_in_scope, bound, valid

    def conjunction(self, i: int) -> Conjunction:
        """Return the predicates of a candidate, in order."""
        return tuple(sorted((*self.parents[i // self.slots], int(self.predicates[i]))))

    def widest_valid(self) -> int | None:
        """Return the valid candidate of largest coverage; of several, the first in the vocabulary."""
        valid = np.flatnonzero(self.valid)
        if not len(valid):
            return None
        widest = valid[self.covered[valid] == self.covered[valid].max()]
        return int(min(widest, key=self.conjunction))

    def by_bound(self, coverage: int) -> NDArray[np.int64]:
        """Return the candidates that may still lead to a wider rule, the highest bound first."""
        wide = np.flatnonzero(self.covered > max(int(coverage), 0))
        return wide[np.lexsort((self.predicates[wide], -self.covered[wide], -self.bound[wide]))]
