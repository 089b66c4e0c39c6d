"""`Entry`, a component with its origin, and `PluginProblem`, a problem with a plugin.

A problem is a value and not an exception, so that one bad plugin does not stop the others.
"""

from attrs import field, frozen

from faithkit.extension.component import Component
from faithkit.wording import one_line


@frozen
class Entry:
    """A component and the distribution that it comes from.

    Parameters
    ----------
    kind : str
        One of `faithkit.extension.hookspecs.KINDS`.
    component : Component
    distribution : str
        The installed distribution that registered it, normalised: ``faithkit-scoped-rules``.
    version : str
        The version of that distribution.
    entry_point : str, default=""
        The name of the entry point that led to it.

    Examples
    --------
    >>> from faithkit.plugin import Component
    >>> component = Component(name="shap", factory="m:Shap", summary="Shapley values.")
    >>> Entry("explainer", component, "faithkit-feature-importance", "0.1.0").qualified
    'faithkit-feature-importance/shap'
    """

    kind: str
    component: Component
    distribution: str
    version: str
    entry_point: str = field(default="", eq=False)

    @property
    def qualified(self) -> str:
        """The name that no other distribution can use: ``distribution/name``."""
        return f"{self.distribution}/{self.component.name}"

    def __str__(self) -> str:
        return f"the {self.kind} {self.component.name!r} of {self.distribution}"


@frozen
class PluginProblem:
    """A problem with a plugin, which prints as one line.

    Parameters
    ----------
    distribution : str
    entry_point : str
    problem : str
        What is wrong.
    hint : str
        What to do about it.
    cause : BaseException or None, default=None
        The exception behind it, if there is one.

    Examples
    --------
    >>> print(PluginProblem("my-plugin", "rules", "cannot be imported: ImportError: x", "Reinstall it"))
    my-plugin (rules): cannot be imported: ImportError: x. Reinstall it
    """

    distribution: str
    entry_point: str
    problem: str
    hint: str
    cause: BaseException | None = field(default=None, eq=False, repr=False)

    def __str__(self) -> str:
        return one_line(f"{self.distribution} ({self.entry_point}): {self.problem.rstrip('.')}. {self.hint}")
