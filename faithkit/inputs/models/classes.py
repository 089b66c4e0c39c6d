"""The classes of a model: the labels in the order of its scores, and new names for them."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import as_array
from faithkit.errors import InputError

_MAX_LISTED = 10  # classes that a message lists


def match_class_names(model_classes: Any, new_names: np.ndarray | None) -> dict[Any, Any] | None:
    """Return the new name of each label that a model predicts; None if the labels keep their names.

    Examples
    --------
    >>> match_class_names([0, 1], np.array(["no", "yes"]))
    {0: 'no', 1: 'yes'}
    >>> match_class_names(["no", "yes"], np.array(["no", "yes"]))
    """
    if model_classes is None or new_names is None or not len(model_classes):
        return None
    old, new = check_classes(model_classes).tolist(), new_names.tolist()
    if old == new:
        return None
    if len(old) != len(new) or set(old) & set(new):
        raise InputError(
            f"the classes are given as {classes_code(new)}, and the model's own are {classes_code(old)}: "
            "leave them out, or give a new name for each, in this order."
        )
    return dict(zip(old, new, strict=True))


def rename_labels(labels: np.ndarray, new_names: dict[Any, Any]) -> np.ndarray:
    """Replace labels by their new names.

    >>> rename_labels(np.array([1, 0]), {0: "no", 1: "yes"}).tolist()
    ['yes', 'no']
    """
    unknown = next((label for label in labels.tolist() if label not in new_names), None)
    if unknown is not None:
        raise InputError(
            f"the model predicted {unknown!r}, which is none of its own classes "
            f"{classes_code(list(new_names))}, so it has no new name. Give a model whose classes_ has every "
            "label."
        )
    return as_array([new_names[label] for label in labels.tolist()])


def check_classes(classes: Any) -> np.ndarray:
    """Return classes as an array of distinct labels.

    >>> check_classes(range(3)).tolist()
    [0, 1, 2]
    """
    if isinstance(classes, str | Set | Mapping) or not isinstance(classes, Iterable):
        raise InputError(
            f"the classes are {classes!r}; expected a list of labels, in the order of the scores' columns: "
            "['no', 'yes']."
        )
    label_list = list(classes)
    if any(isinstance(label, list | np.ndarray) for label in label_list):
        raise InputError("the model has classes for several outputs; expected a model with one output.")
    labels = classes if isinstance(classes, np.ndarray) else as_array(label_list)
    if len(set(labels.tolist())) != len(labels) or pd.isna(labels).any():
        raise InputError(f"the classes are {labels.tolist()}; expected distinct labels.")
    return labels


def class_positions(labels: np.ndarray, classes: np.ndarray) -> NDArray[np.int64]:
    """Return the position of each label among the classes; a label that is not a class is an error.

    Examples
    --------
    >>> class_positions(np.array(["yes", "no"]), np.array(["no", "yes"]))
    array([1, 0])
    """
    position_of = {label: position for position, label in enumerate(classes.tolist())}
    unknown = next((label for label in labels.tolist() if label not in position_of), None)
    if unknown is not None:
        raise InputError(
            f"the model predicted {unknown!r}, which is none of the classes {classes_code(classes.tolist())} "
            "that its scores belong to. Give a model whose classes_ has every label, or all labels in the "
            "order of the scores' columns: faithkit.Predictor(model, classes=[…]) (CLI: --classes)."
        )
    return np.array([position_of[label] for label in labels.tolist()], dtype=np.int64)


def check_column_order(scores: np.ndarray, labels: np.ndarray, classes: np.ndarray) -> None:
    """Check that the columns of scores fit the labels; columns in another order do not.

    A label need not be the class with the highest score, because a threshold may be tuned. But the rows with
    a label score its class higher, on average, than other rows do, or most of them score it highest.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]])
    >>> check_column_order(scores, np.array(["no", "yes", "yes"]), np.array(["no", "yes"]))
    >>> check_column_order(scores, np.array(["no", "yes", "yes"]), np.array(["yes", "no"]))
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the model scores the class 'yes' lower (0.45 on average) for rows that ...
    """
    positions = class_positions(labels, classes)
    is_highest = scores.argmax(axis=1) == positions
    for position in np.unique(positions):
        in_class = positions == position
        if in_class.all() or is_highest[in_class].mean() > 0.5:
            continue
        class_mean, other_mean = scores[in_class, position].mean(), scores[~in_class, position].mean()
        rounding_error = 1e-6 * np.abs(scores[:, position]).max()
        if class_mean < other_mean - rounding_error:
            raise InputError(
                f"the model scores the class {classes.tolist()[position]!r} lower ({class_mean:.3g} on "
                f"average) for rows that it predicts as that class than for other rows ({other_mean:.3g}): "
                "the columns of its scores seem to be in another order than the classes "
                f"{classes_code(classes.tolist())}. Give the labels in the order of the columns: "
                "faithkit.Predictor(model, classes=[…]) (CLI: --classes), or a model whose classes_ has that "
                "order."
            )


def classes_code(classes: int | Sequence[Any]) -> str:
    """Return the code of a list of classes: the given ones, or a number of integers.

    >>> classes_code(2), classes_code(["no", "yes"]), classes_code(40)
    ('[0, 1]', "['no', 'yes']", 'range(40)')
    """
    labels = list(range(classes)) if isinstance(classes, int) else list(classes)
    return repr(labels) if len(labels) <= _MAX_LISTED else f"range({len(labels)})"


def classes_option(n_classes: int) -> str:
    """Return the command-line option that names a number of classes.

    >>> classes_option(2), classes_option(40)
    ('--classes 0,1', '--classes NAME,NAME,…')
    """
    return f"--classes {','.join(map(str, range(n_classes))) if n_classes <= _MAX_LISTED else 'NAME,NAME,…'}"
