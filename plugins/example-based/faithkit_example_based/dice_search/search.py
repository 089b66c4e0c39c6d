"""Searches for counterfactuals of many rows, each with its own seed and a limit on what it may ask."""

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit_example_based.dice_search.genetic import GeneticSearch
from faithkit_example_based.dice_search.goals import Goal
from faithkit_example_based.dice_search.lockstep import OutOfCalls, Search, in_lock_step
from faithkit_example_based.dice_search.model import DiceModel, NumberModel
from faithkit_example_based.dice_search.neighbors import Find, TreeSearch
from faithkit_example_based.dice_search.random_search import RandomSearch
from faithkit_example_based.dice_search.space import Space
from faithkit_example_based.dice_search.sparsity import by_halves, by_steps
from faithkit_example_based.dice_search.table import Floats

METHODS: dict[str, Any] = {"random": RandomSearch, "genetic": GeneticSearch, "kdtree": TreeSearch}
SPARSITIES = {"binary": by_halves, "linear": by_steps}


class Searches:
    """One of DiCE's searches, prepared for a table and a model.

    Parameters
    ----------
    space : Space
    model : DiceModel or NumberModel
    neighbors : callable
        Makes what knows which rows of the table are near.
    method : str
        "random", "genetic" or "kdtree".
    sparsity : str or None
        "binary", "linear" or None.
    max_calls : int
        How often the model may be asked about a row.
    """

    def __init__(
        self,
        space: Space,
        model: DiceModel | NumberModel,
        neighbors: Find,
        method: str,
        sparsity: str | None,
        max_calls: int,
    ) -> None:
        self.space, self.model, self.sparsity, self.max_calls = space, model, sparsity, max_calls
        self.method = METHODS[method](space, neighbors)

    def candidates(self, rows: Floats, goals: Sequence[Goal], seeds: NDArray[np.uint32]) -> list[Floats]:
        """Return what DiCE takes for counterfactuals of each row, the most like it first; perhaps none."""
        given = zip(rows, goals, seeds.tolist(), strict=True)
        searches = (self._search(row, goal, seed) for row, goal, seed in given)
        return in_lock_step(searches, self.model.answers, self.max_calls)

    def _search(self, row: Floats, goal: Goal, seed: int) -> Search[Floats]:
        try:
            found = yield from self.method.find(row, goal, seed)
        except OutOfCalls:
            found = None
        if found is None:
            return np.empty((0, len(row)))
        rows = [found]
        if self.sparsity is not None:
            sparser = found.copy()
            with contextlib.suppress(OutOfCalls):  # it is changed in place, so what was reached is kept
                yield from SPARSITIES[self.sparsity](self.space, sparser, row, goal)
            rows.insert(0, sparser)
        return np.stack([other for each in rows for other in (self.space.table.restored(each, row), each)])
