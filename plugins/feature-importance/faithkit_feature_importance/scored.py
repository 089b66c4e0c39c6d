"""A model with one way to score, where it has several."""

from collections.abc import Callable
from typing import Any

import faithkit


class _Scored:
    """What a `Predictor` is made of: it would prefer probabilities where it sees them beside raw scores."""

    def __init__(self, predictor: faithkit.Predictor, method: Callable[[Any], Any]) -> None:
        self.__name__ = type(predictor.model).__name__  # what messages call it
        self.predict = method if predictor.is_regressor else predictor.predict
        self.decision_function = method


def scored_by(predictor: faithkit.Predictor, method: Callable[[Any], Any]) -> faithkit.Predictor:
    """Return a predictor of the same model whose scores are what `method` gives.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    >>> raw = scored_by(faithkit.Predictor(model), model.decision_function)
    >>> bool(raw.scores(np.array([[1.0]]))[0, 1] == model.decision_function(np.array([[1.0]]))[0])
    True
    """
    scored = _Scored(predictor, method)
    return faithkit.Predictor(
        scored, classes=predictor.classes, outcome="numbers" if predictor.is_regressor else "labels"
    )
