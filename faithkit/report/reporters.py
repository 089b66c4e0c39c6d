"""The kernel's reporters: text, JSON and CSV. Each returns the content of a file; `writing` writes it."""

from typing import Any

import pandas as pd

from faithkit.errors import InputError
from faithkit.jsonable import json_text
from faithkit.report import VERBOSE
from faithkit.wording import to_printable

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


class Text:
    """What is printed, in 80 columns."""

    def write(self, report: Any, *, verbose: bool = False) -> str:
        """Return the text of a report; `verbose` shows all of it, as --verbose does.

        Examples
        --------
        >>> import faithkit
        >>> Text().write(faithkit.score(["yes", "no"], ["a", "a"])).splitlines()[0]
        'logged explanations (2 rows)'
        """
        token = VERBOSE.set(verbose or VERBOSE.get())
        try:
            return to_printable(str(report), keep="\n\t") + "\n"
        finally:
            VERBOSE.reset(token)


class Json:
    """All numbers, for programs and for `faithkit.load`."""

    def write(self, report: Any) -> str:
        """Return the output of `to_dict` as JSON text; equal reports give equal bytes.

        Examples
        --------
        >>> import faithkit
        >>> Json().write(faithkit.score(["yes", "no"], ["a", "a"])).splitlines()[:2]
        ['{', '  "schema": 1,']
        """
        return json_text(_get_method(report, "to_dict", "values for JSON")())


class Csv:
    """The measures as a table, for spreadsheets."""

    def write(self, report: Any) -> str:
        """Return the table of `to_frame` as CSV; values that a spreadsheet would run are escaped.

        Examples
        --------
        >>> import faithkit
        >>> lines = Csv().write(faithkit.score(["yes", "no"], ["a", "a"])).splitlines()
        >>> [line.split(",")[0] for line in lines]
        ['measure', 'consistency']
        """
        frame = _get_method(report, "to_frame", "table for CSV")()
        if not isinstance(frame.index, pd.RangeIndex):
            frame = frame.rename_axis(frame.index.name or "name").reset_index()
        return str(_split_pairs(frame).map(escape_formula).to_csv(index=False))


def _get_method(report: Any, name: str, content: str) -> Any:
    method = getattr(report, name, None)
    if method is None:
        raise InputError(
            f"a {type(report).__name__} has no {content}, since it lacks the method {name}: print it, or "
            "choose another format."
        )
    return method


def _split_pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """Put the two ends of brackets into columns of their own."""
    for name in frame.columns:
        if len(frame) and all(isinstance(value, list | tuple) and len(value) == 2 for value in frame[name]):
            ends = pd.DataFrame(frame[name].tolist(), frame.index, [f"{name}_low", f"{name}_high"])
            frame = pd.concat([frame.drop(columns=name), ends], axis="columns")
    return frame


def escape_formula(value: Any) -> Any:
    """Escape a value that a spreadsheet would read as a formula.

    Examples
    --------
    >>> escape_formula("=HYPERLINK(A1)"), escape_formula("yes"), escape_formula(-0.5)
    ("'=HYPERLINK(A1)", 'yes', -0.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value
