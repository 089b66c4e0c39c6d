"""The two things that loading a plugin can give: an `Entry` that works, or a `Broken` line that says why not.

A failure is data, because one bad plugin among ten must not keep the other nine from working.
"""

from attrs import field, frozen

from faithkit.extension.component import Component
from faithkit.wording import one_line


@frozen
class Entry:
    """A component and where it comes from.

    Parameters
    ----------
    kind : str
        One of `faithkit.extension.hookspecs.KINDS`.
    component : Component
    distribution : str
        The installed distribution that registered it, normalised: ``faithkit-scoped-rules``.
    version : str
        Of that distribution.
    entry_point : str, default=""
        The entry point of that distribution which led to it.

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
        """The name that no other distribution can take: ``distribution/name``."""
        return f"{self.distribution}/{self.component.name}"

    def __str__(self) -> str:
        return f"the {self.kind} {self.component.name!r} of {self.distribution}"


@frozen
class Broken:
    """Something that is wrong with a plugin; it prints as one readable line.

    Parameters
    ----------
    distribution : str
    entry_point : str
    problem : str
        What is wrong.
    hint : str
        What to do about it.
    cause : BaseException or None, default=None
        The exception behind it, if there was one.

    Examples
    --------
    >>> print(Broken("my-plugin", "rules", "cannot be imported: ImportError: x", "Reinstall it"))
    my-plugin (rules): cannot be imported: ImportError: x. Reinstall it
    """

    distribution: str
    entry_point: str
    problem: str
    hint: str
    cause: BaseException | None = field(default=None, eq=False, repr=False)

    def __str__(self) -> str:
        return one_line(f"{self.distribution} ({self.entry_point}): {self.problem.rstrip('.')}. {self.hint}")
