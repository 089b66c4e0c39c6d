"""How far the score drops when a column is hidden."""

from typing import Any

import numpy as np

from faithkit import Explanations, Predictor
from faithkit.plugin import Encoder


class Mine:
    """How far the predicted class's score drops when a column is made typical."""

    outcomes = ("labels", "numbers")

    def fit(self, predictor: Predictor, background: Any) -> "Mine":
        """Learn what is typical of each column."""
        self.predictor, self.encoder = predictor, Encoder(background)
        codes = self.encoder.encode(background)
        self.typical = np.nanquantile(codes, 0.5, axis=0, method="nearest")
        return self

    def explain(self, X: Any, seeds: Any) -> Explanations:
        """Return one number per row and column; whatever is drawn at random for row i belongs to seeds[i]."""
        codes, scores = self.encoder.encode(X), self.predictor.scores(X)
        label, drops = scores.argmax(axis=1)[:, None], np.empty(codes.shape)
        for j, value in enumerate(self.typical):
            hidden = codes.copy()
            hidden[:, j] = value
            drop = scores - self.predictor.scores(self.encoder.decode(hidden))
            drops[:, j] = np.take_along_axis(drop, label, axis=1)[:, 0]
        return Explanations.vectors(drops, shared={"names": self.encoder.names})
