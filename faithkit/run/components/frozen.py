"""Components that have learnt and learn no more, so that two samples are measured alike."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, fitted
from faithkit.measure.protocols import said
from faithkit.run.components.discretization import learns, teach
from faithkit.run.components.resolution import ResolvedComponent, component
from faithkit.run.populations.on_disk import learns_from_rows


class FrozenDiscretizer:
    """A discretizer without the method `fit`."""

    def __init__(self, discretizer: Any) -> None:
        self.discretize = discretizer.discretize
        self.tell = said(discretizer, "tell")
        self.name = said(discretizer, "name") or type(discretizer).__name__


class FrozenRelation(Relation):
    """A relation whose `fit` does nothing."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self.name = relation.name
        self.groups = relation.groups
        self.instance_only = relation.instance_only
        self.packed = relation.packed
        self.declared_kinds = relation.declared_kinds

    def key(self, explanations: Explanations) -> Any:
        """Return what the relation reads."""
        return self.relation.key(explanations)

    def holds(self, sample: Sample, explanations: Explanations) -> NDArray[np.bool_]:
        """Ask the relation."""
        return self.relation.holds(sample, explanations)

    def __str__(self) -> str:
        return str(self.relation)


def learnt_discretizer(given: Any, explanations: Explanations) -> ResolvedComponent:
    """Let a discretizer learn from explanations, if it learns at all.

    Examples
    --------
    >>> found = learnt_discretizer("quantile:bins=2", Explanations.vectors([[1.0], [2.0], [9.0]]))
    >>> found.text, learns(found)
    ('quantile:bins=2', False)
    """
    found = component("discretizer", given)
    if not learns(found):
        return found
    teach(found, explanations)
    return attrs.evolve(found, instance=FrozenDiscretizer(found.instance))


def learnt_relation(given: Any, X: Any) -> ResolvedComponent:
    """Let a relation learn from instances, if it learns at all."""
    found = component("relation", given)
    if not learns_from_rows(found.instance):
        return found
    return attrs.evolve(found, instance=FrozenRelation(fitted(found.instance, X)))
