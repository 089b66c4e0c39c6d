from faithkit import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_commands():
    yield Component(name="evaluate", factory="reserved_verb:evaluate", summary="The kernel's verb.")


def evaluate():
    raise AssertionError("click calls commands; the registry does not")
