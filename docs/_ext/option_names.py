"""Format options in a verb's help as code: otherwise typography turns ``--data`` into a dash.

It also removes the placeholder that click writes for an option without a default.
"""

import re
from typing import Any

from sphinx.application import Sphinx

_OPTION = re.compile(r"(?<![\w`-])--[a-z][a-z-]*\w")


def mark_options(app: Sphinx, ctx: Any, lines: list[str]) -> None:
    """Format the options in the lines of a description, in place."""
    lines[:] = [_OPTION.sub(lambda match: f"``{match[0]}``", line) for line in lines]


def remove_placeholders(app: Sphinx, ctx: Any, lines: list[str]) -> None:
    """Remove placeholders of missing defaults, in place, each with the blank line before it."""
    remaining_lines: list[str] = []
    for line in lines:
        if "Sentinel.UNSET" not in line:
            remaining_lines.append(line)
        elif remaining_lines and not remaining_lines[-1].strip():
            remaining_lines.pop()
    lines[:] = remaining_lines


def mark_examples(app: Sphinx, ctx: Any, lines: list[str]) -> None:
    """Format the commands of a verb's examples as code, in place."""
    lines[:] = [re.sub("(faithkit .*)", r"``\1``", line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the functions to the events of sphinx-click."""
    app.connect("sphinx-click-process-description", mark_options)
    app.connect("sphinx-click-process-options", remove_placeholders)
    app.connect("sphinx-click-process-epilog", mark_examples)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
