from faithkit.plugin import Component, hookimpl


@hookimpl
def faithkit_explainers():
    yield Component(name="unversioned", factory="healthy:Scaled", summary="From a module without a version.")
