from faithkit.plugin import hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainers(config):
    return []
