"""Options that a verb's help speaks of are set as code, or typography would make dashes of ``--data``.

What click writes for an option without a default is not shown as one.
"""

import re
from typing import Any

from sphinx.application import Sphinx

_OPTION = re.compile(r"(?<![\w`-])--[a-z][a-z-]*\w")


def mark(app: Sphinx, ctx: Any, lines: list[str]) -> None:
    """Rewrite the lines of a description in place."""
    lines[:] = [_OPTION.sub(lambda option: f"``{option[0]}``", line) for line in lines]


def without_sentinels(app: Sphinx, ctx: Any, lines: list[str]) -> None:
    """Leave out defaults that are none, in place, each with the blank line before it."""
    kept: list[str] = []
    for line in lines:
        if "Sentinel.UNSET" not in line:
            kept.append(line)
        elif kept and not kept[-1].strip():
            kept.pop()
    lines[:] = kept


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen to sphinx-click."""
    app.connect("sphinx-click-process-description", mark)
    app.connect("sphinx-click-process-options", without_sentinels)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
