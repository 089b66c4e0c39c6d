"""What a plugin registers: a `Component`, which describes a class or function without importing it.

The factory is an import *string*. So `faithkit plugins` can list a hundred components in no time, and an
explainer whose library is missing or broken costs nothing until somebody asks for it.
"""

import functools
import importlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import Attribute, field, frozen

from faithkit.errors import PluginError
from faithkit.extension.installed_modules import is_installed
from faithkit.foreign import foreign
from faithkit.wording import describe, did_you_mean

INPUTS = ("table", "text", "sparse")
ARRAYS = ("image", "series")
"""What an array with more than two axes may be: rows of any shape, only for who says that it takes them."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
# what could steer a terminal, or stop it
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def _as_text(value: Any) -> Any:
    # A subclass of str may compare and hash as it likes.
    return str.__str__(value) if isinstance(value, str) else value


def _as_tuple(value: Any) -> Any:
    # A string is iterable too: it is left as it is, for the validator to refuse, or it would become letters.
    return (
        tuple(map(_as_text, value)) if isinstance(value, Iterable) and not isinstance(value, str) else value
    )


def _as_dict(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def is_dotted(text: str) -> bool:
    """Whether a text is a name, or names with dots between them, as modules and attributes have."""
    return all(part.isidentifier() for part in text.split("."))


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
    if hasattr(factory, "__qualname__"):  # the class itself was given: its import string is known
        proposal = f"{factory.__module__}:{factory.__qualname__}"
    raise PluginError(
        f"the factory of component {component.name!r} must be an import string 'module:attribute'. "
        f"Got {factory!r} instead: write for example {proposal!r}."
    )


def _check_summary(component: "Component", _: "Attribute[str]", summary: Any) -> None:
    if not isinstance(summary, str) or not summary.strip() or _UNPRINTABLE.search(summary):
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
    known = (*INPUTS, *ARRAYS)
    unknown = next((word for word in inputs if word not in known), None)
    if unknown is not None or not inputs:
        raise PluginError(
            f"the inputs of component {component.name!r} must be one or more of {', '.join(known)}. "
            f"Got {inputs!r} instead. {did_you_mean(unknown or '', known)}".rstrip()
        )


@frozen(kw_only=True)
class Component:
    """One component of any kind, from explainer to command, described without importing it.

    Parameters
    ----------
    name : str
        What people type: lower-case letters, digits and dashes.
    factory : str
        The class or function that makes it, as an import string ``"module:attribute"``. Its signature and
        docstring document the parameters. For a command it is the `click.Command` itself.
    summary : str
        One line for listings.
    params : mapping, default={}
        Presets of the factory's parameters. An alias is a second component with other presets.
    kinds : tuple of str, default=()
        The kinds of explanation that it makes or accepts: "vector", "rule", "example" or any other word.
        Empty means any.
    inputs : tuple of str, default=("table", "text", "sparse")
        What ``X`` may be. Who says "image" or "series" is given arrays of more than two axes as well, sliced
        by rows only: what the other axes mean is between the model and the component.
    requires : tuple of str, default=()
        Import names that it needs and that the plugin does not install for sure.
    types : tuple of str, default=()
        Of an adapter: the classes whose objects it takes, each as its package and its name, such as
        "shap.Explanation", wherever in the package it is defined. Of a loader: suffixes of files, such as
        ".onnx", or the name of a file by which a folder is known, such as "MLmodel".

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

    name: str = field(converter=_as_text, validator=_check_name)
    factory: str = field(converter=_as_text, validator=_check_factory)
    summary: str = field(converter=_as_text, validator=_check_summary)
    # Left out of the hash (a dict has none), not of equality: still consistent.
    params: Mapping[str, Any] = field(factory=dict, converter=_as_dict, validator=_check_params, hash=False)
    kinds: tuple[str, ...] = field(default=(), converter=_as_tuple, validator=_check_words)
    inputs: tuple[str, ...] = field(default=INPUTS, converter=_as_tuple, validator=_check_inputs)
    requires: tuple[str, ...] = field(default=(), converter=_as_tuple, validator=_check_words)
    types: tuple[str, ...] = field(default=(), converter=_as_tuple, validator=_check_words)

    def load(self) -> Any:
        """Import the factory.

        Returns
        -------
        object
            The class, function or command that `factory` names.

        Raises
        ------
        PluginError
            If it cannot be imported, whatever the reason, or cannot be called.
        """
        module, _, attribute = self.factory.partition(":")
        it = f"the factory {self.factory!r} of {self.name!r} cannot be loaded: it"
        with foreign(it, error=PluginError):
            try:
                factory = functools.reduce(getattr, attribute.split("."), importlib.import_module(module))
            except AttributeError as error:
                question = did_you_mean(error.name or "", dir(error.obj))
                raise PluginError(f"{it} failed with {describe(error)}. {question}".rstrip()) from error
        if not callable(factory):
            raise PluginError(f"{it} is of type {type(factory).__name__}, which cannot be called.")
        return factory

    def missing_requirements(self) -> tuple[str, ...]:
        """Find which modules of `requires` are not installed, without importing any.

        Returns
        -------
        tuple of str
            Import names, in the order of `requires`.

        Examples
        --------
        >>> picky = Component(name="p", factory="m:f", summary="Picky.", requires=("json.decoder", "no_such"))
        >>> picky.missing_requirements()
        ('no_such',)
        """
        return tuple(name for name in self.requires if not is_installed(name))
