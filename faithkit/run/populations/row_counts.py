"""Count rows by explanation and prediction, in memory or in a log of any size."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.relations import SameExplanation
from faithkit.inputs.logs.log import Log
from faithkit.inputs.logs.log_files import open_log
from faithkit.inputs.objects.explanation_forms import as_explanations
from faithkit.inputs.predictions.labels import class_list, encode
from faithkit.inputs.predictions.outcome import Outcome, materialise, parse_outcome
from faithkit.measure.counting.census import Census
from faithkit.run.components.discretization import choose_discretizer, discretize
from faithkit.run.components.learning import learns
from faithkit.run.components.resolution import ResolvedComponent, resolve_installed_component
from faithkit.run.populations.log_passes import LogReader
from faithkit.run.populations.on_disk import OnDisk
from faithkit.run.provenance import versions


@attrs.frozen(eq=False, kw_only=True)
class RowCounts:
    """The number of rows by explanation and prediction; returned by `count_rows` and `count_log`.

    `count[i]` rows have the explanation `explanations[explanation[i]]` and the prediction
    `predictions[prediction[i]]`. No pair occurs twice.

    Attributes
    ----------
    explanations : Explanations
        Each distinct explanation once, with the identity that the discretizer gave it.
    predictions : list
        Each distinct prediction once: a label, a number, or a list of numbers.
    explanation, prediction, count : array of int
    discretizer : str
        The discretizer, as "name:param=value,…".
    outcome : dict
        What predictions are: `kind`, `within`, and `unasked` where `kind` was inferred.
    versions : dict of str to str
        The versions of the packages that the counts depend on.
    """

    explanations: Explanations
    predictions: list[Any]
    explanation: NDArray[np.int64]
    prediction: NDArray[np.int64]
    count: NDArray[np.int64]
    discretizer: str
    outcome: dict[str, Any]
    versions: dict[str, str]


def count_rows(
    predictions: Any,
    explanations: Any,
    *,
    discretizer: str | None = None,
    outcome: str | None = None,
    agree: str | None = None,
) -> RowCounts:
    """Count rows by explanation and prediction.

    Parameters
    ----------
    predictions, explanations
        As in `score`.
    discretizer : str, optional
        The name of an installed discretizer, or "name:param=value,…". A discretizer that learns is refused,
        because it would learn something different from each sample. By default as in `score`.
    outcome, agree : str, optional
        What predictions are, as in `score`.

    Returns
    -------
    RowCounts

    Examples
    --------
    >>> import faithkit
    >>> counts = faithkit.plugin.count_rows(["yes", "no", "yes"], ["a", "a", "a"])
    >>> counts.explanations.values.tolist(), counts.predictions, counts.count.tolist()
    (['a'], ['no', 'yes'], [1, 2])
    """
    converted = as_explanations(explanations)
    resolved_discretizer = _resolve_discretizer(
        choose_discretizer(discretizer, converted) if discretizer is None else discretizer
    )
    predictions = materialise(predictions)
    resolved_outcome = Outcome.of(outcome, agree, predictions)
    labels = encode(predictions, resolved_outcome)
    if len(converted) != len(labels.codes):
        raise InputError(
            f"{len(converted)} explanations for {len(labels.codes)} predictions: give one of each per row."
        )
    discretized = discretize(resolved_discretizer, attrs.evolve(converted, instances=None))
    census = Census.of(SameExplanation(), discretized, labels.codes, labels.classes)
    return _row_counts(census, resolved_discretizer, resolved_outcome)


def count_log(
    path: str,
    *,
    prediction: str,
    explanation: tuple[str, ...],
    discretizer: str = "original",
    outcome: str | None = None,
    agree: str | None = None,
) -> RowCounts:
    r"""Count the rows of a log by explanation and prediction; Parquet files may be larger than memory.

    Parameters
    ----------
    path : str
        A file, a folder or a pattern, as `faithkit score` takes it.
    prediction : str
        The column of the predictions. A pattern with wildcards names several columns: scores or outputs.
    explanation : tuple of str
        The columns of the explanations; patterns with wildcards are allowed.
    discretizer, outcome, agree
        As in `count_rows`.

    Returns
    -------
    RowCounts

    Examples
    --------
    >>> import os, tempfile, faithkit
    >>> path = os.path.join(tempfile.mkdtemp(), "log.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("label,phi\nyes,0.5\nno,-1\nyes,0.50\n")
    >>> counts = faithkit.plugin.count_log(path, prediction="label", explanation=("phi",))
    >>> counts.explanations.values.ravel().tolist(), counts.count.tolist()
    ([0.5, -1.0], [2, 1])
    """
    resolved_discretizer, (kind, *_) = _resolve_discretizer(discretizer), parse_outcome(outcome, agree)
    log = open_log(path, prediction, explanation, outcome=kind)
    if isinstance(log, Log):
        return count_rows(
            log.predictions,
            log.explanations,
            discretizer=resolved_discretizer.text,
            outcome=outcome,
            agree=agree,
        )
    reader = LogReader(log, resolved_discretizer, log.outcome(agree))
    return _row_counts(OnDisk(reader).raw_census, resolved_discretizer, reader.outcome)


def _row_counts(census: Census, discretizer: ResolvedComponent, outcome: Outcome) -> RowCounts:
    return RowCounts(
        explanations=census.explanations,
        predictions=class_list(census.labels),
        explanation=census.owner,
        prediction=census.label,
        count=census.count,
        discretizer=discretizer.text,
        outcome=outcome.to_dict(),
        versions=versions([discretizer]),
    )


def _resolve_discretizer(discretizer: str | ResolvedComponent) -> ResolvedComponent:
    """Return a discretizer, and refuse one that learns: counts of two samples could not be compared."""
    if not isinstance(discretizer, str | ResolvedComponent):
        raise InputError(
            f"the discretizer is a {type(discretizer).__name__}; expected the name of an installed one: give "
            "a name, or explanations that are discretized already."
        )
    if isinstance(discretizer, str):
        discretizer = resolve_installed_component("discretizer", discretizer)
    if learns(discretizer):
        raise InputError(
            f"the discretizer {discretizer.text} learns from explanations, so counts of two samples could "
            "not be compared: choose one that does not learn, such as original."
        )
    return discretizer
