"""DiCE's searches for counterfactuals of many rows, each with its own seed and limit of model calls."""

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit_example_based.dice_search.dice_table import Floats, Space
from faithkit_example_based.dice_search.genetic import GeneticSearch
from faithkit_example_based.dice_search.goals import DiceModel, Goal, NumberModel
from faithkit_example_based.dice_search.lockstep import OutOfCalls, Search, run_in_lockstep
from faithkit_example_based.dice_search.neighbors import NeighborsFactory, TreeSearch
from faithkit_example_based.dice_search.random_search import RandomSearch
from faithkit_example_based.dice_search.sparsity import sparsify_by_bisection, sparsify_in_steps

METHODS: dict[str, Any] = {"random": RandomSearch, "genetic": GeneticSearch, "kdtree": TreeSearch}
SPARSITIES = {"binary": sparsify_by_bisection, "linear": sparsify_in_steps}


class Searches:
    """One of DiCE's searches, prepared for a table and a model.

    Parameters
    ----------
    space : Space
    model : DiceModel or NumberModel
    neighbors : callable
        Returns the `Neighbors` or `NumberNeighbors` of the table.
    method : str
        "random", "genetic" or "kdtree".
    sparsity : str or None
        "binary", "linear" or None.
    max_calls : int
        The largest number of model calls per row.
    """

    def __init__(
        self,
        space: Space,
        model: DiceModel | NumberModel,
        neighbors: NeighborsFactory,
        method: str,
        sparsity: str | None,
        max_calls: int,
    ) -> None:
        self.space, self.model, self.sparsity, self.max_calls = space, model, sparsity, max_calls
        self.method = METHODS[method](space, neighbors)

    def candidates(self, rows: Floats, goals: Sequence[Goal], seeds: NDArray[np.uint32]) -> list[Floats]:
        """Return DiCE's counterfactuals of each row, most similar first; a row may have none."""
        tasks = zip(rows, goals, seeds.tolist(), strict=True)
        searches = (self._search(row, goal, seed) for row, goal, seed in tasks)
        return run_in_lockstep(searches, self.model.predict_codes, self.max_calls)

    def _search(self, row: Floats, goal: Goal, seed: int) -> Search[Floats]:
        try:
            counterfactual = yield from self.method.find(row, goal, seed)
        except OutOfCalls:
            counterfactual = None
        if counterfactual is None:
            return np.empty((0, len(row)))
        variants = [counterfactual]
        if self.sparsity is not None:
            sparser = counterfactual.copy()
            with contextlib.suppress(OutOfCalls):  # changed in place, so its progress stays
                yield from SPARSITIES[self.sparsity](self.space, sparser, row, goal)
            variants.insert(0, sparser)
        return self.space.table.with_restored(variants, row)
