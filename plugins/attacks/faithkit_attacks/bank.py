"""Three models of one bank, made when first asked for: `--model faithkit_attacks:liar`.

`honest` refuses whoever paid late, `biased` refuses women, and `liar` refuses women while it shows LIME and
SHAP the honest model.
"""

from functools import cache
from typing import Any

from faithkit_attacks.applicants import make_applicants
from faithkit_attacks.decides_by import DecidesBy
from faithkit_attacks.scaffold import Scaffold

honest = DecidesBy("arrears", [False])
biased = DecidesBy("sex", ["man"])

CUSTOMERS = 1  # the seed of the applicants whom the bank knows already


def __getattr__(name: str) -> Any:
    if name == "liar":
        return scaffolded()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def scaffolded(seed: int = 0) -> Scaffold:
    """Return the liar, whose detector knows two thousand other applicants.

    Examples
    --------
    >>> scaffolded() is scaffolded()
    True
    """
    return Scaffold(biased, honest, seed=seed).fit(make_applicants(seed=CUSTOMERS))
