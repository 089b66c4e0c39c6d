"""What SHAP values add up to: a model's probabilities, raw scores or predictions, and how exactly they do."""

from functools import partial
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.scored import scored_by
from faithkit_feature_importance.shap_values.leaf_by_leaf.owners import split
from faithkit_feature_importance.units import Unit

Floats = NDArray[np.float64]
OUTPUTS = ("probability", "raw")
PREDICTION = "prediction"  # what a regressor has for a probability
TOLERANCE = 1e-6
FLOAT32_TOLERANCE = 1e-4


@attrs.frozen
class Output:
    """The scores that SHAP values add up to, one column per class, or per output of a regressor.

    Parameters
    ----------
    name : str
        "probability", "raw", or "prediction" for a regressor.
    tolerance : float
        By how much a sum may miss a score, in its unit; of large scores, by what share of them.

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
    unit: Unit = attrs.field(repr=False)

    @classmethod
    def choose(cls, name: str, predictor: faithkit.Predictor, background: Any) -> "Output":
        """Find the model's method for an output, or say which output it has."""
        if not predictor.has_scores:
            predictor.scores(background)  # which says what to do
        if name == "raw":
            predictor = scored_by(predictor, _raw_method(predictor))
        elif predictor.is_regressor:
            name = PREDICTION
        elif not hasattr(predictor.model, "predict_proba"):
            raise faithkit.errors.InputError(
                f"shap: {type(predictor.model).__name__} has no probabilities (predict_proba): use "
                "output=raw, which explains its decision_function, or calibrate it (scikit-learn's "
                "CalibratedClassifierCV)."
            )
        row = faithkit.plugin.take_rows(background, slice(0, 1))
        predictor.scores(row)  # a model that cannot take the row says so in words
        tolerance = FLOAT32_TOLERANCE if predictor.scores_are_single(row) else TOLERANCE
        return cls(name, tolerance, predictor, Unit.learnt(predictor, background))

    @property
    def title(self) -> str:
        """What people call it."""
        return "raw score" if self.name == "raw" else self.name

    def scores(self, X: Any) -> Floats:
        """Return the scores of rows, (n, classes)."""
        return self._predictor.scores(X)

    def sided(self, found: Floats) -> Floats:
        """Return what is found of one score for both of two classes: it speaks against the first."""
        is_one = found.shape[-1] == 1 and not self._predictor.is_regressor
        return np.concatenate([-found, found], axis=-1) if is_one else found


def candidates(output: str | None, predictor: faithkit.Predictor, reads: bool) -> list[str]:
    """Return the outputs to try, the preferred first: by default raw scores that can be read, as in shap.

    >>> from sklearn.linear_model import LogisticRegression
    >>> predictor = faithkit.Predictor(LogisticRegression().fit([[0.0], [1.0]], [0, 1]))
    >>> candidates(None, predictor, reads=True), candidates(None, predictor, reads=False)
    (['raw', 'probability'], ['probability'])
    """
    if output is not None:
        return [output]
    if predictor.is_regressor or not predictor.has_scores:
        return ["probability"]
    own = getattr(predictor.model, "predict_proba", None)
    raw = raw_method(predictor.model)
    if own is None and raw is not None:
        return ["raw"]
    return ["raw", "probability"] if reads and raw not in (None, own) else ["probability"]


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


def _raw_method(predictor: faithkit.Predictor) -> Any:
    method, name = raw_method(predictor.model), type(predictor.model).__name__
    if method is None and predictor.is_regressor:
        raise faithkit.errors.InputError(
            f"shap: {name} has no raw scores beside what it predicts: leave output out."
        )
    if method is None:
        raise faithkit.errors.InputError(
            f"shap: {name} has no raw scores (decision_function): use output=probability."
        )
    return method
