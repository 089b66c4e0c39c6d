"""Check a model's output: one label per row, or scores of classes, in any container.

Pipelines for texts return records instead: for each row {"label": …, "score": …}, or a list of one record
per label.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.containers import as_array, n_rows, strip_mask
from faithkit.errors import InputError
from faithkit.inputs.models.classes import classes_code, classes_option
from faithkit.inputs.models.recognition import model_code, model_name
from faithkit.inputs.objects.conversion import as_column, as_rows
from faithkit.inputs.predictions.outcome import NUMBERS, Outcome, materialise, outcome_option
from faithkit.inputs.rows import Rows
from faithkit.wording import describe, join_few

_LABEL_KINDS = {"string", "boolean", "integer", "floating", "mixed-integer-float", "empty"}


@attrs.frozen(eq=False)
class ScoreFunction:
    """A model made from a function that returns scores, one column per class.

    For two classes the function may return one number per row, the probability of the second class.
    `predict_proba` returns the scores on any scale, because explainers call this method.

    Parameters
    ----------
    function : callable
        Takes X and returns (n, K) scores, or (n,) probabilities of the second of two classes.
    classes_ : sequence
        The labels in the order of the columns.

    Examples
    --------
    >>> approve = ScoreFunction(lambda X: X[:, 0] / 2000, ["no", "yes"])
    >>> approve.predict(np.array([[500.0], [1500.0]])).tolist()
    ['no', 'yes']
    >>> approve.predict_proba(np.array([[500.0]])).tolist()
    [[0.75, 0.25]]
    """

    function: Callable[[Any], Any]
    classes_: Sequence[Any] = attrs.field(converter=as_array)

    @classmethod
    def of(cls, model: Any, scores: Any, classes: Any) -> "ScoreFunction":
        """Build the model from the arguments of `Predictor`, and check them."""
        if model is not None:
            raise InputError(f"give a model or scores: Predictor(scores={model_code(scores)}, classes=[…]).")
        if not callable(scores):
            method = "model.predict_proba" if hasattr(scores, "predict_proba") else "a function that takes X"
            raise InputError(f"scores is of type {type(scores).__name__}; expected {method}.")
        if classes is None:
            raise InputError(
                "scores need classes, the labels that they belong to: write "
                f"faithkit.Predictor(scores={model_code(scores)}, classes=[…]), with a label for each column."
            )
        return cls(scores, classes)

    @property
    def __name__(self) -> str:
        return model_name(self.function)

    def predict(self, X: Rows) -> np.ndarray:
        """Return the class with the highest score, the first one of a tie."""
        labels: np.ndarray = np.asarray(self.classes_)[self.predict_proba(X).argmax(axis=1)]
        return labels

    def predict_proba(self, X: Rows) -> np.ndarray:
        """Return the scores, one column per class."""
        n, answer = n_rows(X), self.function(X)
        scores = as_scores(strip_mask(as_rows(answer, texts=False), "the scores"))
        if scores.shape in ((n,), (n, 1)) and len(self.classes_) == 2:
            scores = _add_first_class(scores.reshape(n))
        if scores.shape != (n, len(self.classes_)):
            raise InputError(
                f"{model_name(self.function)} returned scores of shape {scores.shape} for {n} rows and "
                f"{len(self.classes_)} classes ({join_few(map(str, self.classes_))}); expected a row of "
                "scores for each row, with one for each class."
            )
        n_missing = int(np.isnan(scores).any(axis=1).sum())
        if n_missing:
            raise InputError(
                f"{model_name(self.function)} returned NaN in the scores of {n_missing} of {n} rows, which "
                "have no highest then: impute missing values in X, or give a model that takes them."
            )
        return scores


def as_scores(answer: Any) -> np.ndarray:
    """Return scores as an array of floats; single precision stays, because it says how exact they are.

    >>> as_scores([[1, 2]]).dtype, as_scores(np.ones(2, np.float32)).dtype
    (dtype('float64'), dtype('float32'))
    """
    try:
        scores = np.asarray(answer)
        if scores.dtype.kind == "c":
            raise TypeError(f"they are {scores.dtype}")
        return scores if scores.dtype == np.float32 else scores.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the scores are no numbers ({describe(error)}); expected one number per row and class. Of a "
            "model that returns labels, leave scores and classes out (CLI: --classes)."
        ) from error


def _add_first_class(second: np.ndarray) -> np.ndarray:
    """Return the probabilities of both classes, given those of the second class."""
    if len(second) and not (np.isnan(second) | ((second >= 0) & (second <= 1))).all():
        raise InputError(
            "one score per row is taken for the probability of the second class, and these are from "
            f"{np.nanmin(second):.4g} to {np.nanmax(second):.4g}. Of log-odds d or distances, return both "
            "columns: numpy.column_stack([-d, d])."
        )
    return np.column_stack([1 - second, second])


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

    def __call__(self, X: Rows) -> np.ndarray:
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
