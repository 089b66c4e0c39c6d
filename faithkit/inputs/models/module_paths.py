"""Models in modules: what `module:attribute` names, also beside where a person stands."""

import importlib
import operator
import os
import sys
from typing import Any

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.wording import suggest


def import_object(reference: str) -> Any:
    """Return what `module:attribute` names; the current directory can be imported from."""
    module_name, _, attribute = reference.partition(":")
    advice = "Expected module:attribute, importable from the current directory."
    with foreign(f"importing the module {module_name!r}", advice):
        import_from_here()
        module = importlib.import_module(module_name)
    with foreign(f"looking up {reference}", "Give a model that is ready when its module is imported."):
        try:
            return operator.attrgetter(attribute)(module)
        except AttributeError as error:
            raise InputError(
                f"the module {module_name!r} has no {attribute!r}. "
                f"{suggest(attribute, (name for name in vars(module) if not name.startswith('_')))}"
            ) from error


def import_from_here() -> None:
    """Let modules of the current directory be imported."""
    # It stays on the path: workers get this path too, and import the module to unpickle the model.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
