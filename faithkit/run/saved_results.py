"""Load and validate saved results."""

import contextlib
import json
import math
import shlex
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from faithkit.errors import InputError
from faithkit.inputs.files.discovery import is_folder
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.estimate import Estimate
from faithkit.measure.intervals import MeasureStatistics
from faithkit.run.comparisons.comparison import Comparison
from faithkit.run.evaluation import Evaluation
from faithkit.run.provenance import check_writer
from faithkit.wording import describe

LOAD_ERRORS = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError, OSError)
ROUNDING = 1.1  # large counts of other rows are saved with two digits, and may exceed the rows by this factor


def load(path: str | Path) -> Evaluation | Comparison:
    """Load a result that `write` or the command line saved, of one system or of several.

    It has all numbers and no rows: it can be printed, drawn, compared with another sample, and used for a
    plan. Methods that need rows are refused. So is a result of another version of faithkit.

    Parameters
    ----------
    path : path
        A JSON file. Contradictions and subgroups in it are not loaded; diagnoses are.

    Returns
    -------
    Evaluation or Comparison

    Examples
    --------
    >>> import faithkit, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "january.json")
    >>> faithkit.score(["yes", "yes", "no"], ["a", "a", "b"]).write(path)
    >>> january, february = faithkit.load(path), faithkit.score(["yes", "no", "no"], ["a", "a", "a"])
    >>> round(february.difference(january, paired=False).value, 3)
    -0.333
    """
    if is_folder(path):
        raise InputError(f"{path} is a folder; expected the JSON file of a result. Name a file in it.")
    with _explain_failure(path):
        payload = json.loads(
            Path(path).read_text("utf-8"),
            parse_constant=_parse_finite,
            parse_float=_parse_finite,
            parse_int=lambda text: int(text) if _parse_finite(text) else 0,
        )
    _check_version(path, payload)
    with _explain_failure(path):
        systems = payload.get("systems") if isinstance(payload, dict) else None
        _validate_schema(payload, "evaluation" if systems is None else "comparison")
        for evaluation in [payload] if systems is None else systems.values():
            _check_numbers(evaluation)
        _check_differences(payload)
        result = Evaluation.from_dict(payload) if systems is None else Comparison.from_dict(payload)
        _check_usable(result)
    return result


@contextlib.contextmanager
def _explain_failure(path: str | Path) -> Iterator[None]:
    """Turn the errors of reading a file into one that says what is wrong with it."""
    try:
        yield
    except LOAD_ERRORS as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else describe(error)
        raise InputError(
            f"{path} is no result as faithkit writes it ({reason}): give a .json file of write or --out."
        ) from None


def _check_version(path: str | Path, payload: Any) -> None:
    """Refuse a result of another version; a payload that names no version is left to the schema."""
    systems = _look_up(payload, "systems")
    for evaluation in systems.values() if isinstance(systems, dict) else [payload]:
        writer = _look_up(evaluation, "versions", "faithkit")
        if isinstance(writer, str):
            command = _look_up(evaluation, "origin", "command")
            again = "result.write" if command is None else f"{command} --out {shlex.quote(str(path))}"
            check_writer(str(path), writer, f"make it again with `{again}`.")


def _look_up(payload: Any, *keys: str) -> Any:
    """Return a nested value of a payload that may have any form, or None."""
    for key in keys:
        payload = payload.get(key) if isinstance(payload, dict) else None
    return payload


def _check_usable(result: Evaluation | Comparison) -> None:
    """Use a result as users do, so that an inconsistent file raises an error on loading."""
    str(result)
    for evaluation in [result] if isinstance(result, Evaluation) else result.results.values():
        for measure, estimate in evaluation.measures.items():
            if estimate.statistics is not None:
                _check_moments(measure, estimate, estimate.statistics)


def _check_moments(measure: str, estimate: Estimate, moments: MeasureStatistics) -> None:
    """Refuse an estimate or interval that does not follow from the moments, which a comparison uses."""
    point = moments.estimate if estimate.floor is None else max(estimate.floor, moments.estimate)
    interval = attrs.evolve(estimate, low=None, high=None).interval
    numbers = {"estimate": (estimate.estimate, point), "interval": (estimate.interval, interval)}
    for field, (saved, expected) in numbers.items():
        if not np.allclose(np.asarray(saved), np.asarray(expected), rtol=0, atol=1e-6):
            raise ValueError(f"{field} of {measure} is {saved!r:.60}, and by its moments {expected!r:.60}")


def _parse_finite(text: str) -> float:
    """Parse a number; refuse NaN, Infinity and numbers that are too large for a float."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text:.30} is no finite number")
    return number


def _validate_schema(payload: Any, definition: str) -> None:
    """Refuse a payload that does not match the schema that is shipped with the package."""
    from jsonschema import Draft7Validator
    from jsonschema.exceptions import best_match

    schema = json.loads(files("faithkit.run").joinpath("results.schema.json").read_text("utf-8"))
    subschema = {"$ref": f"#/definitions/{definition}", "definitions": schema["definitions"]}
    error = best_match(Draft7Validator(subschema).iter_errors(payload))
    if error is not None:
        place = ".".join(map(str, error.absolute_path))
        is_value = place and error.validator not in ("required", "additionalProperties", "dependencies")
        reason = f"{place} is {error.instance!r:.60}" if is_value else f"{place} {error.message:.200}".strip()
        raise ValueError(reason)


def _check_numbers(payload: Mapping[str, Any]) -> None:
    """Refuse numbers that do not fit together, which a schema cannot express."""
    is_normalised = Outcome(**payload["outcome"]).is_normalised
    for measure, estimate in payload["measures"].items():
        if estimate is None:
            continue
        for field in ("value", "low", "high", "estimate", "agree"):
            if not is_normalised and (estimate[field] or 0) < 0:  # a share of variance can be below 0
                raise ValueError(f"{field} is {estimate[field]!r:.30}")
        if estimate["others"]:
            _check_others(measure, estimate["others"], payload["n"], is_normalised)


def _check_differences(payload: Mapping[str, Any]) -> None:
    """Refuse differences of shares that are larger than 1."""
    results = (payload.get("systems") or {}).values()
    if any(Outcome(**result["outcome"]).is_normalised for result in results):
        return
    for pair in (pair for pairs in payload.get("differences", {}).values() for pair in pairs):
        for field in ("value", "low", "high"):
            if abs(pair[field] or 0) > 1:
                raise ValueError(f"{field} is {pair[field]!r:.30}")


def _check_others(measure: str, others: Mapping[str, Any], n: int, is_normalised: bool) -> None:
    if sum(others["rows"]) != n or len(set(map(len, others.values()))) > 1:
        raise ValueError(f"the rows of {measure} are not {n}")
    if not is_normalised and min(others["score"]) < 0:
        raise ValueError(f"score.{np.argmin(others['score'])} is {min(others['score'])!r:.30}")
    has_only_integers = all(type(count) is int for count in (*others["number"], *others["rows"]))
    if not has_only_integers or max(others["number"]) > ROUNDING * n:
        raise ValueError(f"the others of {measure} are no numbers of {n} rows")
