"""Which explanations are the most faithful? Several systems on one sample, and what can be said for sure."""

from collections.abc import Collection, Iterable
from itertools import chain, combinations, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd

from faithkit.errors import InputError
from faithkit.jsonable import json_text
from faithkit.measure import MEASURES
from faithkit.measure.comparison import Difference, holm
from faithkit.measure.estimate import Estimate
from faithkit.report.formats import system_name
from faithkit.run.api import evaluate
from faithkit.run.components import component, several
from faithkit.run.discretizations import with_discretizer
from faithkit.run.evaluation import Evaluation, with_ends
from faithkit.run.pipeline import accepted_kinds
from faithkit.wording import listing

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@attrs.frozen
class Pair:
    """Two systems' difference, with the p-value adjusted for all pairs asked about (Holm)."""

    first: str
    second: str
    difference: Difference
    adjusted: float

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"first": self.first, "second": self.second, **attrs.asdict(self.difference)} | {
            "adjusted_p_value": self.adjusted
        }


@attrs.frozen(eq=False)
class Comparison:
    """Evaluations of several explanation systems on the same rows and predictions; made by `compare`.

    Order, best and differences are those of leave-one-out, the estimate of the measure itself, whatever the
    estimator: the values of another one need not agree with them.

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

    def pairs(self, measure: str = "consistency") -> list[Pair]:
        """Return every two systems' difference, the larger minus the smaller."""
        measured = self._measured(measure)
        found = [_ordered(a, b, measured, measure) for a, b in combinations(measured, 2)]
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
        found = {name: getattr(result, measure) for name, result in self._measured(measure).items()}
        # the bracket starts at leave-one-out's value, of which the differences are
        return dict(sorted(found.items(), key=lambda item: -item[1].bracket[0]))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per system and measure, the best marked."""
        rows = []
        for measure in MEASURES:
            best = self.best(measure)
            for name, result in self._measured(measure).items():
                found = getattr(result, measure).to_row()
                rows.append({"system": name, "measure": measure, "best": name in best, **found})
        return with_ends(pd.DataFrame(rows))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: every evaluation, the best of each measure, and all differences."""
        return {
            "systems": {name: result.to_dict() for name, result in self.results.items()},
            "best": {measure: self.best(measure) for measure in MEASURES},
            "differences": {
                measure: [pair.to_dict() for pair in self.pairs(measure)] for measure in MEASURES
            },
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Return JSON text, and write it to `path` where one is given."""
        from faithkit.files import write_whole

        text = json_text(self.to_dict())
        if path is not None:
            write_whole(path, text)
        return text

    def plot(self, measure: str = "consistency", ax: "Axes | None" = None) -> "Axes":
        """Draw every system's measure with interval and bracket, the best to the fore; return the axes."""
        from faithkit.report import plots

        found = {name: getattr(result, measure) for name, result in self._measured(measure).items()}
        if not found:
            raise InputError(f"{measure} cannot be drawn: no system has it. Give a relation.")
        axes = plots.line_axes(len(found)) if ax is None else ax
        return plots.measures(axes, found, self.best(measure))

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one HTML page, and write it to `path` where one is given."""
        from faithkit.files import write_whole
        from faithkit.report.html import page

        text = page(self)
        if path is not None:
            write_whole(path, text)
        return text

    def _repr_html_(self) -> str:
        from faithkit.report.html import fragment

        return fragment(self)

    def __repr__(self) -> str:
        from faithkit.report.text import comparison_table

        return comparison_table(self)

    def _measured(self, measure: str) -> dict[str, Evaluation]:
        return {name: result for name, result in self.results.items() if getattr(result, measure)}


def _ordered(a: str, b: str, results: dict[str, Evaluation], measure: str) -> tuple[str, str, Difference]:
    first, second = (getattr(results[name], measure).bracket[0] for name in (a, b))
    larger, smaller = (a, b) if first >= second else (b, a)
    return larger, smaller, results[larger].difference(results[smaller], measure)


def compare(
    model: Any,
    X: Any,
    explainers: Iterable[Any] = ("shap", "lime"),
    discretizers: Iterable[Any] = ("original",),
    **options: Any,
) -> Comparison:
    """Evaluate several explainers, each with several discretizers, on the same rows.

    Parameters
    ----------
    model, X
        As in `evaluate`.
    explainers, discretizers : iterable
        Names, "name:param=value,…", instances or functions; one may be given alone. Every explainer explains
        once, whatever the number of discretizers; a discretizer that does not take an explainer's kind is
        left out. Where several have one name, the second is called "name (2)".
    **options
        As in `evaluate`.

    Returns
    -------
    Comparison
        Its order, its best and its differences are those of leave-one-out, the estimate of the measure
        itself, whatever the estimator.

    Examples
    --------
    >>> import numpy as np, faithkit
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> def halves(X):
    ...     return (X[:, 0] >= 100).tolist()
    >>> def parity(X):
    ...     return (X[:, 0] % 2).tolist()
    >>> found = faithkit.compare(lambda X: X[:, 0] >= 100, X, explainers=[halves, parity])
    >>> found.best()
    ['halves']
    """
    named, ways = _named("explainer", explainers), _named("discretizer", discretizers)
    if not named or not ways:
        raise InputError("nothing to compare: give at least one explainer and one discretizer.")
    results: dict[str, Evaluation] = {}
    misfits: dict[tuple[str, str], list[str]] = {}
    for explainer, given in named.items():
        explained = evaluate(model, X, explainer=given, **options)
        for discretizer, way in ways.items():
            found = with_discretizer(explained, way)
            if found is None:
                misfits.setdefault((explainer, _reason(explained, way)), []).append(discretizer)
            else:
                results[_free(system_name(explainer, discretizer), results)] = found
    if not results:
        raise InputError("no discretizer takes the explanations of any explainer: add 'original'.")
    left_out = (f"{listing(names)} for {who} ({why})" for (who, why), names in misfits.items())
    return Comparison(results, tuple(left_out))


def _named(kind: str, given: Any) -> dict[str, Any]:
    """Return what was given by name, every one of it: two functions may be called the same."""
    named: dict[str, Any] = {}
    for one in several(kind, given):
        named[_free(component(kind, one).text, named)] = one
    return named


def _free(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken yet: the name itself, or "name (2)" and so on."""
    further = (f"{name} ({place})" for place in count(2))
    return next(free for free in chain([name], further) if free not in taken)


def _reason(explained: Evaluation, discretizer: Any) -> str:
    """Say why a discretizer does not go with an explainer."""
    kinds = listing(accepted_kinds(component("discretizer", discretizer)), "or")
    return f"made for explanations of kind {kinds}, not {explained.sample.explanations.kind}"
