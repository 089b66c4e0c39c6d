"""The classes of a model: labels in the order of its scores, and new names for them."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.inputs.models.naming import as_list
from faithkit.measure.containers import as_array


@attrs.frozen(eq=False)
class Names:
    """New names for the labels that a model predicts; none where `own` is None.

    Examples
    --------
    >>> Names.of([0, 1], np.array(["no", "yes"])).given(np.array([1, 0])).tolist()
    ['yes', 'no']
    >>> Names.of(None, np.array(["no", "yes"])).given(np.array(["yes"])).tolist()
    ['yes']
    """

    own: np.ndarray | None
    new: np.ndarray | None

    @classmethod
    def of(cls, own: Any, new: np.ndarray | None) -> "Names":
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
