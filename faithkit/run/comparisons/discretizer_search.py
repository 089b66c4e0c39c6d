"""Measure the same explanations under another discretizer, or try many discretizers side by side.

If a discretizer is too fine, no rows share an explanation, and nothing can be checked. If it is too coarse,
rows with different predictions share one. Which one is best depends on the data and the explainer.
"""

from collections.abc import Iterable
from typing import Any

import attrs
import pandas as pd

from faithkit.errors import InputError
from faithkit.measure.estimate import Estimate
from faithkit.measure.finding import ONE_LABEL
from faithkit.report.formats import format_number, format_percent
from faithkit.run.comparisons.discretizer_variants import (
    discretizer_variants,
    recommend,
    suitable_discretizers,
)
from faithkit.run.components.discretization import accepted_kinds
from faithkit.run.components.learning import THE_SAMPLE, learns
from faithkit.run.components.resolution import as_list, component_name, resolve_component
from faithkit.run.components.setup import Applicability
from faithkit.run.evaluation import Evaluation
from faithkit.run.pipeline import measure_population
from faithkit.wording import describe

COLUMNS = (
    *("estimate", "low", "high", "verified", "consistency", "up_to", "by_chance", "uniqueness"),
    "n_explanations",
)
ABOUT_COARSER = (
    "A coarser discretization can only lower the measure and raise the checked share, so its lower end is "
    "also a lower end for a finer one."
)
ABOUT_CHOOSING = "The best of many looks better than it is: choose on one sample, and report on another."


def with_discretizer(result: Evaluation, discretizer: Any) -> Evaluation | None:
    """Evaluate the same explanations under another discretizer; None if it does not accept them.

    A discretizer that learns is fitted to explanations of the background, or of the sample if there is no
    background, as in `score`.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score([0, 0, 1], [[0.21], [0.24], [-0.26]])
    >>> with_discretizer(result, lambda phi: phi.values.round(1)).n_explanations
    2
    """
    resolved, population = resolve_component("discretizer", discretizer), result.evidence.population
    if resolved is result.setup.discretizer:
        return result
    kinds = accepted_kinds(resolved)
    if kinds and population.kind not in kinds:
        return None
    setup = result.setup.with_discretizer(resolved)
    if learns(resolved):
        population.fit_discretizer(resolved, setup.system)
    return measure_population(population.with_discretizer(resolved), setup)


def try_discretizers(result: Evaluation, discretizers: Iterable[Any] | None = None) -> pd.DataFrame:
    """Measure the consistency of the same explanations under many discretizers; no row is explained again.

    Parameters
    ----------
    result : Evaluation
        What `evaluate` or `score` returned.
    discretizers : iterable, optional
        Names, "name:param=value,…", instances or functions, or a single one of these. By default all
        installed discretizers that accept explanations of this kind, also with the parameter values that they
        propose to try, such as decimals, bins or the number of importances.

    Returns
    -------
    DataFrame
        One row per discretizer, the highest lower end, `low`, first. Its columns:

        - `estimate`, `low`, `high`: the estimate of consistency and its interval;
        - `verified`: the share that could be checked;
        - `consistency`: the value, NaN if nothing could be checked;
        - `up_to`: the value if everything that could not be checked agreed;
        - `by_chance`: what explanations unrelated to the predictions would get, if the estimator says it;
        - `recommended`: true for one discretizer. Among those whose `estimate` reaches the highest lower end,
          it is the one with the largest `verified`. It is false for all if nothing is known about any;
        - `note`: why a discretizer could not be used; such rows come last.

        ``attrs["note"]`` is a sentence about the whole table.

    Notes
    -----
    A coarser explanation says less: its consistency is at most that of the original explanations, and more of
    it can be checked. So the lower end under a coarser discretizer is also a lower end for the finer
    explanations it was made from, such as `original`. Its value, its upper end and its contradictions say
    nothing about the finer explanations. This holds for discretizers that read the explanation only; `delta`
    and similar ones also read the instance. The best of many looks better than it is: choose on one sample,
    and report on another.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score([0, 0, 1, 1], [[0.21], [0.24], [-0.26], [-0.28]])
    >>> tried = faithkit.try_discretizers(result, ["original", "near", lambda phi: phi.values.round(1)])
    >>> tried[["discretizer", "recommended", "consistency", "verified"]].values.tolist()[:2]
    [['<lambda>', True, 1.0, 1.0], ['original', False, nan, 0.0]]
    >>> tried["note"].iloc[-1]
    "no discretizer 'near' is installed. Available: ..."
    >>> tried.attrs["note"]
    'Recommended: <lambda>, under which 100 % could be checked; the estimate of consistency is 1.000. ...'
    """
    if not isinstance(result, Evaluation):
        raise InputError(f"the result is a {type(result).__name__}: give what evaluate or score returned.")
    kind = result.evidence.population.kind
    candidates = suitable_discretizers(kind) if discretizers is None else as_list("discretizer", discretizers)
    if not candidates:
        raise InputError("no discretizers were given: name some, or leave them out to try all.")
    trials = [_try(result, discretizer) for discretizer in candidates]
    if discretizers is None:  # a proposed value that does not suit these explanations is left out
        variants = [_try(result, text) for text in discretizer_variants(kind)]
        trials += [trial for trial in variants if trial[1] is not None]
    return _table(trials)


