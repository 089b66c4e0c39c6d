"""Comparison of several explanation systems on the same rows."""

import sys
import time
from collections.abc import Callable, Collection, Mapping
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd

from faithkit.errors import FaithkitError, InputError
from faithkit.jsonable import SCHEMA
from faithkit.measure import MEASURES
from faithkit.measure.estimate import Estimate
from faithkit.report.base import Report
from faithkit.report.formats import format_number, name_system, pluralize
from faithkit.report.sheet import Sheet
from faithkit.run.comparisons.comparison_sheets import comparison_page, comparison_sheet
from faithkit.run.comparisons.discretizer_search import with_discretizer
from faithkit.run.comparisons.ranking import Pair, Ranking, Recommendation
from faithkit.run.components.discretization import accepted_kinds
from faithkit.run.components.resolution import as_list, resolve_component
from faithkit.run.evaluation import Evaluation
from faithkit.run.result import split_brackets
from faithkit.wording import join_few, join_words

if TYPE_CHECKING:
    pass


@attrs.frozen(eq=False, repr=False)
class Comparison(Ranking, Report):
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

    def with_origin(self, **fields: Any) -> "Comparison":
        """Return the comparison with a title, a note, …, as `Evaluation.with_origin` does."""
        results = {name: result.with_origin(**fields) for name, result in self.results.items()}
        return attrs.evolve(self, results=results)

    def with_target(self, target: Any) -> "Comparison":
        """Return the comparison with the model's accuracy, as `Evaluation.with_target` does."""
        origin = self.first.with_target(target).origin
        return self.with_origin(accuracy=origin.accuracy, r2=origin.r2)

    def line(self) -> str:
        """Return the systems, the highest first."""
        ranked = {measure: self.ranked(measure) for measure in MEASURES}
        levels = [f"{name} estimates: {_list_levels(systems)}" for name, systems in ranked.items() if systems]
        levels += [f"not comparable: {join_few(self.not_comparable)}"] if self.not_comparable else []
        return f"of {pluralize(len(self.results), 'system')}; {'; '.join(levels)}"

    def sheet(self) -> Sheet:
        """Return the systems by each measure; those that may be the best are marked."""
        return comparison_sheet(self)

    def page(self, addition: Sheet | None = None) -> Sheet:
        """Return the full report, with differences, each system, and provenance.

        `addition` has what else is known of the systems, such as a plugin's sheet.
        """
        return comparison_page(self, addition)

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


def _list_levels(estimates: Mapping[str, Estimate]) -> str:
    """Return the estimate of each of several systems."""
    return join_few(
        f"{name} {'unknown' if estimate.is_unknown else format_number(estimate.estimate)}"
        for name, estimate in estimates.items()
    )


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
