"""Models that explain themselves: rows for them, and what the conformance kit needs to check their explainers."""

import faithkit_glass_box
import numpy as np
import pandas as pd
from faithkit_conformance import situation_of

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.normal(size=(160, 4)).round(2), columns=["age", "hours", "gain", "loss"])
BITS = (TABLE > 0).astype(int)
MIXED = TABLE.assign(job=RNG.choice(["clerk", "cook", "smith"], 160), children=RNG.integers(0, 4, 160))
GAPS = MIXED.assign(age=MIXED["age"].where(MIXED.index % 7 > 0), job=MIXED["job"].where(MIXED.index % 5 > 0))
SCORE = (TABLE["age"] + TABLE["hours"] * TABLE["gain"] + (MIXED["job"] == "cook")).to_numpy()
LABELS = np.where(SCORE > 0, "yes", "no")
THREE = np.array(["high", "low", "mid"])[np.digitize(SCORE, [-0.5, 0.5])]

EXPLAINERS = {component.name: component for component in faithkit_glass_box.faithkit_explainers()}


def situation(model, rows):
    """Return a fitted model with rows to explain, out of a table of at least 65."""
    return situation_of(model, rows[:65])
