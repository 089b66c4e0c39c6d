"""The explainer that says the prediction again."""

from typing import Any

import numpy as np

import faithkit


class Parrot:
    """The prediction as its own explanation: "refused, because the answer is no".

    It agrees with the model always, so that consistency is 1 and no reader is ever wrong. That there are as
    many explanations as predictions gives it away, and a result says so in a sentence.

    Notes
    -----
    An explanation that says nothing but the prediction is the trivial case of those that leak it: Hase,
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
        """Remember the model."""
        predictor.predict(faithkit.plugin.take_rows(background, slice(0, 1)))  # another width is said here
        self.predictor_ = predictor
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return what the model predicts, in words."""
        answers = np.asarray(self.predictor_.predict(X)).tolist() if faithkit.plugin.n_rows(X) else []
        return faithkit.Explanations.of([f"because the answer is {answer}" for answer in answers])
