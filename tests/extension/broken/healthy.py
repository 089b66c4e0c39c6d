"""The control: nothing is wrong with this plugin."""

from faithkit.errors import ParameterError
from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


class Scaled:
    def __init__(self, factor, offset=0, *, method="exact"):
        if factor == 0:
            raise ParameterError("factor must not be 0")
        self.factor, self.offset, self.method = factor, offset, method


def anything(**options):
    return options


@hookimpl
def faithkit_explainers():
    yield Component(name="scaled", factory="healthy:Scaled", summary="Scaled.", kinds=("vector",))
    yield Component(name="twice", factory="healthy:Scaled", summary="Scaled by two.", params={"factor": 2})
    yield Component(name="anything", factory="healthy:anything", summary="Takes any parameter.")
