"""anchor-exp's search for an anchor, decision for decision, written so that many advance together.

anchor-exp asks the model about one batch of one instance at a time, accepts a beam size and drops it, and
sets a million rows aside for every instance. Here a search says what it wants to know next, and waits. Of the
rows that it draws it is told which predicates hold in them, and what the model says of them.
"""

import attrs
import numpy as np

import faithkit
from faithkit_scoped_rules.anchors.bandit import Bandit, Perturbation, Sampler
from faithkit_scoped_rules.anchors.candidates import Candidate, Coverage, extensions
from faithkit_scoped_rules.anchors.together import Bounds, Steps

BELOW = "below the threshold"  # remarked on a rule that does not reach it
MARGIN = 0.05  # around the threshold, within which it is not worth to know a precision any better


@attrs.frozen
class Anchor:
    """What the search found: numbers of predicates, and what is wrong with them, if anything.

    `unanimous` says that no row was met, in the whole search, to which the model gives another label.
    """

    predicates: tuple[int, ...]
    remark: str | None
    unanimous: bool


@attrs.frozen
class Search:
    """The parameters of anchor-exp's search, checked; `who` is named in messages.

    Examples
    --------
    >>> Search("anchors", threshold=95, delta=0.1, tau=0.15, batch_size=100, beam_size=4)
    Traceback (most recent call last):
    faithkit.errors.ParameterError: anchors: threshold must be a number between 0 and 1, got 95.
    """

    who: str
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
                raise self._wrong(name, "a number between 0 and 1")
        for name in ("batch_size", "beam_size", "max_size"):
            what, optional = f"{self.who}: {name}", name == "max_size"
            faithkit.plugin.whole_number(
                getattr(self, name), what, 1, optional=optional, error=faithkit.errors.ParameterError
            )

    def _wrong(self, name: str, expected: str) -> faithkit.errors.ParameterError:
        return faithkit.errors.ParameterError(
            f"{self.who}: {name} must be {expected}, got {getattr(self, name)!r}."
        )

    def steps(
        self, perturbation: Perturbation, tolerance: faithkit.plugin.Tolerance, stop_on_first: bool = False
    ) -> Steps[Anchor]:
        """Search for the anchor that covers most, or for the first one that is found, and so the shortest."""
        sampler = yield from Sampler.of(perturbation, tolerance)
        coverage, empty = Coverage.of(perturbation.coverage()), Candidate(())
        if (yield from self._needs_nothing(empty, sampler)):
            return self._anchor(empty, sampler)
        best, tried, found = [empty], [], None
        while self.max_size is None or len(best[0].order) < self.max_size:
            above = -1 if found is None else found.coverage
            candidates = extensions(best, coverage, above, perturbation.holds)
            if not candidates:
                break
            best = yield from self._bandit.best(candidates, min(self.beam_size, len(candidates)), sampler)
            for candidate in best:
                eligible = yield from self._is_eligible(candidate, len(coverage.bits), sampler)
                if eligible and (found is None or candidate.coverage > found.coverage):
                    found = candidate
            if found is not None and (stop_on_first or found.coverage == coverage.n_rows):
                break
            tried += [candidate.without_samples() for candidate in best]
        if found is None:
            (found,) = yield from self._bandit.best(tried, 1, sampler)
        return self._anchor(found, sampler)

    @property
    def rows_a_round(self) -> int:
        """How many rows a search asks for at a time: a batch for each of two candidates."""
        return 2 * self.batch_size

    @property
    def _bandit(self) -> Bandit:
        return Bandit(self.tau, self.delta, self.batch_size)

    def _anchor(self, candidate: Candidate, sampler: Sampler) -> Anchor:
        remark = None if candidate.precision >= self.threshold else BELOW
        return Anchor(candidate.order, remark, sampler.unanimous)

    def _needs_nothing(self, empty: Candidate, sampler: Sampler) -> Steps[bool]:
        """Whether the label is the same in nearly all rows: no predicate is needed then."""
        yield from sampler.draw([empty], 1)
        low, _ = yield _both_bounds(empty, np.log(1.0 / self.delta))
        while empty.precision > self.threshold and low < self.threshold - self.tau:
            yield from sampler.draw([empty], self.batch_size)
            low, _ = yield _both_bounds(empty, np.log(1.0 / self.delta))
        return bool(low > self.threshold)

    def _is_eligible(self, candidate: Candidate, n_predicates: int, sampler: Sampler) -> Steps[bool]:
        """Whether a candidate is surely precise enough; samples are drawn until that can be said."""
        beta = np.log(1.0 / (self.delta / (1 + (self.beam_size - 1) * n_predicates)))
        while True:
            low, high = yield _both_bounds(candidate, beta)
            if candidate.precision >= self.threshold:
                unclear = low < self.threshold - MARGIN
            else:
                unclear = high >= self.threshold + MARGIN
            if not unclear:
                return bool(candidate.precision >= self.threshold and low > self.threshold - MARGIN)
            yield from sampler.draw([candidate], self.batch_size)


def _both_bounds(candidate: Candidate, beta: float) -> Bounds:
    precision, level = np.full(2, candidate.precision), np.full(2, beta / candidate.drawn)
    return Bounds(precision, level, upper=np.array([False, True]))
