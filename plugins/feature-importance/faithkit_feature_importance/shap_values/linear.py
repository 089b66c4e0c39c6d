"""SHAP values of linear models in closed form: coefficient times distance from the reference rows' mean."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.shap_values.outputs import FLOAT32_TOLERANCE, PREDICTION
from faithkit_feature_importance.units import Unit

Floats = NDArray[np.float64]


class LinearShap:
    """SHAP values of a linear model's raw scores, or of what a linear regressor predicts.

    Parameters
    ----------
    model : fitted model with `coef_`
    output : str
        "raw" or "prediction": a probability is no linear function of the columns.
    reference : array
        The codes of the rows to compare with.
    encoder : Encoder, optional
        What the codes stand for; numbers are their own codes.

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
        """Return SHAP values (rows, columns, classes); of two classes those of the second alone."""
        return (codes - self._mean)[:, :, None] * self._coefficients.T

    def sums(self, codes: Floats) -> Floats:
        """Return what the values of rows add up to, (rows, classes), without working them out."""
        return (codes - self._mean) @ self._coefficients.T


def _coefficients(model: Any, output: str, reference: Floats, rows: Any) -> Floats | None:
    """Return the coefficients of a linear model: a row for each output, or class but the first of two."""
    if not hasattr(model, "coef_"):
        return None
    found = model.coef_.toarray() if hasattr(model.coef_, "toarray") else np.atleast_2d(model.coef_)
    if output == PREDICTION:
        return found if _predicts_by(model, found, reference, rows) else None
    if output != "raw" or not all(hasattr(model, name) for name in ("decision_function", "classes_")):
        return None
    return found if len(model.classes_) == (2 if len(found) == 1 else len(found)) else None


def _predicts_by(model: Any, coefficients: Floats, reference: Floats, rows: Any) -> bool:
    """Whether predictions differ as the coefficients say; those of a Poisson regression do by a function."""
    try:
        found = np.asarray(model.predict(rows), dtype=np.float64).reshape(len(reference), -1)
        told = reference @ coefficients.T
    except Exception:  # coefficients of something else than columns
        return False
    if found.shape != told.shape:
        return False
    apart = (numbers - numbers.mean(axis=0) for numbers in (told, found))
    return bool((Unit.of(found, single=True).missed(*apart) <= FLOAT32_TOLERANCE).all())
