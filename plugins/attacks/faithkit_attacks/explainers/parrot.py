"""`Parrot`: repeats the prediction as its explanation."""

from typing import Any

import numpy as np

import faithkit


class Parrot:
    """The prediction as its own explanation: "refused, because the answer is no".

    It always agrees with the model, so consistency is 1 and no reader is ever wrong. There are as many
    explanations as labels. This exposes it, and results say so in a sentence.

    Notes
    -----
    An explanation that only repeats the prediction is the trivial case of label leakage: Hase,
    Zhang, Xie, Bansal: Leakage-adjusted simulatability (Findings of EMNLP 2020).

    Examples
    --------
    >>> model = faithkit.Predictor(lambda X: np.where(X[:, 0] > 0, "yes", "no"))
    >>> X = np.array([[1.0], [-1.0]])
    >>> Parrot().fit(model, X).explain(X, seeds=None).values.tolist()
    ['because the answer is yes', 'because the answer is no']
    """

    learns = False
    outcomes = ("labels", "numbers")
    rows_per_chunk = 4096

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "Parrot":
        """Store the model."""
        # raises an error for rows of another width
        predictor.predict(faithkit.plugin.take_rows(background, slice(0, 1)))
        self.predictor_ = predictor
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the predictions in words."""
        predictions = np.asarray(self.predictor_.predict(X)).tolist() if faithkit.plugin.n_rows(X) else []
        return faithkit.Explanations.of([f"because the answer is {prediction}" for prediction in predictions])
