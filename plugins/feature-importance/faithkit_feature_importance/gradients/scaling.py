"""Scalers before a model in a Pipeline, as one scale and shift per column."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray


@attrs.frozen(eq=False)
class ScaledEstimator:
    """An estimator, and the scale and shift of the columns before they reach it."""

    estimator: Any
    scale: Any = 1.0
    shift: Any = 0.0


def unwrap_scalers(model: Any) -> ScaledEstimator | None:
    """Return the estimator within Pipelines and searches; None if a step is not a scaler.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> model = make_pipeline(MinMaxScaler(), LogisticRegression()).fit([[0.0], [4.0]], [0, 1])
    >>> scaled = unwrap_scalers(model)
    >>> type(scaled.estimator).__name__, scaled.scale, scaled.shift
    ('LogisticRegression', array([0.25]), array([0.]))
    """
    model = getattr(model, "best_estimator_", model)
    steps = getattr(model, "steps", None)
    if not isinstance(steps, list):
        return ScaledEstimator(model)
    scale: Any = 1.0
    shift: Any = 0.0
    for _, step in steps[:-1]:
        affine = _scale_and_shift(step)
        if affine is None:
            return None
        scale, shift = scale * affine[0], shift * affine[0] + affine[1]
    inner = unwrap_scalers(steps[-1][1])
    return inner and ScaledEstimator(inner.estimator, scale * inner.scale, shift * inner.scale + inner.shift)


def _scale_and_shift(step: Any) -> tuple[NDArray[np.float64] | float, NDArray[np.float64] | float] | None:
    """Return the scale and shift of a scaler of scikit-learn; None for other transformers."""
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
