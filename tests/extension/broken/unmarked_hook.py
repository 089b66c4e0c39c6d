from faithkit.plugin import Component

FAITHKIT_API = 1


def faithkit_explainers():
    yield Component(name="unmarked", factory="healthy:Scaled", summary="The decorator was forgotten.")
