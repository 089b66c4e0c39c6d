"""Errors about models whose trees cannot be read."""

import contextlib
from collections.abc import Iterator
from typing import Any

import faithkit


class NotTreesError(ValueError):
    """The model is not made of trees."""


class UnreadableError(faithkit.errors.InputError):
    """The model is made of trees, but they cannot be explained leaf by leaf. The message gives the reason."""


class NoSumError(UnreadableError):
    """The model is made of trees, but its prediction is not the sum of their leaves."""


@contextlib.contextmanager
def raise_as_unreadable(action: str) -> Iterator[None]:
    """Raise any error of the body as an UnreadableError.

    >>> with raise_as_unreadable("reading the trees of Oak"):
    ...     raise KeyError("leaves")
    Traceback (most recent call last):
    ...
    faithkit_feature_importance....UnreadableError: reading the trees of Oak failed with KeyError: 'leaves'
    """
    try:
        yield
    except UnreadableError:
        raise
    except Exception as error:
        raise UnreadableError(f"{action} failed with {type(error).__name__}: {error}") from error


def unreadable_trees_error(model: Any, reason: str) -> faithkit.errors.InputError:
    """Return the error for users whose model cannot be read as trees.

    >>> str(unreadable_trees_error(3, "it has  none"))
    'shap cannot read int as trees (it has none). algorithm=tree takes tree models of ...'
    """
    return faithkit.errors.InputError(
        f"shap cannot read {type(model).__name__} as trees ({' '.join(reason.split())[:120]}). "
        "algorithm=tree takes tree models of scikit-learn, XGBoost, LightGBM and CatBoost, alone or behind "
        "transformers that work column by column: use algorithm=auto, which finds one that fits."
    )
