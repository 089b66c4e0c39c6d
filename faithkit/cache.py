"""Where faithkit keeps what it can make again: how the installed plugins load."""

from pathlib import Path


def cache_folder() -> Path:
    """Return faithkit's folder in the user's cache; it need not exist."""
    from platformdirs import user_cache_path  # whoever only imports this module does not need it

    return user_cache_path("faithkit", appauthor=False).expanduser()  # who has no home gets no folder "~"
