"""Comparison of several explanation systems on the same rows: order, best systems and differences."""

import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, combinations, count
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd

from faithkit.display import Displayable
from faithkit.errors import FaithkitError, InputError
from faithkit.jsonable import SCHEMA
from faithkit.measure import MEASURES
from faithkit.measure.baselines.control import ABOVE, ROUNDING, Control
from faithkit.measure.difference import Difference, adjust_by_holm
from faithkit.measure.estimate import Estimate
from faithkit.measure.verdict import DETERMINES, NAMES, NOT_FAITHFUL, NOTHING_TESTED
from faithkit.report.base import Report
from faithkit.report.formats import format_percent, name_system
from faithkit.run.comparisons.discretizer_search import with_discretizer
from faithkit.run.components.discretization import accepted_kinds
from faithkit.run.components.resolution import as_list, resolve_component
from faithkit.run.evaluation import Evaluation, owners_by_measure
from faithkit.run.result import split_brackets
from faithkit.wording import join_words

if TYPE_CHECKING:
    from faithkit.report.sheets.sheet import Sheet

UNFIT = (NOT_FAITHFUL, NOTHING_TESTED, NAMES, DETERMINES)
"""The verdicts with which no system is recommended by its sufficiency."""


@attrs.frozen
class Recommendation:
    """The explanation system to use, or why none can be recommended.

    Attributes
    ----------
    system : str or None
        The recommended system.
    reason : str
        Why it is recommended, or why none is.
    tied : tuple of str
        The systems that the sample cannot separate, the highest first.
    """

    system: str | None
    reason: str
    tied: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self) | {"tied": list(self.tied)}

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any]) -> "Recommendation":
        """Rebuild from the output of `to_dict`."""
        return cls(**{**payload, "tied": tuple(payload["tied"])})


@attrs.frozen(repr=False)
class Pair(Displayable):
    """The difference between two systems, with a p-value adjusted for all pairs by Holm's method."""

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
    def from_dict(cls, payload: Mapping[str, Any]) -> "Pair":
        """Rebuild a pair from the output of `to_dict`."""
        names = [field.name for field in attrs.fields(Difference)]
        difference = Difference(**{name: payload[name] for name in names})
        return cls(payload["first"], payload["second"], difference, payload["adjusted_p_value"])


