from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainers():
    yield {"name": "dictionary", "factory": "healthy:Scaled"}
    yield Component(name="beside", factory="healthy:Scaled", summary="Beside the dictionary.")
