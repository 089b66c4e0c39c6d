"""The input of checks: a plugin's contribution to the conformance kit, and the candidate component."""

from collections.abc import Mapping
from typing import Any
from unittest import SkipTest

import attrs

from faithkit.errors import PluginError
from faithkit.explanations.explanations import Sample
from faithkit.extension.component import Component
from faithkit.extension.entries import Entry
from faithkit.inputs.evaluation_inputs import EvaluationInputs
from faithkit.third_party import guard

KIT_CONSTANT = "FAITHKIT_KIT"
"""The constant of a plugin's module that holds the import string of its kit."""


@attrs.frozen(eq=False)
class Kit:
    """Models, explanations and expected failures of a plugin, for the conformance kit.

    A plugin's module names a function that returns one: ``FAITHKIT_KIT = "my_plugin.kit:kit"``. It is called
    only when the plugin is checked, and may raise `unittest.SkipTest` if a library is missing.

    Parameters
    ----------
    situations : mapping of str to EvaluationInputs
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

    situations: Mapping[str, EvaluationInputs] = attrs.field(factory=dict)
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
    with guard(owner, "It names a function without parameters.", PluginError):
        try:
            kit = build_kit()
        except SkipTest as reason:
            return Kit(skipped=str(reason))
    if not isinstance(kit, Kit):
        raise PluginError(f"{owner} gave a {type(kit).__name__}: expected a faithkit_conformance.Kit.")
    return kit
