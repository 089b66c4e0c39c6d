"""SHAP values of linear models in closed form: coefficient times distance from the reference rows' mean."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]


class LinearShap:
    """SHAP values of a linear model's raw scores.

    Parameters
    ----------
    model : fitted model with `coef_` and `decision_function`
    output : str
        "raw": a probability is no linear function of the columns.
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
    >>> bool(np.allclose(linear.values(X)[:, :, 1], model.coef_ * (X - [0.5, 6.0])))
    True
    """

    name = "linear"
    title = "linear SHAP"
    background = "sample:100"
    takes_codes = True

    def __init__(self, model: Any, output: str, reference: Floats, encoder: Any = None) -> None:
        coefficients = _coefficients(model) if output == "raw" else None
        if coefficients is None:
            raise faithkit.InputError(
                "shap: algorithm=linear explains the raw scores of linear models (output=raw), and was given "
                f"{type(model).__name__} with output={output}: use algorithm=auto, which finds one that fits."
            )
        self._coefficients = coefficients
        self._mean = reference.mean(axis=0)

    def values(self, codes: Floats) -> Floats:
        """Return SHAP values (rows, columns, classes)."""
        return (codes - self._mean)[:, :, None] * self._coefficients.T

    def sums(self, codes: Floats) -> Floats:
        """Return what the values of rows add up to, (rows, classes), without working them out."""
        return (codes - self._mean) @ self._coefficients.T


def _coefficients(model: Any) -> Floats | None:
    """Return the coefficients of a linear model, a row for each class."""
    if not all(hasattr(model, name) for name in ("coef_", "decision_function", "classes_")):
        return None
    found = model.coef_.toarray() if hasattr(model.coef_, "toarray") else np.atleast_2d(model.coef_)
    found = np.concatenate([-found, found]) if len(found) == 1 else found
    return found if len(found) == len(model.classes_) else None
