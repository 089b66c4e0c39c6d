"""A plugin's own contribution to the conformance kit: models, explanations and expected failures."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from unittest import SkipTest

import attrs

from faithkit.errors import PluginError
from faithkit.explanations.explanations import Sample
from faithkit.extension.component import Component
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
        raise PluginError(f"{owner} gave a {type(kit).__name__}: expected a faithkit.testing.Kit.")
    return kit


_current_samples: ContextVar[Mapping[str, Sample] | None] = ContextVar("samples", default=None)


@contextmanager
def use_samples(samples: Mapping[str, Sample]) -> Iterator[None]:
    """Check relations and discretizers on these explanations as well."""
    token = _current_samples.set(samples)
    try:
        yield
    finally:
        _current_samples.reset(token)


def current_samples() -> Mapping[str, Sample]:
    """Return the explanations of the plugin that is being checked."""
    return _current_samples.get() or {}
