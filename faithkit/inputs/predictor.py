"""What explainers are fitted with: one face for every model, which checks each answer before it counts.

A model that returns a matrix, a missing label or the wrong number of labels would otherwise become
a plausible but meaningless number much later.
"""

import contextlib
from typing import Any

import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.outcome import NUMBERS, SCORES, Outcome, as_numbers, asked_as
from faithkit.inputs.rows import Rows
from faithkit.measure.containers import copy_rows, n_rows, unmasked
from faithkit.wording import describe, few

_LABEL_KINDS = {"string", "boolean", "integer", "floating", "mixed-integer-float", "empty"}


class Predictor:
    """A model as explainers see it: labels, and scores where the model has them.

    Parameters
    ----------
    model : object with `predict`, or callable
        Called with X; returns one label per row (str, bool, int or float; a column is flattened).
    classes : sequence, optional
        The labels in the order of the columns of `scores`. By default the model's `classes_`.
    background : array, DataFrame, sparse matrix or list of str, optional
        For a model without `classes_`: the distinct labels it gives these rows become `classes`, sorted.
        Without it `classes` is None.
    outcome : str, optional
        "labels", "numbers" or "scores": what is explained. By default numbers for a regressor, and for a
        model that gives the background floats that are not whole; else labels.
    within : float, optional
        By how much two numbers may differ that are measured as equal, for explainers that need to know.

    Attributes
    ----------
    model
        The model itself.
    classes : numpy.ndarray or None
        The labels in the order of the columns of `scores`; None when nobody said.
    declared : bool
        Whether somebody said which labels there are, or they are those of the background.
    is_regressor : bool
        Whether predictions are numbers; then there are no `classes`, and `scores` are the predictions.
    within : float or None
        By how much two numbers may differ that are measured as equal; None when nobody said.

    Examples
    --------
    >>> def approve(X):
    ...     return np.where(X[:, 0] > 1000, "yes", "no")
    >>> X = np.array([[500.0], [1500.0]])
    >>> predictor = Predictor(approve, background=X)
    >>> predictor.predict(X).tolist(), predictor.classes.tolist(), predictor.has_scores
    (['no', 'yes'], ['no', 'yes'], False)

    An answer that is not one label per row is an error that says so:

    >>> Predictor(lambda X: X[:1, 0]).predict(X)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the model returned 1 label for 2 rows; expected one label per row. ...
    """

    def __init__(
        self,
        model: Any,
        *,
        classes: Any = None,
        background: Rows = None,
        outcome: str | None = None,
        within: float | None = None,
    ) -> None:
        declared = classes is not None
        if isinstance(model, Predictor):
            declared = declared or model.declared
            classes = model.classes if classes is None else classes
            outcome = NUMBERS if outcome is None and model.is_regressor else outcome
            within = model.within if within is None else within
            model = model.model
        _check_model(model)
        self.model: Any = model
        self.within: float | None = within
        self.is_regressor: bool = _says_regressor(model) if outcome is None else outcome == NUMBERS
        self.declared: bool = declared or getattr(model, "classes_", None) is not None
        self.classes: np.ndarray | None = None
        self.classes = self._known_classes(classes, background, outcome)

    @classmethod
    def of(
        cls,
        model: Any,
        *,
        classes: Any = None,
        background: Rows = None,
        outcome: str | None = None,
        within: float | None = None,
    ) -> "Predictor":
        """Return `model` if it is a Predictor already, and a Predictor of it otherwise."""
        if isinstance(model, cls) and outcome is None:
            return model
        return cls(model, classes=classes, background=background, outcome=outcome, within=within)

    def predict(self, X: Rows) -> np.ndarray:
        """Return the labels of the rows of X, one-dimensional and without missing values.

        Those of a regressor are floats, one per row, or a row of them where it has several outputs.

        The model gets a copy, so that nothing it does to its input can change another answer. An empty X is
        answered without asking the model, which might not take it.
        """
        n = n_rows(X)
        if self.is_regressor:
            return self._numbers(X, n)
        if n == 0:
            return np.empty(0, dtype=object if self.classes is None else self.classes.dtype)
        return _checked_labels(self._ask(self._predict, X), n)

    def answers(self, X: Rows, outcome: Outcome | None = None) -> np.ndarray:
        """Return what is measured of the rows of X: labels, numbers (of several outputs, rows) or scores."""
        if outcome is not None and outcome.kind == SCORES:
            return self.scores(X)
        return self.predict(X)

    @property
    def has_scores(self) -> bool:
        """Whether there are scores: `predict_proba`, `decision_function`, or what a regressor predicts."""
        return self.is_regressor or _score_method(self.model) is not None

    def scores(self, X: Rows) -> np.ndarray:
        """Return the model's scores as float64 of shape (n, K), columns in the order of `classes`.

        They are `predict_proba`, or else `decision_function`, whose single column d for
        two classes becomes the two columns −d and d. Those of a regressor are its predictions, a column for
        each of its outputs.
        """
        if self.is_regressor:
            found = self.predict(X)
            return found.reshape(len(found), -1) if len(found) else np.empty((0, 1))
        n, name = n_rows(X), self._score_method()
        if n == 0:
            return np.empty((0, 0 if self.classes is None else len(self.classes)))
        scores = _as_floats(unmasked(self._ask(getattr(self.model, name), X), "the model's scores"))
        if name == "decision_function" and scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        self._check_scores(scores, n)
        return scores

    def scores_are_single(self, X: Rows) -> bool:
        """Whether the model computes its scores of some rows in single precision."""
        method = self._predict if self.is_regressor else getattr(self.model, self._score_method())
        answer = self._ask(method, X)
        return bool(getattr(answer, "dtype", None) == np.float32)

    def __repr__(self) -> str:
        classes = None if self.classes is None else self.classes.tolist()
        return f"Predictor({_name(self.model)}, classes={classes})"

    @property
    def _predict(self) -> Any:
        return getattr(self.model, "predict", self.model)

    def _numbers(self, X: Rows, n: int) -> np.ndarray:
        if n == 0:
            return np.empty(0)
        found = as_numbers(unmasked(self._ask(self._predict, X), "the predictions"))
        found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
        if len(found) != n:
            many = f"{len(found)} prediction{'' if len(found) == 1 else 's'}"
            raise InputError(f"the model returned {many} for {n} rows; expected one for each.")
        return found

    def _known_classes(self, classes: Any, background: Rows, outcome: str | None) -> np.ndarray | None:
        if self.is_regressor:
            return None
        if classes is None:
            classes = getattr(self.model, "classes_", None)
        if classes is None:
            return None if background is None else self._classes_in(background, outcome)
        if any(isinstance(label, list | np.ndarray) for label in classes):
            raise InputError("the model has classes for several outputs; expected a model with one output.")
        known = np.asarray(classes)
        if len(set(known.tolist())) != len(known):
            raise InputError(f"the classes are {known.tolist()}; expected distinct labels.")
        return known

    def _classes_in(self, background: Rows, outcome: str | None) -> np.ndarray | None:
        found = self.predict(background)
        if outcome is None and Outcome.of(None, None, found).kind == NUMBERS:
            self.is_regressor = True
            return None
        return np.unique(found)

    def _score_method(self) -> str:
        name = _score_method(self.model)
        if name is None and self.is_regressor:
            raise InputError(
                f"{_name(self.model)} predicts numbers and gives no scores: say {asked_as(NUMBERS)}, "
                "or give a classifier."
            )
        if name is None:
            counts = self.classes is not None and self.classes.dtype.kind in "iuf"
            amounts = f" If its labels are amounts, say {asked_as(NUMBERS)}." if counts else ""
            raise InputError(
                f"{_name(self.model)} gives labels only: it has neither predict_proba nor decision_function. "
                "Explainers such as shap, lime, lime-text and gradient need scores. Give a model with those, "
                "or use an explainer that needs labels only, such as tree, anchors or nearest-neighbor."
                f"{amounts}"
            )
        return name

    def _ask(self, method: Any, X: Rows) -> Any:
        advice = "Check that X has the columns, order and types the model was trained on."
        with foreign(f"{_name(self.model)}, asked about {n_rows(X)} rows,", advice):
            return method(copy_rows(X))  # its own, for some models add a column, or scale in place

    def _check_scores(self, scores: np.ndarray, n: int) -> None:
        width = scores.shape[-1] if self.classes is None else len(self.classes)
        if scores.ndim != 2 or scores.shape != (n, width):
            raise InputError(
                f"the model's scores have shape {scores.shape}; expected {n} rows and one column per class "
                f"({'unknown' if self.classes is None else few(map(str, self.classes))}). "
                "Give Predictor(model, classes=…) the labels in the order of the columns."
            )
        if np.isnan(scores).any():
            raise InputError(
                f"the model's scores have NaN in {int(np.isnan(scores).any(axis=1).sum())} of {n} rows; "
                "expected numbers. Impute missing values in X, or give a model that takes them."
            )


