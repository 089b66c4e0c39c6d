"""Random tables full of ties: what tests of distances and of examples are tried on."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st


@st.composite
def tables(draw, numeric=False):
    """A table with many ties: few values, two kinds of columns, missing cells, perhaps a constant column."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(4, 40))
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 4, n).astype(float),
            "b": rng.choice([0.1, 0.3, 0.7], n) * 10.0 ** draw(st.integers(-6, 6)),
            "c": draw(st.sampled_from([1.0, 1e8])) + rng.integers(0, 3, n),
            "same": 0.1,
        }
    )
    if not numeric:
        frame.loc[rng.random(n) < 0.2, "a"] = np.nan
        frame["job"] = pd.Series(rng.choice(["clerk", "smith", None], n), dtype=object)
        frame["happy"] = rng.random(n) < 0.5
    return frame


class FirstColumns:
    """A model of two labels or more that reads the first two columns, row by row."""

    def __init__(self, labels=("no", "yes")):
        self.labels = np.array(labels, dtype=object)

    def predict(self, X):
        score = X["a"].fillna(1).to_numpy() + 2 * (X["b"].to_numpy() > 0.2)
        return self.labels[score.astype(int) % len(self.labels)]


def workers(n, seed=0):
    """Words, whole numbers and halves; a column of words stands first, where dice-ml wants numbers."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "job": rng.choice(list("abcd"), n),
            "age": rng.integers(18, 80, n),
            "hours": rng.integers(0, 80, n) / 2,
            "sex": rng.choice(["f", "m"], n),
        }
    )
