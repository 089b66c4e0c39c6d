"""The bandit of anchor-exp (KL-LUCB): find the most precise candidates with few samples.

Each round samples two candidates. The first has the lowest lower bound of the n that seem the best. The
second has the highest upper bound of all others. The rounds end when the bounds separate these two.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_scoped_rules.anchors.candidates import Bools, Candidate
from faithkit_scoped_rules.anchors.lockstep_searches import Bounds, Labels, Row, Steps


class Perturbation(Protocol):
    """Random rows in which chosen predicates of one instance hold."""

    @property
    def instance_row(self) -> Row:
        """The instance, as a row for the model."""

    def draw(self, present: Sequence[int], n: int) -> tuple[NDArray[Any], Sequence[Row]]:
        """Draw n rows in which the predicates `present` hold; return them for `holds` and for the model."""

    def holds(self, draws: NDArray[Any]) -> Bools:
        """Return which predicates hold in drawn rows, (rows, predicates)."""

    def coverage(self) -> Bools:
        """Return which predicates hold in the rows that coverage is computed on, (rows, predicates)."""


@attrs.define(eq=False)
class Sampler:
    """Samples of one instance, and whether the model gives them the instance's label.

    For numbers the tolerance decides which predictions are equal. `is_unanimous` is true while no sample has
    another label.
    """

    perturbation: Perturbation
    tolerance: faithkit.plugin.Tolerance
    label: Any
    is_unanimous: bool = True

    @classmethod
    def start(cls, perturbation: Perturbation, tolerance: faithkit.plugin.Tolerance) -> Steps["Sampler"]:
        """Request the label of the instance, and return its sampler."""
        (label,) = yield Labels([perturbation.instance_row])
        return cls(perturbation, tolerance, label)

    def draw(self, candidates: Sequence[Candidate], n: int) -> Steps[None]:
        """Draw n samples for each candidate, in this order, and request their labels."""
        samples = [self.perturbation.draw(candidate.predicates, n) for candidate in candidates]
        labels = yield Labels([row for _, rows in samples for row in rows])
        agree = self.tolerance.agree(labels, self.label)
        self.is_unanimous = self.is_unanimous and bool(agree.all())
        for i, (candidate, (rows, _)) in enumerate(zip(candidates, samples, strict=True)):
            candidate.add(rows, agree[i * n : (i + 1) * n])


@attrs.frozen
class Bandit:
    """The tolerance, confidence and batch size with which candidates are compared."""

    tau: float
    delta: float
    batch_size: int

    def find_best(self, candidates: Sequence[Candidate], n: int, sampler: Sampler) -> Steps[list[Candidate]]:
        """Return the n most precise candidates, in ascending order; if there are only n, unsorted."""
        unsampled = [candidate for candidate in candidates if not candidate.drawn]
        if unsampled:
            yield from sampler.draw(unsampled, 1)
        if len(candidates) == n:
            return list(candidates)
        n_drawn = np.array([candidate.drawn for candidate in candidates])
        precision = np.array([candidate.precision for candidate in candidates])
        n_rounds = 0
        while True:
            n_rounds += 1
            order = np.argsort(precision)  # NumPy decides the order of ties, as in anchor-exp
            levels = self._beta(len(candidates), n_rounds) / n_drawn[order]
            bounds = yield Bounds(precision[order], levels, np.arange(len(order)) < len(order) - n)
            rival, weakest = np.argmax(bounds[:-n]), len(order) - n + np.argmin(bounds[-n:])
            if not bounds[rival] - bounds[weakest] > self.tau:
                return [candidates[index] for index in order[-n:]]
            contenders = order[[rival, weakest]]
            yield from sampler.draw([candidates[i] for i in contenders], self.batch_size)
            n_drawn[contenders] += self.batch_size
            precision[contenders] = [candidates[i].precision for i in contenders]

    def _beta(self, n_candidates: int, n_rounds: int) -> float:
        from anchor.anchor_base import AnchorBaseBeam

        return float(AnchorBaseBeam.compute_beta(n_candidates, n_rounds, self.delta))
