"""What a plugin declares about each of its components: the factory, the summary, the documentation.

`faithkit plugins` shows the summary, and `faithkit show` the factory's docstring: all that a user sees before
the component runs.
"""

import inspect
import re
from typing import Any

from faithkit.errors import FaithkitError
from faithkit.extension.creation import parameters
from faithkit.extension.entries import Entry
from faithkit.testing.checks import demand, needs
from faithkit.wording import describe, listing


def check_factory_can_be_imported(entry: Entry) -> None:
    """Check that the import string leads to something that can be called.

    It is a string so that listing imports nothing; nobody else notices a slip in it before a user does.
    """
    try:
        entry.component.load()
    except FaithkitError as error:
        demand(False, entry.component.name, describe(error), "Correct factory= of its Component")


def check_summary_is_one_line(entry: Entry) -> None:
    """Check that the summary is one line of at most 100 characters.

    Listings show one line per component.
    """
    summary = entry.component.summary
    lines, length = len(summary.splitlines()), len(summary)
    found = f"its summary has {length} characters on {lines} lines; expected one line of at most 100"
    is_short = lines == 1 and length <= 100
    demand(is_short, entry.component.name, found, "Leave the details to the factory's docstring")


def check_parameters_are_documented(entry: Entry) -> None:
    """Check that the factory has a docstring, and that it describes every parameter.

    The docstring is the only documentation that `faithkit show` has.
    """
    needs(check_factory_can_be_imported, entry)
    factory, name = entry.component.load(), entry.component.name
    text = _documentation(entry.kind, factory)
    mend = "Write one: `faithkit show` prints it"
    demand(bool(text.strip()), name, f"{entry.component.factory} has no docstring", mend)
    wanted = [] if entry.kind == "command" else [parameter.name for parameter in parameters(entry)]
    absent = [parameter for parameter in wanted if not _describes(text, parameter)]
    demand(
        not absent,
        name,
        f"the docstring of {entry.component.factory} does not describe {listing(absent) if absent else ''}",
        f"Add a line such as '{(absent or ['tau'])[0]} : float' to its section Parameters",
    )


def _documentation(kind: str, factory: Any) -> str:
    if kind == "command":
        return getattr(factory, "help", getattr(factory, "__doc__", None)) or ""
    # a docstring that is inherited describes another class's parameters, so inspect.getdoc will not do
    own = factory.__dict__.get("__init__") if inspect.isclass(factory) else None
    return f"{getattr(factory, '__doc__', None) or ''}\n{getattr(own, '__doc__', None) or ''}"


def _describes(text: str, parameter: str) -> bool:
    """Find the parameter at the beginning of a line: ``tau : float``, ``low, high : float``."""
    line = rf"^\s*(?::param\s+)?(?:\w+\s*,\s*)*{re.escape(parameter)}\s*(?:[:,(]|$)"
    return re.search(line, text, re.MULTILINE) is not None
