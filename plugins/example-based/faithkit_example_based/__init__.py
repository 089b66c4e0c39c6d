"""Explanations by example (section 3.3 of the paper)."""

from collections.abc import Iterable

import faithkit

FAITHKIT_API = 1


@faithkit.plugin.hookimpl
def faithkit_explainers() -> Iterable[faithkit.plugin.Component]:
    """Provide the explainers whose explanations are rows: neighbours and counterfactuals."""
    yield faithkit.plugin.Component(
        name="nearest-neighbor",
        factory="faithkit_example_based.nearest_neighbor:NearestNeighbor",
        summary="The k nearest of a set of prototypes; as model and explainer its consistency is 1.",
        kinds=("example",),
        inputs=("table",),
    )
    yield faithkit.plugin.Component(
        name="nearest-counterfactual",
        factory="faithkit_example_based.nearest_counterfactual:NearestCounterfactual",
        summary="The closest row of the background with another label or number, refined on request.",
        kinds=("example",),
        inputs=("table",),
    )
    yield faithkit.plugin.Component(
        name="dice",
        factory="faithkit_example_based.dice_search.explainer:Dice",
        summary="A row like the instance that the model answers otherwise: DiCE's searches, mended.",
        kinds=("example",),
        inputs=("table",),
        requires=("dice_ml",),
    )


@faithkit.plugin.hookimpl
def faithkit_relations() -> Iterable[faithkit.plugin.Component]:
    """Provide the relations of prototypes and of counterfactuals."""
    yield faithkit.plugin.Component(
        name="nearest",
        factory="faithkit_example_based.relations:Nearest",
        summary="The example is the instance's nearest prototype.",
        kinds=("example",),
        inputs=("table",),
    )
    yield faithkit.plugin.Component(
        name="within",
        factory="faithkit_example_based.relations:Within",
        summary="The instance lies within a distance of the example.",
        kinds=("example",),
        inputs=("table",),
    )
    yield faithkit.plugin.Component(
        name="in-ball",
        factory="faithkit_example_based.relations:InBall",
        summary="The instance is nearer to the explained one than its counterfactual is.",
        kinds=("example",),
        inputs=("table",),
    )


@faithkit.plugin.hookimpl
def faithkit_discretizers() -> Iterable[faithkit.plugin.Component]:
    """Provide the paper's discretizations of counterfactuals."""
    yield faithkit.plugin.Component(
        name="delta",
        factory="faithkit_example_based.change_discretizers:Delta",
        summary="What the example changes, and by how much.",
        kinds=("example",),
        inputs=("table",),
    )
    yield faithkit.plugin.Component(
        name="delta-sign",
        factory="faithkit_example_based.change_discretizers:DeltaSign",
        summary="In which direction the example changes each column.",
        kinds=("example",),
        inputs=("table",),
    )
    yield faithkit.plugin.Component(
        name="is-feature-modified",
        factory="faithkit_example_based.change_discretizers:IsFeatureModified",
        summary="Which columns the example changes.",
        kinds=("example",),
        inputs=("table",),
    )


@faithkit.plugin.hookimpl
def faithkit_adapters() -> Iterable[faithkit.plugin.Component]:
    """Provide the adapter of counterfactuals from dice-ml."""
    yield faithkit.plugin.Component(
        name="dice-counterfactuals",
        factory="faithkit_example_based.dice_counterfactuals:DiceCounterfactuals",
        summary="The first counterfactual of each row, as dice-ml has them.",
        types=(
            "dice_ml.counterfactual_explanations.CounterfactualExplanations",
            "dice_ml.diverse_counterfactuals.CounterfactualExamples",
        ),
        requires=("dice_ml",),
    )
