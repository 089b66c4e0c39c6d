"""Synthetic applicants for a loan, with columns that depend on each other as those of real people do.

A scaffold relies on this. A change of one column alone makes a person who does not exist, and a model can
detect that.
"""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

_INCOMES = {"primary": 18_000, "secondary": 25_000, "college": 32_000, "university": 39_000}


@attrs.frozen
class Applicants:
    """Dataset of applicants, generated without a file or the network."""

    n: int = 2_000

    def load(self) -> tuple[pd.DataFrame, NDArray[Any]]:
        """Return the applicants, and whether each was granted the loan."""
        X = make_applicants(self.n)
        return X, np.where(X["arrears"], "no", "yes").astype(object)

    def place(self) -> str:
        """Return where the rows are stored."""
        return "embedded"


def applicants() -> Applicants:
    """Return synthetic applicants for a loan, which is granted to those who never paid late.

    Half are women. Half once paid late (arrears), independently of sex. Salutation and family depend on sex,
    employment on age, income on education, and reminders on arrears.
    """
    return Applicants()


def make_applicants(n: int = 2_000, seed: int = 0) -> pd.DataFrame:
    """Return n applicants, drawn independently of each other.

    Examples
    --------
    >>> make_applicants(2)[["salutation", "sex", "family", "age", "employment", "arrears"]]
      salutation    sex  family  age employment  arrears
    0         Ms  woman  single   50   employed    False
    1         Mr    man  single   56   employed    False
    """
    rng = np.random.default_rng(seed)
    is_man, is_single, arrears = (rng.random(n) < share for share in (0.5, 0.3, 0.5))
    age, education = rng.integers(20, 80, n), rng.integers(0, len(_INCOMES), n)
    spouse = np.where(is_man, "husband", "wife")
    widowed = np.where(is_man, "widower", "widow")
    return pd.DataFrame(
        {
            "salutation": np.where(is_man, "Mr", "Ms"),
            "sex": np.where(is_man, "man", "woman"),
            "family": np.where(is_single, "single", np.where(age > 60, widowed, spouse)),
            "age": age,
            "employment": np.where(age >= 65, "retired", np.where(age < 25, "training", "employed")),
            "education": np.array(list(_INCOMES))[education],
            "income": np.array(list(_INCOMES.values()))[education] + rng.integers(0, 7_000, n),
            "arrears": arrears,
            "reminders": np.where(arrears, rng.integers(1, 6, n), 0),
        }
    )
