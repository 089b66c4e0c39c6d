"""From raw scores to probabilities, and the derivatives: sigmoid, softmax, one against the rest.

And from sums to what regressors predict: the sums, or their exponentials, as for counts.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.units import Unit

Floats = NDArray[np.float64]
NEARLY = 1e-4  # of the deviation of numbers
Link = Callable[[Floats], tuple[Floats, Floats]]  # (n, K) to probabilities (n, K) and derivatives (n, K, K)


def logistic(raw: Floats) -> tuple[Floats, Floats]:
    """Return σ(z) of the second of two classes, and what is left for the first."""
    chance, rest = _sigmoid(raw[:, 1]), _sigmoid(-raw[:, 1])
    slopes = np.zeros((len(raw), 2, 2))
    slopes[:, 1, 1] = chance * rest
    slopes[:, 0, 1] = -slopes[:, 1, 1]
    return np.column_stack([rest, chance]), slopes


def softmax(raw: Floats) -> tuple[Floats, Floats]:
    """Return exp(z) as shares of their sum."""
    powers = np.exp(raw - raw.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    return shares, shares[:, :, None] * (np.eye(raw.shape[1]) - shares[:, None, :])


def one_against_rest(raw: Floats) -> tuple[Floats, Floats]:
    """Return σ(z) of every class as shares of their sum."""
    chances = _sigmoid(raw)
    total = chances.sum(axis=1, keepdims=True)
    shares, slopes = chances / total, chances * _sigmoid(-raw) / total
    return shares, (np.eye(raw.shape[1]) - shares[:, :, None]) * slopes[:, None, :]


def given(raw: Floats) -> tuple[Floats, Floats]:
    """Return scores that are probabilities already."""
    return raw, np.broadcast_to(np.eye(raw.shape[1]), (len(raw), raw.shape[1], raw.shape[1]))


def given_for_one(raw: Floats) -> tuple[Floats, Floats]:
    """Return a probability of the second class, and what is left for the first."""
    slopes = np.array([[0.0, -1.0], [0.0, 1.0]])
    return np.column_stack([1.0 - raw[:, 1], raw[:, 1]]), np.broadcast_to(slopes, (len(raw), 2, 2))


def exponential(raw: Floats) -> tuple[Floats, Floats]:
    """Return exp(z), as Poisson, gamma and Tweedie regressions predict it."""
    with np.errstate(over="ignore"):  # of what is no logarithm
        powers = np.exp(raw)
    return powers, powers[:, :, None] * np.eye(raw.shape[1])


def find_link(raw: Floats, probabilities: Floats) -> Link | None:
    """Return the way that leads from a model's raw scores to its probabilities, or None.

    Examples
    --------
    >>> raw = np.array([[-1.0, 1.0], [2.0, -2.0]])
    >>> find_link(raw, np.array([[0.2689414, 0.7310586], [0.8807971, 0.1192029]])).__name__
    'logistic'
    """
    two, more = (logistic, softmax, given, given_for_one), (softmax, one_against_rest, given)
    known: tuple[Link, ...] = two if raw.shape[1] == 2 else more
    return next((link for link in known if close(link(raw)[0], probabilities)), None)


def find_link_to_numbers(raw: Floats, predicted: Floats) -> Link | None:
    """Return the way that leads from sums to what a regressor predicts, or None.

    Examples
    --------
    >>> sums = np.array([[0.0], [1.0]])
    >>> find_link_to_numbers(sums, np.exp(sums)).__name__
    'exponential'
    """
    unit = Unit.of(predicted, single=True)
    for link in (given, exponential):
        ours = link(raw)[0]
        if ours.shape == predicted.shape and (unit.missed(ours, predicted) <= NEARLY).all():
            return link
    return None


def close(ours: Floats, theirs: Floats) -> bool:
    """Whether scores are the model's own, up to the precision of models that work in float32."""
    return ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def chain(slopes: Floats, inner: Floats) -> Floats:
    """Return the derivatives (n, columns, K) of a link, given those of the raw scores.

    They are summed in a fixed order: the last bits of a matrix product depend on the batch.
    """
    total = np.zeros_like(inner)
    for raw in range(inner.shape[2]):
        total += inner[:, :, raw, None] * slopes[:, None, :, raw]
    return total


def _sigmoid(raw: Floats) -> Floats:
    from scipy.special import expit

    result: Floats = expit(raw)
    return result
