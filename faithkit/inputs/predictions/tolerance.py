"""The tolerance of an explainer: predictions are the same if labels are equal, or numbers within ε.

A rule keeps a prediction the same, and a counterfactual changes it. Numbers are hardly ever equal, so they
count as the same within a tolerance.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.containers import n_rows
from faithkit.errors import InputError, ParameterError
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.rows import Rows

DEFAULT_DEVIATIONS = 0.5
"""The default tolerance, in standard deviations of the predictions for the background."""


@attrs.frozen
class Tolerance:
    """The predictions that an explainer treats as the same.

    Parameters
    ----------
    within : float, optional
        The largest difference of two numbers; None for labels, which are equal or not.

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
    def of(
        cls, explainer_name: str, predictor: Predictor, background: Rows, *, within: float | None = None
    ) -> "Tolerance":
        """Return the explainer's own tolerance, else that of the measure, else half a standard deviation."""
        if not predictor.is_regressor:
            if within is not None:
                raise InputError(
                    f"{explainer_name}: within={within:g} is about models that predict numbers, and labels "
                    "are equal or not: leave it out."
                )
            return cls()
        predictions = predictor.predict(background)
        if predictions.ndim == 2:
            raise InputError(
                f"{explainer_name} explains one number per row, and the model predicts "
                f"{predictions.shape[1]}: give a model of one of them, or use shap, lime or tree."
            )
        within = predictor.within if within is None else within
        if within is None and np.ptp(predictions) == 0:
            raise InputError(
                f"{explainer_name}: the model predicts {predictions[0]:g} for all {n_rows(background):,} "
                "rows of the background, which says nothing about how far predictions lie apart: give "
                "another background, or say within=ε."
            )
        return cls(DEFAULT_DEVIATIONS * _standard_deviation(predictions) if within is None else within)

    @staticmethod
    def check_within(explainer_name: str, within: Any) -> float | None:
        """Return a valid parameter `within`; any other value is an error.

        >>> Tolerance.check_within("anchors", -1)
        Traceback (most recent call last):
        faithkit.errors.ParameterError: anchors: within must be a number, 0 or more, got -1.
        """
        if within is None:
            return None
        if isinstance(within, bool) or not isinstance(within, int | float) or not 0 <= within < np.inf:
            raise ParameterError(f"{explainer_name}: within must be a number, 0 or more, got {within!r}.")
        return float(within)

    def agree(self, predictions: NDArray[Any], reference: Any) -> NDArray[np.bool_]:
        """Return which predictions are the same as the reference; a difference of exactly ε counts."""
        if self.within is None:
            return np.asarray(predictions == reference)
        return np.asarray(np.abs(predictions - reference) <= self.reach(predictions, reference))

    def reach(self, predictions: NDArray[Any], reference: Any) -> Any:
        """Return ε plus the rounding error of a difference of these numbers."""
        assert self.within is not None
        largest = np.maximum(np.abs(predictions), np.abs(reference))
        return self.within * (1 + 1e-9) + 4 * np.spacing(largest)

    def to_shared(self) -> dict[str, float]:
        """Return the entry of explanations' `shared`; it is empty for labels."""
        return {} if self.within is None else {"within": self.within}


def _standard_deviation(numbers: NDArray[np.float64]) -> float:
    """Return the standard deviation, independent of the order of the numbers and accurate far from 0."""
    ordered = np.sort(numbers)
    return float(np.std(ordered - ordered[len(ordered) // 2]))
