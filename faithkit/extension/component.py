"""`Component`: the description of a class or function that a plugin registers, without importing it.

The factory is an import *string*. So `faithkit plugins` lists a hundred components in no time, and an
explainer whose library is missing or broken does no harm until it is used.
"""

import functools
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import Attribute, field, frozen

from faithkit.errors import PluginError
from faithkit.third_party import guard
from faithkit.wording import describe, did_you_mean

INPUTS = ("table", "text", "sparse")
ARRAYS = ("image", "series")
"""Inputs with more than two axes; only components that list them in `inputs` receive such arrays."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


def _as_tuple(value: Any) -> Any:
    # A string is iterable, and would become letters: the validator refuses it instead.
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else value


def _as_dict(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def is_dotted(text: str) -> bool:
    """Whether a text is an identifier, or several with dots between them, like the path of a module."""
    return all(name.isidentifier() for name in text.split("."))


def _check_name(_: "Component", __: "Attribute[str]", name: Any) -> None:
    if isinstance(name, str) and _NAME.fullmatch(name):
        return
    proposal = re.sub("[^a-z0-9]+", "-", str(name).lower()).strip("-") or "my-explainer"
    raise PluginError(
        "a component's name must be lower-case letters, digits and dashes, not starting with a dash. "
        f"Got {name!r} instead: rename it, for example to {proposal!r}."
    )


def _check_factory(component: "Component", _: "Attribute[str]", factory: Any) -> None:
    if isinstance(factory, str) and factory.count(":") == 1 and all(map(is_dotted, factory.split(":"))):
        return
    proposal = "my_plugin.explainers:MyExplainer"
    if hasattr(factory, "__qualname__"):  # the class itself was given, and has an import string
        proposal = f"{factory.__module__}:{factory.__qualname__}"
    raise PluginError(
        f"the factory of component {component.name!r} must be an import string 'module:attribute'. "
        f"Got {factory!r} instead: write for example {proposal!r}."
    )


def _check_summary(component: "Component", _: "Attribute[str]", summary: Any) -> None:
    if not isinstance(summary, str) or not summary.strip():
        raise PluginError(
            f"the summary of component {component.name!r} must be a sentence. "
            f"Got {summary!r} instead: say in one line what it does; `faithkit plugins` shows it."
        )


def _check_params(component: "Component", _: "Attribute[Mapping[str, Any]]", params: Any) -> None:
    if not isinstance(params, dict) or not all(isinstance(key, str) and key.isidentifier() for key in params):
        raise PluginError(
            f"the params of component {component.name!r} must map names of parameters to values. "
            f"Got {params!r} instead: write for example {{'k': 1}}."
        )


def _check_words(component: "Component", attribute: "Attribute[tuple[str, ...]]", words: Any) -> None:
    if isinstance(words, tuple) and all(isinstance(word, str) and word for word in words):
        return
    proposal = f"({words!r},)" if isinstance(words, str) and words else "('word',)"
    raise PluginError(
        f"the {attribute.name} of component {component.name!r} must be a tuple of words. "
        f"Got {words!r} instead: write for example {attribute.name}={proposal}."
    )


def _check_inputs(component: "Component", attribute: "Attribute[tuple[str, ...]]", inputs: Any) -> None:
    _check_words(component, attribute, inputs)
    allowed = (*INPUTS, *ARRAYS)
    unknown = next((word for word in inputs if word not in allowed), None)
    if unknown is not None or not inputs:
        raise PluginError(
            f"the inputs of component {component.name!r} must be one or more of {', '.join(allowed)}. "
            f"Got {inputs!r} instead. {did_you_mean(unknown or '', allowed)}".rstrip()
        )


def _check_automatic(component: "Component", _: "Attribute[bool]", automatic: Any) -> None:
    if not isinstance(automatic, bool):
        raise PluginError(
            f"the field automatic of component {component.name!r} must be True or False. Got {automatic!r} "
            "instead."
        )


@frozen(kw_only=True)
class Component:
    """The description of a component of any kind, from explainer to command.

    Parameters
    ----------
    name : str
        The name that people type: lower-case letters, digits and dashes.
    factory : str
        The class or function that creates it, as an import string ``"module:attribute"``. Its signature and
        docstring document the parameters. For a command, it is the `click.Command` itself.
    summary : str
        One line for listings.
    params : mapping, default={}
        Presets of the factory's parameters. An alias is a second component with other presets.
    kinds : tuple of str, default=()
        The kinds of explanation that it returns or accepts: "vector", "rule", "example" or any other word.
        Empty means any.
    inputs : tuple of str, default=("table", "text", "sparse")
        What ``X`` may be. A component that lists "image" or "series" also receives arrays with more than two
        axes. They are sliced by rows only; the model and the component agree on the other axes.
    requires : tuple of str, default=()
        Import names of packages that it needs, if installing the plugin does not always install them.
    types : tuple of str, default=()
        For an adapter: the classes of the objects that it accepts, each by package and name, such as
        "shap.Explanation", wherever in the package the class is defined; or "text", if it reads explanations
        in words or codes. For a loader: suffixes of files, such as ".onnx", or the name of a file that marks
        a folder, such as "MLmodel". For a reporter: suffixes of files, such as ".html", and media types, such
        as "text/html".
    automatic : bool, default=False
        For a diagnostic: whether it runs on every result, unless the user asks for none.

    Raises
    ------
    PluginError
        If a field is not as described.

    Examples
    --------
    >>> from faithkit.plugin import Component
    >>> top = Component(name="1fp", factory="collections:Counter", summary="Top feature.", params={"k": 1})
    >>> top.name, top.params, top.inputs
    ('1fp', {'k': 1}, ('table', 'text', 'sparse'))
    >>> top.load()
    <class 'collections.Counter'>
    >>> Component(name="My Explainer", factory="collections:Counter", summary="Mine.")
    Traceback (most recent call last):
    faithkit.errors.PluginError: a component's name must be lower-case letters, digits and dashes,
    not starting with a dash. Got 'My Explainer' instead: rename it, for example to 'my-explainer'.
    """

    name: str = field(validator=_check_name)
    factory: str = field(validator=_check_factory)
    summary: str = field(validator=_check_summary)
    # A dict has no hash. Equal components still have equal hashes.
    params: Mapping[str, Any] = field(factory=dict, converter=_as_dict, validator=_check_params, hash=False)
    kinds: tuple[str, ...] = field(default=(), converter=_as_tuple, validator=_check_words)
    inputs: tuple[str, ...] = field(default=INPUTS, converter=_as_tuple, validator=_check_inputs)
    requires: tuple[str, ...] = field(default=(), converter=_as_tuple, validator=_check_words)
    types: tuple[str, ...] = field(default=(), converter=_as_tuple, validator=_check_words)
    automatic: bool = field(default=False, validator=_check_automatic)

    def load(self) -> Any:
        """Import the factory.

        Returns
        -------
        object
            The class, function or command that `factory` names.

        Raises
        ------
        PluginError
            If it cannot be imported for any reason, or cannot be called.
        """
        module, _, attribute = self.factory.partition(":")
        subject = f"the factory {self.factory!r} of {self.name!r} cannot be loaded: it"
        with guard(subject, error=PluginError):
            try:
                factory = functools.reduce(getattr, attribute.split("."), importlib.import_module(module))
            except AttributeError as error:
                question = did_you_mean(error.name or "", dir(error.obj))
                raise PluginError(f"{subject} failed with {describe(error)}. {question}".rstrip()) from error
        if not callable(factory):
            raise PluginError(f"{subject} is of type {type(factory).__name__}, which cannot be called.")
        return factory

    def missing_requirements(self) -> tuple[str, ...]:
        """Return the packages of `requires` that are not installed, without importing any.

        Returns
        -------
        tuple of str
            Import names, in the order of `requires`.

        Examples
        --------
        >>> picky = Component(name="p", factory="m:f", summary="Picky.", requires=("json", "no_such"))
        >>> picky.missing_requirements()
        ('no_such',)
        """
        return tuple(name for name in self.requires if not _is_installed(name))


def _is_installed(package: str) -> bool:
    # the search for a module inside a package would import the package, which may be heavy or broken
    name = package.partition(".")[0]
    return sys.modules.get(name) is not None or importlib.util.find_spec(name) is not None
