"""What an experiment finds: cells in long form, and remarks on what was done in another way."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

import attrs


@attrs.frozen
class Cell:
    """One number: of a dataset, an explainer, a setting and a measure; the mean over runs.

    Attributes
    ----------
    dataset, explainer, setting, measure : str
        What was measured. The setting is whatever else varies: a discretizer, a threshold, a tree's size.
    ours : float or None
        None where nothing could be measured.
    std : float or None
        The standard deviation over runs; None for a single run.
    n : int or None
        How many instances each run measured.
    runs : int
    paper : float or None
        The printed number, put beside ours when the experiment is over; or what the theory says.
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

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.ours is None or self.paper is None else self.ours - self.paper


@attrs.frozen
class Findings:
    """The cells of an experiment and what a reader must know about them.

    Examples
    --------
    >>> first = Findings((Cell("adult", "shap", "1fp", "consistency", 0.93),), ("adult: 500 rows.",))
    >>> second = Findings((Cell("heart", "shap", "1fp", "consistency", 0.5),))
    >>> both = Findings.joined([first, second])
    >>> [cell.dataset for cell in both.cells], both.remarks
    (['adult', 'heart'], ('adult: 500 rows.',))
    """

    cells: tuple[Cell, ...]
    remarks: tuple[str, ...] = ()

    @classmethod
    def joined(cls, parts: Iterable["Findings"]) -> "Findings":
        """Put the findings of several parts one after another; a remark that they share stands once."""
        every = list(parts)
        cells = tuple(cell for part in every for cell in part.cells)
        return cls(cells, tuple(dict.fromkeys(remark for part in every for remark in part.remarks)))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, told: dict[str, Any]) -> "Findings":
        """Read what `to_dict` returned."""
        return cls(tuple(Cell(**cell) for cell in told["cells"]), tuple(told["remarks"]))


def over_runs(
    dataset: str,
    explainer: str,
    setting: str,
    measure: str,
    values: Sequence[float | None],
    n: int | None = None,
    paper: float | None = None,
) -> Cell:
    """Return the cell of several runs: their mean and standard deviation.

    Examples
    --------
    >>> cell = over_runs("adult", "shap", "1fp", "consistency", [0.9, 0.8])
    >>> round(cell.ours, 3), round(cell.std, 3), cell.runs
    (0.85, 0.071, 2)
    """
    known = [float(value) for value in values if value is not None]
    return Cell(
        dataset,
        explainer,
        setting,
        measure,
        ours=statistics.fmean(known) if known else None,
        std=statistics.stdev(known) if len(known) > 1 else None,
        n=n,
        runs=len(known),
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
    """Return a cell for each measure of several evaluations: one system, other samples or other seeds.

    Examples
    --------
    >>> import faithkit
    >>> runs = [faithkit.score([0, 0, 1], [0, 0, 1]), faithkit.score([0, 0, 1], [0, 0, 0])]
    >>> [cell.ours for cell in cells_of_runs("made-up", "given", "original", runs, ["uniqueness"])]
    [0.5]
    """
    n = results[0].n
    return [
        over_runs(dataset, explainer, setting, measure, [_value(result, measure) for result in results], n)
        for measure in measures
    ]


def _value(result: Any, measure: str) -> float | None:
    found = getattr(result, measure)
    return estimate_of(found) if hasattr(found, "bracket") else found


def estimate_of(found: Any) -> float:
    """Return a measure's estimate as the paper has it: 0 where nothing could be checked, and not nothing.

    Examples
    --------
    >>> import faithkit
    >>> distinct = faithkit.score([0, 1], ["a", "b"]).consistency
    >>> distinct.value, estimate_of(distinct)
    (None, 0.0)
    """
    return float(found.moments.value)
