"""SHAP values of linear models: coefficient times distance from the mean of the reference rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.scores import ScoreScale
from faithkit_feature_importance.shap_values.explained_output import FLOAT32_TOLERANCE, PREDICTION

Floats = NDArray[np.float64]


class LinearShap:
    """SHAP values of a linear model's raw scores, or of a linear regressor's predictions.

    Parameters
    ----------
    model : fitted model with `coef_`
    output : str
        "raw" or "prediction". A probability is not a linear function of the columns.
    reference : array
        The codes of the reference rows.
    encoder : Encoder, optional
        The encoder of the codes. Without one, the codes are the numbers themselves.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X = np.array([[0.0, 5.0], [1.0, 7.0], [2.0, 5.0]])
    >>> model = RidgeClassifier().fit(X, [0, 1, 1])
    >>> linear = LinearShap(model, "raw", X[:2])
    >>> bool(np.allclose(linear.values(X)[:, :, 0], model.coef_ * (X - [0.5, 6.0])))
    True
    """

    name = "linear"
    title = "linear SHAP"
    background = "sample:100"
    takes_codes = True

    def __init__(self, model: Any, output: str, reference: Floats, encoder: Any = None) -> None:
        rows = reference if encoder is None else encoder.decode(reference)
        coefficients = _coefficients(model, output, reference, rows)
        if coefficients is None:
            raise faithkit.errors.InputError(
                "shap: algorithm=linear explains the raw scores of linear models (output=raw) and linear "
                f"regressors, and was given {type(model).__name__} with output={output}: use algorithm=auto, "
                "which finds one that fits."
            )
        self._coefficients = coefficients
        self._mean = reference.mean(axis=0)

    def values(self, codes: Floats) -> Floats:
        """Return SHAP values (rows, columns, classes); of two classes, only those of the second."""
        return (codes - self._mean)[:, :, None] * self._coefficients.T

    def sums(self, codes: Floats) -> Floats:
        """Return the sums of the values of each row, (rows, classes), without computing the values."""
        return (codes - self._mean) @ self._coefficients.T


def _coefficients(model: Any, output: str, reference: Floats, rows: Any) -> Floats | None:
    """Return the coefficients (outputs, columns) of a linear model, None for others.

    Two classes have one output.
    """
    if not hasattr(model, "coef_"):
        return None
    coefficients = model.coef_.toarray() if hasattr(model.coef_, "toarray") else np.atleast_2d(model.coef_)
    if output == PREDICTION:
        return coefficients if _predicts_linearly(model, coefficients, reference, rows) else None
    if output != "raw" or not all(hasattr(model, name) for name in ("decision_function", "classes_")):
        return None
    n_classes = 2 if len(coefficients) == 1 else len(coefficients)
    return coefficients if len(model.classes_) == n_classes else None


def _predicts_linearly(model: Any, coefficients: Floats, reference: Floats, rows: Any) -> bool:
    """Return whether predictions are linear in the columns; those of a Poisson regression are not."""
    try:
        predictions = np.asarray(model.predict(rows), dtype=np.float64).reshape(len(reference), -1)
        linear_scores = reference @ coefficients.T
    except Exception:  # the coefficients are not those of the columns
        return False
    if predictions.shape != linear_scores.shape:
        return False
    centred = (numbers - numbers.mean(axis=0) for numbers in (linear_scores, predictions))
    return bool(
        (ScoreScale.of(predictions, is_single=True).relative_errors(*centred) <= FLOAT32_TOLERANCE).all()
    )
