"""Acme's plugin: one component of every kind, written against nothing but the documentation."""

from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_explainers():
    """Offer how unusual each column is."""
    yield Component(
        name="deviation",
        factory="acme_faithkit.explainer:Deviation",
        summary="How far each column is from the background's median, in quartile ranges.",
        kinds=("vector",),
        inputs=("table",),
    )


@hookimpl
def faithkit_discretizers():
    """Offer the column that stands out, and an alias for the two that do."""
    factory, kinds = "acme_faithkit.discretizer:Top", ("vector",)
    yield Component(name="top", factory=factory, summary="The columns that stand out.", kinds=kinds)
    yield Component(name="top-2", factory=factory, summary="Two of them.", kinds=kinds, params={"k": 2})


@hookimpl
def faithkit_relations():
    """Offer a relation that reads explanations."""
    yield Component(
        name="same-direction",
        factory="acme_faithkit.relation:SameDirection",
        summary="The instance deviates in the same direction, column by column.",
        kinds=("vector",),
    )


@hookimpl
def faithkit_estimators():
    """Offer an estimator that trusts small groups less."""
    yield Component(
        name="smoothed",
        factory="acme_faithkit.estimator:Smoothed",
        summary="Leave-one-out, with some agreeing and as many disagreeing instances added.",
    )
