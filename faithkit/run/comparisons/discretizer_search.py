"""The same explanations under other discretizations: one of them, or many that are tried side by side.

A finer one tells explanations apart that nobody shares, and nothing can be checked; a coarser one unites what
gets different predictions. Which of them is best depends on the data and the explainer, so one tries.
"""

from collections.abc import Iterable
from typing import Any

import attrs
import pandas as pd

from faithkit.errors import InputError
from faithkit.measure.estimate import Estimate
from faithkit.measure.finding import ONE_LABEL
from faithkit.report.formats import number, percent
from faithkit.run.comparisons.discretizer_variants import recommended, suitable, variants
from faithkit.run.components.discretization import accepted_kinds, learns
from faithkit.run.components.resolution import component, several
from faithkit.run.components.setup import THE_SAMPLE, Applicability
from faithkit.run.evaluation import Evaluation
from faithkit.run.pipeline import measured
from faithkit.wording import describe

COLUMNS = (
    *("estimate", "low", "high", "verified", "consistency", "up_to", "by_chance", "uniqueness"),
    "n_explanations",
)
FINER = (
    "A discretization of explanations can only lower the measure, and raise what can be checked: the lower "
    "end of a coarser one is a lower end of the finer one, too."
)
CHOSEN = "The best of many looks better than it is: choose on one sample, and report on another."


def with_discretizer(result: Evaluation, discretizer: Any) -> Evaluation | None:
    """Evaluate the same explanations under another discretizer, or return None where it does not take them.

    One that learns does so from the background, of which some rows are then explained; a score has none, and
    it learns from the sample.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score([0, 0, 1], [[0.21], [0.24], [-0.26]])
    >>> with_discretizer(result, lambda phi: phi.values.round(1)).n_explanations
    2
    """
    found, population = component("discretizer", discretizer), result.population
    if found is result.setup.discretizer:
        return result
    kinds = accepted_kinds(found)
    if kinds and population.kind not in kinds:
        return None
    if learns(found):
        population.teach(found, result.setup.system)
    return measured(population, attrs.evolve(result.setup, discretizer=found))


def try_discretizers(result: Evaluation, discretizers: Iterable[Any] | None = None) -> pd.DataFrame:
    """Measure the consistency of the same explanations under many discretizations; none is explained again.

    Parameters
    ----------
    result : Evaluation
        What `evaluate` or `score` returned.
    discretizers : iterable, optional
        Names, "name:param=value,…", instances or functions; one may be given alone. By default all that are
        installed and take explanations of this kind, and the same with those values of their parameters that
        they propose to try, such as decimals, bins or how many importances are kept.

    Returns
    -------
    DataFrame
        One row per discretizer, the highest lower end, `low`, first. `low` and `high` are the interval,
        `estimate` the estimate of consistency, `verified` the share that could be checked,
        `consistency` the value, of which there is none (NaN) where nothing could be checked, `up_to` the
        value it would have if all that could not be checked agreed, and `by_chance` what explanations
        unrelated to the predictions would get, where the estimator says it. One is `recommended`: of those
        whose `estimate` reaches the highest lower end, the one of which most could be checked; none where
        nothing is known of any. A discretizer that cannot be used stands last, with the reason in `note`.
        What the table says as a whole is in ``attrs["note"]``.

    Notes
    -----
    What is coarser says less: consistency under a discretization is at most that of the explanations as they
    are, and more of it can be checked. So the lower end of a coarser one is a lower end of the finer one it
    was made of, such as `original`; its value, its upper end and its violations say nothing about the finer
    one. That holds for discretizers that read the explanation and nothing else: `delta` and its like read the
    instance, too. The best of many looks better than it is: choose on one sample, and report on another.

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
    kind = result.population.kind
    chosen = suitable(kind) if discretizers is None else several("discretizer", discretizers)
    if not chosen:
        raise InputError("no discretizers were given: name some, or leave them out to try all.")
    tried = [_row(result, given) for given in chosen]
    if discretizers is None:  # values that were only proposed need not suit these explanations
        tried += [row for row in (_row(result, text) for text in variants(kind)) if row[1] is not None]
    return _table(tried)


def _table(tried: list[tuple[dict[str, Any], Estimate | None]]) -> pd.DataFrame:
    """Put the rows in order, and mark the one to choose."""
    usable = [row for row in tried if row[1] is not None]
    place = recommended([found for _, found in usable if found is not None])
    best = None if place is None else usable[place]
    types = dict.fromkeys(COLUMNS, "float64") | {"n_explanations": "Int64"}
    table = pd.DataFrame([row for row, _ in tried]).astype(types)
    table.insert(1, "recommended", [best is not None and row is best[0] for row, _ in tried])
    order = ["low", "estimate", "verified", "n_explanations", "discretizer"]
    table = table.sort_values(order, ascending=[False, False, False, True, True], ignore_index=True)
    table.attrs["note"] = _nothing(usable) if best is None else _note(*best)
    return table


def _nothing(usable: list[tuple[dict[str, Any], Estimate | None]]) -> str:
    """Say why none is recommended."""
    if not usable:
        return f"None is recommended: none could be used. {FINER}"
    if any(found is not None and found.finding == ONE_LABEL for _, found in usable):
        why = "all explained predictions are the same, so that nothing was tested"
    else:
        why = "next to nothing could be checked"
    return f"None is recommended: {why}. {FINER}"


def _note(row: dict[str, Any], found: Estimate | None) -> str:
    assert found is not None
    name, share, level = row["discretizer"], percent(found.verified), number(found.estimate)
    best = f"{name}, under which {share} could be checked; the estimate of consistency is {level}"
    return f"Recommended: {best}. {FINER} {CHOSEN}"


def _row(result: Evaluation, given: Any) -> tuple[dict[str, Any], Estimate | None]:
    """Return a row of the table with its estimate, or why there is none."""
    note = ""
    try:
        found = component("discretizer", given)
        own = result.setup.discretizer
        if own.recipe is not None and own.recipe == found.recipe:
            found = own  # it has learnt already what it has to
        elif learns(found):
            result.population.teach(found)
            note = f"learnt from {THE_SAMPLE}"
        setup = attrs.evolve(result.setup, discretizer=found, applies=Applicability(), permutations=0)
        other = measured(result.population, setup)
    except Exception as error:  # a discretizer that fails is a fact about it; others may work
        name = given if isinstance(given, str) else getattr(given, "__name__", type(given).__name__)
        empty = dict.fromkeys(COLUMNS, float("nan"))
        return {"discretizer": name, **empty, "checkability": "", "note": describe(error)}, None
    return {"discretizer": found.text, **_facts(other), "note": note}, other.consistency


def _facts(result: Evaluation) -> dict[str, Any]:
    found = result.consistency
    ends = (found.estimate, found.low, found.high, found.verified, found.value, found.bracket[1])
    values = (*ends, found.by_chance, result.uniqueness, result.n_explanations)
    return {**dict(zip(COLUMNS, values, strict=True)), "checkability": found.checkability}