def _check_model(model: Any) -> None:
    if isinstance(model, type):
        raise InputError(f"the model is the class {model.__name__}; expected a fitted instance of it.")
    if not hasattr(model, "predict") and hasattr(model, "state_dict"):
        raise InputError(
            f"the model is the PyTorch module {type(model).__name__}, which gives scores and no labels. "
            "Wrap it: TorchClassifier(module, classes) or TorchRegressor(module), of "
            "faithkit_feature_importance."
        )
    if not callable(getattr(model, "predict", model)):
        raise InputError(
            f"the model is of type {type(model).__name__}; expected an object with a predict method, "
            "or a callable that takes X and returns labels."
        )


def _says_regressor(model: Any) -> bool:
    """Whether a model calls itself a regressor, in scikit-learn's way or in the way of older libraries."""
    tags = getattr(model, "__sklearn_tags__", None)
    if tags is None or isinstance(model, type):
        return getattr(model, "_estimator_type", None) == "regressor"
    with contextlib.suppress(Exception):  # one that is not whole may still predict
        return getattr(tags(), "estimator_type", None) == "regressor"
    return False


def _score_method(model: Any) -> str | None:
    methods = ("predict_proba", "decision_function")
    return next((name for name in methods if callable(getattr(model, name, None))), None)


def _checked_labels(answer: Any, n: int) -> np.ndarray:
    labels = _as_array(unmasked(answer, "the model's labels"))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InputError(
            f"the model returned an array of shape {labels.shape} for {n} rows; expected one label per row. "
            "If these are scores, return the class of the highest: classes[scores.argmax(axis=1)]; if they "
            f"are numbers, say {asked_as(NUMBERS)}."
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


def _as_array(answer: Any) -> np.ndarray:
    try:
        return np.asarray(answer)
    except ValueError as error:  # a ragged list of lists
        raise InputError(
            f"the model returned a {type(answer).__name__} that is no array ({describe(error)}); "
            "expected one label per row."
        ) from error


def _as_floats(answer: Any) -> np.ndarray:
    try:
        return np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the model's scores are no numbers ({describe(error)}); expected one number per row and class."
        ) from error


def _plain(labels: np.ndarray) -> np.ndarray:
    """Accept labels that can be compared and sorted, and give numbers in object arrays a number's dtype."""
    if labels.dtype.kind in "biufU":
        return labels
    kind = pd.api.types.infer_dtype(labels)
    if labels.dtype.kind != "O" or kind not in _LABEL_KINDS:
        types = sorted({type(label).__name__ for label in labels})
        raise InputError(
            f"the model's labels are of type {', '.join(types)}; "
            "expected all str, all bool or all numbers. Convert them, for example with str."
        )
    return labels if kind == "string" else np.array(labels.tolist())


def _name(model: Any) -> str:
    return getattr(model, "__name__", None) or type(model).__name__
