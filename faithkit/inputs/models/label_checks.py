"""What a model answers: one label per row in any container, or an error that says what to write instead."""

from typing import Any

import numpy as np
import pandas as pd

from faithkit.arrays.containers import as_array, unmasked
from faithkit.errors import InputError
from faithkit.inputs.models import label_records as records
from faithkit.inputs.models.model_names import as_list, as_option, written
from faithkit.inputs.objects.conversion import as_column
from faithkit.inputs.predictions.outcome import NUMBERS, Outcome, asked_as, gone_through
from faithkit.wording import describe

_LABEL_KINDS = {"string", "boolean", "integer", "floating", "mixed-integer-float", "empty"}


def checked_labels(answer: Any, n: int, model: Any) -> np.ndarray:
    """Return the labels of n rows, one-dimensional, comparable and none missing, or say what is wrong."""
    answer = records.best_labels(answer) if records.is_records(answer) else answer
    answer = gone_through(answer) if isinstance(answer, list) else answer
    labels = _as_array(unmasked(as_column(answer), "the model's labels"))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = as_array(labels[:, 0])
    if labels.ndim != 1:
        what = f"an array of shape {labels.shape}" if labels.ndim else f"a {type(answer).__name__}"
        raise InputError(
            f"the model returned {what} for {n} rows; expected one label per row."
            f"{_what_else(labels, n, model)}"
        )
    if len(labels) != n:
        labels_text = f"{len(labels)} label{'' if len(labels) == 1 else 's'}"
        raise InputError(
            f"the model returned {labels_text} for {n} rows; expected one label per row. "
            "A predictor answers each row by itself: check that it neither drops nor aggregates rows."
        )
    _check_none_missing(labels, n)
    return _plain(labels)


def _check_none_missing(labels: np.ndarray, n: int) -> None:
    missing = np.asarray(pd.isna(labels))
    if not missing.any():
        return
    what, expected, otherwise = "label", "str, bool, int or float", ", or name the label"
    if labels.dtype.kind == "f" and Outcome.of(None, None, labels).kind == NUMBERS:
        what, expected, otherwise = "number", "one for each", ""
    raise InputError(
        f"the model returned a missing {what} ({labels[missing.argmax()]!r}) for {int(missing.sum())} of {n} "
        f"rows; expected {expected}. Drop those rows{otherwise}."
    )


def _what_else(answer: np.ndarray, n: int, model: Any) -> str:
    """Say what to write where an answer may be scores or numbers."""
    if answer.ndim != 2 or len(answer) != n or answer.dtype.kind not in "biuf":
        return ""
    width = answer.shape[1]
    return (
        f" If these are scores, write faithkit.Predictor(scores={written(model)}, classes={as_list(width)}), "
        f"with your labels in the order of the columns (CLI: {as_option(width)}); if they are numbers, say "
        f"{asked_as(NUMBERS)}."
    )


def _as_array(answer: Any) -> np.ndarray:
    try:
        return as_array(answer)
    except ValueError as error:  # a ragged list of lists
        raise InputError(
            f"the model returned a {type(answer).__name__} that is no array ({describe(error)}); "
            "expected one label per row."
        ) from error


def _plain(labels: np.ndarray) -> np.ndarray:
    """Accept labels that can be compared and sorted."""
    if labels.dtype.kind in "biufU":
        return labels
    kind = pd.api.types.infer_dtype(labels)
    if labels.dtype.kind != "O" or kind not in _LABEL_KINDS:
        types = sorted({type(label).__name__ for label in labels})
        raise InputError(
            f"the model's labels are of type {', '.join(types)}; "
            "expected all str, all bool or all numbers. Convert them, for example with str."
        )
    return labels
