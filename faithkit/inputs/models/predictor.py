"""What explainers are fitted with: one face for every model, which checks each answer before it counts.

A model that returns a matrix, a missing label or the wrong number of labels would otherwise become
a plausible but meaningless number much later.
"""

import copy
from typing import Any

import numpy as np

from faithkit.arrays.containers import copy_rows, n_rows, take_rows, unmasked
from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.models import label_records as records
from faithkit.inputs.models.classes import ClassNames, check_column_order, distinct, places_of
from faithkit.inputs.models.label_checks import checked_labels
from faithkit.inputs.models.model_names import as_list, as_option, called
from faithkit.inputs.models.recognition import model_of, says_regressor
from faithkit.inputs.models.score_function import ScoreFunction
from faithkit.inputs.objects.conversion import as_column
from faithkit.inputs.predictions.outcome import NUMBERS, SCORES, Outcome, as_numbers, asked_as
from faithkit.inputs.rows import Rows
from faithkit.wording import describe, few

_JUDGED = 1000  # rows on which scores are compared with labels, of the background or the first that come
_SCORES = 2**22  # that are asked for at a time, so that many classes fit into memory


class Predictor:
    """A model as explainers see it: labels, and scores where the model has them.

    Parameters
    ----------
    model : object with `predict`, or callable
        Called with X; returns one label per row (str, bool, int or float; a column is flattened), or for
        each text {"label": …, "score": …}, or a list of that for all labels. Or what an adapter takes.
    scores : callable, in place of a model
        Called with X; returns a column of scores for each class, or the probability of the second of two,
        one per row. The label is the class of the highest.
    classes : sequence, optional
        The labels in the order of the columns of `scores`. By default the model's `classes_`; where it has
        some, these are new names for them.
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

    A function may return scores, of classes that are named:

    >>> def chances(X):
    ...     return np.column_stack([2000 - X[:, 0], X[:, 0]]) / 2000
    >>> scored = Predictor(scores=chances, classes=["no", "yes"])
    >>> scored.predict(X).tolist(), scored.has_scores
    (['no', 'yes'], True)

    An answer that is not one label per row is an error that says so:

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
        classes = distinct(classes) if declared else None
        if isinstance(model, Predictor):
            declared = declared or model.declared
            classes = model.classes if classes is None else classes
            outcome = NUMBERS if outcome is None and model.is_regressor else outcome
            within = model.within if within is None else within
            model = model.model
        if scores is not None:
            model = ScoreFunction.of(model, scores, classes)
        self.model: Any = model_of(model, classes, outcome)
        self.within: float | None = within
        self.is_regressor: bool = says_regressor(self.model) if outcome is None else outcome == NUMBERS
        self._look_at_answers(background)
        self.declared: bool = declared or getattr(self.model, "classes_", None) is not None
        self.classes: np.ndarray | None = None
        self.classes = self._known_classes(classes, background, outcome)
        self._names = ClassNames.of(getattr(self.model, "classes_", None), self.classes)
        self._background = background
        self._is_order_checked: bool = self.is_regressor or isinstance(self.model, ScoreFunction)
        self._n_judged = 0  # rows, where there is no background

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
        """Return `model` if it is a Predictor of this background, and a Predictor of it otherwise."""
        if isinstance(model, cls) and outcome is None:
            return model._judged_by(background)
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
        return self._names.given(checked_labels(self._ask(self._predict, X), n, self.model))

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

        The first scores are compared with labels, on the background where it is known: a class whose own
        rows score it lower on average than other rows do is refused, for its column is another's.
        """
        if self.is_regressor:
            found = self.predict(X)
            return found.reshape(len(found), -1) if len(found) else np.empty((0, 1))
        n, name = n_rows(X), self._score_method()
        if n == 0:
            return np.empty((0, 0 if self.classes is None else len(self.classes)))
        answer = as_column(self._ask(getattr(self.model, name), X))
        scores = _as_floats(unmasked(answer, "the model's scores"))
        if name == "decision_function" and scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        self._check_scores(scores, n)
        self._check_order(X, scores)
        return scores

    def columns_of(self, labels: np.ndarray) -> np.ndarray:
        """Return the column of `scores` that belongs to each label; labels without one are refused.

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
        return places_of(labels, self.classes)

    def scores_are_single(self, X: Rows) -> bool:
        """Whether the model computes its scores of some rows in single precision."""
        method = self._predict if self.is_regressor else getattr(self.model, self._score_method())
        answer = self._ask(method, X)
        return bool(getattr(answer, "dtype", None) == np.float32)

    def __repr__(self) -> str:
        classes = None if self.classes is None else self.classes.tolist()
        return f"Predictor({called(self.model)}, classes={classes})"

    @property
    def _predict(self) -> Any:
        return getattr(self.model, "predict", self.model)

    def _numbers(self, X: Rows, n: int) -> np.ndarray:
        if n == 0:
            return np.empty(0)
        found = as_numbers(unmasked(as_column(self._ask(self._predict, X)), "the predictions"))
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
        return distinct(classes)

    def _look_at_answers(self, background: Rows) -> None:
        """Take the scores that come with the labels of texts, where all labels have one."""
        if not isinstance(background, list) or not background or self.is_regressor or self.has_scores:
            return
        answer = self._ask(self._predict, take_rows(background, slice(0, 2)))
        if records.is_records(answer):
            self.model = records.scored(self.model, answer) or self.model

    def _classes_in(self, background: Rows, outcome: str | None) -> np.ndarray | None:
        found = checked_labels(self._ask(self._predict, background), n_rows(background), self.model)
        if outcome is None and Outcome.of(None, None, found).kind == NUMBERS:
            self.is_regressor = True
            return None
        return np.unique(found)

    def _score_method(self) -> str:
        name = _score_method(self.model)
        if name is None and self.is_regressor:
            raise InputError(
                f"{called(self.model)} predicts numbers and gives no scores: say {asked_as(NUMBERS)}, "
                "or give a classifier."
            )
        if name is None:
            counts = self.classes is not None and self.classes.dtype.kind in "iuf"
            amounts = f" If its labels are amounts, say {asked_as(NUMBERS)}." if counts else ""
            raise InputError(
                f"{called(self.model)} gives labels only: it has neither predict_proba nor "
                "decision_function. Explainers such as shap, lime, lime-text and gradient need scores: give "
                "a model with those, or a function that returns them, faithkit.Predictor(scores=f, "
                "classes=[…]) (CLI: --classes; of a text pipeline, top_k=None), or use an explainer that "
                "needs labels only, such as tree, anchors or nearest-neighbor."
                f"{amounts}"
            )
        return name

    def _ask(self, method: Any, X: Rows) -> Any:
        advice = "Check that X has the columns, order and types the model was trained on."
        with foreign(f"{called(self.model)}, asked about {n_rows(X)} rows,", advice):
            return method(copy_rows(X))  # its own, for some models add a column, or scale in place

    def _judged_by(self, background: Rows) -> "Predictor":
        """Return the same, which knows the rows on which it compares scores with labels."""
        if background is None or self._background is not None or self._is_order_checked:
            return self
        same = copy.copy(self)
        same._background = background
        return same

    def _check_order(self, X: Rows, scores: np.ndarray) -> None:
        """Compare scores with labels once: on the background, or else on the first rows of several labels.

        A model that gives the first rows all one label is not asked for labels any more.
        """
        if self._is_order_checked or self.classes is None:
            return
        rows, background = X, self._background
        if background is not None:
            self._is_order_checked, self._background = True, None  # before the scores are asked for again
            n = n_rows(background)
            judged = min(n, _JUDGED, max(2, _SCORES // len(self.classes)))
            rows = take_rows(background, np.unique(np.linspace(0, n - 1, judged, dtype=np.int64)))
            scores = self.scores(rows)
        if n_rows(rows) > 1:
            labels = self.predict(rows)
            check_column_order(scores, labels, self.classes)
            self._n_judged += n_rows(rows)
            if self._n_judged >= _JUDGED or len(set(labels.tolist())) > 1:
                self._is_order_checked = True

    def _check_scores(self, scores: np.ndarray, n: int) -> None:
        width = scores.shape[-1] if self.classes is None else len(self.classes)
        if scores.ndim != 2 or scores.shape != (n, width):
            raise InputError(
                f"the model's scores have shape {scores.shape}; expected {n} rows and one column per class "
                f"({'unknown' if self.classes is None else few(map(str, self.classes))}). "
                f"Write faithkit.Predictor(model, classes={as_list(scores.shape[-1])}), with the model's own "
                f"labels in the order of the columns (CLI: {as_option(scores.shape[-1])})."
            )
        if np.isnan(scores).any():
            raise InputError(
                f"the model's scores have NaN in {int(np.isnan(scores).any(axis=1).sum())} of {n} rows; "
                "expected numbers. Impute missing values in X, or give a model that takes them."
            )


def _score_method(model: Any) -> str | None:
    methods = ("predict_proba", "decision_function")
    return next((name for name in methods if callable(getattr(model, name, None))), None)


def _as_floats(answer: Any) -> np.ndarray:
    try:
        # some libraries lay out columns one behind the other, and who reads rows need not know
        return np.asarray(answer, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the model's scores are no numbers ({describe(error)}); expected one number per row and class."
        ) from error
