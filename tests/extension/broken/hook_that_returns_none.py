from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainers():
    Component(name="forgotten", factory="healthy:Scaled", summary="Made, and not returned.")
