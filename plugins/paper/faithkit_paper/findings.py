"""The findings of an experiment: its cells in long form, and remarks on deviations from the paper."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

import attrs


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


MEASURES = ("consistency", "sufficiency", "uniqueness")


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
