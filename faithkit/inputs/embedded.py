"""The datasets that come with the installation, so that a first run needs neither file nor network."""

from collections.abc import Callable
from functools import partial
from typing import Any

import attrs
import numpy as np
import pandas as pd

_JOBS = ("clerk", "driver", "farmer", "nurse", "teacher")
DISTRICTS = {"centre": 90_000, "harbour": 60_000, "hills": 40_000, "suburb": 15_000, "valley": 0}
"""By how much a house is dearer for where it is."""
NOISE = 5_000  # the standard deviation of prices around the rule


@attrs.frozen
class EmbeddedDataset:
    """A dataset that needs neither file nor network."""

    load: Callable[[], tuple[Any, np.ndarray]]

    def place(self) -> str:
        """Return where its rows are."""
        return "embedded"


def breast_cancer() -> EmbeddedDataset:
    """Return tumours of the breast by what their cell nuclei look like (Wisconsin, 1995)."""
    return EmbeddedDataset(partial(_of_scikit_learn, "load_breast_cancer"))


def diabetes() -> EmbeddedDataset:
    """Return patients by ten measurements, scaled, and how far diabetes had come a year later (2004)."""
    return EmbeddedDataset(partial(_of_scikit_learn, "load_diabetes"))


def digits() -> EmbeddedDataset:
    """Return handwritten digits as 8 by 8 pixels of 17 shades (a part of UCI's digits, 1998)."""
    return EmbeddedDataset(partial(_of_scikit_learn, "load_digits"))


def houses() -> EmbeddedDataset:
    """Return made-up houses and their prices, which follow a known rule but for noise.

    A house costs 60,000, and 25,000 for each room, more in better districts, 500 less for each year of age
    unless it was renovated, and 2,000 less for each kilometre to the station. Nothing else matters.
    """
    return EmbeddedDataset(make_houses)


def iris() -> EmbeddedDataset:
    """Return Fisher's irises (1936): the length and the width of sepals and petals, and the species."""
    return EmbeddedDataset(partial(_of_scikit_learn, "load_iris"))


def loans() -> EmbeddedDataset:
    """Return made-up applications for a loan, which were granted by a known rule.

    "Yes" where there are no arrears and either the debt is at most 0.35 of the income, or the applicant owns
    a home and earns more than 40,000. Nothing else matters.
    """
    return EmbeddedDataset(make_loans)


def wine() -> EmbeddedDataset:
    """Return wines of one region in Italy by their chemistry (1991), and which of three growers made each."""
    return EmbeddedDataset(partial(_of_scikit_learn, "load_wine"))


def _of_scikit_learn(name: str) -> tuple[Any, np.ndarray]:
    from sklearn import datasets

    bunch = getattr(datasets, name)()
    X = pd.DataFrame(bunch.data, columns=[str(column) for column in bunch.feature_names])
    if "target_names" not in bunch:  # a number
        return X, bunch.target.astype(np.float64)
    labels = np.array([str(label) for label in bunch.target_names], dtype=object)
    return X, labels[bunch.target]


def make_loans(n: int = 2_000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return applications for a loan, and which were granted: words, missing values, and a known truth.

    A loan is granted ("yes") where there are no arrears and either the debt is at most 0.35 of the income,
    or the applicant owns a home and earns more than 40,000. Nothing else matters: age, job and region are
    only there to be blamed by unfaithful explanations. Job and income are missing here and there; a missing
    income is not more than 40,000.

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
    wealthy = (X["housing"] == "own") & (X["income"] > 40_000)
    granted = ~X["arrears"] & ((X["debt"] <= 0.35) | wealthy)
    return X, np.where(granted, "yes", "no").astype(object)


def make_houses(n: int = 2_000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return houses and their prices: words, missing values, and a truth that is known but for noise.

    A house costs 60,000, and 25,000 for each room, more in better `DISTRICTS`, 500 less for each year of age
    unless it was renovated, and 2,000 less for each kilometre to the station; prices spread around that with
    a standard deviation of 5,000, and are rounded to hundreds. The number of floors and the colour are only
    there to be blamed by unfaithful explanations. District and age are missing here and there; a house is
    then worth as much as one in the valley, or as a new one.

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
    worn = np.where(X["renovated"], 0, X["age"].fillna(0))
    place = X["district"].map(DISTRICTS).fillna(0).to_numpy(np.float64)
    price = 60_000 + 25_000 * X["rooms"] + place - 500 * worn - 2_000 * X["station"]
    return X, np.round(price.to_numpy(np.float64) + rng.normal(0, NOISE, n), -2)
