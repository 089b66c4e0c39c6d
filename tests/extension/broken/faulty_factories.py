"""The module is in order; what its components name is not."""

import sys

from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainers():
    for name in ("exiting", "unsigned", "unlisted"):
        yield Component(name=name, factory=f"faulty_factories:{name}", summary="…")
    yield Component(name="moved", factory="refuses_in_our_words:X", summary="…")


def exiting():
    sys.exit(0)


class Unsigned:
    """Its signature cannot be read, but it can be called."""

    __signature__ = "none"

    def __call__(self):
        return "made"


unsigned = Unsigned()


class Unlisted:
    def __init__(self):
        raise KeyError("a missing setting")


unlisted = Unlisted
