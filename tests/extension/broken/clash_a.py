from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainers():
    yield Component(name="popular", factory="clash_a:ExplainerA", summary="A name that two plugins use.")
    yield Component(name="only-a", factory="clash_a:ExplainerA", summary="A name of its own.")


class ExplainerA:
    pass
