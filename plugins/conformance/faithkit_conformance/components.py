"""What the kit knows of components: the kinds of rows they explain, and the parameters of their factories."""

import inspect
from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd
from scipy import sparse

from faithkit.plugin import Component

LABELS, NUMBERS, SCORES = OUTCOMES = ("labels", "numbers", "scores")
"""The words for kinds of predictions."""

INPUTS, ARRAYS = ("table", "text", "sparse"), ("image", "series")
"""The words for kinds of rows. Rows that are arrays of several axes may be either of the last two."""

_NAMEABLE = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def input_kind(X: Any) -> str:
    """Return "table", "sparse", "text", or "array" for rows of several axes, such as images.

    Examples
    --------
    >>> import numpy as np
    >>> input_kind(np.zeros((3, 2))), input_kind(["good", "bad"]), input_kind(np.zeros((3, 8, 8)))
    ('table', 'text', 'array')
    """
    if isinstance(X, list):
        return "text"
    if sparse.issparse(X):
        return "sparse"
    return "table" if isinstance(X, pd.DataFrame) or X.ndim <= 2 else "array"


def has_input_kind(X: Any, inputs: Collection[str]) -> bool:
    """Return whether rows are of a kind that a component lists in its `inputs`.

    Examples
    --------
    >>> import numpy as np
    >>> images = np.zeros((3, 8, 8))
    >>> has_input_kind(images, ("table", "image")), has_input_kind(images, ("table", "text"))
    (True, False)
    """
    kind = input_kind(X)
    return kind in inputs or (kind == "array" and any(word in inputs for word in ARRAYS))


def explained_outcomes(explainer: Any) -> Any:
    """Return the kinds of predictions that an explainer says it explains: labels, if it says nothing."""
    return getattr(explainer, "outcomes", (LABELS,))


def rows_per_chunk(explainer: Any, predictor: Any) -> Any:
    """Return how many rows an explainer wants at a time, which may depend on the model.

    Examples
    --------
    >>> rows_per_chunk(object(), None)
    32
    """
    declared = getattr(explainer, "rows_per_chunk", 32)
    return declared(predictor) if callable(declared) else declared


def find_parameters(component: Component) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a component's factory that can be given by name.

    Examples
    --------
    >>> wrap = Component(name="wrap", factory="textwrap:indent", summary="Indent.")
    >>> list(find_parameters(wrap))
    ['text', 'prefix', 'predicate']
    """
    try:
        signature = inspect.signature(component.load())
    except (TypeError, ValueError):  # some classes written in C have no signature
        return {}
    return {name: param for name, param in signature.parameters.items() if param.kind in _NAMEABLE}
