"""A plugin that can be loaded and used, and breaks its promises."""

import numpy as np  # noqa: F401 (listing plugins pays for it)

from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainers():
    """Offer what depends on everything but the row."""
    factory = "careless_faithkit.components:Careless"
    yield Component(name="careless", factory=factory, summary="Some numbers.", inputs=("table",))


@hookimpl
def faithkit_discretizers():
    """Offer a name that another plugin has."""
    yield Component(name="top", factory="careless_faithkit.components:Top", summary="The top of something.")
