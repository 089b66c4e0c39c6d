from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainer():
    yield Component(name="singular", factory="healthy:Scaled", summary="The hook's name lacks an s.")


@hookimpl(optionalhook=True)
def faithkit_hook_of_the_future():
    return []
