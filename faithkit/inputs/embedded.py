"""The embedded datasets, which need neither a file nor a network."""

from collections.abc import Callable
from functools import partial
from typing import Any

import attrs
import numpy as np
import pandas as pd

_JOBS = ("clerk", "driver", "farmer", "nurse", "teacher")
DISTRICTS = {"centre": 90_000, "harbour": 60_000, "hills": 40_000, "suburb": 15_000, "valley": 0}
"""The price that each district adds to a house."""
NOISE = 5_000  # the standard deviation of prices around the rule


@attrs.frozen
class EmbeddedDataset:
    """A dataset that needs neither a file nor a network."""

    load: Callable[[], tuple[Any, np.ndarray]]

    def place(self) -> str:
        """Return where the rows are."""
        return "embedded"


def breast_cancer() -> EmbeddedDataset:
    """Return breast tumours, described by their cell nuclei (Wisconsin, 1995)."""
    return EmbeddedDataset(partial(_load_from_scikit_learn, "load_breast_cancer"))


def diabetes() -> EmbeddedDataset:
    """Return patients, described by ten scaled measurements, and their diabetes a year later (2004)."""
    return EmbeddedDataset(partial(_load_from_scikit_learn, "load_diabetes"))


def digits() -> EmbeddedDataset:
    """Return handwritten digits as 8 by 8 pixels of 17 shades (part of the UCI digits, 1998)."""
    return EmbeddedDataset(partial(_load_from_scikit_learn, "load_digits"))


def houses() -> EmbeddedDataset:
    """Return simulated houses and their prices, which follow a known rule plus noise.

    A house costs 60,000 plus 25,000 per room, more in better districts, 500 less per year of age unless it
    was renovated, and 2,000 less per kilometre to the station. Nothing else matters.
    """
    return EmbeddedDataset(make_houses)


def iris() -> EmbeddedDataset:
    """Return Fisher's irises (1936): the length and the width of sepals and petals, and the species."""
    return EmbeddedDataset(partial(_load_from_scikit_learn, "load_iris"))


def loans() -> EmbeddedDataset:
    """Return simulated applications for a loan, which follow a known rule.

    The label says whether the loan is granted: "yes" or "no". The columns are the applicant's age in years,
    yearly income, debt as a share of the income, job, housing ("own", "rent" or "family"), arrears (whether
    earlier payments are overdue), and region. Some jobs and incomes are missing.

    A loan is granted if there are no arrears and either the debt is at most 0.35, or the applicant owns a
    home and earns more than 40,000. Nothing else matters.
    """
    return EmbeddedDataset(make_loans)


def reasons() -> EmbeddedDataset:
    """Return simulated decisions of a bank, with codes of the reasons that it states for refusals.

    One reason is false for some of the refused applicants, and another one is not the whole reason.
    """
    return EmbeddedDataset(make_reasons)


def wine() -> EmbeddedDataset:
    """Return wines of one Italian region, described by their chemistry, and their three growers (1991)."""
    return EmbeddedDataset(partial(_load_from_scikit_learn, "load_wine"))


def _load_from_scikit_learn(name: str) -> tuple[Any, np.ndarray]:
    from sklearn import datasets

    bunch = getattr(datasets, name)()
    X = pd.DataFrame(bunch.data, columns=[str(column) for column in bunch.feature_names])
    if "target_names" not in bunch:  # the target is a number
        return X, bunch.target.astype(np.float64)
    labels = np.array([str(label) for label in bunch.target_names], dtype=object)
    return X, labels[bunch.target]


