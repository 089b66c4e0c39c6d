"""What stands before a model in a Pipeline, where it scales every column by itself."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray


@attrs.frozen(eq=False)
class Scaled:
    """An estimator, and the scale and shift of the columns that reach it."""

    estimator: Any
    scale: Any = 1.0
    shift: Any = 0.0


def unwrapped(model: Any) -> Scaled | None:
    """Look into Pipelines and searches for the estimator; None where a step is more than a scaler.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> model = make_pipeline(MinMaxScaler(), LogisticRegression()).fit([[0.0], [4.0]], [0, 1])
    >>> found = unwrapped(model)
    >>> type(found.estimator).__name__, found.scale, found.shift
    ('LogisticRegression', array([0.25]), array([0.]))
    """
    model = getattr(model, "best_estimator_", model)
    steps = getattr(model, "steps", None)
    if not isinstance(steps, list):
        return Scaled(model)
    scale: Any = 1.0
    shift: Any = 0.0
    for _, step in steps[:-1]:
        found = _affine(step)
        if found is None:
            return None
        scale, shift = scale * found[0], shift * found[0] + found[1]
    inner = unwrapped(steps[-1][1])
    return inner and Scaled(inner.estimator, scale * inner.scale, shift * inner.scale + inner.shift)


def _affine(step: Any) -> tuple[NDArray[np.float64] | float, NDArray[np.float64] | float] | None:
    """Return the factor and the summand of scikit-learn's scalers, or None."""
    name = type(step).__name__
    if step is None or step == "passthrough":
        return 1.0, 0.0
    if getattr(step, "clip", False):
        return None
    if name == "MinMaxScaler":
        return step.scale_, step.min_
    if name not in ("StandardScaler", "RobustScaler", "MaxAbsScaler"):
        return None
    scale = 1.0 if step.scale_ is None else step.scale_
    center = getattr(step, "mean_", None) if name == "StandardScaler" else getattr(step, "center_", None)
    if center is None or not getattr(step, "with_mean", True):
        center = 0.0
    return 1.0 / scale, -center / scale
