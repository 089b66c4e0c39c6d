"""Applicants for a loan: made up, with facts that depend on each other, as those of real people do.

That is what a scaffold lives on. Whoever changes one fact and leaves the others makes a person that there is
not, and a model can tell.
"""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

_INCOMES = {"primary": 18_000, "secondary": 25_000, "college": 32_000, "university": 39_000}


@attrs.frozen
class Applicants:
    """A dataset that needs neither file nor network."""

    n: int = 2_000

    def load(self) -> tuple[pd.DataFrame, NDArray[Any]]:
        """Return the applicants, and whether each was granted the loan."""
        X = make_applicants(self.n)
        return X, np.where(X["arrears"], "no", "yes").astype(object)

    def place(self) -> str:
        """Return where its rows are."""
        return "embedded"


def applicants() -> Applicants:
    """Return made-up applicants for a loan, which is granted where nothing was ever paid late.

    Half are women and half paid late at some time (arrears), independently of each other. Salutation and
    family follow sex, employment follows age, income follows education, and reminders arrears.
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
    age, school = rng.integers(20, 80, n), rng.integers(0, len(_INCOMES), n)
    married = np.where(is_man, "husband", "wife")
    bereft = np.where(is_man, "widower", "widow")
    return pd.DataFrame(
        {
            "salutation": np.where(is_man, "Mr", "Ms"),
            "sex": np.where(is_man, "man", "woman"),
            "family": np.where(is_single, "single", np.where(age > 60, bereft, married)),
            "age": age,
            "employment": np.where(age >= 65, "retired", np.where(age < 25, "training", "employed")),
            "education": np.array(list(_INCOMES))[school],
            "income": np.array(list(_INCOMES.values()))[school] + rng.integers(0, 7_000, n),
            "arrears": arrears,
            "reminders": np.where(arrears, rng.integers(1, 6, n), 0),
        }
    )
