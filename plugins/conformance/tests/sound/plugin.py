"""A sound little plugin: its relation reads what only its own explainer writes."""

import faithkit

FAITHKIT_API = 1


@faithkit.plugin.hookimpl
def faithkit_explainers():
    yield faithkit.plugin.Component(
        name="prototype",
        factory="sound.prototypes:Prototype",
        summary="The nearer of two prototypes.",
        kinds=("prototype",),
        inputs=("table",),
    )


@faithkit.plugin.hookimpl
def faithkit_relations():
    yield faithkit.plugin.Component(
        name="near-prototype",
        factory="sound.prototypes:NearPrototype",
        summary="The instance is nearer to this prototype than to the other.",
        kinds=("prototype",),
    )
