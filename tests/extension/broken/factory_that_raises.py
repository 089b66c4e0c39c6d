from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainers():
    yield Component(name="refusing", factory="factory_that_raises:refuse", summary="Raises ValueError.")
    yield Component(name="crashing", factory="factory_that_raises:crash", summary="Raises OSError.")


def refuse(k=1):
    raise ValueError(f"k={k} is too small")


def crash():
    raise OSError("disk full")
