"""Check the paper's claims about the order of numbers on ours. Each claim becomes a remark.

A number is above another if their intervals do not overlap. Otherwise the sample cannot tell.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from faithkit_paper.findings import Cell

ORIGINAL = "original"
NEAR_ZERO = 0.1

CellsByDataset = dict[str, dict[str, Cell]]


def is_above(cell: Cell, other: Cell) -> bool:
    """Return whether the interval of a cell lies above that of another.

    Examples
    --------
    >>> low = Cell("adult", "shap", "original", "consistency", 0.1, low=0.0, high=0.2)
    >>> is_above(Cell("adult", "shap", "1fp", "consistency", 0.3, low=0.25, high=0.35), low)
    True
    """
    return cell.interval[0] > other.interval[1]


def check_orderings(cells: Iterable[Cell]) -> list[str]:
    """Check the three claims about discretizations.

    Examples
    --------
    >>> cells = [Cell("adult", "shap", "original", "consistency", 0.02, low=0.01, high=0.03),
    ...          Cell("adult", "shap", "1fp", "consistency", 0.9, low=0.88, high=0.92),
    ...          Cell("heart", "shap", "original", "consistency", 0.0),
    ...          Cell("heart", "shap", "1fp", "consistency", 0.0)]
    >>> for remark in check_orderings(cells):
    ...     print(remark)
    Claim: without discretization consistency is near 0. Holds (at most 0.03).
    Claim: each discretization improves on the original. Holds in 1 of 2 cells; not clear: heart 1fp (0.00).
    Claim: the best discretization depends on the dataset. Not seen: adult 1fp; heart none.
    """
    by_dataset: CellsByDataset = {}
    for cell in cells:
        if cell.measure == "consistency" and cell.ours is not None:
            by_dataset.setdefault(cell.dataset, {})[cell.setting] = cell
    return [_near_zero(by_dataset), _improves(by_dataset), _depends(by_dataset)]


def _near_zero(by_dataset: CellsByDataset) -> str:
    upper_ends = {dataset: by_setting[ORIGINAL].interval[1] for dataset, by_setting in by_dataset.items()}
    above = [f"{dataset} (up to {end:.2f})" for dataset, end in upper_ends.items() if end > NEAR_ZERO]
    verdict = f"Not on {', '.join(above)}" if above else f"Holds (at most {max(upper_ends.values()):.2f})"
    return f"Claim: without discretization consistency is near 0. {verdict}."


def _improves(by_dataset: CellsByDataset) -> str:
    pairs = [
        (cell, by_setting[ORIGINAL])
        for by_setting in by_dataset.values()
        for setting, cell in by_setting.items()
        if setting != ORIGINAL
    ]
    worse = [
        f"{cell.dataset} {cell.setting} ({cell.ours:.2f} < {original.ours:.2f})"
        for cell, original in pairs
        if is_above(original, cell)
    ]
    unclear = [
        f"{cell.dataset} {cell.setting} ({cell.ours:.2f})"
        for cell, original in pairs
        if not is_above(original, cell) and not is_above(cell, original)
    ]
    verdict = [f"Holds in {len(pairs) - len(unclear) - len(worse)} of {len(pairs)} cells"]
    verdict += [f"not clear: {', '.join(unclear)}"] if unclear else []
    verdict += [f"worse: {', '.join(worse)}"] if worse else []
    return f"Claim: each discretization improves on the original. {'; '.join(verdict)}."


def _depends(by_dataset: CellsByDataset) -> str:
    best = {dataset: possibly_best(by_setting) for dataset, by_setting in by_dataset.items()}
    best = {dataset: [] if ORIGINAL in names else names for dataset, names in best.items()}
    best_names = "; ".join(f"{dataset} {' or '.join(names) or 'none'}" for dataset, names in best.items())
    improved = [set(names) for names in best.values() if names]
    verdict = "Holds" if improved and not set.intersection(*improved) else "Not seen"
    return f"Claim: the best discretization depends on the dataset. {verdict}: {best_names}."


def possibly_best(cells: Mapping[str, Cell]) -> list[str]:
    """Return the names of the cells that no other is above."""
    return [
        name for name, cell in cells.items() if not any(is_above(other, cell) for other in cells.values())
    ]


def check_trend(cells: Iterable[Cell], measure: str, rises: bool, sort_key: Callable[[Cell], float]) -> str:
    """Check that a measure rises (or falls) from the first setting to the last, on every dataset.

    Examples
    --------
    >>> cells = [Cell("adult", "anchors", "0.5", "sufficiency", 0.8),
    ...          Cell("adult", "anchors", "0.9", "sufficiency", 0.9)]
    >>> check_trend(cells, "sufficiency", True, lambda cell: float(cell.setting))
    'Claim: sufficiency rises with the threshold. Holds on 1 of 1 datasets.'
    """
    by_dataset: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.measure == measure and cell.ours is not None:
            by_dataset.setdefault(cell.dataset, []).append(cell)
    ends = {dataset: _ends(sorted(group, key=sort_key)) for dataset, group in by_dataset.items()}
    low_to_high = {dataset: pair if rises else pair[::-1] for dataset, pair in ends.items()}
    against = [dataset for dataset, (low, high) in low_to_high.items() if is_above(low, high)]
    holds = [dataset for dataset, (low, high) in low_to_high.items() if is_above(high, low)]
    unclear = [dataset for dataset in ends if dataset not in (*against, *holds)]
    verdict = [f"Holds on {len(holds)} of {len(ends)} datasets"]
    verdict += [f"not clear on {_describe_ends(ends, unclear)}"] if unclear else []
    verdict += [f"the opposite on {_describe_ends(ends, against)}"] if against else []
    return f"Claim: {measure} {'rises' if rises else 'falls'} with the threshold. {'; '.join(verdict)}."


def _ends(cells: Sequence[Cell]) -> tuple[Cell, Cell]:
    return cells[0], cells[-1]


def _describe_ends(ends: Mapping[str, tuple[Cell, Cell]], datasets: Sequence[str]) -> str:
    return ", ".join(
        f"{name} ({first.ours:.2f} → {last.ours:.2f})"
        for name, (first, last) in ((name, ends[name]) for name in datasets)
    )
