"""The module is in order; what its components name is not."""

import sys

from faithkit.errors import InputError
from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainers():
    for name in ("exiting", "based", "closing", "unsigned", "untold", "unlisted"):
        yield Component(name=name, factory=f"hostile_factories:{name}", summary="…")
    yield Component(name="moved", factory="refuses_in_our_words:X", summary="…")
    yield Component(name="hidden", factory="hostile_factories:hall.door", summary="…")


def exiting():
    sys.exit(0)


def based():
    raise BaseException("no")


def closing():
    raise GeneratorExit


class Unsigned:
    """Its signature cannot be read, but it can be called."""

    @property
    def __signature__(self):
        raise SystemExit(0)

    def __call__(self):
        return "made"


unsigned = Unsigned()


class MuteError(InputError):
    def __str__(self):
        raise SystemExit(0)


def untold():
    raise ValueError(MuteError())


class Hall:
    """It has no door, and does not tell what it has."""

    def __dir__(self):
        raise SystemExit(0)


hall = Hall()


class Unlisted:
    def __init__(self):
        raise KeyError("a missing setting")


unlisted = Unlisted
