"""Logs to monitor: four explanations, each of which mostly goes with one prediction."""

import numpy as np
import pandas as pd

SHARES = {"income": 0.95, "debt": 0.1, "age": 0.6, "savings": 0.99}


def log(n, seed, wrong=0.0):
    """Return rows of which a share has the other prediction."""
    rng = np.random.default_rng(seed)
    why = rng.choice(list(SHARES), n, p=[0.4, 0.3, 0.2, 0.1])
    granted = (rng.random(n) < pd.Series(why).map(SHARES).to_numpy()) ^ (rng.random(n) < wrong)
    return pd.DataFrame({"label": np.where(granted, "granted", "refused"), "why": why})


def columns(frame):
    """Return predictions and explanations as Python takes them."""
    return frame["label"], frame["why"]
