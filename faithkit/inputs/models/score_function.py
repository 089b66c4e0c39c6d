"""A model made from a function that returns scores: it predicts the class with the highest score."""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from faithkit.arrays.containers import as_array, n_rows, strip_mask
from faithkit.errors import InputError
from faithkit.inputs.models.recognition import model_code, model_name
from faithkit.inputs.objects.conversion import as_rows
from faithkit.wording import describe, join_few


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

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the highest score, the first one of a tie."""
        labels: np.ndarray = np.asarray(self.classes_)[self.predict_proba(X).argmax(axis=1)]
        return labels

    def predict_proba(self, X: Any) -> np.ndarray:
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
