"""Scores of models: which method computes them, and on which scale they are compared and rounded."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]
# In double (False) and in single precision (True): the share of a score's size that counts as much as the
# deviation. Scores far from 0 are not exact to a millionth of their deviation.
SIZE_SHARE = {False: 1e-6, True: 0.1}
EXACT_DIGITS = {False: 14, True: 6}  # digits after the first one that do not depend on the batch
MAX_DECIMALS = 300  # a float has no more


class _ModelWithMethod:
    """A model with a single scoring method: `Predictor` would prefer probabilities to raw scores."""

    def __init__(self, predictor: faithkit.Predictor, method: Callable[[Any], Any]) -> None:
        self.__name__ = type(predictor.model).__name__  # messages name the model by it
        self.predict = method if predictor.is_regressor else predictor.predict
        self.decision_function = method


def predictor_with_scores(predictor: faithkit.Predictor, method: Callable[[Any], Any]) -> faithkit.Predictor:
    """Return a predictor of the same model whose scores are computed by `method`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    >>> raw = predictor_with_scores(faithkit.Predictor(model), model.decision_function)
    >>> bool(raw.scores(np.array([[1.0]]))[0, 1] == model.decision_function(np.array([[1.0]]))[0])
    True
    """
    return faithkit.Predictor(
        _ModelWithMethod(predictor, method),
        classes=predictor.classes,
        outcome="numbers" if predictor.is_regressor else "labels",
    )


@attrs.frozen(eq=False)
class ScoreScale:
    """The scale of scores: how much they vary and how large they are, for all outputs or for each one.

    Scores of classes have the scale 1.

    Parameters
    ----------
    deviation, size : float or (outputs,)
        The standard deviation, and the largest absolute value.
    size_share : float
        The share of a score's size that counts as much as the deviation.
    exact_digits : int
        How many digits after the first digit of the largest score are exact. Further digits are noise.

    Examples
    --------
    >>> prices = ScoreScale.of(np.array([[1e6], [3e6]]))
    >>> prices.relative_errors(np.array([[1e6 + 1.0]]), np.array([[1e6]]))  # a millionth of the deviation
    array([1.e-06])
    >>> prices.round(np.array([[0.123456789]]), digits=9)
    array([[0.123]])
    """

    deviation: Any = 1.0
    size: Any = 1.0
    size_share: float = 1.0
    exact_digits: int = EXACT_DIGITS[False]

    @classmethod
    def of(cls, scores: Floats, is_single: bool = False) -> "ScoreScale":
        """Compute the scale of scores (n, outputs). The order of rows does not matter.

        Constant scores have their size as deviation.
        """
        size = np.abs(scores).max(axis=0, initial=0.0)
        size = np.where(size > 0, size, 1.0)
        ordered = np.sort(scores - scores.min(axis=0), axis=0)
        deviation = ordered.std(axis=0)
        return cls(
            np.where(deviation > 0, deviation, size), size, SIZE_SHARE[is_single], EXACT_DIGITS[is_single]
        )

    @classmethod
    def of_predictor(cls, predictor: faithkit.Predictor, background: Any) -> "ScoreScale":
        """Compute the scale of a predictor's scores on the background; classifiers have the scale 1."""
        if not predictor.is_regressor:
            return cls()
        is_single = predictor.scores_are_single(faithkit.plugin.take_rows(background, slice(0, 1)))
        return cls.of(predictor.scores(background), is_single)

    def relative_errors(self, sums: Floats, scores: Floats) -> Floats:
        """Return by how much sums miss the scores of each row, relative to deviation or size."""
        size = np.maximum(1.0, self.size_share * (np.abs(scores) / self.deviation).max(axis=1, initial=0.0))
        return (np.abs(sums - scores) / self.deviation).max(axis=1, initial=0.0) / size

    def round(self, values: Floats, digits: int = 12) -> Floats:
        """Round values (…, outputs) to `digits` digits of the deviation, and drop digits that are noise."""
        decimals = np.minimum(
            np.minimum(digits - _magnitude(self.deviation), self.exact_digits - _magnitude(self.size)),
            MAX_DECIMALS,
        )
        if decimals.ndim == 0:
            return np.round(values, int(decimals))
        return np.stack([np.round(values[..., k], int(decimals[k])) for k in range(len(decimals))], axis=-1)


def _magnitude(sizes: Any) -> NDArray[np.int64]:
    """Return the exponent of the first digit."""
    return np.floor(np.log10(sizes)).astype(np.int64)
