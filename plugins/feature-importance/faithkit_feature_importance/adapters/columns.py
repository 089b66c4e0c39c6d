"""Numbers of features, of one output or of several, as vectors with names."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.adapters.outputs import Outputs, Positions, few
from faithkit_feature_importance.importances import default_relation

Pairs = tuple[tuple[str, float], ...]


def vectors(
    who: str,
    values: NDArray[Any],
    names: Sequence[Any] | None,
    about: faithkit.plugin.RowContext,
    **shared: Any,
) -> faithkit.Explanations:
    """Return a vector for each row, its columns named as the object names them, or as X does.

    Examples
    --------
    >>> about = faithkit.plugin.RowContext(features=["age", "sex"])
    >>> vectors("torch-tensors", np.array([[0.3, -0.1]]), None, about).shared
    {'names': ['age', 'sex']}
    """
    width = values.shape[1]
    known = names if names is not None else about.features
    if known is not None and len(known) == width:
        shared["names"] = _distinct(who, [str(name) for name in known])
    relation = "same-top-features" if about.X is None else default_relation(about.X)
    return faithkit.Explanations.vectors(values, shared=shared, relation=relation)


def picked(values: NDArray[Any], chosen: Positions) -> NDArray[Any]:
    """Return of (rows, features, outputs) the chosen outputs of every row, side by side.

    Examples
    --------
    >>> picked(np.array([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]), np.array([[1], [0]]))
    array([[2, 4],
           [5, 7]])
    """
    taken = np.take_along_axis(values, chosen[:, None, :], axis=2)
    return taken.transpose(0, 2, 1).reshape(len(values), values.shape[1] * chosen.shape[1])


def prefixed(outputs: Outputs, target: Any, names: Sequence[Any] | None) -> list[str] | None:
    """Return the names of features for each output that is chosen beside others."""
    prefixes = outputs.prefixes(target)
    return None if names is None else [f"{prefix}{name}" for prefix in prefixes for name in names]


def pairs(words: Sequence[Any], weights: Sequence[Any], digits: int | None) -> Pairs:
    """Return words with their weights in one order, as `lime-text` does: equal sets are equal.

    Examples
    --------
    >>> pairs(["good ", "film"], [0.17, -0.02], digits=1)
    (('film', 0.0), ('good', 0.2))
    """
    numbers = [float(weight) if digits is None else round(float(weight), digits) for weight in weights]
    texts = (str(word).strip() for word in words)
    return tuple(sorted((word, number + 0.0) for word, number in zip(texts, numbers, strict=True)))


def check_digits(who: str, digits: Any) -> int | None:
    """Return to how many decimals the weights of words are rounded."""
    what, error = f"{who}: digits", faithkit.errors.ParameterError
    return None if digits is None else faithkit.plugin.whole_number(digits, what, least=0, error=error)


def no_choice(who: str, **given: Any) -> None:
    """Refuse parameters that would choose where there is no choice."""
    for name, (value, why) in given.items():
        if value is not None:
            raise faithkit.errors.InputError(f"{who}: {name}={value!r} {why}: leave it out.")


def _distinct(who: str, names: list[str]) -> list[str]:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise faithkit.errors.InputError(f"{who}: more than one feature is called {few(twice)}: rename them.")
    return names
