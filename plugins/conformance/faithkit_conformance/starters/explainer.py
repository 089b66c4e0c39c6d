"""An explainer that hides one column at a time."""

from typing import Any

import numpy as np

from faithkit import Explanations, Predictor
from faithkit.plugin import Encoder


class Starter:
    """Measure how far the predicted class's score drops when a column gets its median."""

    outcomes = ("labels", "numbers")

    def fit(self, predictor: Predictor, background: Any) -> "Starter":
        """Learn the median of each column."""
        self.predictor, self.encoder = predictor, Encoder(background)
        codes = self.encoder.encode(background)
        self.medians = np.nanquantile(codes, 0.5, axis=0, method="nearest")
        return self

    def explain(self, X: Any, seeds: Any) -> Explanations:
        """Return one number per row and column; random numbers for row i must come from seeds[i]."""
        codes, scores = self.encoder.encode(X), self.predictor.scores(X)
        label, drops = scores.argmax(axis=1)[:, None], np.empty(codes.shape)
        for j, median in enumerate(self.medians):
            hidden = codes.copy()
            hidden[:, j] = median
            drop = scores - self.predictor.scores(self.encoder.decode(hidden))
            drops[:, j] = np.take_along_axis(drop, label, axis=1)[:, 0]
        return Explanations.vectors(drops, shared={"names": self.encoder.names})
