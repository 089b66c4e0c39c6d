"""A plugin of one house: what its people measure that nobody else does."""

from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_discretizers():
    """Offer a discretizer, and a second name for one setting of it."""
    which = "house.discretizers:TopSet"
    yield Component(
        name="top-set", factory=which, summary="Keep which k features matter most.", kinds=("vector",)
    )
    yield Component(
        name="top-1",
        factory=which,
        summary="Keep which one matters most.",
        kinds=("vector",),
        params={"k": 1},
    )


@hookimpl
def faithkit_estimators():
    """Offer an estimator."""
    yield Component(
        name="smoothed",
        factory="house.estimators:Smoothed",
        summary="Leave-one-out, drawn towards one half where few could be asked.",
    )


@hookimpl
def faithkit_adapters():
    """Offer an adapter."""
    yield Component(
        name="memos",
        factory="house.adapters:Memos",
        summary="Memos of the older program: their reasons, in any order.",
        types=("house.Memo",),
    )


@hookimpl
def faithkit_loaders():
    """Offer a loader."""
    yield Component(
        name="cards",
        factory="house.loaders:Cards",
        summary="Score cards of the older program.",
        types=(".card",),
    )


@hookimpl
def faithkit_datasets():
    """Offer a dataset."""
    yield Component(
        name="claims", factory="house.datasets:Claims", summary="500 claims, 2 facts; paid or refused."
    )
