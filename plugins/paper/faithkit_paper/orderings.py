"""What the paper says about the order of numbers, checked on ours: each claim becomes a remark."""

from collections.abc import Callable, Iterable, Sequence

from faithkit_paper.findings import Cell

ORIGINAL = "original"
NEAR_ZERO = 0.1

Consistency = dict[str, dict[str, float]]


def orderings(cells: Iterable[Cell]) -> list[str]:
    """Check the three claims about discretizations.

    Examples
    --------
    >>> cells = [Cell("adult", "shap", "original", "consistency", 0.02),
    ...          Cell("adult", "shap", "1fp", "consistency", 0.9),
    ...          Cell("heart", "shap", "original", "consistency", 0.0),
    ...          Cell("heart", "shap", "1fp", "consistency", 0.0)]
    >>> for remark in orderings(cells):
    ...     print(remark)
    Claim: without discretization consistency is near 0. Holds (at most 0.02).
    Claim: each discretization improves on the original. Holds in 1 of 2 cells; equal: heart 1fp (0.00).
    Claim: the best discretization depends on the dataset. Not seen: adult 1fp; heart none.
    """
    known = _consistency(cells)
    return [_near_zero(known), _improves(known), _depends(known)]


def _consistency(cells: Iterable[Cell]) -> Consistency:
    known: Consistency = {}
    for cell in cells:
        if cell.measure == "consistency" and cell.ours is not None:
            known.setdefault(cell.dataset, {})[cell.setting] = cell.ours
    return known


def _near_zero(known: Consistency) -> str:
    values = {dataset: found[ORIGINAL] for dataset, found in known.items()}
    high = [f"{dataset} ({value:.2f})" for dataset, value in values.items() if value > NEAR_ZERO]
    said = f"Not on {', '.join(high)}" if high else f"Holds (at most {max(values.values()):.2f})"
    return f"Claim: without discretization consistency is near 0. {said}."


def _improves(known: Consistency) -> str:
    pairs = [
        (d, s, v, found[ORIGINAL]) for d, found in known.items() for s, v in found.items() if s != ORIGINAL
    ]
    equal = [f"{d} {s} ({v:.2f})" for d, s, v, o in pairs if v == o]
    worse = [f"{d} {s} ({v:.2f} < {o:.2f})" for d, s, v, o in pairs if v < o]
    said = [f"Holds in {len(pairs) - len(equal) - len(worse)} of {len(pairs)} cells"]
    said += [f"equal: {', '.join(equal)}"] if equal else []
    said += [f"worse: {', '.join(worse)}"] if worse else []
    return f"Claim: each discretization improves on the original. {'; '.join(said)}."


def _depends(known: Consistency) -> str:
    best = {dataset: _best(found) for dataset, found in known.items()}
    told = "; ".join(f"{dataset} {' and '.join(names) or 'none'}" for dataset, names in best.items())
    improved = [set(names) for names in best.values() if names]
    said = "Holds" if improved and not set.intersection(*improved) else "Not seen"
    return f"Claim: the best discretization depends on the dataset. {said}: {told}."


def _best(found: dict[str, float]) -> list[str]:
    """Return the discretizations with the highest consistency; none where that is the original's."""
    highest = max(found.values())
    return [] if highest == found[ORIGINAL] else [name for name, value in found.items() if value == highest]


def trend(cells: Iterable[Cell], measure: str, rises: bool, place: Callable[[Cell], float]) -> str:
    """Check that a measure rises (or falls) from the first setting to the last, on every dataset.

    Examples
    --------
    >>> cells = [Cell("adult", "anchors", "0.5", "sufficiency", 0.8),
    ...          Cell("adult", "anchors", "0.9", "sufficiency", 0.9)]
    >>> trend(cells, "sufficiency", True, lambda cell: float(cell.setting))
    'Claim: sufficiency rises with the threshold. Holds on 1 of 1 datasets.'
    """
    by_dataset: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.measure == measure and cell.ours is not None:
            by_dataset.setdefault(cell.dataset, []).append(cell)
    ends = {dataset: _ends(sorted(mine, key=place)) for dataset, mine in by_dataset.items()}
    against = [f"{d} ({a:.2f} → {b:.2f})" for d, (a, b) in ends.items() if (b <= a if rises else b >= a)]
    said = f"Holds on {len(ends) - len(against)} of {len(ends)} datasets"
    said += f"; not on {', '.join(against)}" if against else ""
    return f"Claim: {measure} {'rises' if rises else 'falls'} with the threshold. {said}."


def _ends(cells: Sequence[Cell]) -> tuple[float, float]:
    first, last = cells[0].ours, cells[-1].ours
    assert first is not None  # `trend` left those out
    assert last is not None
    return first, last
