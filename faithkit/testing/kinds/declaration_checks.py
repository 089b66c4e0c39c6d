"""Checks of what a plugin declares about each component: the factory, the summary, the documentation.

`faithkit plugins` shows the summary, and `faithkit show` the docstring of the factory. Users see nothing else
before the component runs.
"""

import inspect
import re
from typing import Any

from faithkit.errors import FaithkitError
from faithkit.extension.creation import parameters
from faithkit.extension.entries import Entry
from faithkit.testing.checks import require, skip_unless_passes
from faithkit.wording import describe, join_words


def check_factory_can_be_imported(entry: Entry) -> None:
    """Check that the import string leads to something that can be called.

    It is a string so that listing imports nothing. So a mistake in it shows only when a user needs the
    component.
    """
    try:
        entry.component.load()
    except FaithkitError as error:
        require(False, entry.component.name, describe(error), "Correct factory= of its Component")


def check_summary_is_one_line(entry: Entry) -> None:
    """Check that the summary is one line of at most 100 characters.

    Listings show one line per component.
    """
    summary = entry.component.summary
    lines, length = len(summary.splitlines()), len(summary)
    problem = f"its summary has {length} characters on {lines} lines; expected one line of at most 100"
    is_short = lines == 1 and length <= 100
    require(is_short, entry.component.name, problem, "Leave the details to the factory's docstring")


def check_parameters_are_documented(entry: Entry) -> None:
    """Check that the factory has a docstring, and that it describes every parameter.

    The docstring is the only documentation that `faithkit show` has.
    """
    skip_unless_passes(check_factory_can_be_imported, entry)
    factory, name = entry.component.load(), entry.component.name
    text = _documentation(entry.kind, factory)
    remedy = "Write one: `faithkit show` prints it"
    require(bool(text.strip()), name, f"{entry.component.factory} has no docstring", remedy)
    expected = [] if entry.kind == "command" else [parameter.name for parameter in parameters(entry)]
    undocumented = [parameter for parameter in expected if not _describes(text, parameter)]
    require(
        not undocumented,
        name,
        f"the docstring of {entry.component.factory} does not describe "
        f"{join_words(undocumented) if undocumented else ''}",
        f"Add a line such as '{(undocumented or ['tau'])[0]} : float' to its section Parameters",
    )


def _documentation(kind: str, factory: Any) -> str:
    if kind == "command":
        return getattr(factory, "help", getattr(factory, "__doc__", None)) or ""
    # not inspect.getdoc: an inherited docstring describes the parameters of another class
    constructor = factory.__dict__.get("__init__") if inspect.isclass(factory) else None
    return f"{getattr(factory, '__doc__', None) or ''}\n{getattr(constructor, '__doc__', None) or ''}"


def _describes(text: str, parameter: str) -> bool:
    """Return whether a line begins with the parameter: ``tau : float``, ``low, high : float``."""
    line = rf"^\s*(?::param\s+)?(?:\w+\s*,\s*)*{re.escape(parameter)}\s*(?:[:,(]|$)"
    return re.search(line, text, re.MULTILINE) is not None
