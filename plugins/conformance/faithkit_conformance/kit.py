"""The input of checks: a plugin's contribution to the conformance kit, and the candidate component."""

from collections.abc import Mapping
from typing import Any
from unittest import SkipTest

import attrs

from faithkit.errors import FaithkitError, PluginError
from faithkit.plugin import Component, Entry, Sample
from faithkit_conformance.wording import describe

KIT_CONSTANT = "FAITHKIT_KIT"
"""The constant of a plugin's module that holds the import string of its kit."""


@attrs.frozen(eq=False)
class Situation:
    """What an explainer is tried on: a fitted model, rows to explain, and a background to learn from.

    Parameters
    ----------
    model : object
        As `Predictor` takes it.
    X : array, DataFrame, sparse matrix or list of str
        Six rows to explain, of which the second and the last are equal.
    background : like X
        The rows that the explainer learns from.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.arange(6.0).reshape(6, 1) % 5
    >>> Situation(lambda X: ["yes"] * len(X), rows + [[1.0]], rows).X.ravel().tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 1.0]
    """

    model: Any
    X: Any
    background: Any


@attrs.frozen(eq=False)
class Kit:
    """Models, explanations and expected failures of a plugin, for the conformance kit.

    A plugin's module names a function that returns one: ``FAITHKIT_KIT = "my_plugin.kit:kit"``. It is called
    only when the plugin is checked, and may raise `unittest.SkipTest` if a library is missing.

    Parameters
    ----------
    situations : mapping of str to Situation
        Models that its explainers can read, instead of the kit's models: each a fitted model, six rows to
        explain, of which the second and the last are equal, and a background.
    samples : mapping of str to Sample
        Explanations of new kinds with their instances, none of them missing, on which its relations and
        discretizers are checked.
    expected_failures : mapping of str to str
        Checks that are expected to fail, each with the reason: by name for every component of the plugin, or
        by id (``shap-chunking_is_irrelevant``) for one. It is a failure if one of them passes.

    Examples
    --------
    >>> Kit(expected_failures={"mine-chunking_is_irrelevant": "It looks at all rows."}).situations
    {}
    """

    situations: Mapping[str, Situation] = attrs.field(factory=dict)
    samples: Mapping[str, Sample] = attrs.field(factory=dict)
    expected_failures: Mapping[str, str] = attrs.field(factory=dict)
    skipped: str = attrs.field(default="", repr=False)  # the reason if nothing can be checked


@attrs.frozen
class Candidate:
    """A component to check, and the kit to check it with."""

    entry: Entry
    kit: Kit = attrs.field(factory=Kit)

    @property
    def component(self) -> Component:
        """The declaration of the component."""
        return self.entry.component

    @property
    def name(self) -> str:
        """The name of the component, which is the subject of messages."""
        return self.component.name


def load_kit(module: Any) -> Kit:
    """Return the kit of a plugin's module; an empty kit if it names none."""
    import_string = getattr(module, KIT_CONSTANT, None)
    if import_string is None:
        return Kit()
    owner = f"{KIT_CONSTANT} of {module.__name__}"
    build_kit = Component(name="kit", factory=import_string, summary="A plugin's kit.").load()
    try:
        kit = build_kit()
    except SkipTest as reason:
        return Kit(skipped=str(reason))
    except FaithkitError:
        raise
    except (Exception, SystemExit) as error:
        remedy = "It names a function without parameters."
        raise PluginError(f"{owner} failed with {describe(error).rstrip('.')}. {remedy}") from error
    if not isinstance(kit, Kit):
        raise PluginError(f"{owner} gave a {type(kit).__name__}: expected a faithkit_conformance.Kit.")
    return kit
