"""DiCE's sparsity step: move numbers of a counterfactual back to close numbers of the instance.

Both algorithms follow dice-ml exactly. They change the counterfactual in place, so that a search that ends
early keeps its progress.
"""

import numpy as np

from faithkit_example_based.dice_search.dice_table import Floats, Space
from faithkit_example_based.dice_search.goals import Goal
from faithkit_example_based.dice_search.lockstep import Search

LINEAR_STEPS = 10_000  # per column; dice-ml's default
STEP_TOLERANCE = 1e-3  # linear steps end within this distance; dice-ml's value


def sparsify_by_bisection(space: Space, counterfactual: Floats, row: Floats, goal: Goal) -> Search[None]:
    """Move numbers by binary search: first to the instance's number, then halfway, and so on."""
    for j, close in space.close.items():
        if abs(row[j] - counterfactual[j]) <= close:
            yield from _bisect_column(counterfactual, row, j, space.table.decimals[j], goal)


def sparsify_in_steps(space: Space, counterfactual: Floats, row: Floats, goal: Goal) -> Search[None]:
    """Move numbers in steps of one unit of their last decimal."""
    if not (yield from _reaches_goal(counterfactual, goal)):
        return
    for j, close in space.close.items():
        if abs(row[j] - counterfactual[j]) <= close:
            yield from _step_column(counterfactual, row, j, 10.0 ** -space.table.decimals[j], goal)


def _bisect_column(counterfactual: Floats, row: Floats, j: int, decimals: int, goal: Goal) -> Search[None]:
    near, far, unit = row[j], counterfactual[j], 10.0**-decimals
    counterfactual[j] = near
    if (yield from _reaches_goal(counterfactual, goal)):
        return
    direction = 1 if near > far else -1
    while direction * far <= direction * near:
        counterfactual[j] = middle = np.round(far + (near - far) / 2, decimals)
        is_reached = yield from _reaches_goal(counterfactual, goal)
        if middle in (near, far):
            return
        if is_reached:
            far = middle + direction * unit
        else:
            near = middle - direction * unit


def _step_column(counterfactual: Floats, row: Floats, j: int, unit: float, goal: Goal) -> Search[None]:
    gap = row[j] - counterfactual[j]
    for _ in range(LINEAR_STEPS):
        if abs(gap) <= STEP_TOLERANCE:
            return
        last_value = counterfactual[j]
        counterfactual[j] += np.sign(gap) * unit
        if not (yield from _reaches_goal(counterfactual, goal)):
            counterfactual[j] = last_value
            return
        new_gap = row[j] - counterfactual[j]
        if new_gap * gap <= 0:
            return
        gap = new_gap


def _reaches_goal(counterfactual: Floats, goal: Goal) -> Search[bool]:
    predictions = yield counterfactual[None, :].copy()
    return bool(goal.is_reached(predictions)[0])
