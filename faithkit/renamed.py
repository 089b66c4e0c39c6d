"""The one table of names that moved: whoever writes an old one is told the new one.

Nothing here is an alias. An old option or name is an error, whose message ends with the new spelling.
"""

from collections.abc import Callable, Mapping
from typing import Any

OPTIONS: Mapping[str, str] = {
    "--reasons": "--as 'reason-codes:claims=FILE' (of faithkit-logged-reasons)",
    "--separator": "--as 'reason-codes:claims=FILE,separator=;' (of faithkit-logged-reasons)",
    "--with": "a line of pandas or DuckDB before: predictions.merge(reasons, on='id', validate='one_to_one')",
}
"""What to write instead of an option that a verb of the kernel no longer has."""

NAMES: Mapping[str, str] = {
    "faithkit.parse_reasons": "faithkit_logged_reasons.parse_reasons",
    "Rule.from_text": "faithkit_logged_reasons.parse_rule",
}
"""What to write instead of a name, by where it was: ``faithkit.plots``, or ``Evaluation.to_html``."""


def new_spelling(old: str) -> str | None:
    """Return the sentence that says what to write instead of an option or a dotted name.

    >>> new_spelling("--discretize") is None
    True
    """
    new = OPTIONS.get(old) or NAMES.get(old)
    return None if new is None else f"{old} is now {new}"


def with_new_spellings(module: str, import_name: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module, whose error says where a name went."""

    def get_name(name: str) -> Any:
        try:
            return import_name(name)
        except AttributeError:
            new = new_spelling(f"{module}.{name}")
            if new is None:
                raise
        raise AttributeError(new)

    return get_name


class SaysNewNames(type):
    """The type of a class that says what a class method of it is called now."""

    def __getattr__(cls, name: str) -> Any:
        new = new_spelling(f"{cls.__name__}.{name}")
        raise AttributeError(new or f"type object {cls.__name__!r} has no attribute {name!r}")
