from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainers():
    yield Component(name="popular", factory="clash_b:ExplainerB", summary="A name that two plugins use.")
    yield Component(name="only-b", factory="clash_b:ExplainerB", summary="A name of its own.")


class ExplainerB:
    pass
