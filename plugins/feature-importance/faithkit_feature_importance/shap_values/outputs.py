"""What SHAP values add up to: the model's probabilities, or its raw scores, and how exactly they do."""

from functools import partial
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.scored import scored_by
from faithkit_feature_importance.shap_values.leaf_by_leaf.owners import split

OUTPUTS = ("probability", "raw")
TOLERANCE = 1e-6
FLOAT32_TOLERANCE = 1e-4


@attrs.frozen
class Output:
    """The scores that SHAP values add up to, one column per class.

    Parameters
    ----------
    name : str
        "probability" or "raw".
    tolerance : float
        By how much a sum may miss a score; beyond ±1, by what share of it.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> predictor = faithkit.Predictor(LinearSVC().fit(X, [0, 0, 1, 1]))
    >>> output = Output.choose("raw", predictor, X)
    >>> bool((output.scores(X)[:, 1] == predictor.model.decision_function(X)).all()), output.tolerance
    (True, 1e-06)
    >>> Output.choose("probability", predictor, X)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: shap: LinearSVC has no probabilities (predict_proba): use output=raw, ...
    """

    name: str
    tolerance: float
    _predictor: faithkit.Predictor = attrs.field(repr=False)

    @classmethod
    def choose(cls, name: str, predictor: faithkit.Predictor, background: Any) -> "Output":
        """Find the model's method for an output, or say which output it has."""
        if not predictor.has_scores:
            predictor.scores(background)  # which says what to do
        model = predictor.model
        method = raw_method(model) if name == "raw" else getattr(model, "predict_proba", None)
        if method is None:
            raise faithkit.InputError(_lacking(name, type(model).__name__))
        if name == "raw":
            predictor = scored_by(predictor, method)
        row = faithkit.take_rows(background, slice(0, 1))
        predictor.scores(row)  # a model that cannot take the row says so in words
        in_float32 = np.asarray(method(row)).dtype == np.float32
        return cls(name, FLOAT32_TOLERANCE if in_float32 else TOLERANCE, predictor)

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of rows, (n, classes)."""
        return self._predictor.scores(X)

    def missed(self, sums: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much sums miss the scores, row by row; beyond ±1, by what share of them."""
        size = np.maximum(1.0, np.abs(scores).max(axis=1, initial=0.0))
        return np.abs(sums - scores).max(axis=1, initial=0.0) / size


def libraries_of(model: Any) -> set[str]:
    """Return the packages that a model's class and those that it is made from come from.

    >>> from sklearn.svm import LinearSVC
    >>> sorted(libraries_of(LinearSVC()))
    ['builtins', 'sklearn']
    """
    return {kind.__module__.partition(".")[0] for kind in type(model).__mro__}


def raw_method(model: Any) -> Any:
    """Return what gives the scores that the model adds up: margins, or the probabilities of forests.

    >>> from sklearn.svm import LinearSVC
    >>> raw_method(LinearSVC()).__name__
    'decision_function'
    """
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    last = split(model)[1]  # a Pipeline passes on what it is told
    libraries = libraries_of(last)
    if "xgboost" in libraries:
        return partial(model.predict, output_margin=True)
    if "lightgbm" in libraries:
        return partial(model.predict, raw_score=True)
    if "catboost" in libraries:
        return partial(model.predict, prediction_type="RawFormulaVal")
    if isinstance(last, DecisionTreeClassifier | RandomForestClassifier | ExtraTreesClassifier):
        return model.predict_proba
    return getattr(model, "decision_function", None)


def _lacking(name: str, model: str) -> str:
    if name == "raw":
        return f"shap: {model} has no raw scores (decision_function): use output=probability."
    return (
        f"shap: {model} has no probabilities (predict_proba): use output=raw, which explains its "
        "decision_function, or calibrate it (scikit-learn's CalibratedClassifierCV)."
    )
