"""The errors faithkit raises on purpose; all are `FaithkitError`, and the CLI shows each as one line.

A message says what was given, what was expected and what to do next.
"""


class FaithkitError(Exception):
    """Base of every error that faithkit raises on purpose."""


class InputError(FaithkitError, ValueError):
    """Data, a model or an option that cannot be used as given."""


class UnknownComponentError(FaithkitError, LookupError):
    """A name that no installed plugin provides, or that two provide."""


class ParameterError(FaithkitError, ValueError):
    """A component was asked for with parameters it does not take."""


class ContractError(FaithkitError):
    """A component returned something that its protocol does not allow."""


class PluginError(FaithkitError):
    """A plugin could not be loaded, or a component could not be made of it."""


class ExplainerError(FaithkitError):
    """An explainer failed on a row, or a worker died while explaining."""


class StoreError(FaithkitError):
    """The store of finished chunks cannot be read or written."""


class FaithkitWarning(UserWarning):
    """Something a person should know about a result that was still computed."""
