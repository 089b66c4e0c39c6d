from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainers():
    yield Component(name="Bad_Name", factory="healthy:Scaled", summary="Upper case.")
