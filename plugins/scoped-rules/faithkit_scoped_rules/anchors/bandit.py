"""Which candidates are the most precise, found out with few samples: the bandit of anchor-exp (KL-LUCB).

Two candidates are sampled at a time: of those that seem the best the one that could be the worst, and of all
others the one that could be the best; until these two are told apart.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_scoped_rules.anchors.candidates import Bools, Candidate
from faithkit_scoped_rules.anchors.together import Bounds, Labels, Row, Steps


class Perturbation(Protocol):
    """Rows like one instance, in which some of the instance's predicates hold."""

    @property
    def own(self) -> Row:
        """The instance itself."""

    def draw(self, present: Sequence[int], n: int) -> tuple[NDArray[Any], Sequence[Row]]:
        """Draw n rows in which the predicates `present` hold: for `holds`, and for the model."""

    def holds(self, drawn: NDArray[Any]) -> Bools:
        """Return which predicates hold in rows that were drawn, (rows, predicates)."""

    def coverage(self) -> Bools:
        """Return which predicates hold in the rows that coverage is a share of, (rows, predicates)."""


@attrs.define(eq=False)
class Sampler:
    """Samples of one instance, each with the model's word on whether it has the instance's label.

    Of numbers those are the same that the tolerance says. `unanimous` says that no row was met to which the
    model gives another label.
    """

    perturbation: Perturbation
    tolerance: faithkit.plugin.Tolerance
    label: Any
    unanimous: bool = True

    @classmethod
    def of(cls, perturbation: Perturbation, tolerance: faithkit.plugin.Tolerance) -> Steps["Sampler"]:
        """Ask for the instance's label."""
        (label,) = yield Labels([perturbation.own])
        return cls(perturbation, tolerance, label)

    def draw(self, candidates: Sequence[Candidate], n: int) -> Steps[None]:
        """Draw n samples for each of some candidates, in this order, and ask the model about all of them."""
        drawn = [self.perturbation.draw(candidate.predicates, n) for candidate in candidates]
        labels = yield Labels([row for _, rows in drawn for row in rows])
        agree = self.tolerance.agree(labels, self.label)
        self.unanimous = self.unanimous and bool(agree.all())
        for i, (candidate, (rows, _)) in enumerate(zip(candidates, drawn, strict=True)):
            candidate.add(rows, agree[i * n : (i + 1) * n])


@attrs.frozen
class Bandit:
    """How surely, and with how many samples at a time, candidates are told apart."""

    tau: float
    delta: float
    batch_size: int

    def best(self, candidates: Sequence[Candidate], n: int, sampler: Sampler) -> Steps[list[Candidate]]:
        """Return the n most precise candidates; where they are not all, the most precise comes last."""
        untried = [candidate for candidate in candidates if not candidate.drawn]
        if untried:
            yield from sampler.draw(untried, 1)
        if len(candidates) == n:
            return list(candidates)
        drawn = np.array([candidate.drawn for candidate in candidates])
        precision = np.array([candidate.precision for candidate in candidates])
        turn = 0
        while True:
            turn += 1
            order = np.argsort(precision)  # candidates of equal precision in NumPy's order, as in anchor-exp
            levels = self._beta(len(candidates), turn) / drawn[order]
            bounds = yield Bounds(precision[order], levels, np.arange(len(order)) < len(order) - n)
            above, below = np.argmax(bounds[:-n]), len(order) - n + np.argmin(bounds[-n:])
            if not bounds[above] - bounds[below] > self.tau:
                return [candidates[place] for place in order[-n:]]
            rivals = order[[above, below]]
            yield from sampler.draw([candidates[i] for i in rivals], self.batch_size)
            drawn[rivals] += self.batch_size
            precision[rivals] = [candidates[i].precision for i in rivals]

    def _beta(self, n_candidates: int, turn: int) -> float:
        from anchor.anchor_base import AnchorBaseBeam

        return float(AnchorBaseBeam.compute_beta(n_candidates, turn, self.delta))
