"""Scores with a known formula: scalers, then layers or a module, then a link to probabilities or numbers.

A formula is used only if it reproduces the model's own scores: coefficients may not mean what their name
says. Links to probabilities are sigmoid, softmax, and one against the rest. Links to predictions of
regressors are the raw score itself and its exponential, as for counts.
"""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.gradients.layers import read_layers
from faithkit_feature_importance.gradients.torch_modules import Autograd, find_module
from faithkit_feature_importance.scores import ScoreScale, predictor_with_scores

Floats = NDArray[np.float64]
TOLERANCE = 1e-4  # in deviations of the predictions
Link = Callable[[Floats], tuple[Floats, Floats]]  # (n, K) to probabilities (n, K) and derivatives (n, K, K)
RawScoreFunction = Callable[[Floats], tuple[Floats, Floats]]


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


@attrs.frozen(eq=False)
class Formula:
    """A model's scores and gradients: scale and shift the codes, compute raw scores, apply a link."""

    encoder: faithkit.plugin.Encoder
    inputs: ScaledEstimator
    raw_scores: RawScoreFunction
    link: Link | None = None
    is_classifier: bool = True

    def __call__(self, X: Any) -> tuple[Floats, Floats]:
        """Return the scores (n, classes) and their gradients (n, columns, classes)."""
        inputs = self.inputs
        scores, slopes = self.raw_scores(self.encoder.encode(X) * inputs.scale + inputs.shift)
        slopes = slopes * np.broadcast_to(inputs.scale, slopes.shape[1])[:, None]
        if self.is_classifier and scores.shape[1] == 1:
            # the score of the second class; that of the first is its opposite
            scores, slopes = np.hstack([-scores, scores]), np.concatenate([-slopes, slopes], axis=2)
        if self.link is None:
            return scores, slopes
        linked_scores, link_slopes = self.link(scores)
        return linked_scores, apply_chain_rule(link_slopes, slopes)


def find_formula(
    predictor: faithkit.Predictor, encoder: faithkit.plugin.Encoder, rows: Any, output: str
) -> Formula | None:
    """Return the formula of a model's scores if it reproduces the scores of these rows, else None.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = faithkit.Predictor(LogisticRegression().fit(X, [0, 0, 1, 1]))
    >>> find_formula(model, faithkit.plugin.Encoder(X), X, "probability").link.__name__
    'logistic'
    """
    inputs = unwrap_scalers(predictor.model)
    raw_scores = None if inputs is None else _raw_score_function(inputs.estimator)
    if inputs is None or raw_scores is None or not _has_numeric_codes(encoder):
        return None
    formula = Formula(encoder, inputs, raw_scores, is_classifier=not predictor.is_regressor)
    try:
        scores, _ = formula(rows)
    except ValueError:  # the shape of the coefficients does not fit the rows
        return None
    if predictor.is_regressor:
        link = find_prediction_link(scores, predictor.scores(rows))
        return None if link is None else attrs.evolve(formula, link=link)
    if output == "raw" and hasattr(predictor.model, "decision_function"):
        return formula if scores_match(scores, use_decision_function(predictor).scores(rows)) else None
    link = find_probability_link(scores, predictor.scores(rows))
    if link is None or output == "raw":
        return None if link is None else formula
    return attrs.evolve(formula, link=link)


def _raw_score_function(estimator: Any) -> RawScoreFunction | None:
    module = find_module(estimator)
    return read_layers(estimator) if module is None else Autograd(module)


def _has_numeric_codes(encoder: faithkit.plugin.Encoder) -> bool:
    """Return whether codes are the inputs of the model: numbers, and booleans as 0 and 1."""
    return all(values == [False, True] for values in encoder.categories.values())


def use_decision_function(predictor: faithkit.Predictor) -> faithkit.Predictor:
    """Return a predictor whose scores are the model's decision function."""
    return predictor_with_scores(predictor, predictor.model.decision_function)
