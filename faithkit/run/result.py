"""What was measured and how sure it is, and the ways to tell it: as JSON, a table, a picture, a text."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import attrs
import pandas as pd

from faithkit.measure import MEASURES
from faithkit.measure.estimate import Estimate
from faithkit.report.report import Report
from faithkit.run.components.setup import Setup
from faithkit.run.diagnostics import Diagnosis
from faithkit.run.next_steps import Stage, next_steps
from faithkit.run.populations.population import Population, SavedPopulation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCHEMA = 1
"""The number of the form in which results are written: it changes whenever `results.schema.json` does."""


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Result(Report):
    """The numbers of one explanation system on one sample, and what they were measured of and how.

    It tells what it has; `Evaluation` adds what takes the rows' counts.
    """

    n: int
    n_explanations: int
    unexplained: int
    why_unexplained: dict[str, int]
    remarks: dict[str, int]
    singletons: float
    chance: float | None
    uniqueness: float
    effective: float | None = None
    uninformative: bool | None = None
    clusters: int | None = None
    pool: int | None = None
    tails: float | None = None
    notes: tuple[str, ...] = ()
    measures: Mapping[str, Estimate]
    why_no_sufficiency: str | None
    relation: str | None
    setup: Setup
    population: Population
    _steps: list[str] | None = None
    _saved_diagnoses: tuple[Diagnosis, ...] = ()  # those of a file, whose rows are gone
    _found: list[str] = attrs.field(factory=list, init=False)

    @property
    def consistency(self) -> Estimate:
        """Whether the same explanation goes with the same prediction."""
        return self.measures["consistency"]

    @property
    def sufficiency(self) -> Estimate | None:
        """Whether wherever an explanation applies the prediction is the same; None if it was not measured."""
        return self.measures.get("sufficiency")

    @property
    def confidence(self) -> float:
        """The confidence of the intervals."""
        return self.setup.confidence

    @property
    def data(self) -> dict[str, Any]:
        """The size and the fingerprint of what was evaluated: computed when asked for, since it reads all."""
        return self.population.data()

    @property
    def next_steps(self) -> list[str]:
        """What to do next, in at most three sentences: computed when asked for, since rows are asked again.

        Examples
        --------
        >>> import faithkit
        >>> faithkit.score([0, 0, 1] * 20, ["a", "b", "b"] * 20).next_steps[0]
        'About 174 rows would narrow the interval of consistency to ± 0.05.'
        """
        if self._steps is not None:  # those of a file, whose rows are gone
            return list(self._steps)
        if not self._found:
            of_result = ("n", "measures", "setup", "population", "pool", "unexplained")
            self._found.extend(next_steps(Stage(**{name: getattr(self, name) for name in of_result})))
        return list(self._found)

    def to_dict(self, data: bool = True, steps: bool = True) -> dict[str, Any]:
        """Return the result as JSON values; the same question gives the same bytes.

        Parameters
        ----------
        data : bool
            Whether to tell the fingerprint of what was evaluated, for which all rows are read.
        steps : bool
            Whether to tell what to do next, for which rows are asked again.
        """
        told = {
            "schema": SCHEMA,
            "n": self.n,
            "n_explanations": self.n_explanations,
            "unexplained": self.unexplained,
            "why_unexplained": self.why_unexplained,
            "remarks": self.remarks,
            "uniqueness": self.uniqueness,
            "singletons": self.singletons,
            "chance": self.chance,
            "effective": self.effective,
            "uninformative": self.uninformative,
            "clusters": self.clusters,
            "pool": self.pool,
            "tails": self.tails,
            "notes": list(self.notes),
            "measures": {
                name: self.measures[name].to_dict() if name in self.measures else None for name in MEASURES
            },
            "why_no_sufficiency": self.why_no_sufficiency,
            "relation": self.relation,
            **self.setup.to_dict(),
        }
        saved = [diagnosis.saved() for diagnosis in self._saved_diagnoses]
        told |= {"diagnostics": saved} if saved else {}
        told |= {"next_steps": self.next_steps} if steps else {}
        return told | {"data": self.data} if data else told

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Self:
        """Make a result of what `to_dict` told: all numbers, and no rows behind them."""
        found = {name: one for name, one in told["measures"].items() if one is not None}
        names = ("n", "n_explanations", "unexplained", "why_unexplained", "remarks", "singletons", "chance")
        return cls(
            **{name: told[name] for name in (*names, "uniqueness", "why_no_sufficiency", "relation")},
            effective=told["effective"],
            uninformative=told["uninformative"],
            clusters=told["clusters"],
            pool=told["pool"],
            tails=told["tails"],
            notes=tuple(told["notes"]),
            measures={name: Estimate.from_dict(one, told["n"]) for name, one in found.items()},
            setup=Setup.from_dict(told, found["consistency"]["confidence"]),
            population=SavedPopulation(told["data"]),
            steps=told.get("next_steps"),
            saved_diagnoses=tuple(map(Diagnosis.from_dict, told.get("diagnostics", ()))),
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measure.

        Examples
        --------
        >>> import faithkit
        >>> faithkit.score([0, 0], ["a", "a"]).to_frame()["value"].tolist()
        [1.0]
        """
        rows = {name: found.to_row() for name, found in self.measures.items()}
        return pd.DataFrame.from_dict(rows, orient="index")

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw each measure with its interval and bracket, and return the Matplotlib axes.

        Without `ax` they are those of a new figure, which a notebook shows, once; pyplot does not know it.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score(["yes", "yes", "no"], ["a", "a", "b"])
        >>> result.plot().figure.savefig("measures.png")  # doctest: +SKIP
        """
        from faithkit.report import plots

        estimates = {"consistency": self.consistency, "sufficiency": self.sufficiency}
        axes = plots.line_axes(len(estimates)) if ax is None else ax
        return plots.measures(axes, estimates)


def with_ends(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of estimates with the ends of their brackets in two columns, as files have them."""
    bracket = pd.DataFrame(frame["bracket"].tolist(), columns=["bracket_low", "bracket_high"])
    return pd.concat([frame.drop(columns="bracket"), bracket], axis="columns")
