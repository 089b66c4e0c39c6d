from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainers():
    yield Component(name="lost", factory="no_such_module:Lost", summary="Its module does not exist.")
    yield Component(name="misspelt", factory="healthy:Scald", summary="Its class does not exist.")
    yield Component(name="quitting", factory="exits_when_imported:X", summary="Its module calls sys.exit.")
    yield Component(name="constant", factory="healthy:FAITHKIT_API", summary="It cannot be called.")
    yield Component(name="preset", factory="healthy:Scaled", summary="A bad preset.", params={"factr": 1})
