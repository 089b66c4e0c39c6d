"""Scores with a known formula: scalers, then layers or a module, then a link to probabilities or numbers.

A formula is used only if it reproduces the model's own scores: coefficients may not mean what their name
says.
"""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.gradients.layers import read_layers
from faithkit_feature_importance.gradients.links import (
    Link,
    apply_chain_rule,
    find_prediction_link,
    find_probability_link,
    scores_match,
)
from faithkit_feature_importance.gradients.scaling import ScaledEstimator, unwrap_scalers
from faithkit_feature_importance.gradients.torch_modules import Autograd, find_module
from faithkit_feature_importance.scores import predictor_with_scores

Floats = NDArray[np.float64]
RawScoreFunction = Callable[[Floats], tuple[Floats, Floats]]


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
