"""Links from raw scores to probabilities or predictions, with their derivatives.

Probabilities: sigmoid, softmax, one against the rest. Predictions of regressors: the raw score itself or its
exponential, as for counts.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.scores import ScoreScale

Floats = NDArray[np.float64]
TOLERANCE = 1e-4  # in deviations of the predictions
Link = Callable[[Floats], tuple[Floats, Floats]]  # (n, K) to probabilities (n, K) and derivatives (n, K, K)


def logistic(raw: Floats) -> tuple[Floats, Floats]:
    """Return σ(z) for the second of two classes, and 1 − σ(z) for the first."""
    second, first = _sigmoid(raw[:, 1]), _sigmoid(-raw[:, 1])
    slopes = np.zeros((len(raw), 2, 2))
    slopes[:, 1, 1] = second * first
    slopes[:, 0, 1] = -slopes[:, 1, 1]
    return np.column_stack([first, second]), slopes


def softmax(raw: Floats) -> tuple[Floats, Floats]:
    """Return exp(z), normalised to sum to 1."""
    powers = np.exp(raw - raw.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    return shares, shares[:, :, None] * (np.eye(raw.shape[1]) - shares[:, None, :])


def one_vs_rest(raw: Floats) -> tuple[Floats, Floats]:
    """Return σ(z) of every class, normalised to sum to 1."""
    sigmoids = _sigmoid(raw)
    sums = sigmoids.sum(axis=1, keepdims=True)
    shares, slopes = sigmoids / sums, sigmoids * _sigmoid(-raw) / sums
    return shares, (np.eye(raw.shape[1]) - shares[:, :, None]) * slopes[:, None, :]


def identity(raw: Floats) -> tuple[Floats, Floats]:
    """Return scores that are already probabilities or predictions."""
    return raw, np.broadcast_to(np.eye(raw.shape[1]), (len(raw), raw.shape[1], raw.shape[1]))


def identity_of_second(raw: Floats) -> tuple[Floats, Floats]:
    """Return scores that are already probabilities of the second class, and 1 − p for the first."""
    slopes = np.array([[0.0, -1.0], [0.0, 1.0]])
    return np.column_stack([1.0 - raw[:, 1], raw[:, 1]]), np.broadcast_to(slopes, (len(raw), 2, 2))


def exponential(raw: Floats) -> tuple[Floats, Floats]:
    """Return exp(z), as Poisson, gamma and Tweedie regressions predict it."""
    with np.errstate(over="ignore"):  # raw scores that are not logarithms may overflow
        powers = np.exp(raw)
    return powers, powers[:, :, None] * np.eye(raw.shape[1])


def find_probability_link(raw: Floats, probabilities: Floats) -> Link | None:
    """Return the link from a model's raw scores to its probabilities, or None if no link fits.

    Examples
    --------
    >>> raw = np.array([[-1.0, 1.0], [2.0, -2.0]])
    >>> find_probability_link(raw, np.array([[0.2689414, 0.7310586], [0.8807971, 0.1192029]])).__name__
    'logistic'
    """
    for_two, for_more = (logistic, softmax, identity, identity_of_second), (softmax, one_vs_rest, identity)
    links: tuple[Link, ...] = for_two if raw.shape[1] == 2 else for_more
    return next((link for link in links if scores_match(link(raw)[0], probabilities)), None)


def find_prediction_link(raw: Floats, predictions: Floats) -> Link | None:
    """Return the link from a regressor's raw scores to its predictions, or None if no link fits.

    Examples
    --------
    >>> raw = np.array([[0.0], [1.0]])
    >>> find_prediction_link(raw, np.exp(raw)).__name__
    'exponential'
    """
    scale = ScoreScale.of(predictions, is_single=True)
    for link in (identity, exponential):
        linked = link(raw)[0]
        if (
            linked.shape == predictions.shape
            and (scale.relative_errors(linked, predictions) <= TOLERANCE).all()
        ):
            return link
    return None


def scores_match(computed: Floats, expected: Floats) -> bool:
    """Return whether computed scores equal the model's, up to float32 precision."""
    return computed.shape == expected.shape and np.allclose(computed, expected, rtol=1e-4, atol=1e-5)


def apply_chain_rule(link_slopes: Floats, raw_slopes: Floats) -> Floats:
    """Return the derivatives (n, columns, K) of linked scores from those of the link and the raw scores.

    Sums have a fixed order: the last bits of a matrix product depend on the batch.
    """
    derivatives = np.zeros_like(raw_slopes)
    for score in range(raw_slopes.shape[2]):
        derivatives += raw_slopes[:, :, score, None] * link_slopes[:, None, :, score]
    return derivatives


def _sigmoid(raw: Floats) -> Floats:
    from scipy.special import expit

    probabilities: Floats = expit(raw)
    return probabilities
