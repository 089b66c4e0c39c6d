"""How unusual each column is."""

import os

import numpy as np

from faithkit import Explanations
from faithkit.errors import ParameterError
from faithkit.plugin import Encoder


class Deviation:
    """How far each column is from the background's median, in quartile ranges.

    Parameters
    ----------
    clip : float
        Farther than this counts as this far.
    """

    rows_per_chunk = 8

    def __init__(self, clip=3.0):
        if not clip > 0:
            raise ParameterError(f"deviation: clip must be positive, got {clip!r}.")
        self.clip = clip

    def fit(self, predictor, background):
        """Learn what is usual."""
        self.encoder = Encoder(background)
        low, self.middle, high = np.nanquantile(self.encoder.encode(background), [0.25, 0.5, 0.75], axis=0)
        self.spread = np.where(high > low, high - low, 1.0)
        return self

    def explain(self, X, seeds):
        """Measure every cell; a missing one does not deviate."""
        _note_process()
        away = (self.encoder.encode(X, unseen="keep") - self.middle) / self.spread
        values = np.nan_to_num(away).clip(-self.clip, self.clip)
        return Explanations.vectors(values, shared={"names": self.encoder.names}, relation="same-direction")


def _note_process():
    """Note whose child explains, where Acme's support asks for it."""
    if "ACME_PROCESSES" in os.environ:
        with open(os.environ["ACME_PROCESSES"], "a") as file:
            file.write(f"{os.getppid()}\n")
