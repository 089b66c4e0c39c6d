"""Diagnostics: plugins that answer an additional question about a result."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

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
from faithkit.run.components.resolution import ResolvedComponent, as_list, resolve_component
from faithkit.run.explaining.job import Job
from faithkit.third_party import guard

NONE = "none"
Evaluated = TypeVar("Evaluated", bound=Any)  # Evaluation, which imports this module
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
    """The answer of a diagnostic: its JSON values, and the sheet that people see.

    One that only a reporter needed is not `printed`: pages show it, and `to_text(verbose=True)`.
    """

    name: str
    values: Mapping[str, Any]
    shown: Sheet
    printed: bool = True

    @property
    def component(self) -> str:
        """The name of the diagnostic, without parameters and distribution."""
        return _component(self.name)

    @classmethod
    def of(cls, name: str, report: Any, printed: bool = True) -> "Diagnosis":
        """Keep the values and the sheet of a plugin's report, without the report itself."""
        with guard(f"the report of the diagnostic {name}", _MEND, ContractError):
            values, shown = report.to_dict(), report.sheet()
        if not isinstance(values, dict) or not isinstance(shown, Sheet):
            raise ContractError(
                f"the diagnostic {name} returned a {type(report).__name__} without values or a sheet. {_MEND}"
            )
        return cls(name, values, shown, printed)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Diagnosis":
        """Rebuild a diagnosis from a saved result."""
        return cls(values["name"], values["result"], Sheet.from_dict(values["sheet"]), values["printed"])

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return dict(self.values)

    def saved(self) -> dict[str, Any]:
        """Return JSON values from which it can be rebuilt and shown."""
        return {
            "name": self.name,
            "result": self.to_dict(),
            "sheet": self.shown.to_dict(),
            "printed": self.printed,
        }

    def line(self) -> str:
        """Return the text for `repr`."""
        return f"of {self.name}"

    def sheet(self) -> Sheet:
        """Return the sheet that people see."""
        return self.shown


def choose_diagnostics(asked: Any = None) -> list[tuple[ResolvedComponent, bool]]:
    """Return the diagnostics to run, and whether each was asked for; the others are the automatic ones.

    `asked` is a name, an object or a function, or several; () means no diagnostic at all, and so does "none"
    alone. One that was asked for replaces the automatic one of the same name.

    Examples
    --------
    >>> choose_diagnostics(), choose_diagnostics(())
    ([], [])
    >>> choose_diagnostics("raeder")
    Traceback (most recent call last):
    ...
    faithkit.errors.UnknownComponentError: no diagnostic 'raeder' is installed. Did you mean 'reader'? ...
    """
    given = [] if asked is None else as_list("diagnostic", asked)
    named = [resolve_component("diagnostic", diagnostic) for diagnostic in given if diagnostic != NONE]
    chosen = [(diagnostic, True) for diagnostic in named]
    if asked is not None and (not given or NONE in given):
        return chosen
    taken = {_component(diagnostic.text) for diagnostic in named}
    entries = (entry for entry in registry().entries("diagnostic") if entry.component.automatic)
    known = registry().names("diagnostic")  # a name that two distributions have is not among them
    names = (
        entry.component.name if entry.component.name in known else entry.qualified
        for entry in entries
        if entry.component.name not in taken
    )
    return chosen + [(resolve_component("diagnostic", name), False) for name in names]


def add_diagnoses(result: Evaluated, diagnostics: Sequence[tuple[ResolvedComponent, bool]]) -> Evaluated:
    """Return a result with the answers of diagnostics; an automatic one that fails is left out."""
    diagnoses = []
    for diagnostic, is_asked in diagnostics:
        try:
            if is_asked or _applies(diagnostic, result):
                diagnoses.append(Diagnosis.of(diagnostic.text, diagnose(diagnostic, result)))
        except FaithkitError as error:
            if is_asked:
                raise
            warn(f"the diagnostic {diagnostic.text} is left out: {error}")
    return _with(result, diagnoses)


def add_needed(result: Evaluated, needs: Sequence[str]) -> Evaluated:
    """Return a result with what a reporter needs and the result lacks, or a sentence that says why not."""
    taken = {diagnosis.component for diagnosis in result.diagnoses}
    missing = [text for text in needs if _component(text) not in taken]
    diagnoses = (_diagnose_quietly(text, result) for text in missing)
    return _with(result, [diagnosis for diagnosis in diagnoses if diagnosis is not None])


def _with(result: Evaluated, diagnoses: Sequence[Diagnosis]) -> Evaluated:
    if not diagnoses:
        return result
    evolved: Evaluated = attrs.evolve(result, diagnoses=(*result.diagnoses, *diagnoses))
    return evolved


def _diagnose_quietly(text: str, result: Any) -> "Diagnosis | None":
    """Return the answer of a diagnostic that a reporter needs; None if it does not apply to the result."""
    name = _component(text)
    try:
        diagnostic = resolve_component("diagnostic", text)
        if not result.evidence.counts:
            problem = "the result has no rows. Write the page where you measure"
            return Diagnosis(text, {}, Sheet(None, [f"Without the diagnostic {name}: {problem}."]), False)
        if not _applies(diagnostic, result):
            return None
        return Diagnosis.of(diagnostic.text, diagnose(diagnostic, result), printed=False)
    except FaithkitError as error:
        return Diagnosis(text, {}, Sheet(None, [f"Without the diagnostic {name}: {error}"]), False)


def _applies(diagnostic: ResolvedComponent, result: Any) -> bool:
    """Whether a diagnostic that nobody asked for by name runs on a result."""
    applies = get_optional_attribute(diagnostic.instance, "applies")
    with guard(f"the diagnostic {diagnostic.text}", error=ContractError):
        return applies is None or bool(applies(result))


def _component(text: str) -> str:
    """Return the name of a component without its parameters and its distribution."""
    return text.partition(":")[0].rpartition("/")[2]


def diagnose(diagnostic: ResolvedComponent, result: Any) -> Any:
    """Run a diagnostic on a result, and return its report."""
    with guard(f"the diagnostic {diagnostic.text}", error=ContractError):
        report = diagnostic.instance.diagnose(result)
    Diagnosis.of(diagnostic.text, report)  # raises if the report is not valid
    return report
