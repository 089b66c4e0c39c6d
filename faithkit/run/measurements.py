"""The measurements of one explanation system: estimates, how the rows were drawn, and their counts."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import attrs

from faithkit.measure import MEASURES
from faithkit.measure.counting.count import Count
from faithkit.measure.counting.tally import Tally
from faithkit.measure.estimate import Estimate
from faithkit.measure.objections import Objection
from faithkit.measure.result_warnings import ResultWarning
from faithkit.run.components.setup import Setup
from faithkit.run.populations.population import Population
from faithkit.run.provenance import Origin

T = TypeVar("T")


@attrs.frozen
class DesignSummary:
    """How the rows of a result were drawn: weights, clusters, blocks and a pool.

    Attributes
    ----------
    effective : float or None
        How many independent instances of equal weight the sample is worth; None without weights and clusters.
    uninformative : bool or None
        Whether the user declared that neither weights nor cluster sizes are related to predictions.
    clusters : int or None
        The number of clusters.
    blocks : int or None
        The number of blocks within which rows were compared.
    pool : int or None
        The number of instances without explanations that sufficiency was also checked against.
    owners : int or None
        The number of instances, chosen by their content, whose explanations sufficiency checked; None if it
        checked all.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score([0, 0, 1], ["a", "a", "a"], clusters=["x", "x", "y"])
    >>> result.design.clusters, result.design.pool
    (2, None)
    """

    effective: float | None = None
    uninformative: bool | None = None
    clusters: int | None = None
    blocks: int | None = None
    pool: int | None = None
    owners: int | None = None


@attrs.frozen(eq=False)
class Evidence:
    """The rows of a result, and the counts of each measure.

    Attributes
    ----------
    population : Population
        The rows: in memory, in a log on disk, or in a saved result, which has only a description of them.
    counts : mapping of str to Count
        The counts of each measure; empty if the result was loaded from a file.

    Examples
    --------
    >>> import faithkit
    >>> evidence = faithkit.score(["yes", "yes", "no"], ["a", "a", "b"]).evidence
    >>> evidence.tallies["consistency"].counts.tolist()
    [[0, 2], [1, 0]]
    """

    population: Population
    counts: Mapping[str, Count] = attrs.field(factory=dict)
    _known: dict[Any, Any] = attrs.field(factory=dict, init=False)  # what takes long and was computed once

    def once(self, name: Any, compute: Callable[[], T]) -> T:
        """Compute something that follows from the rows, unless it is known."""
        if name not in self._known:
            self._known[name] = compute()
        known: T = self._known[name]
        return known

    @property
    def tallies(self) -> dict[str, Tally]:
        """The tally of each measure; raises an error if it is too large for memory."""
        if not self.counts:
            self.population.refuse("a tally is not available")
        return {measure: count.tally for measure, count in self.counts.items()}


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Measurements:
    """The numbers of one explanation system on one sample; `Result` adds what follows from them."""

    n: int
    n_explanations: int
    unexplained: int
    unexplained_share: float
    why_unexplained: dict[str, int]
    remarks: dict[str, int]
    singletons: float
    chance: float | None
    uniqueness: float
    design: DesignSummary = DesignSummary()
    tails: float | None = None
    notes: tuple[str, ...] = ()
    objections: tuple[Objection, ...] = ()
    warnings: tuple[ResultWarning, ...] = ()
    measures: Mapping[str, Estimate]
    why_no_sufficiency: str | None
    relation: str | None
    relation_phrase: str | None = None
    relation_learnt_from: str | None = None
    kind: str
    discretizer_learnt_from: str | None = None
    setup: Setup
    evidence: Evidence
    origin: Origin = attrs.field(factory=Origin)

    @property
    def both_measures(self) -> dict[str, Estimate | None]:
        """Both estimates by measure; None for one that was not measured."""
        return {name: self.measures.get(name) for name in MEASURES}

    @property
    def consistency(self) -> Estimate:
        """How often the same explanation comes with the same prediction."""
        return self.measures["consistency"]

    @property
    def sufficiency(self) -> Estimate | None:
        """How often instances in scope of an explanation get the same prediction; None if not measured."""
        return self.measures.get("sufficiency")
