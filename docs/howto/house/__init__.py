"""The example plugin of the how-to pages, with one component of each kind."""

from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_discretizers():
    """Yield a discretizer, and an alias for it with a preset parameter."""
    factory = "house.discretizers:TopSet"
    yield Component(
        name="top-set", factory=factory, summary="Keep the set of the k top features.", kinds=("vector",)
    )
    yield Component(
        name="top-1",
        factory=factory,
        summary="Keep the top feature.",
        kinds=("vector",),
        params={"k": 1},
    )


@hookimpl
def faithkit_estimators():
    """Yield an estimator."""
    yield Component(
        name="smoothed",
        factory="house.estimators:Smoothed",
        summary="Leave-one-out, shrunk towards one half if there are few other instances.",
    )


@hookimpl
def faithkit_executors():
    """Yield an executor."""
    yield Component(
        name="polite",
        factory="house.executors:Polite",
        summary="In this process, with rests in which others can use the machine.",
    )


@hookimpl
def faithkit_reporters():
    """Yield a reporter."""
    yield Component(
        name="markdown",
        factory="house.reporters:Markdown",
        summary="The measures as a table for a wiki.",
        types=(".md", "text/markdown"),
    )


@hookimpl
def faithkit_adapters():
    """Yield an adapter of objects, and one of texts."""
    yield Component(
        name="memos",
        factory="house.adapters:Memos",
        summary="Memos of a legacy program: their reasons, in any order.",
        types=("house.Memo",),
    )
    yield Component(
        name="memo-texts",
        factory="house.adapters:MemoTexts",
        summary="Memos of a legacy program as texts: their reasons, in any order.",
        types=("text",),
    )


@hookimpl
def faithkit_loaders():
    """Yield a loader."""
    yield Component(
        name="cards",
        factory="house.loaders:Cards",
        summary="Score cards of a legacy program.",
        types=(".card",),
    )


@hookimpl
def faithkit_datasets():
    """Yield a dataset."""
    yield Component(
        name="claims", factory="house.datasets:Claims", summary="500 claims, 2 facts; paid or refused."
    )
