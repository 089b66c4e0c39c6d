"""anchor-exp's search for an anchor, with the same decisions, as a generator, so that many can run together.

anchor-exp calls the model with one batch of one instance at a time. It accepts a beam size but ignores it,
and it allocates a million rows for each instance. Here a search yields requests for labels and for bounds,
and receives the results.
"""

import attrs
import numpy as np

import faithkit
from faithkit_scoped_rules.anchors.bandit import Bandit, Perturbation, Sampler
from faithkit_scoped_rules.anchors.candidates import Candidate, Coverage, extend_candidates
from faithkit_scoped_rules.anchors.lockstep_searches import Bounds, Steps

BELOW_THRESHOLD = "below the threshold"  # the remark of a rule that does not reach it
MARGIN = 0.05  # around the threshold; within it more samples do not pay off


@attrs.frozen
class Anchor:
    """The result of a search: numbers of predicates, and a remark if they are not precise enough.

    `is_unanimous` is true if no row of the search has another label than the instance.
    """

    predicates: tuple[int, ...]
    remark: str | None
    is_unanimous: bool


@attrs.frozen
class Search:
    """The validated parameters of anchor-exp's search; messages name the `component`.

    Examples
    --------
    >>> Search("anchors", threshold=95, delta=0.1, tau=0.15, batch_size=100, beam_size=4)
    Traceback (most recent call last):
    faithkit.errors.ParameterError: anchors: threshold must be a number between 0 and 1, got 95.
    """

    component: str
    threshold: float
    delta: float
    tau: float
    batch_size: int
    beam_size: int
    max_size: int | None = None

    def __attrs_post_init__(self) -> None:
        for name in ("threshold", "delta", "tau"):
            share = getattr(self, name)
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
                raise self._parameter_error(name, "a number between 0 and 1")
        for name in ("batch_size", "beam_size", "max_size"):
            parameter, optional = f"{self.component}: {name}", name == "max_size"
            faithkit.plugin.check_integer(
                getattr(self, name),
                parameter,
                minimum=1,
                optional=optional,
                error=faithkit.errors.ParameterError,
            )

    def _parameter_error(self, name: str, expected: str) -> faithkit.errors.ParameterError:
        return faithkit.errors.ParameterError(
            f"{self.component}: {name} must be {expected}, got {getattr(self, name)!r}."
        )

    def steps(
        self, perturbation: Perturbation, tolerance: faithkit.plugin.Tolerance, stop_on_first: bool = False
    ) -> Steps[Anchor]:
        """Search for the anchor with the largest coverage, or for the first one, which is the shortest."""
        sampler = yield from Sampler.start(perturbation, tolerance)
        coverage, empty = Coverage.of(perturbation.coverage()), Candidate(())
        if (yield from self._is_empty_rule_precise(empty, sampler)):
            return self._to_anchor(empty, sampler)
        beam, tried, anchor = [empty], [], None
        while self.max_size is None or len(beam[0].order) < self.max_size:
            min_coverage = -1 if anchor is None else anchor.coverage
            candidates = extend_candidates(beam, coverage, min_coverage, perturbation.holds)
            if not candidates:
                break
            beam = yield from self._bandit.find_best(
                candidates, min(self.beam_size, len(candidates)), sampler
            )
            for candidate in beam:
                is_eligible = yield from self._is_eligible(candidate, len(coverage.bits), sampler)
                if is_eligible and (anchor is None or candidate.coverage > anchor.coverage):
                    anchor = candidate
            if anchor is not None and (stop_on_first or anchor.coverage == coverage.n_rows):
                break
            tried += [candidate.without_samples() for candidate in beam]
        if anchor is None:
            (anchor,) = yield from self._bandit.find_best(tried, 1, sampler)
        return self._to_anchor(anchor, sampler)

    @property
    def rows_per_round(self) -> int:
        """The number of rows per request: a batch for each of two candidates."""
        return 2 * self.batch_size

    @property
    def _bandit(self) -> Bandit:
        return Bandit(self.tau, self.delta, self.batch_size)

    def _to_anchor(self, candidate: Candidate, sampler: Sampler) -> Anchor:
        remark = None if candidate.precision >= self.threshold else BELOW_THRESHOLD
        return Anchor(candidate.order, remark, sampler.is_unanimous)

    def _is_empty_rule_precise(self, empty: Candidate, sampler: Sampler) -> Steps[bool]:
        """Return whether nearly all rows have the label, so that no predicate is needed."""
        yield from sampler.draw([empty], 1)
        low, _ = yield _request_bounds(empty, np.log(1.0 / self.delta))
        while empty.precision > self.threshold and low < self.threshold - self.tau:
            yield from sampler.draw([empty], self.batch_size)
            low, _ = yield _request_bounds(empty, np.log(1.0 / self.delta))
        return bool(low > self.threshold)

    def _is_eligible(self, candidate: Candidate, n_predicates: int, sampler: Sampler) -> Steps[bool]:
        """Return whether a candidate is precise enough; draw samples until the bounds decide it."""
        beta = np.log(1.0 / (self.delta / (1 + (self.beam_size - 1) * n_predicates)))
        while True:
            low, high = yield _request_bounds(candidate, beta)
            if candidate.precision >= self.threshold:
                is_unclear = low < self.threshold - MARGIN
            else:
                is_unclear = high >= self.threshold + MARGIN
            if not is_unclear:
                return bool(candidate.precision >= self.threshold and low > self.threshold - MARGIN)
            yield from sampler.draw([candidate], self.batch_size)


def _request_bounds(candidate: Candidate, beta: float) -> Bounds:
    precision, level = np.full(2, candidate.precision), np.full(2, beta / candidate.drawn)
    return Bounds(precision, level, upper=np.array([False, True]))
