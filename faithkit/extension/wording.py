"""The phrases that error messages share, so that one thing is said in one way."""

import difflib
from collections.abc import Iterable

from faithkit.errors import FaithkitError


def one_line(text: str) -> str:
    r"""Fold line breaks and runs of spaces: a message is one line, whoever wrote its parts.

    >>> one_line("no such file:\n    a.csv")
    'no such file: a.csv'
    """
    return " ".join(text.split())


def describe(error: BaseException) -> str:
    """Say an exception in one line; faithkit's own messages are sentences and need no class name.

    >>> describe(ValueError("k must be positive"))
    'ValueError: k must be positive'
    >>> describe(StopIteration())
    'StopIteration'
    """
    text = one_line(str(error))
    if isinstance(error, FaithkitError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def closest(word: str, options: Iterable[str]) -> str | None:
    """Return the option most like a word, whatever their order and the word's case.

    >>> closest("Shp", ["lime", "shap"])
    'shap'
    """
    return next(iter(difflib.get_close_matches(word.lower(), sorted(options), n=1)), None)


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """Ask back where a word is nearly one of the options, else say nothing.

    >>> did_you_mean("shp", ["lime", "shap"])
    "Did you mean 'shap'?"
    >>> did_you_mean("xyz", ["lime", "shap"])
    ''
    """
    match = closest(word, options)
    return f"Did you mean {match!r}?" if match else ""


def listing(words: Iterable[str], last: str = "and") -> str:
    """Join words as prose does.

    >>> listing(["tree", "lime", "shap"])
    'tree, lime and shap'
    """
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail
