"""Diagnostics: plugins that answer an additional question about a result."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import ContractError, FaithkitError, InputError, warn
from faithkit.explanations.explanations import Explanations
from faithkit.extension.registry import registry
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.counting.design import Design
from faithkit.measure.protocols import get_optional_attribute
from faithkit.report.base import Report
from faithkit.report.sheet import Sheet
from faithkit.run.components.resolution import ResolvedComponent, resolve_component
from faithkit.run.explaining.job import Job
from faithkit.third_party import guard

NONE = "none"
_MEND = "Return a faithkit.plugin.Report: it needs the methods to_dict and sheet."


@attrs.frozen(eq=False, kw_only=True)
class ExplainedRows:
    """The rows of a result with their explanations and predictions, and the model if there is one.

    Attributes
    ----------
    explanations : Explanations
        One for each row, with its identity from the discretizer.
    codes : (n,) int
        The position of each row's prediction in `predictions`.
    predictions : list
        Each distinct prediction once: a label, a number, or a list of numbers.
    outcome : str
        What predictions are: "labels", "numbers" or "scores".
    within : float or None
        How far two numbers may be apart and still agree.
    X : rows or None
        The instances, if the result has them.
    weights : (n,) float or None
        The weight of each row; the mean is 1.
    clusters : (n,) int or None
        The cluster of each row, or its block.
    trials : float
        How many independent rows of equal weight these are worth in an interval.
    """

    explanations: Explanations
    codes: NDArray[np.int64]
    predictions: list[Any]
    outcome: str
    within: float | None
    X: Any = None
    weights: NDArray[np.float64] | None = None
    clusters: NDArray[np.int64] | None = None
    trials: float
    _job: Job | None = None

    @property
    def row_predictions(self) -> list[Any]:
        """The prediction of each row."""
        return [self.predictions[code] for code in self.codes]

    @property
    def predictor(self) -> Predictor:
        """The explained model; raises an error if there is none, as for a log."""
        return self._needed_job.predictor

    @property
    def background(self) -> Any:
        """The rows that the explainer learnt from; raises an error if there are none, as for a log."""
        return self._needed_job.background

    @property
    def _needed_job(self) -> Job:
        if self._job is None:
            raise InputError(
                "the model is needed, which neither a log nor a result from a file has: evaluate the rows."
            )
        return self._job

    @classmethod
    def of(
        cls,
        explanations: Explanations,
        codes: NDArray[np.int64],
        predictions: list[Any],
        *,
        outcome: Outcome,
        design: Design | None = None,
        X: Any = None,
    ) -> "ExplainedRows":
        """Return rows with the weights and clusters of a design."""
        return cls(
            explanations=explanations,
            codes=codes,
            predictions=predictions,
            outcome=outcome.kind,
            within=outcome.within,
            X=X,
            weights=None if design is None else design.weights,
            clusters=design.unit if design is not None and design.is_clustered else None,
            trials=float(len(codes)) if design is None else design.cap * design.effective,
        )


@attrs.frozen(eq=False, repr=False)
class Diagnosis(Report):
    """The answer of a diagnostic: its JSON values, and the sheet that people see."""

    name: str
    values: Mapping[str, Any]
    shown: Sheet

    @classmethod
    def of(cls, name: str, report: Any) -> "Diagnosis":
        """Keep the values and the sheet of a plugin's report, without the report itself."""
        with guard(f"the report of the diagnostic {name}", _MEND, ContractError):
            values, shown = report.to_dict(), report.sheet()
        if not isinstance(values, dict) or not isinstance(shown, Sheet):
            raise ContractError(
                f"the diagnostic {name} returned a {type(report).__name__} without values or a sheet. {_MEND}"
            )
        return cls(name, values, shown)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Diagnosis":
        """Rebuild a diagnosis from a saved result."""
        return cls(values["name"], values["result"], Sheet.from_dict(values["sheet"]))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return dict(self.values)

    def saved(self) -> dict[str, Any]:
        """Return JSON values from which it can be rebuilt and shown."""
        return {"name": self.name, "result": self.to_dict(), "sheet": self.shown.to_dict()}

    def line(self) -> str:
        """Return the text for `repr`."""
        return f"of {self.name}"

    def sheet(self) -> Sheet:
        """Return the sheet that people see."""
        return self.shown


def requested_diagnostics(names: Sequence[str]) -> tuple[ResolvedComponent, ...] | None:
    """Return the diagnostics that the user named; None if the user named none, so that the quick ones run.

    Examples
    --------
    >>> requested_diagnostics([]), requested_diagnostics(["none"])
    (None, ())
    >>> requested_diagnostics(["raeder"])
    Traceback (most recent call last):
    ...
    faithkit.errors.UnknownComponentError: no diagnostic 'raeder' is installed. Did you mean 'reader'? ...
    """
    if not names:
        return None
    return tuple(resolve_component("diagnostic", name) for name in names if name != NONE)


def automatic_diagnostics(result: Any) -> tuple[ResolvedComponent, ...]:
    """Return the installed diagnostics that run on a result if the user names none.

    A diagnostic that fails is left out with a warning, since the user did not ask for it.
    """
    names = []
    for name in registry().names("diagnostic"):
        try:
            diagnostic = resolve_component("diagnostic", name)
            if _is_automatic(diagnostic, result):
                names.append(diagnostic)
        except FaithkitError as error:
            warn(f"the diagnostic {name} is left out: {error}")
    return tuple(names)


def _is_automatic(diagnostic: ResolvedComponent, result: Any) -> bool:
    is_automatic = get_optional_attribute(diagnostic.instance, "is_automatic")
    with guard(f"the diagnostic {diagnostic.text}", error=ContractError):
        return is_automatic is not None and bool(is_automatic(result))


def diagnose(diagnostic: ResolvedComponent, result: Any) -> Any:
    """Run a diagnostic on a result, and return its report."""
    with guard(f"the diagnostic {diagnostic.text}", error=ContractError):
        report = diagnostic.instance.diagnose(result)
    Diagnosis.of(diagnostic.text, report)  # raises if the report is not valid
    return report
