"""The findings of an experiment: its cells in long form, and remarks on deviations from the paper.

A claim of the paper about the order of numbers is checked on ours, and becomes a remark. There a number is
above another if their intervals do not overlap; otherwise the sample cannot tell.
"""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

MEASURES = ("consistency", "sufficiency", "uniqueness")
ORIGINAL = "original"
NEAR_ZERO = 0.1


@attrs.frozen
class Cell:
    """A number for a dataset, an explainer, a setting and a measure: the mean over runs.

    Attributes
    ----------
    dataset, explainer, setting, measure : str
        What was measured. The setting is what else varies, such as a discretizer, a threshold or a tree size.
    ours : float or None
        None if nothing could be measured.
    std : float or None
        The standard deviation over runs; None for a single run.
    low, high : float or None
        The interval of an estimate: 1.96 standard errors to each side, averaged over runs.
    n : int or None
        The number of instances of each run.
    runs : int
    paper : float or None
        The printed number, added at the end of the experiment, or the value that the theory predicts.
    """

    dataset: str
    explainer: str
    setting: str
    measure: str
    ours: float | None
    std: float | None = None
    n: int | None = None
    runs: int = 1
    paper: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """The interval, or twice the number if it has none."""
        assert self.ours is not None  # callers leave out cells without a number
        return (self.ours, self.ours) if self.low is None or self.high is None else (self.low, self.high)

    @property
    def difference(self) -> float | None:
        """Our number minus the printed one."""
        return None if self.ours is None or self.paper is None else self.ours - self.paper


@attrs.frozen
class Findings:
    """The cells of an experiment, remarks that readers need, and the CPU time that it took.

    Examples
    --------
    >>> first = Findings((Cell("adult", "shap", "1fp", "consistency", 0.93),), ("adult: 500 rows.",))
    >>> second = Findings((Cell("heart", "shap", "1fp", "consistency", 0.5),))
    >>> both = Findings.concatenate([first, second])
    >>> [cell.dataset for cell in both.cells], both.remarks
    (['adult', 'heart'], ('adult: 500 rows.',))
    """

    cells: tuple[Cell, ...]
    remarks: tuple[str, ...] = ()
    cpu_seconds: float = 0.0

    @classmethod
    def concatenate(cls, findings: Iterable["Findings"]) -> "Findings":
        """Concatenate findings. Remarks that they share appear once."""
        findings = list(findings)
        cells = tuple(cell for item in findings for cell in item.cells)
        remarks = tuple(dict.fromkeys(remark for item in findings for remark in item.remarks))
        return cls(cells, remarks, sum(item.cpu_seconds for item in findings))

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as JSON values."""
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, payload: dict[str, Any]) -> "Findings":
        """Rebuild findings from the output of `to_dict`."""
        cells = tuple(Cell(**cell) for cell in payload["cells"])
        return cls(cells, tuple(payload["remarks"]), payload["cpu_seconds"])


def cell_of_runs(
    dataset: str,
    explainer: str,
    setting: str,
    measure: str,
    values: Sequence[float | None],
    n: int | None = None,
    paper: float | None = None,
) -> Cell:
    """Return the cell of several runs, with their mean and standard deviation.

    Examples
    --------
    >>> cell = cell_of_runs("adult", "shap", "1fp", "consistency", [0.9, 0.8])
    >>> round(cell.ours, 3), round(cell.std, 3), cell.runs
    (0.85, 0.071, 2)
    """
    numbers = [float(value) for value in values if value is not None]
    return Cell(
        dataset,
        explainer,
        setting,
        measure,
        ours=statistics.fmean(numbers) if numbers else None,
        std=statistics.stdev(numbers) if len(numbers) > 1 else None,
        n=n,
        runs=len(numbers),
        paper=paper,
    )


def cells_of_runs(
    dataset: str,
    explainer: str,
    setting: str,
    results: Sequence[Any],
    measures: Sequence[str] = MEASURES,
) -> list[Cell]:
    """Return a cell for each measure, over evaluations that differ in their samples or seeds.

    Examples
    --------
    >>> import faithkit
    >>> runs = [faithkit.score([0, 0, 1], [0, 0, 1]), faithkit.score([0, 0, 1], [0, 0, 0])]
    >>> [cell.ours for cell in cells_of_runs("made-up", "given", "original", runs, ["uniqueness"])]
    [0.5]
    """
    n = results[0].n
    cells = []
    for measure in measures:
        values = [getattr(result, measure) for result in results]
        names = dataset, explainer, setting, measure
        if hasattr(values[0], "bracket"):
            cell = cell_of_runs(*names, [estimate_of(value) for value in values], n)
            cells.append(with_interval(cell, [value.se for value in values]))
        else:
            cells.append(cell_of_runs(*names, values, n))
    return cells


def with_interval(cell: Cell, standard_errors: Sequence[float | None]) -> Cell:
    """Return the cell with the interval of its estimate; as it is if a standard error is missing.

    Examples
    --------
    >>> cell = with_interval(Cell("adult", "shap", "1fp", "consistency", ours=0.5), [0.1, 0.1])
    >>> round(cell.low, 3), round(cell.high, 3)
    (0.304, 0.696)
    """
    errors = [error for error in standard_errors if error is not None]
    if cell.ours is None or len(errors) < len(standard_errors):
        return cell
    half_width = 1.96 * statistics.fmean(errors)
    return attrs.evolve(cell, low=max(0.0, cell.ours - half_width), high=min(1.0, cell.ours + half_width))


def estimate_of(estimate: Any) -> float:
    """Return an estimate as the paper defines it: 0, not None, if nothing could be checked.

    Examples
    --------
    >>> import faithkit
    >>> distinct = faithkit.score([0, 1], ["a", "b"]).consistency
    >>> distinct.value, estimate_of(distinct)
    (None, 0.0)
    """
    return float(estimate.statistics.value)


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
