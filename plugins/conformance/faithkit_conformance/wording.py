"""Phrases that messages share: lists of words, suggestions, and errors on one line."""

import difflib
import traceback
from collections.abc import Iterable

from faithkit.errors import FaithkitError

_MAX_LENGTH = 300


def join_words(words: Iterable[str], last: str = "and") -> str:
    """Join words with commas, and the last one with "and".

    >>> join_words(["tree", "lime", "shap"])
    'tree, lime and shap'
    """
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail


def one_line(text: str) -> str:
    r"""Replace line breaks and runs of spaces by single spaces, and shorten a long text.

    >>> one_line("no such file:\n    a.csv")
    'no such file: a.csv'
    """
    folded = " ".join(text.split())
    return folded if len(folded) <= _MAX_LENGTH else folded[:_MAX_LENGTH] + "…"


def describe(error: BaseException) -> str:
    """Return an exception in one line; faithkit's own messages are sentences and need no class name.

    An assert without a message is described by its source line, if that can be read.

    >>> describe(ValueError("k must be positive"))
    'ValueError: k must be positive'
    >>> describe(StopIteration())
    'StopIteration'
    """
    text = str(error)
    if isinstance(error, FaithkitError) and text:
        return " ".join(text.split())
    text = one_line(text or _assert_source(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _assert_source(error: BaseException) -> str:
    if not isinstance(error, AssertionError) or error.__traceback__ is None:
        return ""
    return traceback.extract_tb(error.__traceback__)[-1].line or ""


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """Return a question if a word is nearly one of the options, else an empty text.

    >>> did_you_mean("shp", ["lime", "shap"])
    "Did you mean 'shap'?"
    >>> did_you_mean("xyz", ["lime", "shap"])
    ''
    """
    matches = difflib.get_close_matches(word, sorted(options), n=1)
    return f"Did you mean {matches[0]!r}?" if matches else ""


def to_printable(text: str) -> str:
    r"""Return text in which control characters are escaped, because a terminal would obey them.

    >>> to_printable("age\x1b[2J\nsex")
    'age\\x1b[2J\nsex'
    """
    return "".join(
        character
        if character.isprintable() or character == "\n"
        else character.encode("unicode_escape").decode()
        for character in text
    )
