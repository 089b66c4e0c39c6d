"""Format options in a verb's help as code: otherwise typography turns ``--data`` into a dash.

It also removes the placeholder that click writes for an option without a default.
"""

import re
from typing import Any

from sphinx.application import Sphinx

_OPTION = re.compile(r"(?<![\w`-])--[a-z][a-z-]*\w")


def mark(app: Sphinx, ctx: Any, lines: list[str]) -> None:
    """Format the options in the lines of a description, in place."""
    lines[:] = [_OPTION.sub(lambda option: f"``{option[0]}``", line) for line in lines]


def without_sentinels(app: Sphinx, ctx: Any, lines: list[str]) -> None:
    """Remove placeholders of missing defaults, in place, each with the blank line before it."""
    kept: list[str] = []
    for line in lines:
        if "Sentinel.UNSET" not in line:
            kept.append(line)
        elif kept and not kept[-1].strip():
            kept.pop()
    lines[:] = kept


def mark_examples(app: Sphinx, ctx: Any, lines: list[str]) -> None:
    """Set the commands of a verb's examples as code, in place."""
    lines[:] = [re.sub("(faithkit .*)", r"``\1``", line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen to sphinx-click."""
    app.connect("sphinx-click-process-description", mark)
    app.connect("sphinx-click-process-options", without_sentinels)
    app.connect("sphinx-click-process-epilog", mark_examples)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