@attrs.frozen(eq=False, repr=False)
class Comparison(Report):
    """Evaluations of several explanation systems on the same rows and predictions; `compare` returns it.

    Order, best systems and differences come from leave-one-out, which estimates the measure itself. The
    values of another estimator need not agree with them. Differences are paired: results of different rows
    are refused, as in `Evaluation.difference`.

    If a system has sufficiency, those without it are not comparable: they have no rank, no difference and no
    mark, in either measure.

    Parameters
    ----------
    results : dict of str to Evaluation
    left_out : tuple of str
        Which explainers and discretizers were left out, and why.

    Examples
    --------
    >>> import faithkit
    >>> labels = ["yes", "no"] * 50
    >>> good = faithkit.score(labels, labels)
    >>> poor = faithkit.score(labels, ["same"] * 100)
    >>> comparison = Comparison({"good": good, "poor": poor})
    >>> comparison.best(), comparison.pairs()[0].difference.low > 0
    (['good'], True)
    """

    results: dict[str, Evaluation]
    left_out: tuple[str, ...] = ()
    _saved_pairs: Mapping[str, list[Pair]] | None = None  # of a result from a file, which has no rows
    _saved_recommendation: Recommendation | None = None

    @property
    def not_comparable(self) -> list[str]:
        """The systems without sufficiency, the highest consistency first, if another system has it."""
        if self._ranking_measure == "consistency":
            return []
        without = [name for name, result in self.results.items() if result.sufficiency is None]
        return sorted(without, key=lambda name: _sort_key(self.results[name].consistency), reverse=True)

    def pairs(self, measure: str = "consistency") -> list[Pair]:
        """Return the difference of every two comparable systems, the larger minus the smaller."""
        if self._saved_pairs is not None:
            return self._saved_pairs.get(measure, [])
        pairs = [self._difference(a, b, measure) for a, b in combinations(self._estimates(measure), 2)]
        adjusted = adjust_by_holm([difference.p_value for _, _, difference in pairs])
        return [Pair(*pair, p_value) for pair, p_value in zip(pairs, adjusted, strict=True)]

    def checked(self, measure: str = "consistency") -> list[str]:
        """Return the ranked systems with more than 5 % of their rows checked, the highest first."""
        estimates = self.ranked(measure).items()
        return [name for name, estimate in estimates if estimate.checkability != "unverifiable"]

    def best(self, measure: str = "consistency") -> list[str]:
        """Return the highest system that could be checked, and those that are not shown to be worse."""
        checked = self.checked(measure)
        if not checked:
            return []
        top, alpha = checked[0], 1 - self.results[checked[0]].confidence
        worse = {pair.second for pair in self.pairs(measure) if pair.first == top and pair.adjusted < alpha}
        return [name for name in checked if name not in worse]

    @property
    def recommendation(self) -> Recommendation:
        """Which system to use, by sufficiency if any has it, or why none can be recommended."""
        if self._saved_recommendation is not None:
            return self._saved_recommendation
        measure = self._ranking_measure
        best = self.best(measure)
        of_the_best = (pair for pair in self.pairs(measure) if {pair.first, pair.second} == set(best[:2]))
        difference = next((pair.difference for pair in of_the_best), None)
        return _recommend(measure, self.results, self.checked(measure), best, difference)

    def ranked(self, measure: str = "consistency") -> dict[str, Estimate]:
        """Return the comparable systems that have a measure, the highest first."""
        estimates = self._estimates(measure)
        return dict(sorted(estimates.items(), key=lambda item: _sort_key(item[1]), reverse=True))

    def with_origin(self, **fields: Any) -> "Comparison":
        """Return the comparison with a title, a note, …, as `Evaluation.with_origin` does."""
        results = {name: result.with_origin(**fields) for name, result in self.results.items()}
        return attrs.evolve(self, results=results)

    def with_target(self, target: Any) -> "Comparison":
        """Return the comparison with the model's accuracy, as `Evaluation.with_target` does."""
        origin = next(iter(self.results.values())).with_target(target).origin
        return self.with_origin(accuracy=origin.accuracy, r2=origin.r2)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per system and measure, the best marked."""
        rows = []
        for measure in MEASURES:
            best = self.best(measure)
            for name, result in self.results.items():
                if measure not in result.measures:
                    continue
                estimate = result.measures[measure]
                rows.append({"system": name, "measure": measure, "best": name in best, **estimate.to_row()})
        return split_brackets(pd.DataFrame(rows))

    def to_dict(self, *, include_data: bool = True) -> dict[str, Any]:
        """Return JSON values: every evaluation, order and best of each measure, and all differences.

        `include_data` is as in `Evaluation.to_dict`.
        """
        return {
            "schema": SCHEMA,
            "systems": {
                name: result.to_dict(include_data=include_data, include_steps=False, by_label=False)
                for name, result in self.results.items()
            },
            "left_out": list(self.left_out),
            "recommendation": self.recommendation.to_dict(),
            "ranked": {measure: list(self.ranked(measure)) for measure in MEASURES},
            "best": {measure: self.best(measure) for measure in MEASURES},
            "not_comparable": self.not_comparable,
            "differences": {
                measure: [pair.to_dict() for pair in self.pairs(measure)] for measure in MEASURES
            },
        }

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any]) -> "Comparison":
        """Rebuild a comparison from the output of `to_dict`: all numbers, without the rows."""
        results = {name: Evaluation.from_dict(result) for name, result in payload["systems"].items()}
        pairs = {measure: list(map(Pair.from_dict, rows)) for measure, rows in payload["differences"].items()}
        recommendation = Recommendation.from_dict(payload["recommendation"])
        return cls(results, tuple(payload["left_out"]), pairs, recommendation)

    def page(self, more: "Sheet | None" = None) -> "Sheet":
        """Return the sheet of a page: all systems, with plots, differences and provenance.

        A `Sheet` with more about the systems, such as a plugin's, comes first on the page.
        """
        from faithkit.report.sheets.comparisons import comparison_page

        owners = {name: owners_by_measure(result.evidence.counts) for name, result in self.results.items()}
        return comparison_page(self.to_dict(), owners, more)

    @property
    def _ranking_measure(self) -> str:
        has_sufficiency = any(result.sufficiency for result in self.results.values())
        return "sufficiency" if has_sufficiency else "consistency"

    def _estimates(self, measure: str) -> dict[str, Estimate]:
        """Return the estimates of the comparable systems."""
        apart = set(self.not_comparable)
        estimates = {name: getattr(result, measure) for name, result in self.results.items()}
        return {name: estimate for name, estimate in estimates.items() if estimate and name not in apart}

    def _difference(self, a: str, b: str, measure: str) -> tuple[str, str, Difference]:
        first, second = (_sort_key(getattr(self.results[name], measure)) for name in (a, b))
        larger, smaller = (a, b) if first >= second else (b, a)
        return larger, smaller, self.results[larger].difference(self.results[smaller], measure)


def _sort_key(estimate: Estimate) -> tuple[float, float]:
    """Return the sort key of a system: its estimate, then its checked share.

    It is the estimate that differences are computed from, which orders even two systems at the floor.
    """
    value = estimate.estimate if estimate.statistics is None else estimate.statistics.estimate
    return round(value, 12), estimate.verified  # the last bits must not decide


def compare_systems(
    explainers: Any,
    discretizers: Any,
    relation: Any,
    evaluate: Callable[..., Evaluation],
    progress: bool = False,
) -> Comparison:
    """Evaluate each explainer once, and its explanations under each discretizer that accepts them.

    Without discretizers, each explainer has the discretizer that `evaluate` chooses. An explainer that fails
    is left out with its reason, unless all fail. With `progress`, a terminal shows how long each explainer
    took.
    """
    explainers_by_name = _by_name("explainer", explainers)
    discretizers_by_name = None if discretizers is None else _by_name("discretizer", discretizers)
    if not explainers_by_name or discretizers_by_name == {}:
        raise InputError("nothing to compare: give at least one explainer and one discretizer.")
    relations = _relations_by_explainer(relation, explainers_by_name)
    results: dict[str, Evaluation] = {}
    failures: dict[str, FaithkitError] = {}
    misfits: dict[tuple[str, str], list[str]] = {}
    for explainer_name, explainer in explainers_by_name.items():
        first, start = None if discretizers is None else "original", time.monotonic()
        try:
            evaluation = evaluate(explainer, discretizer=first, relation=relations[explainer_name])
        except FaithkitError as error:
            failures[explainer_name] = error
            continue
        if progress and sys.stderr.isatty():
            seconds = (time.monotonic() - start) / evaluation.n
            print(f"{explainer_name}: {seconds:.2g} s a row", file=sys.stderr)
        default_discretizers = {evaluation.setup.discretizer.text: evaluation.setup.discretizer}
        for name, discretizer in (discretizers_by_name or default_discretizers).items():
            result = with_discretizer(evaluation, discretizer)
            if result is None:
                misfits.setdefault((explainer_name, _why_left_out(evaluation, discretizer)), []).append(name)
            else:
                results[_unique_name(name_system(explainer_name, name), results)] = result
    if len(failures) == len(explainers_by_name):
        raise next(iter(failures.values()))
    if not results:
        raise InputError("no discretizer takes the explanations of any explainer: add 'original'.")
    left_out = [f"{name} ({str(error).rstrip('.')})" for name, error in failures.items()]
    left_out += (
        f"{join_words(names)} for {explainer} ({reason})" for (explainer, reason), names in misfits.items()
    )
    return Comparison(results, tuple(left_out))


def _relations_by_explainer(relation: Any, explainers: Collection[str]) -> dict[str, Any]:
    """Return the relation of each explainer, from one for all or from a mapping by explainer."""
    if not isinstance(relation, Mapping):
        return dict.fromkeys(explainers, relation)
    names = {name: (name, name.partition(":")[0]) for name in explainers}
    unknown = [name for name in relation if not any(name in known for known in names.values())]
    if unknown:
        raise InputError(
            f"a relation is given for {join_words(map(repr, unknown))}, which is not compared: name one of "
            f"{join_words(map(repr, explainers))}."
        )
    return {
        explainer: next((relation[name] for name in known if name in relation), None)
        for explainer, known in names.items()
    }


def _by_name(kind: str, components: Any) -> dict[str, Any]:
    """Return components by name; functions with the same name get different names."""
    by_name: dict[str, Any] = {}
    for component in as_list(kind, components):
        by_name[_unique_name(resolve_component(kind, component).text, by_name)] = component
    return by_name


def _unique_name(name: str, taken: Collection[str]) -> str:
    """Return the name itself, or "name (2)" and so on if it is taken."""
    numbered = (f"{name} ({number})" for number in count(2))
    return next(candidate for candidate in chain([name], numbered) if candidate not in taken)


def _why_left_out(evaluation: Evaluation, discretizer: Any) -> str:
    """Say why a discretizer does not accept an explainer's output."""
    kinds = join_words(accepted_kinds(resolve_component("discretizer", discretizer)), "or")
    return f"made for explanations of kind {kinds}, not {evaluation.evidence.population.kind}"


