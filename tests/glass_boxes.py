"""Models that explain themselves, and rows for them, as the conformance kit wants to be given them."""

import numpy as np
import pandas as pd

from faithkit.testing import Situation

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.normal(size=(160, 4)).round(2), columns=["age", "hours", "gain", "loss"])
BITS = (TABLE > 0).astype(int)
MIXED = TABLE.assign(job=RNG.choice(["clerk", "cook", "smith"], 160), children=RNG.integers(0, 4, 160))
SCORE = (TABLE["age"] + TABLE["hours"] * TABLE["gain"] + (MIXED["job"] == "cook")).to_numpy()
LABELS = np.where(SCORE > 0, "yes", "no")
THREE = np.array(["high", "low", "mid"])[np.digitize(SCORE, [-0.5, 0.5])]


def situation(model, rows):
    """Return a model that is fitted, with six rows to explain, the second of which comes again."""
    few = [0, 1, 2, 3, 4, 1]
    X = rows.iloc[few].set_index(pd.Index(range(100, 106))) if hasattr(rows, "iloc") else rows[few]
    return Situation(model, X, rows[5:65])
