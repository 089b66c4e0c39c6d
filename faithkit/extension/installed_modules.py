"""Modules found without importing them: they may be heavy, broken, or never come back."""

import importlib.util
import sys
from importlib.machinery import ModuleSpec, PathFinder


def is_installed(name: str) -> bool:
    """Tell whether a module could be imported.

    >>> is_installed("json.decoder"), is_installed("no_such")
    (True, False)
    """
    if sys.modules.get(name) is not None:
        return True
    try:
        return _find(name) is not None
    except KeyError:
        # Python cannot look into a namespace package inside another one before it has imported the outer one.
        # The folder exists; whether what it holds works, only creation can tell.
        return True
    except Exception:  # a finder that fails here would also fail the import
        return False


def _find(name: str) -> ModuleSpec | None:
    # importlib.util.find_spec("a.b") would import a, and a may be heavy or broken.
    parent, _, _ = name.rpartition(".")
    if not parent:
        return importlib.util.find_spec(name)
    above = _find(parent)
    if above is None or above.submodule_search_locations is None:
        return None
    return PathFinder.find_spec(name, above.submodule_search_locations)
