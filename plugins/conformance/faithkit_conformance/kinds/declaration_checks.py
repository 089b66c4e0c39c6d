"""Checks of what a plugin declares about each component: the factory, the summary, the documentation.

`faithkit plugins` shows the summary, and `faithkit show` the docstring of the factory. Users see nothing else
before the component runs.
"""

import inspect
import re
from typing import Any

import click

from faithkit.errors import FaithkitError
from faithkit.plugin import join_words
from faithkit_conformance.checks import forbid, require, skip_unless_passes
from faithkit_conformance.components import find_parameters
from faithkit_conformance.kit import Candidate


def check_factory_can_be_imported(candidate: Candidate) -> None:
    """Check that the import string leads to something that can be called; for a command, a `click.Command`.

    It is a string so that listing imports nothing. So a mistake in it shows only when a user needs the
    component.
    """
    with forbid(FaithkitError, "it cannot be imported", "Correct factory= of its Component"):
        factory = candidate.component.load()
    is_command = candidate.entry.kind != "command" or isinstance(factory, click.Command)
    problem = f"{candidate.component.factory} is a {type(factory).__name__}; expected a click.Command"
    require(is_command, problem, "Decorate the function with @click.command()")


def check_summary_is_one_line(candidate: Candidate) -> None:
    """Check that the summary is one line of at most 100 characters.

    Listings show one line per component.
    """
    summary = candidate.component.summary
    lines, length = len(summary.splitlines()), len(summary)
    problem = f"its summary has {length} characters on {lines} lines; expected one line of at most 100"
    is_short = lines == 1 and length <= 100
    require(is_short, problem, "Leave the details to the factory's docstring")


def check_parameters_are_documented(candidate: Candidate) -> None:
    """Check that the factory has a docstring, and that it describes every parameter.

    The docstring is the only documentation that `faithkit show` has.
    """
    skip_unless_passes(check_factory_can_be_imported, candidate)
    factory, kind = candidate.component.factory, candidate.entry.kind
    text = _documentation(kind, candidate.component.load())
    remedy = "Write one: `faithkit show` prints it"
    require(bool(text.strip()), f"{factory} has no docstring", remedy)
    expected = [] if kind == "command" else list(find_parameters(candidate.component))
    undocumented = [parameter for parameter in expected if not _describes(text, parameter)]
    if undocumented:
        problem = f"the docstring of {factory} does not describe {join_words(undocumented)}"
        remedy = f"Add a line such as '{undocumented[0]} : float' to its section Parameters"
        require(False, problem, remedy)


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