def make_loans(n: int = 2_000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Simulate applications for a loan and decide them by the rule that `loans` describes.

    Age, job and region are decoys for unfaithful explanations. Some jobs and incomes are missing; a missing
    income does not exceed 40,000.

    Examples
    --------
    >>> X, y = make_loans(4)
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
    is_wealthy = (X["housing"] == "own") & (X["income"] > 40_000)
    is_granted = ~X["arrears"] & ((X["debt"] <= 0.35) | is_wealthy)
    return X, np.where(is_granted, "yes", "no").astype(object)


def make_reasons(n: int = 2_000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Simulate decisions of a bank by a known rule, with codes of the reasons that it states for refusals.

    It refuses who has more than one delinquency (R01), uses more than 0.7 of the credit (R02), has a history
    of less than two years and more than three inquiries, or earns less than 20,000 in the north; and some by
    hand. For the third it states the history only (R03). For the fourth, if nothing else applies, it states
    R02, which is false. For decisions by hand it states R09, which is about no column. At most two reasons
    are stated. Some incomes are missing, and such an income is not less than 20,000.

    Examples
    --------
    >>> X, y = make_reasons(4)
    >>> X.columns.tolist()
    ['applicant', 'delinquencies', 'utilisation', 'history', 'inquiries', 'income', 'region', 'reason_1', ...]
    >>> y.tolist()
    ['approved', 'approved', 'refused', 'approved']
    """
    rng = np.random.default_rng(seed)
    income = np.round(rng.lognormal(10.3, 0.4, n), -2)
    X = pd.DataFrame(
        {
            "applicant": 10_000 + rng.permutation(n),
            "delinquencies": rng.poisson(0.6, n),
            "utilisation": rng.beta(2, 3, n).round(2),
            "history": rng.exponential(8, n).round(1),
            "inquiries": rng.poisson(2, n),
            "income": np.where(rng.random(n) < 0.03, np.nan, income),
            "region": rng.choice(["east", "north", "south", "west"], n),
        }
    )
    is_true_by_code = {
        "R01": X["delinquencies"] > 1,
        "R02": X["utilisation"] > 0.7,
        "R03": (X["history"] < 2) & (X["inquiries"] > 3),
        "R09": pd.Series(rng.random(n) < 0.01),
    }
    stated = [[code for code, is_true in is_true_by_code.items() if is_true[row]][:2] for row in range(n)]
    for row in np.flatnonzero((X["region"] == "north") & (X["income"] < 20_000)):
        stated[row] = stated[row] or ["R02"]
    X["reason_1"] = [codes[0] if codes else None for codes in stated]
    X["reason_2"] = [codes[1] if len(codes) > 1 else None for codes in stated]
    return X, np.where(X["reason_1"].isna(), "approved", "refused").astype(object)


def make_houses(n: int = 2_000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Simulate houses, and prices that follow the rule that `houses` describes, plus noise.

    Prices are rounded to hundreds. The number of floors and the colour are decoys for unfaithful
    explanations. Some districts and ages are missing; such a house costs as much as one in the valley, or as
    a new one.

    Examples
    --------
    >>> X, y = make_houses(3)
    >>> X.columns.tolist()
    ['district', 'rooms', 'age', 'renovated', 'station', 'floors', 'colour']
    >>> y.tolist()
    [134800.0, 154300.0, 291500.0]
    """
    rng = np.random.default_rng(seed)
    district = rng.choice(np.array(list(DISTRICTS), dtype=object), n)
    district[rng.random(n) < 0.05] = None
    X = pd.DataFrame(
        {
            "district": district,
            "rooms": rng.integers(1, 9, n),
            "age": np.where(rng.random(n) < 0.03, np.nan, rng.integers(0, 120, n)),
            "renovated": rng.random(n) < 0.3,
            "station": rng.gamma(2, 2, n).round(1),
            "floors": rng.integers(1, 4, n),
            "colour": rng.choice(["brown", "grey", "white", "yellow"], n),
        }
    )
    effective_age = np.where(X["renovated"], 0, X["age"].fillna(0))
    district_price = X["district"].map(DISTRICTS).fillna(0).to_numpy(np.float64)
    price = 60_000 + 25_000 * X["rooms"] + district_price - 500 * effective_age - 2_000 * X["station"]
    return X, np.round(price.to_numpy(np.float64) + rng.normal(0, NOISE, n), -2)
