"""Where faithkit keeps what can be had again: downloaded datasets, and how the installed plugins load."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return faithkit's folder in the user's cache; it need not exist."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "faithkit"
