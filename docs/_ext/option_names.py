"""Options that a verb's help speaks of are set as code, or typography would make dashes of ``--data``."""

import re
from typing import Any

from sphinx.application import Sphinx

_OPTION = re.compile(r"(?<![\w`-])--[a-z][a-z-]*\w")


def mark(app: Sphinx, ctx: Any, lines: list[str]) -> None:
    """Rewrite the lines of a description in place."""
    lines[:] = [_OPTION.sub(lambda option: f"``{option[0]}``", line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen to sphinx-click."""
    app.connect("sphinx-click-process-description", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
