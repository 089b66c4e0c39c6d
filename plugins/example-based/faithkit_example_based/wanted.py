"""What makes a row a counterfactual: another label, a number far enough from its own, or one in a range."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Bools = NDArray[np.bool_]
ALREADY = "already in the desired range"  # remarked on an instance that needs no counterfactual


@attrs.frozen
class Wanted:
    """Which predictions are wanted of a counterfactual.

    Parameters
    ----------
    tolerance : faithkit.plugin.Tolerance
        Which predictions are the same as the instance's: all others are wanted.
    desired_range : tuple of float, optional
        The least and the greatest number that is wanted instead.

    Examples
    --------
    >>> more = Wanted(faithkit.plugin.Tolerance(within=1.0), desired_range=(10.0, 20.0))
    >>> more.is_other(np.array([9.0, 12.0]), 5.0).tolist(), more.has_already(np.array([5.0, 15.0])).tolist()
    ([False, True], [False, True])
    """

    tolerance: faithkit.plugin.Tolerance
    desired_range: tuple[float, float] | None = None

    @classmethod
    def of(
        cls,
        who: str,
        predictor: faithkit.Predictor,
        background: Any,
        within: float | None,
        desired_range: tuple[float, float] | None,
    ) -> "Wanted":
        """Take what an explainer was told; labels have no range."""
        if desired_range is not None and not predictor.is_regressor:
            raise faithkit.errors.InputError(
                f"{who}: desired_range is about models that predict numbers, and this one gives labels: "
                "leave it out."
            )
        if desired_range is not None:
            within = 0.0  # which nobody asks about
        return cls(faithkit.plugin.Tolerance.of(who, predictor, background, within), desired_range)

    @staticmethod
    def checked(who: str, within: Any, desired_range: Any) -> tuple[float | None, tuple[float, float] | None]:
        """Return the parameters `within` and `desired_range`, or say what they may be.

        >>> Wanted.checked("dice", None, [2, 1])
        Traceback (most recent call last):
        faithkit.errors.ParameterError: dice: desired_range must be two numbers, ... as [0, 10], got [2, 1].
        """
        within = faithkit.plugin.Tolerance.checked(who, within)
        if desired_range is None:
            return within, None
        if within is not None:
            raise faithkit.errors.ParameterError(
                f"{who}: within={within:g} and desired_range exclude each other: a number is wanted that is "
                "another, or one in the range."
            )
        listed = isinstance(desired_range, list | tuple) and len(desired_range) == 2
        numbers = listed and all(isinstance(end, int | float) and end == end for end in desired_range)
        if not numbers or not desired_range[0] <= desired_range[1]:
            raise faithkit.errors.ParameterError(
                f"{who}: desired_range must be two numbers, the lesser one first, such as [0, 10], got "
                f"{desired_range!r}."
            )
        return None, (float(desired_range[0]), float(desired_range[1]))

    def is_other(self, predictions: NDArray[Any], own: Any) -> Bools:
        """Tell which predictions are wanted of a counterfactual of an instance with its own."""
        return (
            ~self.tolerance.agree(predictions, own) if self.desired_range is None else self._in(predictions)
        )

    def has_already(self, own: NDArray[Any]) -> Bools:
        """Tell which instances have what is wanted."""
        return np.zeros(len(own), dtype=bool) if self.desired_range is None else self._in(own)

    def missed_by(self, predictions: NDArray[np.float64], own: float) -> NDArray[np.float64]:
        """Return how far numbers are from those that are wanted."""
        if self.desired_range is None:
            within = self.tolerance.within or 0.0
            return np.maximum(0.0, within - np.abs(predictions - own))
        low, high = self.desired_range
        return np.maximum(0.0, np.maximum(low - predictions, predictions - high))

    def to_shared(self) -> dict[str, Any]:
        """Return what explanations say of it in `shared`; nothing of labels."""
        if self.desired_range is None:
            return dict(self.tolerance.to_shared())
        return {"desired_range": list(self.desired_range)}

    def _in(self, predictions: NDArray[Any]) -> Bools:
        assert self.desired_range is not None
        low, high = self.desired_range
        return np.asarray((predictions >= low) & (predictions <= high))
