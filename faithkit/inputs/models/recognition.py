"""Recognise models: accept an object, adapt it, or raise an error with advice; and name it in messages."""

import contextlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.extension.known_plugins import pip_command
from faithkit.inputs.objects.adapters import RowContext, adapt_object

_PLUGIN_FOR_TYPE = {  # types whose outputs are ambiguous, and the plugin that can interpret them
    "xgboost.Booster": "faithkit-integrations",
    "lightgbm.Booster": "faithkit-integrations",
    "catboost.CatBoost": "faithkit-integrations",
}


def resolve_model(model: Any, classes: Any = None, outcome: str | None = None) -> Any:
    """Return an object with `predict`, or a callable: the model itself, or an adapter's version of it."""
    adapted_model = adapt_object(model, "model", RowContext(classes=classes, outcome=outcome))
    check_model(adapted_model)
    if adapted_model is model:
        _check_needs_no_plugin(model)
    return adapted_model


def check_model(model: Any) -> None:
    """Check that an object can be a model; otherwise raise an error with advice."""
    if isinstance(model, type):
        raise InputError(
            f"the model is the class {model.__name__}; expected a fitted instance of it: "
            f"{model.__name__}().fit(X, y)."
        )
    if isinstance(model, str | os.PathLike):
        name = os.fspath(model)
        is_reference = ":" in name or Path(name).suffix or os.path.isdir(name)
        raise InputError(
            f"the model is the text {name!r}; expected "
            + (f"the model itself: faithkit.load_model({name!r})." if is_reference else "a fitted model.")
        )
    if isinstance(model, list | tuple | np.ndarray | pd.Series | pd.DataFrame):
        raise InputError(
            f"the model is of type {type(model).__name__}; expected an object with a predict method, or a "
            "callable. If these are predictions, they are scored without a model: "
            "faithkit.score(predictions, explanations)."
        )
    if not callable(getattr(model, "predict", model)):
        raise InputError(
            f"the model is of type {type(model).__name__}; expected an object with a predict method, "
            "or a callable that takes X and returns labels."
        )


def is_tagged_regressor(model: Any) -> bool:
    """Return whether a model's tags, in scikit-learn's current or older form, say that it is a regressor."""
    tags = getattr(model, "__sklearn_tags__", None)
    if tags is None or isinstance(model, type):
        return getattr(model, "_estimator_type", None) == "regressor"
    with contextlib.suppress(Exception):  # a model with broken tags may still predict
        return getattr(tags(), "estimator_type", None) == "regressor"
    return False


def _check_needs_no_plugin(model: Any) -> None:
    """Check that no plugin is needed to interpret a model's outputs."""
    type_name = f"{type(model).__module__.partition('.')[0]}.{type(model).__name__}"
    if type_name in _PLUGIN_FOR_TYPE:
        plugin = _PLUGIN_FOR_TYPE[type_name]
        raise InputError(
            f"the model is a {type_name}, whose outputs may be scores or numbers; {plugin} interprets them: "
            f"{pip_command(plugin)}"
        )
    if not hasattr(model, "predict") and hasattr(model, "state_dict"):
        raise InputError(
            f"the model is the PyTorch module {type(model).__name__}, which faithkit-feature-importance "
            f"takes: {pip_command('faithkit-feature-importance')}"
        )


def model_name(model: Any) -> str:
    """Return the name of a function, or of an object's class.

    >>> model_name(len), model_name({})
    ('len', 'dict')
    """
    return getattr(model, "__name__", None) or type(model).__name__


def model_code(model: Any) -> str:
    """Return the code that calls a model, for examples in messages.

    >>> model_code(len), model_code(lambda X: X), model_code(object())
    ('len', 'f', 'f')
    """
    if callable(getattr(model, "predict", None)):
        return "model.predict"
    name = str(getattr(model, "__name__", ""))
    return name if name.isidentifier() else "f"
