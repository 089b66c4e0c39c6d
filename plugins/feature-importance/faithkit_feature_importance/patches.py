"""Occlusion: how much the score drops if a patch of an image, or a window of a series, is hidden."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.targets import Target, check_target

PATCHES_PER_AXIS = 8  # along the longest axis, by default
MAX_COLORS = 4  # red, green, blue and transparency
VALUES_PER_CALL = 2**22  # in one call of the model

Patch = tuple[slice, ...]
Floats = NDArray[np.float64]


class PatchExplainer:
    """The drop of a class's score if a patch of the row is hidden, for every patch (Zeiler, Fergus 2014).

    Rows have several axes, such as images (height × width, with or without colors) and series (time ×
    channels). Every axis is cut into pieces of equal length. An axis no longer than a piece is not cut. If
    there are three axes or more, an axis of length four or less holds colors and is not cut either. A hidden
    value gets its median in the background, rounded if X holds integers, so that the type of X is kept. For a
    regressor, the drop of the prediction is measured.

    Parameters
    ----------
    size : int, optional
        The length of a patch along every axis, in pixels. By default an eighth of the longest axis, at least
        2.
    target : str, optional
        The explained class: "positive" (the second of two), "predicted", or "all" side by side.
        By default positive for two classes, predicted for more.

    Examples
    --------
    >>> def brightness(X):
    ...     return X[:, :2, :2].mean(axis=(1, 2))
    >>> images = np.zeros((3, 4, 4))
    >>> images[0, :2, :2] = 1.0
    >>> predictor = faithkit.Predictor(scores=brightness, classes=["night", "day"])
    >>> explanations = PatchExplainer().fit(predictor, images).explain(images, seeds=None)
    >>> explanations.shared["names"], explanations.values[0].tolist()
    (['[0:2, 0:2]', '[0:2, 2:4]', '[2:4, 0:2]', '[2:4, 2:4]'], [1.0, 0.0, 0.0, 0.0])
    """

    outcomes = ("labels", "numbers")

    def __init__(self, size: int | None = None, target: str | None = None) -> None:
        error = faithkit.errors.ParameterError
        self.size = (
            None
            if size is None
            else faithkit.plugin.check_integer(size, "patches: size", minimum=1, error=error)
        )
        self.target = check_target("patches", target)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "PatchExplainer":
        """Cut the rows into patches and compute the replacement of hidden values."""
        self.shape_ = _row_shape(background)
        predictor.scores(background[:1])  # raises an error with advice if the model has no scores
        self.predictor_ = predictor
        self.target_ = Target.choose("patches", self.target, predictor, background)
        self.medians_ = _medians(background)
        self.patches_ = list(
            _patches(self.shape_, self.size or max(2, -(-max(self.shape_) // PATCHES_PER_AXIS)))
        )
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one drop per patch and row. The seeds are not used."""
        if _row_shape(X) != self.shape_:
            raise faithkit.errors.InputError(
                f"patches: X has rows of shape {_row_shape(X)}; expected {self.shape_}, as in the background."
            )
        scores = self.predictor_.scores(X)
        drops = scores[:, None, :] - self._scores_without(X, _cast_like(X, self.medians_), scores.shape[1])
        return self.target_.explanations(X, drops, scores, list(map(_patch_name, self.patches_)))

    def _scores_without(self, X: Any, medians: NDArray[Any], n_outputs: int) -> Floats:
        """Return the scores of every row with each of its patches hidden, (n, patches, outputs)."""
        pairs = list(itertools.product(range(len(X)), range(len(self.patches_))))
        scores, batch_size = np.empty((len(pairs), n_outputs)), max(1, VALUES_PER_CALL // medians.size)
        for start in range(0, len(pairs), batch_size):
            batch = pairs[start : start + batch_size]
            rows = X[[row for row, _ in batch]]
            for instance, (_, patch) in zip(rows, batch, strict=True):
                instance[self.patches_[patch]] = medians[self.patches_[patch]]
            scores[start : start + batch_size] = self.predictor_.scores(rows)
        return scores.reshape(len(X), len(self.patches_), n_outputs)


def _row_shape(X: Any) -> tuple[int, ...]:
    if not isinstance(X, np.ndarray) or X.ndim < 3:
        description = f"an array of shape {X.shape}" if isinstance(X, np.ndarray) else f"a {type(X).__name__}"
        raise faithkit.errors.InputError(
            f"patches explains images and series, arrays of more than two axes, and was given {description}: "
            "give one row per image, X.reshape(-1, height, width), or choose another explainer."
        )
    return X.shape[1:]


def _medians(background: Any) -> Floats:
    """Return the median at each position, 0 if all rows are missing there. Slice by slice, to save memory."""
    return np.stack([_median(background[:, i]) for i in range(background.shape[1])])


def _median(values: Any) -> Floats:
    is_known = ~np.isnan(values).all(axis=0)
    medians: Floats = np.nanmedian(np.where(is_known, values, 0.0), axis=0)
    return medians


def _cast_like(X: Any, medians: Floats) -> NDArray[Any]:
    """Convert medians to the dtype of X: white may be 255 for bytes and 1 for floats."""
    cast: NDArray[Any] = (np.rint(medians) if X.dtype.kind in "iub" else medians).astype(X.dtype)
    return cast


def _patches(shape: tuple[int, ...], size: int) -> Iterator[Patch]:
    max_uncut = MAX_COLORS if len(shape) > 2 else 0
    steps = [n if n <= max_uncut else size for n in shape]
    cuts = [
        [slice(start, min(start + step, n)) for start in range(0, n, step)]
        for n, step in zip(shape, steps, strict=True)
    ]
    return itertools.product(*cuts)


def _patch_name(patch: Patch) -> str:
    return f"[{', '.join(f'{interval.start}:{interval.stop}' for interval in patch)}]"
