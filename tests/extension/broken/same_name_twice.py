from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainers():
    yield Component(name="twin", factory="healthy:Scaled", summary="The first.")
    yield Component(name="twin", factory="healthy:anything", summary="The second.")
    yield Component(name="single", factory="healthy:anything", summary="Beside the twins.")