Trial = tuple[dict[str, Any], Estimate | None]
"""A row of the table, and the estimate in it; None if the discretizer cannot be used."""


def _table(trials: list[Trial]) -> pd.DataFrame:
    """Sort the rows, and mark the recommended one."""
    usable = [(row, estimate) for row, estimate in trials if estimate is not None]
    position = recommend([estimate for _, estimate in usable])
    best = None if position is None else usable[position]
    types = dict.fromkeys(COLUMNS, "float64") | {"n_explanations": "Int64"}
    table = pd.DataFrame([row for row, _ in trials]).astype(types)
    table.insert(1, "recommended", [best is not None and row is best[0] for row, _ in trials])
    order = ["low", "estimate", "verified", "n_explanations", "discretizer"]
    table = table.sort_values(order, ascending=[False, False, False, True, True], ignore_index=True)
    table.attrs["note"] = (
        _why_none([estimate for _, estimate in usable]) if best is None else _recommendation(*best)
    )
    return table


def _why_none(estimates: list[Estimate]) -> str:
    """Say why no discretizer is recommended."""
    if not estimates:
        return f"None is recommended: none could be used. {ABOUT_COARSER}"
    if any(estimate.finding == ONE_LABEL for estimate in estimates):
        reason = "all explained predictions are the same, so that nothing was tested"
    else:
        reason = "next to nothing could be checked"
    return f"None is recommended: {reason}. {ABOUT_COARSER}"


def _recommendation(row: dict[str, Any], estimate: Estimate) -> str:
    name, share, level = (
        row["discretizer"],
        format_percent(estimate.verified),
        format_number(estimate.estimate),
    )
    best = f"{name}, under which {share} could be checked; the estimate of consistency is {level}"
    return f"Recommended: {best}. {ABOUT_COARSER} {ABOUT_CHOOSING}"


def _try(result: Evaluation, discretizer: Any) -> Trial:
    """Measure consistency under a discretizer; if that fails, the row's note says why."""
    note = ""
    try:
        resolved = resolve_component("discretizer", discretizer)
        current = result.setup.discretizer
        if current.recipe is not None and current.recipe == resolved.recipe:
            resolved = current  # it is fitted already
        elif learns(resolved):
            result.evidence.population.fit_discretizer(resolved)
            note = f"learnt from {THE_SAMPLE}"
        # sufficiency is not measured
        setup = attrs.evolve(
            result.setup, discretizer=resolved, permutations=0, applicability=Applicability()
        )
        measured = measure_population(result.evidence.population.with_discretizer(resolved), setup)
    except Exception as error:  # a discretizer that fails must not keep others from being tried
        name = discretizer if isinstance(discretizer, str) else component_name(discretizer)
        empty = dict.fromkeys(COLUMNS, float("nan"))
        return {"discretizer": name, **empty, "checkability": "", "note": describe(error)}, None
    return {"discretizer": resolved.text, **_summarise(measured), "note": note}, measured.consistency


def _summarise(result: Evaluation) -> dict[str, Any]:
    estimate = result.consistency
    interval = (estimate.estimate, estimate.low, estimate.high)
    shares = (estimate.verified, estimate.value, estimate.bracket[1], estimate.by_chance)
    values = (*interval, *shares, result.uniqueness, result.n_explanations)
    return {**dict(zip(COLUMNS, values, strict=True)), "checkability": estimate.checkability}
