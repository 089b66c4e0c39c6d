"""Saved results: read, checked, and never taken for a number where they are none."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from faithkit.errors import InputError
from faithkit.inputs.files.paths import is_folder
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.inference import interval
from faithkit.run.comparison import Comparison
from faithkit.run.evaluation import Evaluation
from faithkit.wording import describe

SHARES = (
    *("value", "low", "high", "verified", "disagreement", "confidence", "p_value", "singletons", "chance"),
    *("at_least", "agree", "floor", "by_chance", "at_least_by_chance", "reach"),
    *("level", "share", "surely"),
)
SIZES = (
    *("se", "se_disagreement", "trials", "effective", "most", "mse_bound", "checked"),
    *("n", "n_explanations", "unexplained", "permutations", "clusters", "pool", "columns", "seen"),
    *("compared", "without_same", "without_other"),
)
TROUBLES = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError, OSError)
NESTED = (
    *("measures", "moments", "merged", "consistency", "sufficiency", "reader", "accuracy", "baseline"),
    "exceedance",
)
SIGNED = {
    "reader": ("score",),
    "encoding_gap": (
        "value",
        "low",
        "high",
        "same",
        "other",
        "n",
        "compared",
        "without_same",
        "without_other",
    ),
}
"""What may be negative, but not below −1."""
ROUNDED = 1.1  # times the rows: large numbers of others are kept with two digits
OPEN = ("value", "low", "high", "at_least", "agree", "disagreement", "score", "span")
"""What has no ends where predictions are numbers: some explanations leave more than a constant one does."""
PAIRED = ("value", "low", "high", "confidence", "p_value", "adjusted_p_value")


def load(path: str | Path) -> Evaluation | Comparison:
    """Read a result that was saved: what `to_json` or the command line wrote, of one system or of several.

    All its numbers are there, and no rows: it can be printed, drawn and compared with another sample, and a
    plan can be made from it. What needs rows is refused.

    Parameters
    ----------
    path : path
        A JSON file. What else the command line was asked for (violations, subgroups, a reference) stays
        there, but for a reader, exceedance and an encoding gap.

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
        told = json.loads(Path(path).read_text("utf-8"))
        systems = told.get("systems")
        for one in [told] if systems is None else systems.values():
            _check(one)
        for pair in (pair for some in told.get("differences", {}).values() for pair in some):
            numbers = any(map(_are_numbers, (systems or {}).values()))
            _check_numbers({name: pair[name] for name in PAIRED}.items(), -1, numbers)
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


def _check(told: Mapping[str, Any]) -> None:
    """Refuse what no result could say: a file may be cut, edited or of another program."""
    if type(told["n"]) is not int or told["n"] < 1:
        raise ValueError(f"n is {told['n']!r}")
    _check_numbers(_numbers(told), of_numbers=_are_numbers(told))
    for name, fields in SIGNED.items():
        if told.get(name) is not None:
            _check_numbers([(field, told[name][field]) for field in fields], least=-1)
    steps = told.get("next_steps") or []
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise ValueError("next_steps are no sentences")
    for name, measure in told["measures"].items():
        others = measure and measure.get("others")
        if others:
            _check_others(name, others, told["n"])


def _check_others(name: str, others: Mapping[str, Any], n: int) -> None:
    if sum(others["rows"]) != n or len(set(map(len, others.values()))) > 1:
        raise ValueError(f"the rows of {name} are not {n}")
    whole = all(type(one) is int for one in (*others["number"], *others["rows"]))
    if not whole or max(others["number"]) > ROUNDED * n:
        raise ValueError(f"the others of {name} are no numbers of {n} rows")


def _are_numbers(told: Mapping[str, Any]) -> bool:
    """Whether the share of a variance was measured; older versions had labels only."""
    return Outcome(**told.get("outcome", {})).is_divided


def _check_numbers(named: Iterable[tuple[str, Any]], least: int = 0, of_numbers: bool = False) -> None:
    largest = sys.float_info.max
    for name, value in named:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        is_open = of_numbers and name in OPEN
        ends = -largest if is_open else least, largest if is_open or name in SIZES else 1
        if value is not None and not (is_number and ends[0] <= value <= ends[1]):
            raise ValueError(f"{name} is {value!r:.30}")


def _numbers(told: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what must be a number, by its name, in the result and in its measures."""
    for name, value in told.items():
        if name in SHARES + SIZES:
            yield name, value
        elif isinstance(value, Mapping) and name in NESTED:
            yield from _numbers(value)
        elif name == "others" and value is not None:
            yield from (("trials", one) for one in value["number"])
            yield from (("value", one) for one in value["score"])
