"""Which explanations are the most faithful? Several systems on one sample, and what can be said for sure."""

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd

from faithkit.display import Displayable
from faithkit.errors import InputError
from faithkit.files import written
from faithkit.measure import MEASURES
from faithkit.measure.adjustment import holm
from faithkit.measure.difference import Difference
from faithkit.measure.estimate import Estimate
from faithkit.report.report import Report
from faithkit.run.evaluation import Evaluation
from faithkit.run.result import SCHEMA, with_ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from faithkit.report.sheets import Sheet


@attrs.frozen(repr=False)
class Pair(Displayable):
    """Two systems' difference, with the p-value adjusted for all pairs by Holm's method."""

    first: str
    second: str
    difference: Difference
    adjusted: float

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"first": self.first, "second": self.second, **attrs.asdict(self.difference)} | {
            "adjusted_p_value": self.adjusted
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> "Pair":
        """Make a pair of what `to_dict` told."""
        names = [field.name for field in attrs.fields(Difference)]
        found = Difference(**{name: told[name] for name in names})
        return cls(told["first"], told["second"], found, told["adjusted_p_value"])


@attrs.frozen(eq=False, repr=False)
class Comparison(Report):
    """Evaluations of several explanation systems on the same rows and predictions; made by `compare`.

    Order, best and differences are those of leave-one-out, the estimate of the measure itself, whatever the
    estimator: the values of another one need not agree with them. Differences are paired: results of other
    rows are refused, as `Evaluation.difference` says.

    Parameters
    ----------
    results : dict of str to Evaluation
    left_out : tuple of str
        Which discretizers were left out for which explainers, and why.

    Examples
    --------
    >>> import faithkit
    >>> labels = ["yes", "no"] * 50
    >>> good = faithkit.score(labels, labels)
    >>> poor = faithkit.score(labels, ["same"] * 100)
    >>> found = Comparison({"good": good, "poor": poor})
    >>> found.best(), found.pairs()[0].difference.low > 0
    (['good'], True)
    """

    results: dict[str, Evaluation]
    left_out: tuple[str, ...] = ()
    _saved: Mapping[str, list[Pair]] | None = None

    def pairs(self, measure: str = "consistency") -> list[Pair]:
        """Return every two systems' difference, the larger minus the smaller."""
        if self._saved is not None:
            return self._saved.get(measure, [])
        found = [self._ordered(a, b, measure) for a, b in combinations(self._measured(measure), 2)]
        adjusted = holm([difference.p_value for _, _, difference in found])
        return [Pair(*names, p) for names, p in zip(found, adjusted, strict=True)]

    def best(self, measure: str = "consistency") -> list[str]:
        """Return the top system and all that the sample cannot tell from it."""
        top = next(iter(self.ranked(measure)), None)
        if top is None:
            return []
        alpha = 1 - self.results[top].confidence
        worse = {pair.second for pair in self.pairs(measure) if pair.first == top and pair.adjusted < alpha}
        return [name for name in self._measured(measure) if name not in worse]

    def ranked(self, measure: str = "consistency") -> dict[str, Estimate]:
        """Return the systems that have a measure, the highest first."""
        return dict(sorted(self._measured(measure).items(), key=lambda item: _height(item[1]), reverse=True))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per system and measure, the best marked."""
        rows = []
        for measure in MEASURES:
            best = self.best(measure)
            for name, found in self._measured(measure).items():
                rows.append({"system": name, "measure": measure, "best": name in best, **found.to_row()})
        return with_ends(pd.DataFrame(rows))

    def to_dict(self, data: bool = True) -> dict[str, Any]:
        """Return JSON values: every evaluation, order and best of each measure, and all differences.

        `data` is as in an evaluation's.
        """
        return {
            "schema": SCHEMA,
            "systems": {name: result.to_dict(data, steps=False) for name, result in self.results.items()},
            "left_out": list(self.left_out),
            "ranked": {measure: list(self.ranked(measure)) for measure in MEASURES},
            "best": {measure: self.best(measure) for measure in MEASURES},
            "differences": {
                measure: [pair.to_dict() for pair in self.pairs(measure)] for measure in MEASURES
            },
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> "Comparison":
        """Make a comparison of what `to_dict` told: all numbers, and no rows behind them."""
        results = {name: Evaluation.from_dict(one) for name, one in told["systems"].items()}
        pairs = {name: [Pair.from_dict(pair) for pair in some] for name, some in told["differences"].items()}
        return cls(results, tuple(told.get("left_out", ())), pairs)

    def plot(self, measure: str = "consistency", ax: "Axes | None" = None) -> "Axes":
        """Draw every system's measure with interval and bracket, the best to the fore; return the axes."""
        from faithkit.report import plots

        found = self._measured(measure)
        if not found:
            raise InputError(f"{measure} cannot be drawn: no system has it. Give a relation.")
        axes = plots.line_axes(len(found)) if ax is None else ax
        return plots.measures(axes, found, self.best(measure))

    def to_html(self, path: str | Path | None = None, more: "Sheet | None" = None) -> str:
        """Return the report as one HTML page, and write it to `path` where one is given.

        What somebody else knows of the systems may stand first, as a `Sheet`.
        """
        from faithkit.report.html import comparison_page

        owners = {name: one.owners for name, one in self.results.items()}
        return written(comparison_page(self.to_dict(), owners, more), path)

    def _measured(self, measure: str) -> dict[str, Estimate]:
        found = {name: getattr(result, measure) for name, result in self.results.items()}
        return {name: estimate for name, estimate in found.items() if estimate}

    def _ordered(self, a: str, b: str, measure: str) -> tuple[str, str, Difference]:
        first, second = (_height(getattr(self.results[name], measure)) for name in (a, b))
        larger, smaller = (a, b) if first >= second else (b, a)
        return larger, smaller, self.results[larger].difference(self.results[smaller], measure)


def _height(found: Estimate) -> tuple[float, float]:
    """Return what systems are ordered by: the estimate, and how much of it could be checked.

    It is what their difference is made of, by which two systems at the floor are told apart.
    """
    least = found.estimate if found.moments is None else found.moments.estimate
    return round(least, 12), found.verified  # last bits order nothing
