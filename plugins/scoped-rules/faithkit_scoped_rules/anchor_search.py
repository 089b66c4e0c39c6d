"""anchor-exp's search for an anchor, with every parameter passed on and a seed of its own.

anchor-exp's explainers accept a beam size and drop it, and set a million rows aside for every instance. Here
its search is called directly. What it is told about perturbed rows comes from us: which predicates hold in
them, and whether the model still gives the instance's label.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Bools = NDArray[np.bool_]

BELOW = "below the threshold"  # remarked on a rule that does not reach it
ROOM = 8192  # rows that anchor-exp sets aside at a time, for its samples


class Perturbation(Protocol):
    """Rows like one instance, in which some of the instance's predicates hold."""

    def draw(self, present: Sequence[int], n: int) -> tuple[Bools, NDArray[Any]]:
        """Draw n rows in which the predicates `present` hold; say which of all hold, (n, predicates)."""

    def agrees(self, rows: NDArray[Any]) -> Bools:
        """Ask the model which of the rows that were drawn have the instance's label."""

    def coverage(self) -> Bools:
        """Return which predicates hold in the rows that coverage is a share of, (rows, predicates)."""


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
            faithkit.whole_number(
                getattr(self, name), what, 1, optional=optional, error=faithkit.ParameterError
            )

    def _wrong(self, name: str, expected: str) -> faithkit.ParameterError:
        return faithkit.ParameterError(f"{self.who}: {name} must be {expected}, got {getattr(self, name)!r}.")

    def run(self, perturbation: Perturbation, seed: int, **options: Any) -> Anchor:
        """Search with the global generators seeded, which anchor-exp draws from, and restored afterwards."""
        from anchor.anchor_base import AnchorBaseBeam

        known: dict[bytes, bool] = {}

        def sample(present: Sequence[int], n: int, compute_labels: bool = True) -> tuple[Any, Bools, Bools]:
            if not compute_labels:
                return None, perturbation.coverage(), np.empty(0, dtype=bool)
            holds, rows = perturbation.draw(present, n)
            # the rows themselves would be kept, and never read
            return np.empty((n, 0)), holds, _asked_once(perturbation, rows, known)

        with faithkit.global_seed(seed):
            found = AnchorBaseBeam.anchor_beam(
                sample,
                desired_confidence=self.threshold,
                delta=self.delta,
                epsilon=self.tau,
                batch_size=_Batch(self.batch_size),
                beam_size=self.beam_size,
                max_anchor_size=self.max_size,
                **options,
            )
        precision = found["mean"][-1] if found["feature"] else found["all_precision"]
        remark = None if precision >= self.threshold else BELOW
        return Anchor(tuple(map(int, found["feature"])), remark, unanimous=all(known.values()))


def _asked_once(perturbation: Perturbation, rows: NDArray[Any], known: dict[bytes, bool]) -> Bools:
    """Return which rows agree, asking only about those that were not met before."""
    keys = [row.tobytes() for row in rows]
    new = {key: i for i, key in enumerate(keys) if key not in known}
    if new:
        known.update(zip(new, perturbation.agrees(rows[list(new.values())]).tolist(), strict=True))
    return np.array([known[key] for key in keys], dtype=bool)


class _Batch(int):
    """A batch size that keeps anchor-exp from setting 10,000 batches aside, its only product of this number.

    Examples
    --------
    >>> _Batch(100) * 10000, _Batch(100) + 1, _Batch(5000) * 10000
    (8192, 101, 20000)
    """

    def __mul__(self, other: int) -> int:
        return max(ROOM, 4 * int(self))
