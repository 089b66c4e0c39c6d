"""The numbers of a result, and their output as JSON, a table and a plot."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import attrs
import pandas as pd

from faithkit.measure import MEASURES
from faithkit.measure.baselines.control import Control
from faithkit.measure.counting.tally import Count, Tally
from faithkit.measure.estimate import Estimate
from faithkit.measure.verdict import Verdict, reach_verdict
from faithkit.report.base import Report
from faithkit.run.comparisons.by_label import ByLabel
from faithkit.run.comparisons.controls import ControlComparison
from faithkit.run.components.setup import Setup
from faithkit.run.diagnostics import Diagnosis
from faithkit.run.next_steps import Stage, next_steps
from faithkit.run.populations.population import Population, SavedPopulation
from faithkit.run.provenance import Origin

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCHEMA = 1
"""The version of the JSON format of results: it changes whenever `results.schema.json` does."""


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


@attrs.frozen(eq=False)
class Evidence:
    """The rows of a result, and the counts of each measure.

    Attributes
    ----------
    population : Population
        The rows: in memory, in a log on disk, or in a saved result, which has only a description of them.
    counts : mapping of str to Count
        The counts of each measure; empty if the result was loaded from a file.
    leaks_prediction : bool
        Whether the explanations contain the prediction.

    Examples
    --------
    >>> import faithkit
    >>> evidence = faithkit.score(["yes", "yes", "no"], ["a", "a", "b"]).evidence
    >>> evidence.tallies["consistency"].counts.tolist()
    [[0, 2], [1, 0]]
    """

    population: Population
    counts: Mapping[str, Count] = attrs.field(factory=dict)
    leaks_prediction: bool = False

    @property
    def tallies(self) -> dict[str, Tally]:
        """The tally of each measure; raises an error if it is too large for memory."""
        if not self.counts:
            self.population.refuse("a tally is not available")
        return {measure: count.tally for measure, count in self.counts.items()}


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Result(Report):
    """The numbers of one explanation system on one sample.

    `Evaluation` adds everything that needs the rows.
    """

    n: int
    n_explanations: int
    unexplained: int
    why_unexplained: dict[str, int]
    remarks: dict[str, int]
    singletons: float
    chance: float | None
    uniqueness: float
    design: DesignSummary = DesignSummary()
    tails: float | None = None
    notes: tuple[str, ...] = ()
    measures: Mapping[str, Estimate]
    why_no_sufficiency: str | None
    relation: str | None
    setup: Setup
    evidence: Evidence
    origin: Origin = attrs.field(factory=Origin)
    _saved_steps: list[str] | None = None  # of a result from a file, which has no rows
    _saved_diagnoses: tuple[Diagnosis, ...] = ()
    _saved_control: ControlComparison | None = None
    _saved_labels: ByLabel | None = None
    _saved_verdict: Verdict | None = None
    _cached_steps: list[str] = attrs.field(factory=list, init=False)
    _cached_control: list[ControlComparison] = attrs.field(factory=list, init=False)
    _cached_labels: dict[int, ByLabel] = attrs.field(factory=dict, init=False)

    @property
    def consistency(self) -> Estimate:
        """How often the same explanation comes with the same prediction."""
        return self.measures["consistency"]

    @property
    def sufficiency(self) -> Estimate | None:
        """How often instances in scope of an explanation get the same prediction; None if not measured."""
        return self.measures.get("sufficiency")

    @property
    def control(self) -> Control | None:
        """The score of random explanations of the same form, chosen without the model.

        Sufficiency has a control where its relation offers one; `why_no_control` says why there is none. It
        is computed at first use, from the rows.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score([0, 0, 1], ["a", "a", "b"])
        >>> result.control is None, result.why_no_control
        (True, 'sufficiency was not measured')
        """
        return self._control_comparison.control

    @property
    def why_no_control(self) -> str | None:
        """Why sufficiency has no control; None if it has one."""
        return self._control_comparison.why_not

    @property
    def _control_comparison(self) -> ControlComparison:
        if self._saved_control is not None:
            return self._saved_control
        if not self._cached_control:
            population, sufficiency = self.evidence.population, self.evidence.counts.get("sufficiency")
            self._cached_control.append(ControlComparison.of(population, sufficiency, self.setup))
        return self._cached_control[0]

    @property
    def verdict(self) -> Verdict:
        """The conclusion about the explanations, from a closed list, with its reason.

        It rests on sufficiency if that has a control, else on consistency.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score(["yes", "no", "no"] * 50, ["a", "b", "c"] * 50)
        >>> result.verdict.name, result.verdict.measure
        ('faithful', 'consistency')
        """
        if self._saved_verdict is not None:
            return self._saved_verdict
        names_prediction = self.evidence.leaks_prediction
        return reach_verdict(self.measures, self.control, self.setup.faithful_at, names_prediction)

    def with_origin(self, **fields: Any) -> Self:
        """Return the result with a title, a note, the name of its data, …: the fields of `Origin`.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score(["yes", "no", "no"] * 50, ["a", "b", "c"] * 50)
        >>> print(result.with_origin(title="Audit of May", data="loans").to_text().splitlines()[0])
        Audit of May
        """
        return attrs.evolve(self, origin=attrs.evolve(self.origin, **fields))

    @property
    def confidence(self) -> float:
        """The confidence of the intervals."""
        return self.setup.confidence

    def provenance(self) -> dict[str, Any]:
        """Return everything that the numbers depend on: components, seed, model, versions and data.

        All rows are read for the fingerprint of the data.

        Examples
        --------
        >>> import faithkit
        >>> provenance = faithkit.score([0, 0, 1], ["a", "a", "b"]).provenance()
        >>> provenance["discretizer"], provenance["data"]["rows"]
        ('original', 3)
        """
        return self.setup.to_dict() | {"data": self.evidence.population.data()}

    @property
    def next_steps(self) -> list[str]:
        """What to do next, in at most three sentences; computed at first use, from the rows.

        Examples
        --------
        >>> import faithkit
        >>> faithkit.score([0, 0, 1] * 20, ["a", "b", "b"] * 20).next_steps[0]
        'About 174 rows in total would narrow the interval of consistency to ± 0.05.'
        """
        if self._saved_steps is not None:
            return list(self._saved_steps)
        if not self._cached_steps:
            stage = Stage(
                n=self.n,
                measures=self.measures,
                setup=self.setup,
                population=self.evidence.population,
                pool=self.design.pool,
                clusters=self.design.clusters,
                blocks=self.design.blocks,
                uniqueness=self.uniqueness,
                unexplained=self.unexplained,
            )
            self._cached_steps.extend(next_steps(stage))
        return list(self._cached_steps)

    def to_dict(self, *, include_data: bool = True, include_steps: bool = True) -> dict[str, Any]:
        """Return the result as JSON values; equal inputs give equal bytes.

        Parameters
        ----------
        include_data : bool
            Whether to include the fingerprint of the data, for which all rows are read.
        include_steps : bool
            Whether to include the next steps, which are computed from the rows.
        """
        payload = {
            "schema": SCHEMA,
            "verdict": self.verdict.to_dict(),
            "n": self.n,
            "n_explanations": self.n_explanations,
            "unexplained": self.unexplained,
            "why_unexplained": self.why_unexplained,
            "remarks": self.remarks,
            "uniqueness": self.uniqueness,
            "singletons": self.singletons,
            "chance": self.chance,
            **attrs.asdict(self.design),
            "tails": self.tails,
            "notes": list(self.notes),
            "measures": {
                name: self.measures[name].to_dict() if name in self.measures else None for name in MEASURES
            },
            "why_no_sufficiency": self.why_no_sufficiency,
            "relation": self.relation,
            "control": None if self.control is None else self.control.to_dict(),
            "why_no_control": self.why_no_control,
            **self.setup.to_dict(),
            "origin": attrs.asdict(self.origin),
        }
        saved = [diagnosis.saved() for diagnosis in self._saved_diagnoses]
        payload |= {"diagnostics": saved} if saved else {}
        payload |= {"next_steps": self.next_steps} if include_steps else {}
        return payload | {"data": self.evidence.population.data()} if include_data else payload

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any]) -> Self:
        """Rebuild a result from the output of `to_dict`: all numbers, without the rows."""
        estimates = {name: values for name, values in payload["measures"].items() if values is not None}
        names = ["n", "n_explanations", "unexplained", "why_unexplained", "remarks", "singletons", "chance"]
        names += ["uniqueness", "tails", "why_no_sufficiency", "relation"]
        design_names = [field.name for field in attrs.fields(DesignSummary)]
        return cls(
            **{name: payload[name] for name in names},
            design=DesignSummary(**{name: payload[name] for name in design_names}),
            notes=tuple(payload["notes"]),
            measures={name: Estimate.from_dict(values, payload["n"]) for name, values in estimates.items()},
            setup=Setup.from_dict(payload, estimates["consistency"]["confidence"]),
            evidence=Evidence(SavedPopulation(payload["data"])),
            origin=Origin(**payload["origin"]),
            saved_verdict=Verdict(**payload["verdict"]),
            saved_steps=payload.get("next_steps"),
            saved_control=_load_control(payload),
            saved_diagnoses=tuple(map(Diagnosis.from_dict, payload.get("diagnostics", ()))),
            saved_labels=ByLabel.from_dict(payload["by_label"]) if payload.get("by_label") else None,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measure.

        Examples
        --------
        >>> import faithkit
        >>> faithkit.score([0, 0], ["a", "a"]).to_frame()["value"].tolist()
        [1.0]
        """
        rows = {measure: estimate.to_row() for measure, estimate in self.measures.items()}
        return pd.DataFrame.from_dict(rows, orient="index")

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw each measure with its interval and bracket, and return the Matplotlib axes.

        Without `ax`, a new figure is made. A notebook shows it once, since it is not registered with pyplot.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score(["yes", "yes", "no"], ["a", "a", "b"])
        >>> result.plot().figure.savefig("measures.png")  # doctest: +SKIP
        """
        from faithkit.report.pictures import plots

        estimates = {"consistency": self.consistency, "sufficiency": self.sufficiency}
        axes = plots.make_line_axes(len(estimates)) if ax is None else ax
        return plots.draw_measures(axes, estimates)


def _load_control(payload: Mapping[str, Any]) -> ControlComparison:
    control = payload["control"]
    return ControlComparison(
        None if control is None else Control.from_dict(control), why_not=payload["why_no_control"]
    )


def split_brackets(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of estimates with the ends of their brackets in two columns, as in files."""
    bracket = pd.DataFrame(frame["bracket"].tolist(), columns=["bracket_low", "bracket_high"])
    return pd.concat([frame.drop(columns="bracket"), bracket], axis="columns")
