"""What is given as a model: taken as it is, or by an adapter, or refused with what to write instead."""

import contextlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.extension.known_plugins import install
from faithkit.inputs.objects.adapters import RowContext, adapted

_TAKEN_BY = {  # what gives numbers that are easily taken for something else, and who knows better
    "xgboost.Booster": "faithkit-integrations",
    "lightgbm.Booster": "faithkit-integrations",
    "catboost.CatBoost": "faithkit-integrations",
}


def model_of(given: Any, classes: Any = None, outcome: str | None = None) -> Any:
    """Return an object with `predict`, or a callable: what is given, or what an adapter makes of it."""
    made = adapted(given, "model", RowContext(classes=classes, outcome=outcome))
    check_model(made)
    if made is given:
        _check_known(given)
    return made


def check_model(given: Any) -> None:
    """Refuse what cannot be a model, and say what could."""
    if isinstance(given, type):
        raise InputError(
            f"the model is the class {given.__name__}; expected a fitted instance of it: "
            f"{given.__name__}().fit(X, y)."
        )
    if isinstance(given, str | os.PathLike):
        name = os.fspath(given)
        is_place = ":" in name or Path(name).suffix or os.path.isdir(name)
        raise InputError(
            f"the model is the text {name!r}; expected "
            + (f"the model itself: faithkit.load_model({name!r})." if is_place else "a fitted model.")
        )
    if isinstance(given, list | tuple | np.ndarray | pd.Series | pd.DataFrame):
        raise InputError(
            f"the model is of type {type(given).__name__}; expected an object with a predict method, or a "
            "callable. If these are predictions, they are scored without a model: "
            "faithkit.score(predictions, explanations)."
        )
    if not callable(getattr(given, "predict", given)):
        raise InputError(
            f"the model is of type {type(given).__name__}; expected an object with a predict method, "
            "or a callable that takes X and returns labels."
        )


def says_regressor(model: Any) -> bool:
    """Whether a model calls itself a regressor, in scikit-learn's way or in the way of older libraries."""
    tags = getattr(model, "__sklearn_tags__", None)
    if tags is None or isinstance(model, type):
        return getattr(model, "_estimator_type", None) == "regressor"
    with contextlib.suppress(Exception):  # one that is not whole may still predict
        return getattr(tags(), "estimator_type", None) == "regressor"
    return False


def _check_known(given: Any) -> None:
    kind = f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}"
    if kind in _TAKEN_BY:
        raise InputError(
            f"the model is a {kind}, whose answers may be scores or numbers; {_TAKEN_BY[kind]} can tell: "
            f"in faithkit's source tree, {install(_TAKEN_BY[kind])}"
        )
    if not hasattr(given, "predict") and hasattr(given, "state_dict"):
        raise InputError(
            f"the model is the PyTorch module {type(given).__name__}, which faithkit-feature-importance "
            "takes: in faithkit's source tree, pip install -e 'plugins/feature-importance[torch]'"
        )
