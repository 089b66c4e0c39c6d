"""The nine hooks with which a plugin offers components.

Hooks take no arguments and yield values, so the order of plugins and calls does not matter. Each hook serves
one step of the pipeline, from explainers to reporters. Executors do the work of its first step; adapters,
loaders and datasets prepare its inputs.
"""

from collections.abc import Iterable

import pluggy

from faithkit.extension.component import Component

GROUP = "faithkit"
"""The entry point group of plugins."""

API_VERSION = 1
"""The value of ``FAITHKIT_API`` in a plugin's module; it changes when old plugins no longer work."""

HOOK_KINDS = (
    "explainer",
    "relation",
    "discretizer",
    "estimator",
    "diagnostic",
    "executor",
    "reporter",
    "adapter",
    "loader",
    "dataset",
)
"""The kinds of component with a hook, ``faithkit_<kind>s``, in the order of the pipeline."""

KINDS = (*HOOK_KINDS, "command")
"""All kinds of component; commands have their own entry points, so that listing them loads nothing."""

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
    """Offer explainers, which map a row to its explanation; their `kinds` are the kinds that they return.

    Examples
    --------
    A complete module of a plugin:

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
    """Offer relations, which decide whether an explanation holds for an instance.

    Their `kinds` are the kinds of explanation that they can read.

    Examples
    --------
    >>> from faithkit.plugin import Component, hookimpl
    >>> @hookimpl
    ... def faithkit_relations():
    ...     yield Component(
    ...         name="same-sign",
    ...         factory="my_plugin.relations:SameSign",
    ...         summary="The instance's own explanation has the same signs.",
    ...         kinds=("vector",),
    ...     )
    >>> [component.name for component in faithkit_relations()]
    ['same-sign']
    """
    raise NotImplementedError


@hookspec
def faithkit_discretizers() -> Iterable[Component]:
    """Offer discretizers, which decide which explanations count as the same.

    An alias is a second component with presets.

    Examples
    --------
    >>> from faithkit.plugin import Component, hookimpl
    >>> @hookimpl
    ... def faithkit_discretizers():
    ...     rounded = "my_plugin.rounding:Rounded"
    ...     yield Component(name="rounded", factory=rounded, summary="Rounded to some digits.")
    ...     yield Component(name="rounded-2", factory=rounded, summary="… to two.", params={"digits": 2})
    >>> [component.name for component in faithkit_discretizers()]
    ['rounded', 'rounded-2']
    """
    raise NotImplementedError


@hookspec
def faithkit_estimators() -> Iterable[Component]:
    """Offer estimators, which turn the tally's counts into scores.

    Examples
    --------
    >>> from faithkit.plugin import Component, hookimpl
    >>> @hookimpl
    ... def faithkit_estimators():
    ...     yield Component(
    ...         name="smoothed",
    ...         factory="my_plugin.estimators:Smoothed",
    ...         summary="Leave-one-out with one agreeing and one disagreeing instance added.",
    ...     )
    >>> [component.name for component in faithkit_estimators()]
    ['smoothed']
    """
    raise NotImplementedError


@hookspec
def faithkit_diagnostics() -> Iterable[Component]:
    """Offer diagnostics, which answer a further question about a result.

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
    >>> [component.name for component in faithkit_diagnostics()]
    ['stability']
    """
    raise NotImplementedError


@hookspec
def faithkit_executors() -> Iterable[Component]:
    """Offer executors, which explain the chunks of a sample: in processes, on a cluster, or from a store.

    Examples
    --------
    >>> from faithkit.plugin import Component, hookimpl
    >>> @hookimpl
    ... def faithkit_executors():
    ...     yield Component(
    ...         name="queue",
    ...         factory="my_plugin.executors:Queue",
    ...         summary="On the machines that wait at a queue.",
    ...     )
    >>> [component.name for component in faithkit_executors()]
    ['queue']
    """
    raise NotImplementedError


@hookspec
def faithkit_reporters() -> Iterable[Component]:
    """Offer reporters, which write a result in a format, for ``--out`` and `Report.write`.

    Their `types` are the suffixes of the files (".html"), and the media types of the same format
    ("text/html").

    Examples
    --------
    >>> from faithkit.plugin import Component, hookimpl
    >>> @hookimpl
    ... def faithkit_reporters():
    ...     yield Component(
    ...         name="markdown",
    ...         factory="my_plugin.markdown:Markdown",
    ...         summary="The measures as a table for a wiki.",
    ...         types=(".md", "text/markdown"),
    ...     )
    >>> [component.name for component in faithkit_reporters()]
    ['markdown']
    """
    raise NotImplementedError


@hookspec
def faithkit_adapters() -> Iterable[Component]:
    """Offer adapters, which turn objects of other libraries into explanations, rows, predictions or models.

    Their `types` are the classes of the objects that they accept; nothing is imported to match them. The
    pseudo type "text" stands for explanations in words or codes.

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
    >>> [component.name for component in faithkit_adapters()]
    ['acme-reasons']
    """
    raise NotImplementedError


@hookspec
def faithkit_loaders() -> Iterable[Component]:
    """Offer loaders, which load a model from a file or folder, for ``--model`` and `faithkit.load_model`.

    Their `types` are suffixes of files (".acme"), or names of files that mark a folder ("MLmodel").

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
    >>> [component.name for component in faithkit_loaders()]
    ['acme']
    """
    raise NotImplementedError


@hookspec
def faithkit_datasets() -> Iterable[Component]:
    """Offer datasets, which ``--data`` and `faithkit.load_dataset` load by name.

    The factory of each takes no arguments and returns an object with the methods `load` and `place`. Only
    `load` reads data.

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
