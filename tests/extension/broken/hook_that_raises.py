from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainers():
    yield Component(name="early", factory="healthy:Scaled", summary="Before the failure.")
    raise RuntimeError("the licence server\ndoes not answer")


@hookimpl
def faithkit_relations():
    yield Component(name="spared", factory="healthy:Scaled", summary="From another hook.")
