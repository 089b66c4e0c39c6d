"""The errors that faithkit raises on purpose; the command line shows each as one line.

A message says what was given, what was expected and what to do next. The same is true of warnings.
"""

import sys
import warnings


class FaithkitError(Exception):
    """The base class of all errors that faithkit raises on purpose."""


class InputError(FaithkitError, ValueError):
    """Data, a model or an option cannot be used."""


class UnknownComponentError(FaithkitError, LookupError):
    """No installed plugin provides a name, or two do."""


class ParameterError(FaithkitError, ValueError):
    """A component does not take these parameters."""


class ContractError(FaithkitError):
    """A component returned a value that its protocol does not allow."""


class PluginError(FaithkitError):
    """A plugin could not be loaded, or its component could not be created."""


class ExplainerError(FaithkitError):
    """An explainer failed on a row, or a worker died while explaining."""


class StoreError(FaithkitError):
    """The store of finished chunks cannot be read or written."""


class FaithkitWarning(UserWarning):
    """A result was computed, but users should know something about it."""


def warn(message: str) -> None:
    """Warn users, and show the line of their code that called faithkit or one of its plugins.

    Examples
    --------
    >>> import faithkit
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     faithkit.errors.warn("the column 'age' is constant: drop it.")
    >>> [str(warning.message) for warning in caught]
    ["the column 'age' is constant: drop it."]
    """
    frame, stacklevel = sys._getframe(1), 2
    # generated code has no name
    while frame.f_back is not None and frame.f_globals.get("__name__", "faithkit").startswith("faithkit"):
        frame, stacklevel = frame.f_back, stacklevel + 1
    warnings.warn(message, FaithkitWarning, stacklevel)
