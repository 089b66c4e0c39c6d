"""The eight hooks by which a plugin says what it offers.

They take no arguments and yield values, so that no order of plugins or calls can matter. Each hook serves one
arrow of the pipeline; adapters, loaders and datasets stand beside it.
"""

from collections.abc import Iterable

import pluggy

from faithkit.extension.component import Component

GROUP = "faithkit"
"""The group of entry points in which plugins are installed."""

API_VERSION = 1
"""What a plugin's module states as ``FAITHKIT_API``; it changes when old plugins would no longer work."""

HOOK_KINDS = (
    "explainer",
    "relation",
    "discretizer",
    "estimator",
    "diagnostic",
    "adapter",
    "loader",
    "dataset",
)
"""The kinds of component that hooks offer, in the order of the pipeline: each by ``faithkit_<kind>s``."""

KINDS = (*HOOK_KINDS, "command")
"""All kinds of component: commands are entry points of their own, so that nothing is loaded to list them."""

hookspec = pluggy.HookspecMarker("faithkit")
hookimpl = pluggy.HookimplMarker("faithkit")


def hook_name(kind: str) -> str:
    """Return the name of a kind's hook.

    >>> hook_name("explainer")
    'faithkit_explainers'
    """
    return f"faithkit_{kind}s"


@hookspec
def faithkit_explainers() -> Iterable[Component]:
    """Offer explainers: what maps a row to its explanation.

    Returns
    -------
    iterable of Component
        Their `kinds` are the kinds of explanation that they make.

    Examples
    --------
    The whole of a plugin's module:

    >>> from faithkit.plugin import Component, hookimpl
    >>> FAITHKIT_API = 1
    >>> @hookimpl
    ... def faithkit_explainers():
    ...     yield Component(
    ...         name="constant",
    ...         factory="my_plugin.constant:Constant",
    ...         summary="The same explanation for every row.",
    ...         kinds=("vector",),
    ...     )
    >>> [component.name for component in faithkit_explainers()]
    ['constant']
    """
    raise NotImplementedError


@hookspec
def faithkit_relations() -> Iterable[Component]:
    """Offer relations: what says whether an explanation holds for an instance.

    Returns
    -------
    iterable of Component
        Their `kinds` are the kinds of explanation that they can read.

    Examples
    --------
    >>> from faithkit.plugin import Component, hookimpl
    >>> @hookimpl
    ... def faithkit_relations():
    ...     return [
    ...         Component(
    ...             name="same-sign",
    ...             factory="my_plugin.relations:SameSign",
    ...             summary="The instance's own explanation has the same signs.",
    ...             kinds=("vector",),
    ...         )
    ...     ]
    >>> faithkit_relations()[0].kinds
    ('vector',)
    """
    raise NotImplementedError


@hookspec
def faithkit_discretizers() -> Iterable[Component]:
    """Offer discretizers: what says which explanations count as the same.

    Returns
    -------
    iterable of Component
        An alias is a second component with presets.

    Examples
    --------
    >>> from faithkit.plugin import Component, hookimpl
    >>> @hookimpl
    ... def faithkit_discretizers():
    ...     rounded = "my_plugin.rounding:Rounded"
    ...     yield Component(name="rounded", factory=rounded, summary="Rounded to some digits.")
    ...     yield Component(name="rounded-2", factory=rounded, summary="… to two.", params={"digits": 2})
    >>> [(component.name, component.params) for component in faithkit_discretizers()]
    [('rounded', {}), ('rounded-2', {'digits': 2})]
    """
    raise NotImplementedError


@hookspec
def faithkit_estimators() -> Iterable[Component]:
    """Offer estimators: what turns the tally's counts into scores.

    Returns
    -------
    iterable of Component

    Examples
    --------
    >>> from faithkit.plugin import Component, hookimpl
    >>> @hookimpl
    ... def faithkit_estimators():
    ...     yield Component(
    ...         name="smoothed",
    ...         factory="my_plugin.estimators:Smoothed",
    ...         summary="Leave-one-out with one agreeing and one disagreeing instance added.",
    ...         params={"weight": 1.0},
    ...     )
    >>> next(iter(faithkit_estimators())).factory
    'my_plugin.estimators:Smoothed'
    """
    raise NotImplementedError


@hookspec
def faithkit_diagnostics() -> Iterable[Component]:
    """Offer diagnostics: what answers a further question about a result.

    Returns
    -------
    iterable of Component

    Examples
    --------
    >>> from faithkit.plugin import Component, hookimpl
    >>> @hookimpl
    ... def faithkit_diagnostics():
    ...     yield Component(
    ...         name="stability",
    ...         factory="my_plugin.stability:Stability",
    ...         summary="How far explanations move with the rows.",
    ...     )
    >>> next(iter(faithkit_diagnostics())).name
    'stability'
    """
    raise NotImplementedError


@hookspec
def faithkit_adapters() -> Iterable[Component]:
    """Offer adapters: what takes an object of another library as explanations, rows, predictions or a model.

    Returns
    -------
    iterable of Component
        Their `types` are the classes whose objects they take; nothing is imported to find out.

    Examples
    --------
    >>> from faithkit.plugin import Component, hookimpl
    >>> @hookimpl
    ... def faithkit_adapters():
    ...     yield Component(
    ...         name="acme-reasons",
    ...         factory="my_plugin.adapters:Reasons",
    ...         summary="Reasons as acme's explainer gives them.",
    ...         types=("acme.Reasons",),
    ...     )
    >>> next(iter(faithkit_adapters())).types
    ('acme.Reasons',)
    """
    raise NotImplementedError


@hookspec
def faithkit_loaders() -> Iterable[Component]:
    """Offer loaders: what makes a model of a file or a folder, for ``--model`` and `faithkit.load_model`.

    Returns
    -------
    iterable of Component
        Their `types` are suffixes of files (".acme"), or names of files that a folder has ("MLmodel").

    Examples
    --------
    >>> from faithkit.plugin import Component, hookimpl
    >>> @hookimpl
    ... def faithkit_loaders():
    ...     yield Component(
    ...         name="acme",
    ...         factory="my_plugin.loaders:AcmeFiles",
    ...         summary="Scorecards as acme's program writes them.",
    ...         types=(".acme",),
    ...     )
    >>> next(iter(faithkit_loaders())).types
    ('.acme',)
    """
    raise NotImplementedError


@hookspec
def faithkit_datasets() -> Iterable[Component]:
    """Offer datasets: what ``--data`` and `faithkit.load_dataset` know by name.

    Returns
    -------
    iterable of Component
        Called without arguments, the factory of each gives what has the methods `load` and `place`; nothing
        is read before `load` is called.

    Examples
    --------
    >>> from faithkit.plugin import Component, hookimpl
    >>> @hookimpl
    ... def faithkit_datasets():
    ...     yield Component(
    ...         name="claims",
    ...         factory="my_plugin.datasets:claims",
    ...         summary="12,000 claims of 2025, 9 facts; paid or not.",
    ...     )
    >>> [component.name for component in faithkit_datasets()]
    ['claims']
    """
    raise NotImplementedError
