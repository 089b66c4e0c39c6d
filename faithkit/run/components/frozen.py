"""Frozen components: fitted once and never again, so that two samples are measured alike."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, fit_relation
from faithkit.measure.protocols import get_optional_attribute
from faithkit.run.components.discretization import fit_discretizer, learns
from faithkit.run.components.resolution import ResolvedComponent, resolve_component
from faithkit.run.populations.on_disk import learns_from_rows


class FrozenDiscretizer:
    """A fitted discretizer without the method `fit`."""

    def __init__(self, discretizer: Any) -> None:
        self.discretize = discretizer.discretize
        self.tell = get_optional_attribute(discretizer, "tell")
        self.name = get_optional_attribute(discretizer, "name") or type(discretizer).__name__


class FrozenRelation(Relation):
    """A fitted relation whose `fit` does nothing."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self.name = relation.name
        self.groups = relation.groups
        self.instance_only = relation.instance_only
        self.packed = relation.packed
        self.declared_kinds = relation.declared_kinds

    def key(self, explanations: Explanations) -> Any:
        """Return the relation's key."""
        return self.relation.key(explanations)

    def holds(self, sample: Sample, explanations: Explanations) -> NDArray[np.bool_]:
        """Return the relation's answer."""
        return self.relation.holds(sample, explanations)

    def __str__(self) -> str:
        return str(self.relation)


def fit_and_freeze_discretizer(discretizer: Any, explanations: Explanations) -> ResolvedComponent:
    """Return a discretizer, fitted to explanations and frozen if it learns.

    Examples
    --------
    >>> frozen = fit_and_freeze_discretizer("quantile:bins=2", Explanations.vectors([[1.0], [2.0], [9.0]]))
    >>> frozen.text, learns(frozen)
    ('quantile:bins=2', False)
    """
    resolved = resolve_component("discretizer", discretizer)
    if not learns(resolved):
        return resolved
    fit_discretizer(resolved, explanations)
    return attrs.evolve(resolved, instance=FrozenDiscretizer(resolved.instance))


def fit_and_freeze_relation(relation: Any, X: Any) -> ResolvedComponent:
    """Return a relation, fitted to instances and frozen if it learns."""
    resolved = resolve_component("relation", relation)
    if not learns_from_rows(resolved.instance):
        return resolved
    return attrs.evolve(resolved, instance=FrozenRelation(fit_relation(resolved.instance, X)))
