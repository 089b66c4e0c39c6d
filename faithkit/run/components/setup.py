"""How a measurement is taken, whatever the rows: the same for a sample, its groups and a later one."""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from faithkit.arguments import share, whole_number
from faithkit.errors import ContractError, FaithkitError, InputError
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.relations import Relation, fitted
from faithkit.extension.registry import registry
from faithkit.inputs.predictions.outcome import OF_LABELS, Outcome
from faithkit.inputs.rows import is_one_of
from faithkit.measure.protocols import said
from faithkit.run.components.resolution import ResolvedComponent, component, installed_component
from faithkit.run.components.system import System
from faithkit.run.provenance import versions
from faithkit.wording import listing

MOST_PERMUTATIONS = 10_000_000
THE_SAMPLE = "the sample itself"  # that something was learnt from, which flatters it


def _confidence(given: Any) -> float:
    return share(given, "confidence", usual=0.95)


def _seed(given: Any) -> int:
    return whole_number(given, "the seed")


def _permutations(given: Any) -> int:
    times = whole_number(given, "permutations", least=0)
    if times > MOST_PERMUTATIONS:
        raise InputError(
            f"{times:,} permutations are too many: {MOST_PERMUTATIONS:,} already tell p-values down to "
            f"{1 / MOST_PERMUTATIONS:g}, and each takes another tally. Give fewer; 9999 are usual."
        )
    return times


@attrs.frozen(eq=False)
class Applicability:
    """Sufficiency's relation, or why there is none; `asked_for` where a person named it.

    `told` is what results call it: with its parameters, without which it would be another relation.
    """

    relation: Relation | None = None
    why_not: str | None = None
    asked_for: bool = False
    told: str | None = None

    @classmethod
    def of(cls, given: Any, explanations: Explanations, background: Any) -> "Applicability":
        """Find the relation that was asked for, or else the explanations' own."""
        name = given if given is not None else explanations.relation
        if name is None:
            return cls(
                None,
                f"explanations of kind {explanations.kind!r} do not say where else they apply: name a "
                "relation (relation=, CLI: --relation) to measure sufficiency",
            )
        try:
            found = installed_component("relation", name) if given is None else component("relation", given)
            _check_rows(found, background)
            relation = fitted(found.instance, background)
        except FaithkitError as error:
            if given is not None or isinstance(error, ContractError):
                raise
            return cls(None, str(error).rstrip("."))
        own = str(found.instance)
        told = found.text if found.text.startswith(f"{own}:") else own  # not all name their parameters
        return cls(relation, asked_for=given is not None, told=told)


def _check_rows(relation: ResolvedComponent, X: Any) -> None:
    """Refuse images and series for a relation that does not say that it takes them."""
    if relation.recipe is None or not isinstance(X, np.ndarray) or X.ndim < 3:
        return
    if not is_one_of(X, registry().find("relation", relation.recipe[0]).component.inputs):
        raise InputError(
            f"the relation {relation.text} does not read rows of shape {X.shape[1:]}: use one that lists "
            "'image' or 'series' in the inputs of its component, or one of your own."
        )


def declared_by_explainer(explanations: Explanations) -> dict[str, str]:
    """Return the words among what explanations share, such as the algorithm: how they were made.

    Examples
    --------
    >>> phi = Explanations.vectors([[0.1]], shared={"names": ["age"], "algorithm": "leaves"})
    >>> declared_by_explainer(phi)
    {'algorithm': 'leaves'}
    """
    return {key: value for key, value in explanations.shared.items() if isinstance(value, str)}


@attrs.frozen(eq=False, kw_only=True)
class Setup:
    """Everything about a measurement but the rows.

    `background` is what relations learn from, and `learnt_from` what the result says of it. `explained_by` is
    what the explainer says of its way: the words among what its explanations share, such as the algorithm.
    `n_classes` is how many labels the model declares to have, whatever the rows show, and `outcome` what
    predictions are. `notes` are sentences on what was made of the input, such as columns that the model does
    not use. A setup that was read from a file names its components, and has none.
    """

    discretizer: ResolvedComponent = attrs.field(factory=lambda: component("discretizer", "original"))
    estimator: ResolvedComponent
    confidence: float = attrs.field(default=0.95, converter=_confidence)
    permutations: int = attrs.field(default=0, converter=_permutations)
    seed: int = attrs.field(default=0, converter=_seed)
    applies: Applicability = attrs.field(factory=Applicability)
    explainer: ResolvedComponent | None = None
    model: str | None = None
    n_classes: int | None = None
    outcome: Outcome = OF_LABELS
    background: Any = None
    learnt_from: str | None = None
    explained_by: Mapping[str, str] = attrs.field(factory=dict)
    notes: tuple[str, ...] = ()
    system: System | None = None
    _versions: Mapping[str, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, with the versions of everything that a number depends on."""
        given = [given for given in (self.explainer, self.discretizer) if given is not None]
        return {
            "estimator": self.estimator.text,
            "outcome": self.outcome.to_dict(),
            "permutations": self.permutations,
            "seed": self.seed,
            "explainer": None if self.explainer is None else self.explainer.text,
            "discretizer": self.discretizer.text,
            "explained_by": dict(self.explained_by),
            "background": self.learnt_from,
            "model": self.model,
            "versions": versions(given) if self._versions is None else dict(self._versions),
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any], confidence: float) -> "Setup":
        """Make a setup of what `to_dict` told."""
        explainer = told["explainer"]
        return cls(
            explainer=None if explainer is None else ResolvedComponent("explainer", explainer, None),
            discretizer=ResolvedComponent("discretizer", told["discretizer"], None),
            estimator=ResolvedComponent("estimator", told["estimator"], None),
            applies=Applicability(None, told["why_no_sufficiency"]),
            confidence=confidence,
            permutations=told.get("permutations", 0),
            outcome=Outcome(**told.get("outcome", {})),
            seed=told["seed"],
            model=told["model"],
            learnt_from=told["background"],
            explained_by=told.get("explained_by", {}),
            versions=told["versions"],
        )


def check_outcome(setup: Setup) -> None:
    """Refuse an estimator that is not made for such predictions; those that do not say take labels."""
    takes = said(setup.estimator.instance, "outcomes")
    if setup.outcome.kind not in takes:
        raise InputError(
            f"the estimator {setup.estimator.text} takes {listing(takes, 'or')}, and predictions are "
            f"{setup.outcome.kind} here: use leave-one-out, or give labels."
        )
