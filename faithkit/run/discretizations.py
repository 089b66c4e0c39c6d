"""The same explanations under other discretizations: one of them, or all that are installed, side by side.

A finer one tells explanations apart that nobody shares, and nothing can be checked; a coarser one unites what
gets different predictions. Which of them is best depends on the data and the explainer, so one tries.
"""

from collections.abc import Iterable
from typing import Any

import attrs
import pandas as pd

from faithkit.errors import FaithkitError, InputError
from faithkit.extension.creation import EMPTY, parameters
from faithkit.extension.entries import Entry
from faithkit.extension.registry import registry
from faithkit.run.components import component, several
from faithkit.run.discretizing import accepted_kinds, learns
from faithkit.run.evaluation import Evaluation
from faithkit.run.pipeline import measured
from faithkit.run.setup import Applicability
from faithkit.wording import describe

COLUMNS = ("consistency", "up_to", "low", "high", "verified", "by_chance", "uniqueness", "n_explanations")


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
        installed and take explanations of this kind.

    Returns
    -------
    DataFrame
        One row per discretizer, the highest consistency first. With leave-one-out, what could not be checked
        counts as disagreement there, so that both a too fine and a too coarse discretization end up low, and
        where nothing could be checked there is no value (NaN). `up_to` is the value it would have if all that
        could not be checked agreed. `low` and `high` are the interval, `verified`
        the share that could be checked, `by_chance` what explanations unrelated to the predictions would get,
        where the estimator says it. A discretizer that cannot be used stands last, with the reason in `note`.
        The best of many looks better than it is: choose on one sample, and report on another.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score([0, 0, 1, 1], [[0.21], [0.24], [-0.26], [-0.28]])
    >>> tried = faithkit.try_discretizers(result, ["original", "near", lambda phi: phi.values.round(1)])
    >>> tried[["discretizer", "consistency", "verified", "verdict"]].values.tolist()[:2]
    [['<lambda>', 1.0, 1.0, 'verifiable'], ['original', nan, 0.0, 'unverifiable']]
    >>> tried["note"].iloc[-1]
    "no discretizer 'near' is installed. Available: ..."
    """
    if not isinstance(result, Evaluation):
        raise InputError(f"the result is a {type(result).__name__}: give what evaluate or score returned.")
    suitable = _suitable(result.population.kind)
    chosen = suitable if discretizers is None else several("discretizer", discretizers)
    if not chosen:
        raise InputError("no discretizers were given: name some, or leave them out to try all.")
    order = ["consistency", "n_explanations", "discretizer"]
    types = dict.fromkeys(COLUMNS, "float64") | {"n_explanations": "Int64"}
    table = pd.DataFrame([_row(result, given) for given in chosen]).astype(types)
    return table.sort_values(order, ascending=[False, True, True], ignore_index=True)


def _suitable(kind: str) -> list[str]:
    """Name the discretizers that take a kind of explanation, of equal ones the one with presets."""
    known = registry()
    named = zip(known.entries("discretizer"), known.names("discretizer"), strict=True)
    fits = [pair for pair in named if kind in (pair[0].component.kinds or (kind,))]
    distinct: dict[Any, str] = {}
    for entry, name in sorted(fits, key=lambda pair: not pair[0].component.params):
        distinct.setdefault(_recipe(entry), name)
    return sorted(distinct.values())


def _recipe(entry: Entry) -> tuple[str, str]:
    """Return what a component makes: its factory, and all values that it is given."""
    try:
        values = {p.name: p.default if p.preset is EMPTY else p.preset for p in parameters(entry)}
    except FaithkitError:  # it cannot be imported, which its row will say
        values = {"name": entry.qualified}
    return entry.component.factory, repr(sorted(values.items()))


def _row(result: Evaluation, given: Any) -> dict[str, Any]:
    """Return a row of the table, or why there is none."""
    note = ""
    try:
        found = component("discretizer", given)
        own = result.setup.discretizer
        if own.recipe is not None and own.recipe == found.recipe:
            found = own  # it has learnt already what it has to
        elif learns(found):
            result.population.teach(found)
            note = "learnt from the sample itself"
        setup = attrs.evolve(result.setup, discretizer=found, applies=Applicability(), permutations=0)
        facts = _facts(measured(result.population, setup))
    except Exception as error:  # a discretizer that fails is a fact about it; others may work
        name = given if isinstance(given, str) else getattr(given, "__name__", type(given).__name__)
        empty = dict.fromkeys(COLUMNS, float("nan"))
        return {"discretizer": name, **empty, "verdict": "", "note": describe(error)}
    return {"discretizer": found.text, **facts, "note": note}


def _facts(result: Evaluation) -> dict[str, Any]:
    found = result.consistency
    ends = (found.value, found.bracket[1], found.low, found.high)
    values = (*ends, found.verified, found.by_chance, result.uniqueness, result.n_explanations)
    return {**dict(zip(COLUMNS, values, strict=True)), "verdict": found.verdict}
