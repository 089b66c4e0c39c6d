"""The classes of a model: labels in the order of its scores, and new names for them."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import as_array
from faithkit.errors import InputError
from faithkit.inputs.models.model_names import as_list


@attrs.frozen(eq=False)
class ClassNames:
    """New names for the labels that a model predicts; none where `own` is None.

    Examples
    --------
    >>> ClassNames.of([0, 1], np.array(["no", "yes"])).given(np.array([1, 0])).tolist()
    ['yes', 'no']
    >>> ClassNames.of(None, np.array(["no", "yes"])).given(np.array(["yes"])).tolist()
    ['yes']
    """

    own: np.ndarray | None
    new: np.ndarray | None

    @classmethod
    def of(cls, own: Any, new: np.ndarray | None) -> "ClassNames":
        """Compare a model's own classes with those that it is said to have."""
        if own is None or new is None or not len(own) or distinct(own).tolist() == new.tolist():
            return cls(None, None)
        own = distinct(own)
        if len(own) != len(new) or set(own.tolist()) & set(new.tolist()):
            raise InputError(
                f"the classes are given as {as_list(new.tolist())}, and the model's own are "
                f"{as_list(own.tolist())}: leave them out, or give a new name for each, in this order."
            )
        return cls(own, new)

    def given(self, labels: np.ndarray) -> np.ndarray:
        """Return labels by their new names."""
        if self.own is None or self.new is None:
            return labels
        places = pd.Index(self.own).get_indexer(labels)
        if (places < 0).any():
            raise InputError(
                f"the model predicted {labels.tolist()[places.argmin()]!r}, which is none of its own classes "
                f"{as_list(self.own.tolist())}: nobody says what it is called."
            )
        found: np.ndarray = self.new[places]
        return found


def distinct(classes: Any) -> np.ndarray:
    """Return classes as an array of labels, all of them distinct.

    >>> distinct(range(3)).tolist()
    [0, 1, 2]
    """
    if isinstance(classes, str | Set | Mapping) or not isinstance(classes, Iterable):
        raise InputError(
            f"the classes are {classes!r}; expected a list of labels, in the order of the scores' columns: "
            "['no', 'yes']."
        )
    labels = list(classes)
    if any(isinstance(label, list | np.ndarray) for label in labels):
        raise InputError("the model has classes for several outputs; expected a model with one output.")
    known = classes if isinstance(classes, np.ndarray) else as_array(labels)
    if len(set(known.tolist())) != len(known) or pd.isna(known).any():
        raise InputError(f"the classes are {known.tolist()}; expected distinct labels.")
    return known


def places_of(labels: np.ndarray, classes: np.ndarray) -> NDArray[np.int64]:
    """Return the place of each label among the classes; a label that is none of them is refused.

    Examples
    --------
    >>> places_of(np.array(["yes", "no"]), np.array(["no", "yes"]))
    array([1, 0])
    """
    places = {label: place for place, label in enumerate(classes.tolist())}
    unknown = next((label for label in labels.tolist() if label not in places), None)
    if unknown is not None:
        raise InputError(
            f"the model predicted {unknown!r}, which is none of the classes {as_list(classes.tolist())} that "
            "its scores belong to. Give a model whose classes_ has every label, or all labels in the order "
            "of the scores' columns: faithkit.Predictor(model, classes=[…]) (CLI: --classes)."
        )
    return np.array([places[label] for label in labels.tolist()], dtype=np.int64)


def check_column_order(scores: np.ndarray, labels: np.ndarray, classes: np.ndarray) -> None:
    """Refuse scores whose columns contradict the labels, as columns in another order do.

    A label need not be the class of the highest score, for its threshold may be tuned. But the rows of a
    label score its class higher than other rows do, on average, or it is the highest of their scores.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]])
    >>> check_column_order(scores, np.array(["no", "yes", "yes"]), np.array(["no", "yes"]))
    >>> check_column_order(scores, np.array(["no", "yes", "yes"]), np.array(["yes", "no"]))
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the model scores the class 'yes' lower (0.45 on average) for rows that ...
    """
    places = places_of(labels, classes)
    highest = scores.argmax(axis=1) == places
    for place in np.unique(places):
        own = places == place
        if own.all() or highest[own].mean() > 0.5:
            continue
        mine, others = scores[own, place].mean(), scores[~own, place].mean()
        if mine < others - 1e-6 * np.abs(scores[:, place]).max():  # and not by the last bits alone
            raise InputError(
                f"the model scores the class {classes.tolist()[place]!r} lower ({mine:.3g} on average) for "
                f"rows that it predicts as that class than for other rows ({others:.3g}): the columns of its "
                f"scores seem to be in another order than the classes {as_list(classes.tolist())}. Give the "
                "labels in the order of the columns: faithkit.Predictor(model, classes=[…]) "
                "(CLI: --classes), or a model whose classes_ has that order."
            )