# --- the recommendation ---------------------------------------------------------------------------------


def _recommend(
    measure: str,
    results: Mapping[str, Evaluation],
    checked: Sequence[str],
    best: Sequence[str],
    difference: Difference | None,
) -> Recommendation:
    """Recommend the system whose measure is shown to be higher than that of all others.

    `checked` are the systems that could be checked, and `best` the highest of them with those that are not
    shown to be worse. `difference` is that between the first two of the best.
    """
    if not best:
        return Recommendation(
            None,
            "No explanation could be checked against another instance: try a coarser discretizer.",
        )
    top = best[0]
    controls = {name: results[name].control if measure == "sufficiency" else None for name in checked}
    weakness = _weakness(results[top], measure, controls[top])
    if weakness is not None:
        return Recommendation(None, f"None: {top}, the highest, {weakness}.")
    if difference is not None:
        return _tie(measure, best, difference, results[best[1]].measures[measure])
    worths = {name: control.worth.value for name, control in controls.items() if control and control.worth}
    rival = max(worths, key=worths.__getitem__, default=top)
    if top in worths and worths[rival] > worths[top] + ROUNDING:  # their relations may differ
        return Recommendation(
            None,
            f"None: {top} has the highest sufficiency, but {rival} closes more of the gap between random "
            "explanations and the full input.",
        )
    reason = f"its {measure} is higher than that of every other system that could be checked"
    if len(checked) == 1:
        other = "system's sufficiency" if measure == "sufficiency" else "system"
        reason = "no other system was compared" if len(results) == 1 else f"no other {other} could be checked"
    if top in worths:
        share = format_percent(worths[top])
        reason += f", and it closes {share} of the gap between random explanations and the full input"
    return Recommendation(top, reason)


def _weakness(result: Evaluation, measure: str, control: Control | None) -> str | None:
    """Return why the highest system is not recommended; None if it is better than both baselines."""
    estimate = result.measures[measure]
    if control is not None and control.finding != ABOVE:
        return "is not shown to be better than its control"
    if result.verdict.name == NAMES:
        return "may only repeat the prediction"
    if estimate.chance is not None and estimate.low is not None and estimate.low <= estimate.chance:
        return "is not shown to be better than chance"
    if measure == "sufficiency" and result.verdict.name in UNFIT:
        return f'has the verdict "{result.verdict.name}": {result.verdict.reason}'
    return None


def _tie(measure: str, best: Sequence[str], difference: Difference, lower: Estimate) -> Recommendation:
    """Say that the sample separates no system from the others.

    `lower` is the estimate of the second. Rows of it that could not be checked may all agree.
    """
    assert lower.statistics is not None
    left_open = 1.0 - lower.statistics.disagreement - lower.statistics.estimate
    reason = f"This sample cannot separate {join_words(best)} by {measure}."
    if 0 < difference.value <= left_open:
        reason += f" Too many rows of {best[1]} could not be checked: coarser explanations may separate them."
    return Recommendation(None, reason, tuple(best))
