"""What is said of a model that cannot be read as trees."""

from typing import Any

import faithkit


def refusal(model: Any, why: str) -> faithkit.errors.InputError:
    """Return the error to raise.

    >>> str(refusal(3, "it has  none"))
    'shap cannot read int as trees (it has none). algorithm=tree takes tree models of ...'
    """
    return faithkit.errors.InputError(
        f"shap cannot read {type(model).__name__} as trees ({' '.join(why.split())[:120]}). algorithm=tree "
        "takes tree models of scikit-learn, XGBoost, LightGBM and CatBoost, alone or behind transformers "
        "that work column by column: use algorithm=auto, which finds one that fits."
    )
