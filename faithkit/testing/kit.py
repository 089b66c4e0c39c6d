"""What a plugin gives to the conformance kit: models that its explainers read, and what is known to fail."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from unittest import SkipTest

import attrs

from faithkit.errors import PluginError
from faithkit.explanations.explanations import Sample
from faithkit.extension.component import Component
from faithkit.foreign import foreign
from faithkit.inputs.evaluation_inputs import EvaluationInputs

NAMED = "FAITHKIT_KIT"
"""The constant of a plugin's module that says where its kit is, as an import string."""


@attrs.frozen(eq=False)
class Kit:
    """What is to be tried of a plugin, in place of or besides what the conformance kit has.

    A plugin's module names a function that returns one: ``FAITHKIT_KIT = "my_plugin.kit:kit"``. It is called
    only where the plugin is checked, and may raise `unittest.SkipTest` where a library is missing.

    Parameters
    ----------
    situations : mapping of str to Situation
        Models that its explainers can read, instead of the kit's: each a fitted model, six rows to explain,
        of which the second and the last are equal, and a background.
    samples : mapping of str to Sample
        Explanations of new kinds with their instances, none of them missing, for its relations and
        discretizers to be tried on.
    expected_failures : mapping of str to str
        Checks that are known to fail, each with the reason: by name for every component of the plugin, or by
        id (``shap-chunking_is_irrelevant``) for one. One that passes is a failure.

    Examples
    --------
    >>> Kit(expected_failures={"mine-chunking_is_irrelevant": "It looks at all rows."}).situations
    {}
    """

    situations: Mapping[str, EvaluationInputs] = attrs.field(factory=dict)
    samples: Mapping[str, Sample] = attrs.field(factory=dict)
    expected_failures: Mapping[str, str] = attrs.field(factory=dict)
    skipped: str = attrs.field(default="", repr=False)  # why nothing can be tried


def kit_of(module: Any) -> Kit:
    """Return what a plugin's module gives; an empty kit where it names none."""
    place = getattr(module, NAMED, None)
    if place is None:
        return Kit()
    who = f"{NAMED} of {module.__name__}"
    found = Component(name="kit", factory=place, summary="A plugin's kit.").load()
    with foreign(who, "It names a function without parameters.", PluginError):
        try:
            made = found()
        except SkipTest as reason:
            return Kit(skipped=str(reason))
    if not isinstance(made, Kit):
        raise PluginError(f"{who} gave a {type(made).__name__}: expected a faithkit.testing.Kit.")
    return made


_samples: ContextVar[Mapping[str, Sample] | None] = ContextVar("samples", default=None)


@contextmanager
def given_samples(samples: Mapping[str, Sample]) -> Iterator[None]:
    """Try relations and discretizers on these explanations, too."""
    token = _samples.set(samples)
    try:
        yield
    finally:
        _samples.reset(token)


def samples() -> Mapping[str, Sample]:
    """Return the explanations that the plugin in hand gives."""
    return _samples.get() or {}
