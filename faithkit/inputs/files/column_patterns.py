"""Select columns of a table by name or by pattern."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from faithkit.errors import InputError
from faithkit.wording import did_you_mean, join_few


def match_names(names: Sequence[str], patterns: str | Sequence[str]) -> list[str]:
    """Return the names that match any pattern, in the order of the patterns.

    Parameters
    ----------
    names : sequence of str
    patterns : str or sequence of str
        Names or shell patterns such as `phi_*`, or several of them in one string, separated by commas. A
        pattern after an exclamation mark excludes the names that it matches, at any position. Names that one
        pattern matches keep their order.

    Examples
    --------
    >>> match_names(["age", "phi_age", "sex", "phi_sex"], "phi_*,age")
    ['phi_age', 'phi_sex', 'age']
    >>> match_names(["phi_age", "phi_sex", "phi_bias"], "phi_*,!phi_bias")
    ['phi_age', 'phi_sex']
    """
    included, excluded = (
        dict.fromkeys(name for pattern in group for name in _matches(names, pattern))
        for group in split_patterns(names, patterns)
    )
    matches = [name for name in included if name not in excluded]
    if not matches:
        text = patterns if isinstance(patterns, str) else ",".join(patterns)
        raise InputError(
            f"{text!r} takes no column; expected names or patterns, such as 'age,phi_*', or '*,!age' for "
            f"all but one. Available: {join_few(map(repr, names))}."
        )
    return matches


def find_wildcards(names: Sequence[str], patterns: str | Sequence[str]) -> list[str]:
    """Return the patterns that match several names, whose order is then that of the names.

    Examples
    --------
    >>> find_wildcards(["phi_age", "phi_sex", "age"], "phi_*,age,a*")
    ['phi_*']
    """
    included, _ = split_patterns(names, patterns)
    return [pattern for pattern in included if len(list(_matches(names, pattern))) > 1]


def split_patterns(names: Sequence[str], patterns: str | Sequence[str]) -> tuple[list[str], list[str]]:
    """Split patterns into those to include and those to exclude.

    A text that is a column's full name is one pattern, even if it has commas or starts with an exclamation
    mark.

    Examples
    --------
    >>> split_patterns(["a,b", "c"], ["a,b", "x_*,!x_1"])
    (['a,b', 'x_*'], ['x_1'])
    """
    texts = [patterns] if isinstance(patterns, str) else patterns
    pattern_lists = [
        [text] if text in names else [word.strip() for word in text.split(",")] for text in texts
    ]
    pattern_list = [pattern for pattern_list in pattern_lists for pattern in pattern_list if pattern]
    excluded = [pattern for pattern in pattern_list if pattern.startswith("!") and pattern not in names]
    included = [pattern for pattern in pattern_list if pattern not in excluded]
    return included, [pattern[1:].strip() for pattern in excluded]


def match_name(names: Sequence[str], pattern: str, option: str) -> str:
    """Return the only name that a pattern matches; `option` is the command-line option, for messages.

    Examples
    --------
    >>> match_name(["age", "phi_age", "phi_sex"], "*_sex", "--by")
    'phi_sex'
    """
    matches = match_names(names, (pattern,))
    if len(matches) > 1:
        raise InputError(
            f"{option} {pattern!r} matches {len(matches)} columns; expected one: give its full name."
        )
    return matches[0]


def suggest_column(word: str, names: Iterable[Any]) -> str:
    """Suggest the column with a similar name, or else list all names in quotes.

    Examples
    --------
    >>> suggest_column("sex", ["label", " age"])
    "Available: 'label', ' age'."
    """
    options = [str(name) for name in names]
    return did_you_mean(word, options) or f"Available: {join_few(map(repr, options))}."


def _matches(names: Sequence[str], pattern: str) -> Iterable[str]:
    """Return the names that match a pattern; a full name, even one with brackets or stars, matches itself."""
    matches = [pattern] if pattern in names else [name for name in names if fnmatchcase(str(name), pattern)]
    if not matches:
        raise InputError(f"no column matches {pattern!r}. {suggest_column(pattern, names)}")
    return matches
