"""What the sound little plugin is made of."""

import click
import numpy as np

from faithkit import Explanations
from faithkit.plugin import Encoder, Relation


class Prototype:
    """The nearer of two prototypes, by the first column."""

    def fit(self, predictor, background):
        predictor.predict(background)
        self.encoder_ = Encoder(background)
        codes = self.encoder_.encode(background)[:, 0]
        self.prototypes_ = np.nanquantile(codes, [0.25, 0.75])
        return self

    def explain(self, X, seeds):
        nearest = _nearest(self.encoder_.encode(X)[:, 0], self.prototypes_)
        shared = {"prototypes": self.prototypes_}
        return Explanations.of(
            nearest.tolist(), kind="prototype", instances=X, shared=shared, relation="near-prototype"
        )


class NearPrototype(Relation):
    """The instance is nearer to this prototype than to the other."""

    def fit(self, background, n):
        self.encoder_ = Encoder(background)
        return self

    def key(self, explanations):
        return explanations.values

    def holds(self, sample, explanations):
        nearest = _nearest(self.encoder_.encode(sample.X)[:, 0], explanations.shared["prototypes"])
        return np.equal.outer(explanations.values, nearest).astype(bool)


def _nearest(numbers, prototypes):
    return np.abs(np.nan_to_num(numbers)[:, None] - prototypes).argmin(axis=1)


@click.command()
def audit():
    """Audit a year's logs."""
