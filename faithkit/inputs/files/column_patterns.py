"""Select columns of a table by name or by pattern."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from faithkit.errors import InputError
from faithkit.wording import did_you_mean, few


def split_target(frame: Any, target: str) -> tuple[Any, Any]:
    """Return the table without the target column, and that column.

    Examples
    --------
    >>> import pandas as pd
    >>> X, y = split_target(pd.DataFrame({"age": [31, 45], "income": ["low", "high"]}), "income")
    >>> list(X), y.tolist()
    (['age'], ['low', 'high'])
    """
    if target not in frame.columns:
        raise InputError(f"the table has no column {target!r}. {suggest_column(target, frame.columns)}")
    if frame.shape[1] == 1:
        raise InputError(
            f"the table has no column beside the target {target!r}; expected at least one feature."
        )
    return frame.drop(columns=target), frame[target]


def match_names(names: Sequence[str], patterns: str | Sequence[str]) -> list[str]:
    """Return those of the names that any of the patterns matches, in the order of the names.

    Parameters
    ----------
    names : sequence of str
    patterns : str or sequence of str
        Names or shell patterns such as `phi_*`, several of them in one string separated by commas. What
        follows an exclamation mark is left out, wherever it stands.

    Examples
    --------
    >>> match_names(["age", "phi_age", "sex", "phi_sex"], "phi_*,age")
    ['age', 'phi_age', 'phi_sex']
    >>> match_names(["phi_age", "phi_sex", "phi_bias"], "phi_*,!phi_bias")
    ['phi_age', 'phi_sex']
    """
    wanted, unwanted = split_patterns(names, patterns)
    if not wanted and unwanted:
        raise InputError(
            f"{few(map(repr, unwanted))} only says which columns to leave out; expected which to take, too: "
            f"'*,!{unwanted[0]}' takes all others."
        )
    if not wanted:
        raise InputError("no columns were asked for; expected names or patterns, such as 'age,phi_*'.")
    found, without = (
        {name for pattern in some for name in _matches(names, pattern)} for some in (wanted, unwanted)
    )
    if found <= without:
        raise InputError(
            f"no column is left: {few(map(repr, wanted))} without {few(map(repr, unwanted))} is none. "
            f"There is: {few(map(repr, names))}."
        )
    kept = found - without
    return [name for name in names if name in kept]


def split_patterns(names: Sequence[str], patterns: str | Sequence[str]) -> tuple[list[str], list[str]]:
    """Return which names and patterns are asked for, and which are to be left out.

    A name that is there as it stands may have commas in it, or begin with an exclamation mark.

    Examples
    --------
    >>> split_patterns(["a,b", "c"], ["a,b", "x_*,!x_1"])
    (['a,b', 'x_*'], ['x_1'])
    """
    given = [patterns] if isinstance(patterns, str) else patterns
    parts = [[text] if text in names else [part.strip() for part in text.split(",")] for text in given]
    every = [part for split in parts for part in split if part]
    unwanted = [part for part in every if part.startswith("!") and part not in names]
    return [part for part in every if part not in unwanted], [part[1:].strip() for part in unwanted]


def match_name(names: Sequence[str], pattern: str, option: str) -> str:
    """Return the one name that a pattern matches; `option` is who asked.

    Examples
    --------
    >>> match_name(["age", "phi_age", "phi_sex"], "*_sex", "--by")
    'phi_sex'
    """
    found = match_names(names, (pattern,))
    if len(found) > 1:
        raise InputError(
            f"{option} {pattern!r} matches {len(found)} columns; expected one: give its full name."
        )
    return found[0]


def suggest_column(word: str, names: Iterable[Any]) -> str:
    """Ask back where a word is nearly a column's name, else list the names, with the spaces in them.

    Examples
    --------
    >>> suggest_column("sex", ["label", " age"])
    "There is: 'label', ' age'."
    """
    known = [str(name) for name in names]
    return did_you_mean(word, known) or f"There is: {few(map(repr, known))}."


def _matches(names: Sequence[str], pattern: str) -> Iterable[str]:
    """Match a name that is there as it stands, whatever brackets or stars are in it."""
    found = [pattern] if pattern in names else [name for name in names if fnmatchcase(str(name), pattern)]
    if not found:
        raise InputError(f"no column matches {pattern!r}. {suggest_column(pattern, names)}")
    return found
