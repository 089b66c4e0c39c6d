"""The setup of a measurement: everything but the rows, shared by a sample, its groups and later samples."""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from faithkit.arguments import check_integer, check_share
from faithkit.errors import ContractError, FaithkitError, InputError
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.relations import Relation
from faithkit.extension.registry import registry
from faithkit.inputs.pairing import explain_no_default
from faithkit.inputs.predictions.outcome import LABEL_OUTCOME, Outcome
from faithkit.inputs.rows import Rows, has_input_kind
from faithkit.measure.baselines.control import MIN_DRAWS
from faithkit.measure.protocols import get_optional_attribute
from faithkit.measure.verdict import LEVEL
from faithkit.run.components.learning import THE_SAMPLE, learns, warn_about_background
from faithkit.run.components.relation_rows import RelationRows
from faithkit.run.components.resolution import (
    ResolvedComponent,
    resolve_component,
    resolve_installed_component,
)
from faithkit.run.components.system import System
from faithkit.run.provenance import versions
from faithkit.wording import join_words

MAX_PERMUTATIONS = 10_000_000  # they tell p-values down to 1e-7, and each takes another tally


def _check_confidence(confidence: Any) -> float:
    return check_share(confidence, "confidence", usual=0.95)


def _check_level(level: Any) -> float:
    return check_share(level, "faithful_at", usual=LEVEL)


def _check_permutations(permutations: Any) -> int:
    return check_integer(permutations, "permutations", minimum=0, maximum=MAX_PERMUTATIONS)


def _check_seed(seed: Any) -> int:
    return check_integer(seed, "the seed")


def _check_draws(draws: Any) -> int | None:
    if draws is None:
        return None
    number = check_integer(draws, "control_draws", minimum=0)
    if 0 < number < MIN_DRAWS:
        raise InputError(
            f"{number} draws of the control are too few: give at least {MIN_DRAWS}, or 0 for no control "
            "(control_draws=, CLI: --control-draws)."
        )
    return number


@attrs.frozen(eq=False)
class Applicability:
    """Sufficiency's relation, or the reason why there is none.

    `is_requested` is true if the user named the relation. `label` is its name in results. It includes the
    parameters, since other parameters make another relation. `learnt_from` says what it learnt from.
    """

    relation: Relation | None = None
    why_not: str | None = None
    is_requested: bool = False
    label: str | None = None
    learnt_from: str | None = None

    @classmethod
    def of(cls, relation: Any, explanations: Explanations, rows: RelationRows) -> "Applicability":
        """Resolve the user's relation, or else the one that the explanations name, and fit it to the rows."""
        if relation is None and explanations.relation is None:
            X = explanations.instances if rows.X is None else rows.X  # of a log in pieces, rows.X is None
            return cls(None, explain_no_default(explanations, X))
        try:
            if relation is None:
                resolved = resolve_installed_component("relation", str(explanations.relation))
            else:
                resolved = resolve_component("relation", relation)
            _check_rows(resolved, rows.X)
            resolved = attrs.evolve(resolved, instance=rows.fit(resolved.instance))
        except FaithkitError as error:
            if relation is not None or isinstance(error, ContractError):
                raise
            return cls(None, str(error).rstrip("."))
        name = str(resolved.instance)  # not every relation shows its parameters
        label = resolved.text if resolved.text.startswith(f"{name}:") else name
        learnt_from = rows.describe_source(resolved.instance)
        return cls(resolved.instance, is_requested=relation is not None, label=label, learnt_from=learnt_from)


def _check_rows(relation: ResolvedComponent, X: Rows | None) -> None:
    """Refuse images and series unless the relation declares that it takes them."""
    if relation.recipe is None or not isinstance(X, np.ndarray) or X.ndim < 3:
        return
    if not has_input_kind(X, registry().find("relation", relation.recipe[0]).component.inputs):
        raise InputError(
            f"the relation {relation.text} does not read rows of shape {X.shape[1:]}: use one that lists "
            "'image' or 'series' in the inputs of its component, or one of your own."
        )


