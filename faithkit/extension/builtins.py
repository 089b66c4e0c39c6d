"""The kernel's own plugin: it comes in through the same entry point and hooks as everybody else's.

That keeps the extension API honest: what the kernel needs, a third party gets.
"""

from collections.abc import Iterator

from faithkit.extension.component import Component
from faithkit.extension.hookspecs import hookimpl

FAITHKIT_API = 1


@hookimpl
def faithkit_relations() -> Iterator[Component]:
    """Offer the relations that compare explanations with one another."""
    yield Component(
        name="same-explanation",
        factory="faithkit.measure.relations:SameExplanation",
        summary="The instance has the very same explanation: the relation of consistency.",
    )
    yield Component(
        name="near-explanation",
        factory="faithkit.measure.relations:NearExplanation",
        summary="The instance's own explanation lies within a distance of this one.",
        kinds=("vector",),
    )


@hookimpl
def faithkit_discretizers() -> Iterator[Component]:
    """Offer the discretizer that changes nothing."""
    yield Component(
        name="original",
        factory="faithkit.measure.discretizers:Original",
        summary="Explanations as they are: only equal ones count as the same.",
    )


@hookimpl
def faithkit_estimators() -> Iterator[Component]:
    """Offer the paper's estimator and its three relatives."""
    yield Component(
        name="leave-one-out",
        factory="faithkit.measure.estimators:LeaveOneOut",
        summary="The paper's estimator: the share of the other instances that agree; alone scores 0.",
    )
    yield Component(
        name="plug-in",
        factory="faithkit.measure.estimators:PlugIn",
        summary="The instance itself counts too: the accuracy of the Gibbs decoder.",
    )
    yield Component(
        name="majority",
        factory="faithkit.measure.estimators:Majority",
        summary="Agreement with the commonest label: the accuracy of the optimal decoder.",
    )
    yield Component(
        name="verified-only",
        factory="faithkit.measure.estimators:VerifiedOnly",
        summary="Leave-one-out over those instances that have another one to check against.",
    )
