"""Check the paper's claims about the order of numbers on ours. Each claim becomes a remark."""

from collections.abc import Callable, Iterable, Sequence

from faithkit_paper.findings import Cell

ORIGINAL = "original"
NEAR_ZERO = 0.1

Consistency = dict[str, dict[str, float]]


def check_orderings(cells: Iterable[Cell]) -> list[str]:
    """Check the three claims about discretizations.

    Examples
    --------
    >>> cells = [Cell("adult", "shap", "original", "consistency", 0.02),
    ...          Cell("adult", "shap", "1fp", "consistency", 0.9),
    ...          Cell("heart", "shap", "original", "consistency", 0.0),
    ...          Cell("heart", "shap", "1fp", "consistency", 0.0)]
    >>> for remark in check_orderings(cells):
    ...     print(remark)
    Claim: without discretization consistency is near 0. Holds (at most 0.02).
    Claim: each discretization improves on the original. Holds in 1 of 2 cells; equal: heart 1fp (0.00).
    Claim: the best discretization depends on the dataset. Not seen: adult 1fp; heart none.
    """
    consistency = _consistency(cells)
    return [_near_zero(consistency), _improves(consistency), _depends(consistency)]


def _consistency(cells: Iterable[Cell]) -> Consistency:
    consistency: Consistency = {}
    for cell in cells:
        if cell.measure == "consistency" and cell.ours is not None:
            consistency.setdefault(cell.dataset, {})[cell.setting] = cell.ours
    return consistency


def _near_zero(consistency: Consistency) -> str:
    values = {dataset: by_setting[ORIGINAL] for dataset, by_setting in consistency.items()}
    high = [f"{dataset} ({value:.2f})" for dataset, value in values.items() if value > NEAR_ZERO]
    verdict = f"Not on {', '.join(high)}" if high else f"Holds (at most {max(values.values()):.2f})"
    return f"Claim: without discretization consistency is near 0. {verdict}."


def _improves(consistency: Consistency) -> str:
    pairs = [
        (dataset, setting, value, by_setting[ORIGINAL])
        for dataset, by_setting in consistency.items()
        for setting, value in by_setting.items()
        if setting != ORIGINAL
    ]
    equal = [
        f"{dataset} {setting} ({value:.2f})"
        for dataset, setting, value, original in pairs
        if value == original
    ]
    worse = [
        f"{dataset} {setting} ({value:.2f} < {original:.2f})"
        for dataset, setting, value, original in pairs
        if value < original
    ]
    verdict = [f"Holds in {len(pairs) - len(equal) - len(worse)} of {len(pairs)} cells"]
    verdict += [f"equal: {', '.join(equal)}"] if equal else []
    verdict += [f"worse: {', '.join(worse)}"] if worse else []
    return f"Claim: each discretization improves on the original. {'; '.join(verdict)}."


def _depends(consistency: Consistency) -> str:
    best = {dataset: _best(by_setting) for dataset, by_setting in consistency.items()}
    best_names = "; ".join(f"{dataset} {' and '.join(names) or 'none'}" for dataset, names in best.items())
    improved = [set(names) for names in best.values() if names]
    verdict = "Holds" if improved and not set.intersection(*improved) else "Not seen"
    return f"Claim: the best discretization depends on the dataset. {verdict}: {best_names}."


def _best(by_setting: dict[str, float]) -> list[str]:
    """Return the discretizations with the highest consistency; none if the original is as high."""
    highest = max(by_setting.values())
    if highest == by_setting[ORIGINAL]:
        return []
    return [name for name, value in by_setting.items() if value == highest]


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
    against = [
        f"{dataset} ({first:.2f} → {last:.2f})"
        for dataset, (first, last) in ends.items()
        if (last <= first if rises else last >= first)
    ]
    verdict = f"Holds on {len(ends) - len(against)} of {len(ends)} datasets"
    verdict += f"; not on {', '.join(against)}" if against else ""
    return f"Claim: {measure} {'rises' if rises else 'falls'} with the threshold. {verdict}."


def _ends(cells: Sequence[Cell]) -> tuple[float, float]:
    first, last = cells[0].ours, cells[-1].ours
    assert first is not None  # the caller leaves out cells without a number
    assert last is not None
    return first, last
