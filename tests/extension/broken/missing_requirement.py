from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainers():
    yield Component(
        name="demanding",
        factory="healthy:Scaled",
        summary="Needs what is not installed.",
        requires=("json", "a_library_that_nobody_has.part"),
    )
