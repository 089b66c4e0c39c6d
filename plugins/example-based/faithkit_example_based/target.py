"""The target of a counterfactual: another label, a number far enough away, or a number in a range."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Bools = NDArray[np.bool_]
ALREADY = "already in the desired range"  # the remark on an instance that needs no counterfactual


@attrs.frozen
class CounterfactualTarget:
    """The predictions that a counterfactual must have.

    Parameters
    ----------
    tolerance : faithkit.plugin.Tolerance
        It says which predictions agree with the instance's. All other predictions are in the target.
    desired_range : tuple of float, optional
        The smallest and the largest number of the target, in place of the tolerance.

    Examples
    --------
    >>> target = CounterfactualTarget(faithkit.plugin.Tolerance(within=1.0), desired_range=(10.0, 20.0))
    >>> target.contains(np.array([9.0, 12.0, 20.000000000000004]), 5.0).tolist()
    [False, True, True]
    >>> target.is_already_met(np.array([5.0, 15.0])).tolist()
    [False, True]
    """

    tolerance: faithkit.plugin.Tolerance
    desired_range: tuple[float, float] | None = None

    @classmethod
    def of(
        cls,
        explainer: str,
        predictor: faithkit.Predictor,
        background: Any,
        within: float | None,
        desired_range: tuple[float, float] | None,
    ) -> "CounterfactualTarget":
        """Build the target from an explainer's parameters; labels have no range."""
        if desired_range is not None and not predictor.is_regressor:
            raise faithkit.errors.InputError(
                f"{explainer}: desired_range is about models that predict numbers, and this one gives "
                "labels: leave it out."
            )
        if desired_range is not None:
            within = 0.0  # not used
        return cls(
            faithkit.plugin.Tolerance.of(explainer, predictor, background, within=within), desired_range
        )

    @staticmethod
    def check_parameters(
        explainer: str, within: Any, desired_range: Any
    ) -> tuple[float | None, tuple[float, float] | None]:
        """Check the parameters `within` and `desired_range`.

        >>> CounterfactualTarget.check_parameters("dice", None, [2, 1])
        Traceback (most recent call last):
        faithkit.errors.ParameterError: dice: desired_range must be two numbers, ... as [0, 10], got [2, 1].
        """
        within = faithkit.plugin.Tolerance.check_within(explainer, within)
        if desired_range is None:
            return within, None
        if within is not None:
            raise faithkit.errors.ParameterError(
                f"{explainer}: within={within:g} and desired_range exclude each other: a number is wanted "
                "that is another, or one in the range."
            )
        is_pair = isinstance(desired_range, list | tuple) and len(desired_range) == 2
        has_numbers = is_pair and all(isinstance(end, int | float) and end == end for end in desired_range)
        if not has_numbers or not desired_range[0] <= desired_range[1]:
            raise faithkit.errors.ParameterError(
                f"{explainer}: desired_range must be two numbers, the lesser one first, such as [0, 10], got "
                f"{desired_range!r}."
            )
        return None, (float(desired_range[0]), float(desired_range[1]))

    def contains(self, predictions: NDArray[Any], instance_predictions: Any) -> Bools:
        """Return which predictions make a row a counterfactual of an instance with its prediction."""
        if self.desired_range is not None:
            return self._in_range(predictions)
        return ~self.tolerance.agree(predictions, instance_predictions)

    def is_already_met(self, instance_predictions: NDArray[Any]) -> Bools:
        """Return which instances need no counterfactual: their number is in the desired range."""
        if self.desired_range is not None:
            return self._in_range(instance_predictions)
        return np.zeros(len(instance_predictions), dtype=bool)

    def distance_to(
        self, predictions: NDArray[np.float64], instance_prediction: float
    ) -> NDArray[np.float64]:
        """Return how far numbers are from the target."""
        if self.desired_range is None:
            within = self.tolerance.within or 0.0
            return np.maximum(0.0, within - np.abs(predictions - instance_prediction))
        low, high = self.desired_range
        return np.maximum(0.0, np.maximum(low - predictions, predictions - high))

    def to_shared(self) -> dict[str, Any]:
        """Return the entries of `Explanations.shared`; none for labels."""
        if self.desired_range is None:
            return dict(self.tolerance.to_shared())
        return {"desired_range": list(self.desired_range)}

    def _in_range(self, predictions: NDArray[Any]) -> Bools:
        assert self.desired_range is not None
        # a number at an end is in the range on any processor
        return np.isclose(predictions, np.clip(predictions, *self.desired_range), rtol=1e-9, atol=1e-12)
