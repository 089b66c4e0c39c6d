"""The phrases that error messages share, so that one thing is said in one way and on one line."""

import re
from collections.abc import Iterable

from faithkit.errors import FaithkitError

_SHOWN = 10  # a wide table has thousands of columns; a message has one line
_LONGEST = 300

# what a terminal obeys instead of showing it: controls, ends of lines, the direction of writing; and what it
# cannot show, halves of surrogate pairs
_HIDDEN = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str, keep: str = "") -> str:
    r"""Return text whose control characters are shown as escapes: data may hold any, and a terminal obeys.

    >>> visible("age\x1b[2J\r"), visible("one\ntwo\x07", keep="\n")
    ('age\\x1b[2J\\r', 'one\ntwo\\x07')
    """
    if text.isprintable():
        return text
    return _HIDDEN.sub(lambda one: one[0] if one[0] in keep else _escape(one[0]), text)


def is_hidden(character: str) -> bool:
    """Whether a terminal obeys a character, or cannot show it, being half of a surrogate pair."""
    return _HIDDEN.match(character) is not None


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def one_line(text: str) -> str:
    r"""Fold line breaks and runs of spaces, and cut what is too long to read.

    >>> one_line("no such file:\n    a.csv")
    'no such file: a.csv'
    """
    folded = " ".join(text.split())
    return folded if len(folded) <= _LONGEST else folded[:_LONGEST] + "…"


def describe(error: BaseException) -> str:
    """Say an exception in one line; faithkit's own messages are sentences and need no class name.

    >>> describe(ValueError("k must be positive"))
    'ValueError: k must be positive'
    >>> describe(StopIteration())
    'StopIteration'

    An assert without words says what it asserted, where its source can be read.
    """
    try:
        text = str(error)
    except BaseException:  # an exception of others, which fails to say its own text
        text = ""
    if isinstance(error, FaithkitError) and text:
        return " ".join(text.split())
    text = one_line(text or _asserted(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _asserted(error: BaseException) -> str:
    if not isinstance(error, AssertionError) or error.__traceback__ is None:
        return ""
    import traceback  # only errors need it

    return traceback.extract_tb(error.__traceback__)[-1].line or ""


def closest(word: str, options: Iterable[str]) -> str | None:
    """Return the option most like a word, whatever their order and case.

    >>> closest("Shp", ["lime", "shap"])
    'shap'
    """
    import difflib  # only errors need it

    names = {name.casefold(): name for name in sorted(options)}
    found = difflib.get_close_matches(word.casefold(), names, n=1)
    return names[found[0]] if found else None


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """Ask back where a word is nearly one of the options, else say nothing.

    >>> did_you_mean("shp", ["lime", "shap"])
    "Did you mean 'shap'?"
    >>> did_you_mean("xyz", ["lime", "shap"])
    ''
    """
    match = closest(word, options)
    return f"Did you mean {match!r}?" if match else ""


def suggest(word: str, known: Iterable[str]) -> str:
    """Ask back where a word is nearly known, else say what is known.

    >>> suggest("colour", ["age", "income"])
    'There is: age, income.'
    """
    names = list(known)
    return did_you_mean(word, names) or f"There is: {few(names)}."


def listing(words: Iterable[str], last: str = "and") -> str:
    """Join words as prose does.

    >>> listing(["tree", "lime", "shap"])
    'tree, lime and shap'
    """
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail


def few(words: Iterable[str]) -> str:
    """Join words with commas, and say how many were left out.

    >>> few(str(i) for i in range(12))
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more'
    """
    every = list(words)
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + more


def cell_text(cell: object) -> str:
    """Return a cell of a table as a person reads it.

    Examples
    --------
    >>> cell_text(0.30000000000000004), cell_text(None), cell_text("nurse")
    ('0.3', 'missing', 'nurse')
    """
    if cell is None:
        return "missing"
    return f"{cell + 0.0:.6g}" if isinstance(cell, float) else str(cell)


def exact(number: float) -> str:
    """Return a number as a person would have typed it, and no other.

    >>> exact(0.02), exact(1.0)
    ('0.02', '1')
    """
    return repr(float(number)).removesuffix(".0")
