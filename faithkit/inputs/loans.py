"""Loans: a made-up table with words, missing values and a rule behind it, so that the truth is known."""

import numpy as np
import pandas as pd

ROWS = 2_000
_JOBS = ("clerk", "driver", "farmer", "nurse", "teacher")


def loans(n: int = ROWS, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return applications for a loan, and which were granted.

    A loan is granted ("yes") where there are no arrears and either the debt is at most 0.35 of the income,
    or the applicant owns a home and earns more than 40,000. Nothing else matters: age, job and region are
    only there to be blamed by unfaithful explanations. Job and income are missing here and there; a missing
    income is not more than 40,000.

    Examples
    --------
    >>> X, y = loans(4)
    >>> X.columns.tolist()
    ['age', 'income', 'debt', 'job', 'housing', 'arrears', 'region']
    >>> y.tolist()
    ['yes', 'no', 'no', 'no']
    """
    rng = np.random.default_rng(seed)
    job = rng.choice(np.array(_JOBS, dtype=object), n)
    job[rng.random(n) < 0.05] = None
    income = np.round(rng.lognormal(10.5, 0.4, n), -2)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": np.where(rng.random(n) < 0.03, np.nan, income),
            "debt": rng.beta(2, 3, n).round(2),
            "job": job,
            "housing": rng.choice(["own", "rent", "family"], n, p=[0.4, 0.4, 0.2]),
            "arrears": rng.random(n) < 0.2,
            "region": rng.choice(["east", "north", "south", "west"], n),
        }
    )
    wealthy = (X["housing"] == "own") & (X["income"] > 40_000)
    granted = ~X["arrears"] & ((X["debt"] <= 0.35) | wealthy)
    return X, np.where(granted, "yes", "no").astype(object)
