"""Occlusion: how much the score drops when a patch of an image, or a window of a series, is hidden."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.targets import Target, check_target

PARTS = 8  # of the longest axis, where nobody says how large a patch is
COLORS = 4  # at most: red, green, blue and what one sees through
CELLS = 2**22  # of hidden rows that the model is asked about at once

Patch = tuple[slice, ...]
Floats = NDArray[np.float64]


class PatchExplainer:
    """How much a class's score drops when a patch of the row is hidden, patch by patch (Zeiler, Fergus 2014).

    Rows have several axes, such as images (height × width, with or without colors) and series (time ×
    channels). Every axis is cut into pieces of one length, but for those that are no longer; of three axes or
    more, one of at most four cells holds colors and stays whole, too. A hidden cell gets the median that it
    has in the background, rounded where X has whole numbers: the model sees X's own type. Of a regressor it
    is the prediction that drops.

    Parameters
    ----------
    size : int, optional
        How many cells long a patch is along every axis. By default an eighth of the longest one, at least 2.
    target : str, optional
        Which class is explained: "positive" (the second of two), "predicted", or "all" side by side.
        By default positive for two classes, predicted for more.

    Examples
    --------
    >>> def brightness(X):
    ...     return X[:, :2, :2].mean(axis=(1, 2))
    >>> images = np.zeros((3, 4, 4))
    >>> images[0, :2, :2] = 1.0
    >>> predictor = faithkit.Predictor(scores=brightness, classes=["night", "day"])
    >>> found = PatchExplainer().fit(predictor, images).explain(images, seeds=None)
    >>> found.shared["names"], found.values[0].tolist()
    (['[0:2, 0:2]', '[0:2, 2:4]', '[2:4, 0:2]', '[2:4, 2:4]'], [1.0, 0.0, 0.0, 0.0])
    """

    outcomes = ("labels", "numbers")

    def __init__(self, size: int | None = None, target: str | None = None) -> None:
        error = faithkit.errors.ParameterError
        self.size = (
            None if size is None else faithkit.plugin.whole_number(size, "patches: size", 1, error=error)
        )
        self.target = check_target("patches", target)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "PatchExplainer":
        """Cut the rows into patches, and learn what a hidden cell holds."""
        self.shape_ = _shape(background)
        predictor.scores(background[:1])  # which says what to do where there are none
        self.predictor_ = predictor
        self.target_ = Target.choose("patches", self.target, predictor, background)
        self.hidden_ = _medians(background)
        self.patches_ = list(_patches(self.shape_, self.size or max(2, -(-max(self.shape_) // PARTS))))
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one drop per patch and row; no seeds are needed."""
        if _shape(X) != self.shape_:
            raise faithkit.errors.InputError(
                f"patches: X has rows of shape {_shape(X)}; expected {self.shape_}, as in the background."
            )
        scores = self.predictor_.scores(X)
        drops = scores[:, None, :] - self._without(X, _as_in(X, self.hidden_), scores.shape[1])
        return self.target_.explanations(X, drops, scores, list(map(_name, self.patches_)))

    def _without(self, X: Any, hidden: NDArray[Any], outputs: int) -> Floats:
        """Return the scores of every row without each of its patches, (n, patches, outputs)."""
        pairs = list(itertools.product(range(len(X)), range(len(self.patches_))))
        found, at_once = np.empty((len(pairs), outputs)), max(1, CELLS // hidden.size)
        for start in range(0, len(pairs), at_once):
            part = pairs[start : start + at_once]
            rows = X[[row for row, _ in part]]
            for one, (_, patch) in zip(rows, part, strict=True):
                one[self.patches_[patch]] = hidden[self.patches_[patch]]
            found[start : start + at_once] = self.predictor_.scores(rows)
        return found.reshape(len(X), len(self.patches_), outputs)


def _shape(X: Any) -> tuple[int, ...]:
    if not isinstance(X, np.ndarray) or X.ndim < 3:
        given = f"an array of shape {X.shape}" if isinstance(X, np.ndarray) else f"a {type(X).__name__}"
        raise faithkit.errors.InputError(
            f"patches explains images and series, arrays of more than two axes, and was given {given}: "
            "give one row per image, X.reshape(-1, height, width), or choose another explainer."
        )
    return X.shape[1:]


def _medians(background: Any) -> Floats:
    """Return each cell's median, whatever the order of rows; 0 where nothing is known. Slice by slice."""
    return np.stack([_median(background[:, i]) for i in range(background.shape[1])])


def _median(cells: Any) -> Floats:
    known = ~np.isnan(cells).all(axis=0)
    found: Floats = np.nanmedian(np.where(known, cells, 0.0), axis=0)
    return found


def _as_in(X: Any, medians: Floats) -> NDArray[Any]:
    """Return medians in the type of X: a model may take 255 for white in bytes, and 1 in floats."""
    found: NDArray[Any] = (np.rint(medians) if X.dtype.kind in "iub" else medians).astype(X.dtype)
    return found


def _patches(shape: tuple[int, ...], size: int) -> Iterator[Patch]:
    whole = COLORS if len(shape) > 2 else 0
    steps = [n if n <= whole else size for n in shape]
    cuts = [
        [slice(at, min(at + by, n)) for at in range(0, n, by)] for n, by in zip(shape, steps, strict=True)
    ]
    return itertools.product(*cuts)


def _name(patch: Patch) -> str:
    return f"[{', '.join(f'{part.start}:{part.stop}' for part in patch)}]"
