"""Scores with a known formula: layers or a module behind scalers, and a link to probabilities or numbers.

A formula is used where it gives the model's own scores, and not because of the model's name: coefficients
may mean something else than one expects.
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
    chain,
    close,
    find_link,
    find_link_to_numbers,
)
from faithkit_feature_importance.gradients.scaling import Scaled, unwrapped
from faithkit_feature_importance.gradients.torch_modules import Autograd, module_of
from faithkit_feature_importance.scored import scored_by

Floats = NDArray[np.float64]
Raw = Callable[[Floats], tuple[Floats, Floats]]


@attrs.frozen(eq=False)
class Formula:
    """The scores of a model and their gradients, from codes: scale and shift, raw scores, link."""

    encoder: faithkit.plugin.Encoder
    scaled: Scaled
    raw: Raw
    link: Link | None = None
    of_classes: bool = True

    def __call__(self, X: Any) -> tuple[Floats, Floats]:
        """Return the scores (n, classes) and their gradients (n, columns, classes)."""
        scaled = self.scaled
        scores, slopes = self.raw(self.encoder.encode(X) * scaled.scale + scaled.shift)
        slopes = slopes * np.broadcast_to(scaled.scale, slopes.shape[1])[:, None]
        if self.of_classes and scores.shape[1] == 1:  # it speaks for the second of two, against the first
            scores, slopes = np.hstack([-scores, scores]), np.concatenate([-slopes, slopes], axis=2)
        if self.link is None:
            return scores, slopes
        probabilities, ways = self.link(scores)
        return probabilities, chain(ways, slopes)


def find_formula(
    predictor: faithkit.Predictor, encoder: faithkit.plugin.Encoder, rows: Any, output: str
) -> Formula | None:
    """Return the formula of a model's scores, if there is one that gives the scores of these rows.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = faithkit.Predictor(LogisticRegression().fit(X, [0, 0, 1, 1]))
    >>> find_formula(model, faithkit.plugin.Encoder(X), X, "probability").link.__name__
    'logistic'
    """
    scaled = unwrapped(predictor.model)
    raw = None if scaled is None else _raw(scaled.estimator)
    if scaled is None or raw is None or not _numeric(encoder):
        return None
    formula = Formula(encoder, scaled, raw, of_classes=not predictor.is_regressor)
    try:
        scores, _ = formula(rows)
    except ValueError:  # coefficients of other shapes than a table's rows
        return None
    if predictor.is_regressor:
        link = find_link_to_numbers(scores, predictor.scores(rows))
        return None if link is None else attrs.evolve(formula, link=link)
    if output == "raw" and hasattr(predictor.model, "decision_function"):
        return formula if close(scores, raw_scores(predictor).scores(rows)) else None
    link = find_link(scores, predictor.scores(rows))
    if link is None or output == "raw":
        return None if link is None else formula
    return attrs.evolve(formula, link=link)


def _raw(estimator: Any) -> Raw | None:
    module = module_of(estimator)
    return read_layers(estimator) if module is None else Autograd(module)


def _numeric(encoder: faithkit.plugin.Encoder) -> bool:
    """Whether codes are the model's own inputs: numbers, and booleans as 0 and 1."""
    return all(values == [False, True] for values in encoder.categories.values())


def raw_scores(predictor: faithkit.Predictor) -> faithkit.Predictor:
    """Return a predictor whose scores are the model's decision function."""
    return scored_by(predictor, predictor.model.decision_function)
