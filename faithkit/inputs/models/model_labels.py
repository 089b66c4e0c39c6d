"""Check the labels that a model returns: one label per row, in any container.

Pipelines for texts return records instead: for each row {"label": …, "score": …}, or a list of one record
per label.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.containers import as_array, strip_mask
from faithkit.errors import InputError
from faithkit.inputs.models.classes import classes_code, classes_option
from faithkit.inputs.models.recognition import model_code, model_name
from faithkit.inputs.models.score_function import ScoreFunction
from faithkit.inputs.objects.conversion import as_column
from faithkit.inputs.predictions.outcome import NUMBERS, Outcome, materialise, outcome_option
from faithkit.wording import describe, join_few

_LABEL_KINDS = {"string", "boolean", "integer", "floating", "mixed-integer-float", "empty"}


def check_labels(answer: Any, n: int, model: Any) -> np.ndarray:
    """Return the labels of n rows as a one-dimensional array of comparable labels, none missing."""
    answer = best_labels(answer) if is_records(answer) else answer
    answer = materialise(answer) if isinstance(answer, list) else answer
    labels = _as_array(strip_mask(as_column(answer), "the model's labels"))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = as_array(labels[:, 0])
    if labels.ndim != 1:
        description = f"an array of shape {labels.shape}" if labels.ndim else f"a {type(answer).__name__}"
        raise InputError(
            f"the model returned {description} for {n} rows; expected one label per row."
            f"{_advise_on_matrix(labels, n, model)}"
        )
    if len(labels) != n:
        labels_text = f"{len(labels)} label{'' if len(labels) == 1 else 's'}"
        raise InputError(
            f"the model returned {labels_text} for {n} rows; expected one label per row. "
            "A predictor answers each row by itself: check that it neither drops nor aggregates rows."
        )
    _check_none_missing(labels, n)
    _check_comparable(labels)
    return labels


def _check_none_missing(labels: np.ndarray, n: int) -> None:
    is_missing = np.asarray(pd.isna(labels))
    if not is_missing.any():
        return
    noun, expected, alternative = "label", "str, bool, int or float", ", or name the label"
    if labels.dtype.kind == "f" and Outcome.of(None, None, labels).kind == NUMBERS:
        noun, expected, alternative = "number", "one for each", ""
    raise InputError(
        f"the model returned a missing {noun} ({labels[is_missing.argmax()]!r}) for {int(is_missing.sum())} "
        f"of {n} rows; expected {expected}. Drop those rows{alternative}."
    )


def _advise_on_matrix(answer: np.ndarray, n: int, model: Any) -> str:
    """Return advice for a model that may return scores or several numbers per row."""
    if answer.ndim != 2 or len(answer) != n or answer.dtype.kind not in "biuf":
        return ""
    width = answer.shape[1]
    return (
        f" If these are scores, write faithkit.Predictor(scores={model_code(model)}, "
        f"classes={classes_code(width)}), with your labels in the order of the columns "
        f"(CLI: {classes_option(width)}); if they are numbers, say {outcome_option(NUMBERS)}."
    )


def _as_array(answer: Any) -> np.ndarray:
    try:
        return as_array(answer)
    except ValueError as error:  # a ragged list of lists
        raise InputError(
            f"the model returned a {type(answer).__name__} that is no array ({describe(error)}); "
            "expected one label per row."
        ) from error


def _check_comparable(labels: np.ndarray) -> None:
    """Check that labels can be compared and sorted."""
    if labels.dtype.kind in "biufU":
        return
    if labels.dtype.kind != "O" or pd.api.types.infer_dtype(labels) not in _LABEL_KINDS:
        types = sorted({type(label).__name__ for label in labels})
        raise InputError(
            f"the model's labels are of type {', '.join(types)}; "
            "expected all str, all bool or all numbers. Convert them, for example with str."
        )


def is_records(answer: Any) -> bool:
    """Return whether an answer has records of labels with their scores.

    >>> is_records([{"label": "good", "score": 0.9}]), is_records([[{"label": "good", "score": 0.9}]])
    (True, True)
    >>> is_records(["good"]), is_records([[]])
    (False, False)
    """
    first = answer[0] if isinstance(answer, list | tuple) and answer else None
    first = first[0] if isinstance(first, list | tuple) and first else first
    return isinstance(first, Mapping) and {"label", "score"} <= set(first)


def best_labels(answer: Sequence[Any]) -> list[Any]:
    """Return the label with the highest score for each row.

    >>> best_labels([[{"label": "bad", "score": 0.1}, {"label": "good", "score": 0.9}]])
    ['good']
    """
    return [max(scores, key=scores.__getitem__) for scores in map(_scores_by_label, answer)]


def with_record_scores(model: Any, answer: Sequence[Any]) -> ScoreFunction | None:
    """Return a model of the scores in records; None if a record has the best label only."""
    labels = list(_scores_by_label(answer[0]))
    labels.sort(key=None if all(isinstance(label, int | float) for label in labels) else str)
    if len(labels) < 2 or any(set(labels) != set(_scores_by_label(row)) for row in answer):
        return None
    return ScoreFunction(_RecordScores(model, tuple(labels)), labels)


@attrs.frozen(eq=False)
class _RecordScores:
    """A function that returns the scores in a model's records as a matrix, one column per label."""

    model: Callable[[Any], Any]
    labels: tuple[Any, ...]

    @property
    def __name__(self) -> str:
        return model_name(self.model)

    def __call__(self, X: Any) -> np.ndarray:
        predict = getattr(self.model, "predict", self.model)
        return np.array([self._score_row(_scores_by_label(row)) for row in predict(X)], dtype=np.float64)

    def _score_row(self, scores: dict[Any, float]) -> list[float]:
        if set(scores) != set(self.labels):
            raise InputError(
                f"{model_name(self.model)} gave scores of {join_few(map(str, scores))} where it had given "
                f"those of {join_few(map(str, self.labels))}: let it give all labels, with top_k=None."
            )
        return [scores[label] for label in self.labels]


def _scores_by_label(row: Any) -> dict[Any, float]:
    records = [row] if isinstance(row, Mapping) else row
    try:
        scores = {record["label"]: float(record["score"]) for record in records}
    except (KeyError, TypeError, ValueError):
        scores = {}
    if not scores:
        raise InputError(
            f'the answer has {row!r} for a row; expected {{"label": …, "score": …}}, or a list of them, as '
            "for the others."
        )
    return scores
