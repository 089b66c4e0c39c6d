"""A dataset with a name."""

import numpy as np
import pandas as pd


class Claims:
    """Claims of a year: their amount, their delay in days, and whether they were paid.

    Examples
    --------
    >>> X, y = Claims().load()
    >>> X.shape, y[:3]
    ((500, 2), ['paid', 'paid', 'paid'])
    """

    def load(self):
        """Return the features and the labels, the same ones every time."""
        rng = np.random.default_rng(2025)
        X = pd.DataFrame({"amount": rng.integers(50, 5_000, 500), "days": rng.integers(0, 90, 500)})
        return X, ["paid" if days <= 60 else "refused" for days in X["days"]]

    def place(self):
        """Return where the rows are."""
        return "embedded"
