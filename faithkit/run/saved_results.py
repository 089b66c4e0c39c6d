"""Saved results: read, checked, and never taken for a number where they are none."""

import json
import math
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from faithkit.errors import InputError
from faithkit.inputs.files.discovery import is_folder
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.intervals import interval
from faithkit.run.comparisons.comparison import Comparison
from faithkit.run.evaluation import Evaluation
from faithkit.wording import describe

TROUBLES = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError, OSError)
ROUNDED = 1.1  # times the rows: large numbers of others are kept with two digits


def load(path: str | Path) -> Evaluation | Comparison:
    """Read a result that was saved: what `to_json` or the command line wrote, of one system or of several.

    All its numbers are there, and no rows: it can be printed, drawn and compared with another sample, and a
    plan can be made from it. What needs rows is refused.

    Parameters
    ----------
    path : path
        A JSON file. What else the command line was asked for (violations, subgroups, a reference) stays
        there, except diagnoses.

    Returns
    -------
    Evaluation or Comparison

    Examples
    --------
    >>> import faithkit, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "january.json")
    >>> _ = faithkit.score(["yes", "yes", "no"], ["a", "a", "b"]).to_json(path)
    >>> january, february = faithkit.load(path), faithkit.score(["yes", "no", "no"], ["a", "a", "a"])
    >>> february.difference(january, paired=False).value
    -0.3333333333333333
    """
    if is_folder(path):
        raise InputError(f"{path} is a folder; expected the JSON file of a result. Name a file in it.")
    try:
        told = json.loads(
            Path(path).read_text("utf-8"),
            parse_constant=_finite,
            parse_float=_finite,
            parse_int=lambda text: int(text) if _finite(text) else 0,
        )
        systems = told.get("systems")
        _validate(told, "evaluation" if systems is None else "comparison")
        for result in [told] if systems is None else systems.values():
            _check(result)
        _check_differences(told)
        found = Evaluation.from_dict(told) if systems is None else Comparison.from_dict(told)
        _try(found)
        return found
    except TROUBLES as error:
        raise InputError(
            f"{path} is no result as faithkit writes it ({_reason(error)}): give a file that to_json or "
            "--json wrote."
        ) from None


def _reason(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else describe(error)


def _try(found: Evaluation | Comparison) -> None:
    """Ask a result for what it will be asked for, so that one that cannot answer is refused here."""
    str(found)
    for one in [found] if isinstance(found, Evaluation) else found.results.values():
        for name in ("rows", "columns", "fingerprint"):
            one.to_dict()["data"][name]
        for measure in one.measures.values():
            if measure.moments is not None:
                interval(measure.moments, measure.confidence)


def _finite(text: str) -> float:
    """Read a number; NaN, Infinity and what no float can hold are none."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text:.30} is no finite number")
    return number


def _validate(told: Any, definition: str) -> None:
    """Refuse what the shipped schema does not describe."""
    from jsonschema import Draft7Validator
    from jsonschema.exceptions import best_match

    schema = json.loads(files("faithkit.run").joinpath("results.schema.json").read_text("utf-8"))
    part = {"$ref": f"#/definitions/{definition}", "definitions": schema["definitions"]}
    error = best_match(Draft7Validator(part).iter_errors(told))
    if error is not None:
        place = ".".join(map(str, error.absolute_path))
        is_value = place and error.validator not in ("required", "additionalProperties", "dependencies")
        reason = f"{place} is {error.instance!r:.60}" if is_value else f"{place} {error.message:.200}".strip()
        raise ValueError(reason)


def _check(told: Mapping[str, Any]) -> None:
    """Refuse numbers that do not fit together, which a schema cannot say."""
    is_divided = Outcome(**told["outcome"]).is_divided
    for name, measure in told["measures"].items():
        if measure is None:
            continue
        for field in ("value", "low", "high", "estimate", "agree"):
            if not is_divided and (measure[field] or 0) < 0:  # only of numbers, a share can be below 0
                raise ValueError(f"{field} is {measure[field]!r:.30}")
        if measure["others"]:
            _check_others(name, measure["others"], told["n"], is_divided)


def _check_differences(told: Mapping[str, Any]) -> None:
    """Refuse differences of shares that are more than all."""
    results = (told.get("systems") or {}).values()
    if any(Outcome(**result["outcome"]).is_divided for result in results):
        return
    for pair in (pair for pairs in told.get("differences", {}).values() for pair in pairs):
        for field in ("value", "low", "high"):
            if abs(pair[field] or 0) > 1:
                raise ValueError(f"{field} is {pair[field]!r:.30}")


def _check_others(name: str, others: Mapping[str, Any], n: int, is_divided: bool) -> None:
    if sum(others["rows"]) != n or len(set(map(len, others.values()))) > 1:
        raise ValueError(f"the rows of {name} are not {n}")
    if not is_divided and min(others["score"]) < 0:
        raise ValueError(f"score.{np.argmin(others['score'])} is {min(others['score'])!r:.30}")
    whole = all(type(one) is int for one in (*others["number"], *others["rows"]))
    if not whole or max(others["number"]) > ROUNDED * n:
        raise ValueError(f"the others of {name} are no numbers of {n} rows")
