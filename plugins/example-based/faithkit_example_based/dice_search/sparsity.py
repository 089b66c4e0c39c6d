"""DiCE's last step: numbers of a counterfactual that are close to the instance's are moved back to them.

Both ways follow dice-ml's to the letter. They change the counterfactual in place: where a search ends early,
what it has reached is kept.
"""

import numpy as np

from faithkit_example_based.dice_search.goals import Goal
from faithkit_example_based.dice_search.lockstep import Search
from faithkit_example_based.dice_search.space import Space
from faithkit_example_based.dice_search.table import Floats

LINEAR_STEPS = 10_000  # per column: dice-ml's default
THERE = 1e-3  # where linear steps end: dice-ml's


def by_halves(space: Space, found: Floats, row: Floats, goal: Goal) -> Search[None]:
    """Move numbers by binary search: the instance's own number, then halfway, and so on."""
    for j, close in space.close.items():
        if abs(row[j] - found[j]) <= close:
            yield from _halved(found, row, j, space.table.decimals[j], goal)


def by_steps(space: Space, found: Floats, row: Floats, goal: Goal) -> Search[None]:
    """Move numbers by one unit of their last decimal, again and again."""
    if not (yield from _has_reached(found, goal)):
        return
    for j, close in space.close.items():
        if abs(row[j] - found[j]) <= close:
            yield from _stepped(found, row, j, 10.0 ** -space.table.decimals[j], goal)


def _halved(found: Floats, row: Floats, j: int, decimals: int, goal: Goal) -> Search[None]:
    near, far, unit = row[j], found[j], 10.0**-decimals
    found[j] = near
    if (yield from _has_reached(found, goal)):
        return
    towards = 1 if near > far else -1
    while towards * far <= towards * near:
        found[j] = middle = np.round(far + (near - far) / 2, decimals)
        is_found = yield from _has_reached(found, goal)
        if middle in (near, far):
            return
        if is_found:
            far = middle + towards * unit
        else:
            near = middle - towards * unit


def _stepped(found: Floats, row: Floats, j: int, unit: float, goal: Goal) -> Search[None]:
    way = row[j] - found[j]
    for _ in range(LINEAR_STEPS):
        if abs(way) <= THERE:
            return
        before = found[j]
        found[j] += np.sign(way) * unit
        if not (yield from _has_reached(found, goal)):
            found[j] = before
            return
        left = row[j] - found[j]
        if left * way <= 0:
            return
        way = left


def _has_reached(found: Floats, goal: Goal) -> Search[bool]:
    answers = yield found[None, :].copy()
    return bool(goal.reached(answers)[0])
