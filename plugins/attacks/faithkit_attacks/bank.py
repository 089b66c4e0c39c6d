"""Three models of one bank: `honest`, `biased` and `liar`, as in `--model faithkit_attacks:liar`.

`honest` refuses applicants who paid late. `biased` refuses women. `liar` refuses women too, but shows the
honest model to LIME and SHAP. It is fitted on first use.
"""

from functools import cache
from typing import Any

from faithkit_attacks.applicants import make_applicants
from faithkit_attacks.decides_by import DecidesBy
from faithkit_attacks.scaffold import Scaffold

honest = DecidesBy("arrears", [False])
biased = DecidesBy("sex", ["man"])

CUSTOMERS_SEED = 1  # of the applicants that the liar's detector is fitted on


def __getattr__(name: str) -> Any:
    if name == "liar":
        return fit_liar()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def fit_liar(seed: int = 0) -> Scaffold:
    """Fit the liar once, its detector on two thousand applicants of its own.

    Examples
    --------
    >>> fit_liar() is fit_liar()
    True
    """
    return Scaffold(biased, honest, seed=seed).fit(make_applicants(seed=CUSTOMERS_SEED))
