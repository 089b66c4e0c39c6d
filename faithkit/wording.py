"""Phrases that messages share: lists of words, suggestions, and errors on one line."""

import re
from collections.abc import Iterable

from faithkit.errors import FaithkitError

_MAX_WORDS = 10  # a wide table has thousands of columns, but a message has one line
_MAX_LENGTH = 300

# characters that a terminal obeys (controls, line ends, writing direction)
# or cannot show (unpaired surrogates)
_UNPRINTABLE = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def to_printable(text: str, keep: str = "") -> str:
    r"""Return text in which control characters are escaped, because a terminal would interpret them.

    >>> to_printable("age\x1b[2J\r"), to_printable("a\nb\x07", keep="\n")
    ('age\\x1b[2J\\r', 'a\nb\\x07')
    """
    if text.isprintable():
        return text
    return _UNPRINTABLE.sub(lambda match: match[0] if match[0] in keep else _escape(match[0]), text)


def is_unprintable(character: str) -> bool:
    """Whether a character is a control character or an unpaired surrogate."""
    return _UNPRINTABLE.match(character) is not None


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def escape_json(text: str, ascii_only: bool = False) -> str:
    r"""Return JSON text with escapes for control characters, or for all characters outside ASCII.

    Examples
    --------
    >>> escape_json('["caf\u00e9", "\x9b"]'), escape_json('["caf\u00e9"]', ascii_only=True)
    ('["café", "\\u009b"]', '["caf\\u00e9"]')
    """
    if text.isascii() and "\x7f" not in text:  # json has escaped the rest
        return text
    return "".join(
        _json_escape(character)
        if is_unprintable(character) or (ascii_only and not character.isascii())
        else character
        for character in text
    )


def _json_escape(character: str) -> str:
    if character == "\n":  # between values; inside values it is escaped already
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def one_line(text: str) -> str:
    r"""Replace line breaks and runs of spaces by single spaces, and shorten a long text.

    >>> one_line("no such file:\n    a.csv")
    'no such file: a.csv'
    """
    folded = " ".join(text.split())
    return folded if len(folded) <= _MAX_LENGTH else folded[:_MAX_LENGTH] + "…"


def describe(error: BaseException) -> str:
    """Return an exception in one line; faithkit's own messages are sentences and need no class name.

    >>> describe(ValueError("k must be positive"))
    'ValueError: k must be positive'
    >>> describe(StopIteration())
    'StopIteration'

    An assert without a message is described by its source line, if that can be read.
    """
    text = str(error)
    if isinstance(error, FaithkitError) and text:
        return " ".join(text.split())
    text = one_line(text or _assert_source(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _assert_source(error: BaseException) -> str:
    if not isinstance(error, AssertionError) or error.__traceback__ is None:
        return ""
    import traceback  # only errors need it

    return traceback.extract_tb(error.__traceback__)[-1].line or ""


def find_closest(word: str, options: Iterable[str]) -> str | None:
    """Return the option that is most similar to a word, ignoring case.

    >>> find_closest("Shp", ["lime", "shap"])
    'shap'
    """
    import difflib  # only errors need it

    names = {name.casefold(): name for name in sorted(options)}
    matches = difflib.get_close_matches(word.casefold(), names, n=1)
    return names[matches[0]] if matches else None


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """Return a question if a word is nearly one of the options, else an empty text.

    >>> did_you_mean("shp", ["lime", "shap"])
    "Did you mean 'shap'?"
    >>> did_you_mean("xyz", ["lime", "shap"])
    ''
    """
    match = find_closest(word, options)
    return f"Did you mean {match!r}?" if match else ""


def suggest(word: str, options: Iterable[str]) -> str:
    """Return a question if a word is nearly one of the options, else a list of the options.

    >>> suggest("colour", ["age", "income"])
    'Available: age, income.'
    """
    options = list(options)
    return did_you_mean(word, options) or f"Available: {join_few(options)}."


def join_words(words: Iterable[str], last: str = "and") -> str:
    """Join words with commas, and the last one with "and".

    >>> join_words(["tree", "lime", "shap"])
    'tree, lime and shap'
    """
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail


def join_few(words: Iterable[str]) -> str:
    """Join the first words with commas, and add how many more there are.

    >>> join_few(str(i) for i in range(12))
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more'
    """
    words = list(words)
    rest = f" and {len(words) - _MAX_WORDS} more" if len(words) > _MAX_WORDS else ""
    return ", ".join(words[:_MAX_WORDS]) + rest


def value_text(value: object) -> str:
    """Format a value of a table for people.

    Examples
    --------
    >>> value_text(0.30000000000000004), value_text(None), value_text("nurse")
    ('0.3', 'missing', 'nurse')
    """
    if value is None:
        return "missing"
    return f"{value + 0.0:.6g}" if isinstance(value, float) else str(value)


def format_exactly(number: float) -> str:
    """Return the shortest text that represents exactly this number.

    >>> format_exactly(0.02), format_exactly(1.0)
    ('0.02', '1')
    """
    return repr(float(number)).removesuffix(".0")
