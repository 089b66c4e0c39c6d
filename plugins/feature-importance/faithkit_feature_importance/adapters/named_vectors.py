"""Helpers of the adapters: importances of one or several outputs as named vectors or weighted words."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.adapters.output_choice import Outputs, Positions, list_labels
from faithkit_feature_importance.importances import DEFAULT_RELATION, default_relation

WeightedWords = tuple[tuple[str, float], ...]
ONE_OUTPUT = "chooses among classes, and these are the values of one output"
NO_TEXTS = "is about the words of texts, and these are vectors, which the discretizer fp rounds"


def to_vectors(
    adapter: str,
    values: NDArray[Any],
    names: Sequence[Any] | None,
    context: faithkit.plugin.RowContext,
    **shared: Any,
) -> faithkit.Explanations:
    """Return a vector for each row. Columns are named by the object, or else by X.

    Examples
    --------
    >>> context = faithkit.plugin.RowContext(features=["age", "sex"])
    >>> to_vectors("torch-tensors", np.array([[0.3, -0.1]]), None, context).shared
    {'names': ['age', 'sex']}
    """
    width = values.shape[1]
    column_names = names if names is not None else context.features
    if column_names is not None and len(column_names) == width:
        shared["names"] = _check_distinct(adapter, [str(name) for name in column_names])
    relation = DEFAULT_RELATION if context.X is None else default_relation(context.X)
    return faithkit.Explanations.vectors(values, shared=shared, relation=relation)


def to_output_vectors(
    outputs: Outputs,
    target: Any,
    values: NDArray[Any],
    names: Sequence[Any] | None,
    context: faithkit.plugin.RowContext,
    predicted: Any = None,
    **shared: Any,
) -> faithkit.Explanations:
    """Return a vector for each row from values (rows, features, outputs), of the outputs that `target` names.

    `predicted` has the positions of the predicted outputs according to the object.
    """
    positions = outputs.choose(target, context, len(values), predicted)
    vectors, shared = select_outputs(values, positions), shared | outputs.shared(target)
    return to_vectors(outputs.adapter, vectors, prefix_names(outputs, target, names), context, **shared)


def select_outputs(values: NDArray[Any], positions: Positions) -> NDArray[Any]:
    """Select outputs of each row from values (rows, features, outputs), side by side.

    Examples
    --------
    >>> select_outputs(np.array([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]), np.array([[1], [0]]))
    array([[2, 4],
           [5, 7]])
    """
    selected_values = np.take_along_axis(values, positions[:, None, :], axis=2)
    return selected_values.transpose(0, 2, 1).reshape(len(values), values.shape[1] * positions.shape[1])


def prefix_names(outputs: Outputs, target: Any, names: Sequence[Any] | None) -> list[str] | None:
    """Return the names of features, prefixed by the output if several outputs are chosen."""
    prefixes = outputs.prefixes(target)
    return None if names is None else [f"{prefix}{name}" for prefix in prefixes for name in names]


def weighted_words(words: Sequence[Any], weights: Sequence[Any], digits: int | None) -> WeightedWords:
    """Return words with their weights, sorted as in `lime-text`, so that equal sets are equal.

    Examples
    --------
    >>> weighted_words(["good ", "film"], [0.17, -0.02], digits=1)
    (('film', 0.0), ('good', 0.2))
    """
    numbers = [float(weight) if digits is None else round(float(weight), digits) for weight in weights]
    texts = (str(word).strip() for word in words)
    return tuple(sorted((word, number + 0.0) for word, number in zip(texts, numbers, strict=True)))


def check_digits(adapter: str, digits: Any) -> int | None:
    """Check the parameter `digits`: to how many decimals the weights of words are rounded."""
    parameter, error = f"{adapter}: digits", faithkit.errors.ParameterError
    return (
        None if digits is None else faithkit.plugin.check_integer(digits, parameter, minimum=0, error=error)
    )


def reject_parameters(adapter: str, **parameters: Any) -> None:
    """Raise an error for parameters that have no effect; each comes as a pair (value, reason)."""
    for name, (value, reason) in parameters.items():
        if value is not None:
            raise faithkit.errors.InputError(f"{adapter}: {name}={value!r} {reason}: leave it out.")


def _check_distinct(adapter: str, names: list[str]) -> list[str]:
    duplicates = [name for name, count in Counter(names).items() if count > 1]
    if duplicates:
        raise faithkit.errors.InputError(
            f"{adapter}: more than one feature is called {list_labels(duplicates)}: rename them."
        )
    return names
