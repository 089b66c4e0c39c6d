"""A sound little plugin: its relation reads what only its own explainer writes."""

import faithkit

FAITHKIT_API = 1


@faithkit.hookimpl
def faithkit_explainers():
    yield faithkit.Component(
        name="prototype",
        factory="testing.sound.prototypes:Prototype",
        summary="The nearer of two prototypes.",
        kinds=("prototype",),
        inputs=("table",),
    )


@faithkit.hookimpl
def faithkit_relations():
    yield faithkit.Component(
        name="near-prototype",
        factory="testing.sound.prototypes:NearPrototype",
        summary="The instance is nearer to this prototype than to the other.",
        kinds=("prototype",),
    )