@attrs.frozen(eq=False, kw_only=True)
class Setup:
    """Everything about a measurement but the rows.

    A setup that was loaded from a file has the names of its components, and no instances.

    Attributes
    ----------
    draws : int or None
        How often the control of sufficiency is drawn; None is ten times, but not for a log read in pieces.
    faithful_at : float
        The level that the lower end must reach for explanations to be called faithful.
    applicability : Applicability
        Sufficiency's relation.
    n_classes : int or None
        How many labels the model declares, whether or not they occur in the rows.
    outcome : Outcome
        What predictions are: labels, numbers or scores.
    relation_rows : RelationRows or None
        What relations learn from.
    learnt_from : str or None
        What the result says about the background.
    explained_by : mapping of str to str
        What the explainer declares about its method, such as the algorithm.
    notes : tuple of str
        Sentences on how the input was read, such as columns that the model does not use.
    pairs : tuple of pairs of str, or None
        Each explanation column of a log with the feature that it is about; None if nothing is paired.
    system : System or None
        What explains further rows; None for logged explanations.
    """

    discretizer: ResolvedComponent = attrs.field(factory=lambda: resolve_component("discretizer", "original"))
    estimator: ResolvedComponent
    confidence: float = attrs.field(default=0.95, converter=_check_confidence)
    permutations: int = attrs.field(default=0, converter=_check_permutations)
    seed: int = attrs.field(default=0, converter=_check_seed)
    draws: int | None = attrs.field(default=None, converter=_check_draws)
    faithful_at: float = attrs.field(default=LEVEL, converter=_check_level)
    applicability: Applicability = attrs.field(factory=Applicability)
    explainer: ResolvedComponent | None = None
    model: str | None = None
    n_classes: int | None = None
    outcome: Outcome = LABEL_OUTCOME
    relation_rows: RelationRows | None = None
    learnt_from: str | None = None
    explained_by: Mapping[str, str] = attrs.field(factory=dict)
    notes: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] | None = None
    system: System | None = None
    _versions: Mapping[str, str] | None = None
    _discretized: str | None = None  # of a result from a file, which has no discretizer

    @property
    def discretized(self) -> str | None:
        """What the discretizer does to explanations, in words; None if it does not say."""
        if self._discretized is not None:
            return self._discretized
        phrase = get_optional_attribute(self.discretizer.instance, "phrase")
        return phrase if isinstance(phrase, str) else None

    @property
    def explainer_text(self) -> str | None:
        """The explainer as it was written; None for logged explanations."""
        return None if self.explainer is None else self.explainer.text

    @property
    def versions(self) -> dict[str, str]:
        """The versions of everything that a number depends on."""
        if self._versions is not None:
            return dict(self._versions)
        return versions([self.discretizer] if self.explainer is None else [self.explainer, self.discretizer])

    def with_discretizer(self, discretizer: ResolvedComponent) -> "Setup":
        """Return the setup with a discretizer; warn if that learns from the sample."""
        learnt_from = self.learnt_from
        if learnt_from is None and learns(discretizer):
            warn_about_background(discretizer, is_log=self.system is None)
            learnt_from = THE_SAMPLE
        return attrs.evolve(self, discretizer=discretizer, learnt_from=learnt_from)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, with the versions of everything that a number depends on."""
        return {
            "estimator": self.estimator.text,
            "outcome": self.outcome.to_dict(),
            "permutations": self.permutations,
            "seed": self.seed,
            "explainer": self.explainer_text,
            "discretizer": self.discretizer.text,
            "discretized": self.discretized,
            "explained_by": dict(self.explained_by),
            "background": self.learnt_from,
            "pairs": None if self.pairs is None else list(map(list, self.pairs)),
            "model": self.model,
            "versions": self.versions,
        }

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any], confidence: float) -> "Setup":
        """Rebuild a setup from the output of `to_dict`."""
        explainer = payload["explainer"]
        return cls(
            explainer=None if explainer is None else ResolvedComponent("explainer", explainer, None),
            discretizer=ResolvedComponent("discretizer", payload["discretizer"], None),
            estimator=ResolvedComponent("estimator", payload["estimator"], None),
            applicability=Applicability(None, payload["why_no_sufficiency"]),
            confidence=confidence,
            faithful_at=payload["verdict"]["level"],
            permutations=payload["permutations"],
            outcome=Outcome(**payload["outcome"]),
            seed=payload["seed"],
            model=payload["model"],
            learnt_from=payload["background"],
            pairs=None
            if payload["pairs"] is None
            else tuple((name, about) for name, about in payload["pairs"]),
            explained_by=payload.get("explained_by", {}),
            versions=payload["versions"],
            discretized=payload["discretized"],
        )


def check_outcome(setup: Setup) -> None:
    """Refuse an estimator that does not accept such predictions; by default, estimators accept labels."""
    accepted = get_optional_attribute(setup.estimator.instance, "outcomes")
    if setup.outcome.kind not in accepted:
        raise InputError(
            f"the estimator {setup.estimator.text} takes {join_words(accepted, 'or')}, and predictions are "
            f"{setup.outcome.kind} here: use leave-one-out, or give labels."
        )
