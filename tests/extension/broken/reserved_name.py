from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_estimators():
    yield Component(name="majority", factory="reserved_name:Usurper", summary="The kernel's name.")


@hookimpl
def faithkit_relations():
    yield Component(name="majority", factory="reserved_name:Usurper", summary="Of another kind: no clash.")


class Usurper:
    pass
