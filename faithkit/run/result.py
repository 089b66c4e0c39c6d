"""The numbers of a result, and their output as JSON, a table and a plot."""

from collections.abc import Mapping
from typing import Any, Self

import attrs
import pandas as pd

from faithkit.arguments import check_integer
from faithkit.errors import InputError
from faithkit.jsonable import SCHEMA
from faithkit.measure import MEASURES
from faithkit.measure.baselines.control import Control
from faithkit.measure.by_label import MAX_LABELS, is_dominated, label_sizes
from faithkit.measure.estimate import Estimate
from faithkit.measure.objections import Objection
from faithkit.measure.result_warnings import LABELS, ResultWarning
from faithkit.measure.verdict import Verdict, VerdictCase, reach_verdict
from faithkit.run.comparisons.by_label import ByLabel
from faithkit.run.comparisons.controls import ControlComparison
from faithkit.run.components.setup import Setup
from faithkit.run.diagnostics import Diagnosis
from faithkit.run.measurements import DesignSummary, Evidence, Measurements
from faithkit.run.next_steps import suggest_next_steps
from faithkit.run.populations.population import SavedPopulation
from faithkit.run.provenance import Origin


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Result(Measurements):
    """The measurements of one explanation system on one sample, and what follows from them.

    `Evaluation` adds everything that needs the rows, and how a result is shown.
    """

    diagnoses: tuple[Diagnosis, ...] = ()
    _saved_steps: list[str] | None = None  # of a result from a file, which has no rows
    _saved_control: ControlComparison | None = None
    _saved_labels: ByLabel | None = None
    _saved_verdict: Verdict | None = None

    @property
    def control(self) -> Control | None:
        """What random explanations, or random scopes of the same size, get that are chosen without the model.

        Sufficiency has a control where its relation offers one, or where the instances are a table;
        `why_no_control` says why there is none. It is computed at first use, from the rows.

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
        population, sufficiency = self.evidence.population, self.evidence.counts.get("sufficiency")
        return self.evidence.once(
            "control", lambda: ControlComparison.of(population, sufficiency, self.setup)
        )

    @property
    def verdict(self) -> Verdict:
        """The conclusion about the explanations, from a closed list, with its reason.

        It rests on sufficiency if that was checked by a relation that reads instances, else on consistency.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score(["yes", "no", "no"] * 50, ["a", "b", "c"] * 50)
        >>> result.verdict.name, result.verdict.measure
        ('explanations determine the prediction', 'consistency')
        """
        if self._saved_verdict is not None:
            return self._saved_verdict
        relation = self.setup.applicability.relation
        case = VerdictCase(
            measures=self.measures,
            control=self.control,
            why_no_control=self.why_no_control,
            objections=self.objections,
            reads_instances=relation is not None and relation.reads_instances,
            are_importances=self.evidence.population.kind == "vector",
            leaks_prediction=self.leaks_prediction,
            level=self.setup.faithful_at,
        )
        return reach_verdict(case)

    @property
    def leaks_prediction(self) -> bool:
        """Whether nearly every explanation names the prediction of its own instance, and no other."""
        return any(warning.name == LABELS for warning in self.warnings)

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
        return list(self.evidence.once("steps", lambda: suggest_next_steps(self, self.verdict.measure)))

    def by_label(self, k: int = MAX_LABELS) -> ByLabel:
        """Estimate the measures of each predicted label: its rows are compared with all rows.

        A rare label hardly counts in a measure; here it has its own estimate, interval and chance. The
        estimates come from leave-one-out, whatever the estimator. P-values, and the findings by them, are
        adjusted for the number of labels by Holm's method; an interval is that of one label on its own.

        Parameters
        ----------
        k : int
            The largest number of labels: the most frequent ones.

        Examples
        --------
        Of 100 transactions, five are flagged. One of the others has their explanation:

        >>> import faithkit
        >>> predictions = ["ok"] * 95 + ["fraud"] * 5
        >>> result = faithkit.score(predictions, ["usual"] * 94 + ["abroad"] * 6)
        >>> round(result.consistency.estimate, 2)
        0.98
        >>> fraud = result.by_label()["consistency"]["fraud"]
        >>> fraud.estimate, round(fraud.chance, 2)
        (0.8, 0.04)
        """
        limit = check_integer(k, "labels", minimum=1)
        if self._saved_labels is not None:
            return self._saved_labels
        if not self.setup.outcome.has_labels:
            raise InputError(
                f"there is nothing to measure by label: the predictions are {self.setup.outcome}. Leave "
                "by_label (CLI: --by-label) out, or predict labels."
            )
        if not self.evidence.counts:
            self.evidence.population.refuse("measures by label are not available")
        return self.evidence.once(("labels", limit), lambda: self._measure_labels(limit))

    def _measure_labels(self, limit: int) -> ByLabel:
        names, control = self.evidence.population.labels, self._control_comparison.by_label
        return ByLabel.of(self.evidence.counts, self.measures, names=names, k=limit, control=control)

    @property
    def has_dominant_label(self) -> bool:
        """Whether a label has over 70 % of the rows; reports then show all labels."""
        if self._saved_labels is not None:
            sizes = [part.n for part in self._saved_labels.get("consistency", {}).values()]
            return is_dominated(max(sizes, default=0), self.n)
        if not self._has_label_counts:
            return False
        return is_dominated(int(label_sizes(self.evidence.counts["consistency"]).max()), self.n)

    @property
    def has_labels_measured(self) -> bool:
        """Whether there are measures by label, saved or to be computed."""
        return self._saved_labels is not None or self._has_label_counts

    @property
    def _has_label_counts(self) -> bool:
        return self.setup.outcome.has_labels and bool(self.evidence.counts)

    def to_dict(
        self, *, include_data: bool = True, include_steps: bool = True, by_label: bool = True
    ) -> dict[str, Any]:
        """Return the result as JSON values; equal inputs give equal bytes.

        Parameters
        ----------
        include_data : bool
            Whether to include the fingerprint of the data, for which all rows are read.
        include_steps : bool
            Whether to include the next steps, which are computed from the rows.
        by_label : bool
            Whether to include the measures of each label, which are computed from the rows.
        """
        payload: dict[str, Any] = {
            "schema": SCHEMA,
            "verdict": self.verdict.to_dict(),
            "warnings": [warning.to_dict() for warning in self.warnings],
            "objections": [objection.to_dict() for objection in self.objections],
            "n": self.n,
            "n_explanations": self.n_explanations,
            "unexplained": self.unexplained,
            "unexplained_share": self.unexplained_share,
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
            "relation_phrase": self.relation_phrase,
            "relation_learnt_from": self.relation_learnt_from,
            "kind": self.kind,
            "discretizer_learnt_from": self.discretizer_learnt_from,
            "control": None if self.control is None else self.control.to_dict(),
            "why_no_control": self.why_no_control,
            **self.setup.to_dict(),
            "origin": attrs.asdict(self.origin),
            "diagnostics": [diagnosis.saved() for diagnosis in self.diagnoses],
        }
        if include_steps:
            payload["next_steps"] = self.next_steps
        if include_data:
            payload["data"] = self.evidence.population.data()
        if by_label and self.has_labels_measured:
            payload["by_label"] = self.by_label().to_dict()
        return payload

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any]) -> Self:
        """Rebuild a result from the output of `to_dict`: all numbers, without the rows."""
        estimates = {name: values for name, values in payload["measures"].items() if values is not None}
        names = ["n", "n_explanations", "unexplained", "why_unexplained", "remarks", "singletons", "chance"]
        names += ["uniqueness", "tails", "why_no_sufficiency", "relation"]
        names += ["relation_phrase", "relation_learnt_from", "discretizer_learnt_from"]
        names += ["kind", "unexplained_share"]
        design_names = [field.name for field in attrs.fields(DesignSummary)]
        return cls(
            **{name: payload[name] for name in names},
            design=DesignSummary(**{name: payload[name] for name in design_names}),
            notes=tuple(payload["notes"]),
            objections=tuple(Objection(**objection) for objection in payload["objections"]),
            warnings=tuple(ResultWarning(**warning) for warning in payload["warnings"]),
            measures={name: Estimate.from_dict(values, payload["n"]) for name, values in estimates.items()},
            setup=Setup.from_dict(payload, estimates["consistency"]["confidence"]),
            evidence=Evidence(SavedPopulation(payload["data"])),
            origin=Origin(**payload["origin"]),
            saved_verdict=Verdict(**payload["verdict"]),
            saved_steps=payload.get("next_steps"),
            saved_control=_load_control(payload),
            diagnoses=tuple(map(Diagnosis.from_dict, payload["diagnostics"])),
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
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("measure")


def _load_control(payload: Mapping[str, Any]) -> ControlComparison:
    control = payload["control"]
    return ControlComparison(
        None if control is None else Control.from_dict(control), why_not=payload["why_no_control"]
    )


def split_brackets(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of estimates with the ends of their brackets in two columns, as in files."""
    bracket = pd.DataFrame(frame["bracket"].tolist(), columns=["bracket_low", "bracket_high"])
    return pd.concat([frame.drop(columns="bracket"), bracket], axis="columns")
