"""The Predictor: one interface to every model, which checks each answer of the model.

Without these checks a matrix, a missing label or a wrong number of labels would lead to a plausible but
meaningless result much later.
"""

from typing import Any

import numpy as np

from faithkit.arrays.containers import copy_rows, n_rows, strip_mask, take_rows
from faithkit.errors import InputError
from faithkit.inputs.models.classes import (
    check_classes,
    check_column_order,
    class_positions,
    classes_code,
    classes_option,
    match_class_names,
    rename_labels,
)
from faithkit.inputs.models.model_answers import (
    ScoreFunction,
    as_scores,
    check_labels,
    is_records,
    with_record_scores,
)
from faithkit.inputs.models.recognition import is_tagged_regressor, model_name, resolve_model
from faithkit.inputs.objects.conversion import as_column
from faithkit.inputs.predictions.outcome import NUMBERS, SCORES, Outcome, as_numbers, outcome_option
from faithkit.inputs.rows import Rows
from faithkit.third_party import guard
from faithkit.wording import join_few

_ORDER_CHECK_ROWS = 200  # rows on which the order of score columns is compared with labels


class Predictor:
    """A model as explainers see it: labels, and scores where the model has them.

    Parameters
    ----------
    model : object with `predict`, or callable
        Called with X; returns one label per row (str, bool, int or float; a column is flattened), or for
        each text {"label": …, "score": …}, or a list of such records, one per label. Objects that an adapter
        accepts are models as well.
    scores : callable, in place of a model
        Called with X; returns one column of scores per class, or, for two classes, the probability of the
        second. The label is the class with the highest score.
    classes : sequence, optional
        The labels in the order of the columns of `scores`. By default the model's `classes_`. If the model
        has `classes_`, these are new names for them.
    background : array, DataFrame, sparse matrix or list of str, optional
        For a model without `classes_`: the sorted distinct labels of these rows become `classes`. Without a
        background, `classes` is None.
    outcome : str, optional
        What is explained: "labels", "numbers" or "scores". By default numbers for a regressor, and for a
        model that predicts fractions for the background; else labels.
    within : float, optional
        The largest difference of two numbers that count as equal, for explainers that use it.

    Attributes
    ----------
    model
        The model itself.
    classes : numpy.ndarray or None
        The labels in the order of the columns of `scores`; None if unknown.
    declared : bool
        Whether the user or the model named the classes. Otherwise they are the labels of the background.
    is_regressor : bool
        Whether predictions are numbers. Then there are no `classes`, and `scores` are the predictions.
    within : float or None
        The largest difference of two numbers that count as equal; None if not declared.

    Examples
    --------
    >>> def approve(X):
    ...     return np.where(X[:, 0] > 1000, "yes", "no")
    >>> X = np.array([[500.0], [1500.0]])
    >>> predictor = Predictor(approve, background=X)
    >>> predictor.predict(X).tolist(), predictor.classes.tolist(), predictor.has_scores
    (['no', 'yes'], ['no', 'yes'], False)

    A function may return the scores of named classes:

    >>> def chances(X):
    ...     return np.column_stack([2000 - X[:, 0], X[:, 0]]) / 2000
    >>> scored = Predictor(scores=chances, classes=["no", "yes"])
    >>> scored.predict(X).tolist(), scored.has_scores
    (['no', 'yes'], True)

    An answer must have one label per row:

    >>> Predictor(lambda X: X[:1, 0]).predict(X)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the model returned 1 label for 2 rows; expected one label per row. ...
    """

    def __init__(
        self,
        model: Any = None,
        *,
        scores: Any = None,
        classes: Any = None,
        background: Rows = None,
        outcome: str | None = None,
        within: float | None = None,
    ) -> None:
        declared = classes is not None
        classes = check_classes(classes) if declared else None
        if isinstance(model, Predictor):
            declared = declared or model.declared
            classes = model.classes if classes is None else classes
            outcome = outcome or (NUMBERS if model.is_regressor else model._outcome)
            within = model.within if within is None else within
            model = model.model
        if scores is not None:
            model = ScoreFunction.of(model, scores, classes)
        self.model: Any = resolve_model(model, classes, outcome)
        self.within: float | None = within
        self._outcome: str | None = outcome
        self.is_regressor: bool = is_tagged_regressor(self.model) if outcome is None else outcome == NUMBERS
        self._use_record_scores(background)
        self.declared: bool = declared or getattr(self.model, "classes_", None) is not None
        self.classes: np.ndarray | None = None
        self.classes = self._resolve_classes(classes, background, outcome)
        self._new_names = match_class_names(getattr(self.model, "classes_", None), self.classes)
        self._background = background
        self._is_order_checked: bool = self.is_regressor or isinstance(self.model, ScoreFunction)

    def predict(self, X: Rows) -> np.ndarray:
        """Return the labels of the rows of X, one-dimensional and without missing values.

        A regressor returns floats, one per row, or one column per output.

        The model gets a copy of X, so that changes to its input affect no other answer. For an empty X the
        model is not called, because it might not accept it.
        """
        n = n_rows(X)
        if self.is_regressor:
            return self._predict_numbers(X, n)
        if n == 0:
            return np.empty(0, dtype=object if self.classes is None else self.classes.dtype)
        labels = check_labels(self._call(self._predict, X), n, self.model)
        return labels if self._new_names is None else rename_labels(labels, self._new_names)

    def answers(self, X: Rows, outcome: Outcome | None = None) -> np.ndarray:
        """Return the predictions that are measured: labels, numbers (one column per output) or scores."""
        if outcome is not None and outcome.kind == SCORES:
            return self.scores(X)
        return self.predict(X)

    @property
    def has_scores(self) -> bool:
        """Whether there are scores, from `predict_proba`, `decision_function`, or a regressor."""
        return self.is_regressor or _score_method(self.model) is not None

    def scores(self, X: Rows) -> np.ndarray:
        """Return the model's scores as float64 of shape (n, K), columns in the order of `classes`.

        Scores come from `predict_proba`, or else from `decision_function`, whose single column d for two
        classes becomes the two columns −d and d. A regressor's scores are its predictions, one column per
        output.

        The first call compares scores with labels, on the background or else on X. It is an error if the
        rows of a class score it lower on average than other rows do, because the columns are then in another
        order.
        """
        if self.is_regressor:
            predictions = self.predict(X)
            return predictions.reshape(len(predictions), -1) if len(predictions) else np.empty((0, 1))
        n, name = n_rows(X), self._score_method()
        if n == 0:
            return np.empty((0, 0 if self.classes is None else len(self.classes)))
        answer = as_column(self._call(getattr(self.model, name), X))
        scores = as_scores(strip_mask(answer, "the model's scores")).astype(np.float64, order="C")
        if name == "decision_function" and scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        self._check_scores(scores, n)
        self._check_order(X, scores)
        return scores

    def columns_of(self, labels: np.ndarray) -> np.ndarray:
        """Return the column of `scores` for each label; a label without a column is an error.

        Examples
        --------
        >>> predictor = Predictor(scores=lambda X: X, classes=["no", "yes"])
        >>> predictor.columns_of(np.array(["yes", "no"]))
        array([1, 0])
        """
        if self.classes is None:
            raise InputError(
                "the model does not name its classes: give faithkit.Predictor(model, classes=[…])."
            )
        return class_positions(labels, self.classes)

    def scores_are_single(self, X: Rows) -> bool:
        """Return whether the model computes the scores of these rows in single precision."""
        method = self._predict if self.is_regressor else getattr(self.model, self._score_method())
        answer = self._call(method, X)
        return bool(getattr(answer, "dtype", None) == np.float32)

    def __repr__(self) -> str:
        classes = None if self.classes is None else self.classes.tolist()
        return f"Predictor({model_name(self.model)}, classes={classes})"

    @property
    def _predict(self) -> Any:
        return getattr(self.model, "predict", self.model)

    def _predict_numbers(self, X: Rows, n: int) -> np.ndarray:
        if n == 0:
            return np.empty(0)
        numbers = as_numbers(strip_mask(as_column(self._call(self._predict, X)), "the predictions"))
        numbers = numbers[:, 0] if numbers.ndim == 2 and numbers.shape[1] == 1 else numbers
        if len(numbers) != n:
            count = f"{len(numbers)} prediction{'' if len(numbers) == 1 else 's'}"
            raise InputError(f"the model returned {count} for {n} rows; expected one for each.")
        return numbers

    def _resolve_classes(self, classes: Any, background: Rows, outcome: str | None) -> np.ndarray | None:
        if self.is_regressor:
            return None
        if classes is None:
            classes = getattr(self.model, "classes_", None)
        if classes is None:
            return None if background is None else self._infer_classes(background, outcome)
        return check_classes(classes)

    def _use_record_scores(self, background: Rows) -> None:
        """Use the scores in a text pipeline's records, if it returns scores of all labels."""
        if not isinstance(background, list) or not background or self.is_regressor or self.has_scores:
            return
        answer = self._call(self._predict, take_rows(background, slice(0, 2)))
        if is_records(answer):
            self.model = with_record_scores(self.model, answer) or self.model

    def _infer_classes(self, background: Rows, outcome: str | None) -> np.ndarray | None:
        """Return the distinct labels of the background; None if they are numbers."""
        labels = check_labels(self._call(self._predict, background), n_rows(background), self.model)
        if outcome is None and Outcome.of(None, None, labels).kind == NUMBERS:
            self.is_regressor = True
            return None
        return np.unique(labels)

    def _score_method(self) -> str:
        name = _score_method(self.model)
        if name is None and self.is_regressor:
            raise InputError(
                f"{model_name(self.model)} predicts numbers and gives no scores: say "
                f"{outcome_option(NUMBERS)}, or give a classifier."
            )
        if name is None:
            has_number_labels = self.classes is not None and self.classes.dtype.kind in "iuf"
            hint = f" If its labels are amounts, say {outcome_option(NUMBERS)}." if has_number_labels else ""
            raise InputError(
                f"{model_name(self.model)} gives labels only: it has neither predict_proba nor "
                "decision_function. Explainers such as shap, lime, lime-text and gradient need scores: give "
                "a model with those, or a function that returns them, faithkit.Predictor(scores=f, "
                "classes=[…]) (CLI: --classes; of a text pipeline, top_k=None), or use an explainer that "
                "needs labels only, such as tree, anchors or nearest-neighbor."
                f"{hint}"
            )
        return name

    def _call(self, method: Any, X: Rows) -> Any:
        advice = "Check that the model is fitted, on the columns, order and types of X."
        with guard(f"{model_name(self.model)}, asked about {n_rows(X)} rows,", advice):
            return method(copy_rows(X))  # a copy: some models add a column, or scale in place

    def _check_order(self, X: Rows, scores: np.ndarray) -> None:
        """Compare scores with labels once: on the background, or else on the first rows that are scored."""
        rows = X if self._background is None else self._background
        n = n_rows(rows)
        if self._is_order_checked or self.classes is None or n < 2:
            return
        self._is_order_checked = True  # before scores are computed again
        checked_rows = np.unique(np.linspace(0, n - 1, min(n, _ORDER_CHECK_ROWS), dtype=np.int64))
        rows = take_rows(rows, checked_rows)
        chosen_scores = scores[checked_rows] if self._background is None else self.scores(rows)
        check_column_order(chosen_scores, self.predict(rows), self.classes)

    def _check_scores(self, scores: np.ndarray, n: int) -> None:
        width = scores.shape[-1] if self.classes is None else len(self.classes)
        n_columns = scores.shape[-1]
        if scores.ndim != 2 or scores.shape != (n, width):
            raise InputError(
                f"the model's scores have shape {scores.shape}; expected {n} rows and one column per class "
                f"({'unknown' if self.classes is None else join_few(map(str, self.classes))}). "
                f"Write faithkit.Predictor(model, classes={classes_code(n_columns)}), with the model's own "
                f"labels in the order of the columns (CLI: {classes_option(n_columns)})."
            )
        if np.isnan(scores).any():
            raise InputError(
                f"the model's scores have NaN in {int(np.isnan(scores).any(axis=1).sum())} of {n} rows; "
                "expected numbers. Impute missing values in X, or give a model that takes them."
            )


def _score_method(model: Any) -> str | None:
    methods = ("predict_proba", "decision_function")
    return next((name for name in methods if callable(getattr(model, name, None))), None)
