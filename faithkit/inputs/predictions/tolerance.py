"""How far apart two predictions may be that an explainer takes for the same: equal labels, or near numbers.

A rule that fixes a prediction, and a counterfactual that changes it, speak of predictions that are the same.
Numbers hardly ever are; so they are the same that differ by at most ε.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.containers import n_rows
from faithkit.errors import InputError, ParameterError
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.rows import Rows

OF_A_DEVIATION = 0.5
"""By default two numbers are the same that differ by half a standard deviation of those of the background."""


@attrs.frozen
class Tolerance:
    """Says which predictions are the same to an explainer.

    Parameters
    ----------
    within : float, optional
        By how much two numbers may differ; None for labels, which are equal or not.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [3.0], [6.0]])
    >>> near = Tolerance.of("anchors", Predictor(lambda X: X[:, 0] / 10, background=X), X)
    >>> round(near.within, 3), near.agree(np.array([0.1, 0.2, 0.3]), 0.1).tolist()
    (0.094, [True, False, False])
    >>> Tolerance().agree(np.array(["yes", "no"]), "yes").tolist()
    [True, False]
    """

    within: float | None = None

    @classmethod
    def of(cls, who: str, predictor: Predictor, background: Rows, within: float | None = None) -> "Tolerance":
        """Take what an explainer was told, else what the measure counts as equal, else half a deviation."""
        if not predictor.is_regressor:
            if within is not None:
                raise InputError(
                    f"{who}: within={within:g} is about models that predict numbers, and labels are equal or "
                    "not: leave it out."
                )
            return cls()
        found = predictor.predict(background)
        if found.ndim == 2:
            raise InputError(
                f"{who} explains one number per row, and the model predicts {found.shape[1]}: give a model "
                "of one of them, or use shap, lime or tree."
            )
        within = predictor.within if within is None else within
        if within is None and np.ptp(found) == 0:
            raise InputError(
                f"{who}: the model predicts {found[0]:g} for all {n_rows(background):,} rows of the "
                "background, which says nothing about how far predictions lie apart: give another "
                "background, or say within=ε."
            )
        return cls(OF_A_DEVIATION * _deviation(found) if within is None else within)

    @staticmethod
    def checked(who: str, within: Any) -> float | None:
        """Return a parameter `within` as it is, or say what it may be.

        >>> Tolerance.checked("anchors", -1)
        Traceback (most recent call last):
        faithkit.errors.ParameterError: anchors: within must be a number, 0 or more, got -1.
        """
        if within is None:
            return None
        if isinstance(within, bool) or not isinstance(within, int | float) or not 0 <= within < np.inf:
            raise ParameterError(f"{who}: within must be a number, 0 or more, got {within!r}.")
        return float(within)

    def agree(self, predictions: NDArray[Any], own: Any) -> NDArray[np.bool_]:
        """Tell which predictions are the same as others; a difference of ε is within it to the last bits."""
        if self.within is None:
            return np.asarray(predictions == own)
        return np.asarray(np.abs(predictions - own) <= self.reach(predictions, own))

    def reach(self, predictions: NDArray[Any], own: Any) -> Any:
        """Return ε, and what the last bits of two numbers may add to their difference."""
        assert self.within is not None
        return self.within * (1 + 1e-9) + 4 * np.spacing(np.maximum(np.abs(predictions), np.abs(own)))

    def to_shared(self) -> dict[str, float]:
        """Return what explanations say of it in `shared`; nothing of labels."""
        return {} if self.within is None else {"within": self.within}


def _deviation(numbers: NDArray[np.float64]) -> float:
    """Return the standard deviation, whatever the order of the numbers and however far they are from 0."""
    ordered = np.sort(numbers)
    return float(np.std(ordered - ordered[len(ordered) // 2]))
