"""Whether two samples hold the same rows, one by one: only then can their difference be a paired one."""

from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.inputs.predictions.labels import Labels
from faithkit.inputs.rows import input_kind
from faithkit.inputs.seeds import row_words
from faithkit.measure.counting.design import Design


@attrs.frozen(eq=False, slots=False)
class RowNames:
    """What rows are told apart by: the instances where they are known, else the predictions.

    The names of columns, their dtypes and pandas' index are no matter: a row is what is in its cells.
    `design` has the weights and clusters, if there are some.
    """

    X: Any
    labels: Labels
    design: Design | None = None

    @cached_property
    def words(self) -> NDArray[np.uint64] | None:
        """64 bits for the content of each row; None where it is unknown, or cannot be hashed."""
        try:
            return None if self.X is None else row_words(self.X, seed=0)
        except (TypeError, ValueError):
            return None

    @property
    def form(self) -> str | None:
        """What the instances are: the same row has other words as a table, a sparse matrix or an array."""
        return None if self.X is None else input_kind(self.X)

    def predicted(self, row: int) -> str:
        """Return the prediction of a row, as a person reads it."""
        return str(self.labels.classes[self.labels.codes[row]])


def check_paired(one: RowNames, two: RowNames) -> None:
    """Refuse samples that do not hold the same rows in the same order, and say what can be done.

    Predictions may differ where the instances are the same: that is one sample under two models.

    Examples
    --------
    >>> from faithkit.inputs.predictions.labels import encode_labels
    >>> labels, X = encode_labels(["yes", "no"]), np.array([[1.0], [2.0]])
    >>> check_paired(RowNames(X, labels), RowNames(X.copy(), labels))
    >>> check_paired(RowNames(X, labels), RowNames(X[::-1], labels))
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the two samples hold the same rows in another order, ...
    """
    sizes = [len(names.labels.codes) for names in (one, two)]
    if sizes[0] != sizes[1]:
        raise InputError(f"samples of {sizes[0]} and {sizes[1]} rows are no pair: say paired=False.")
    if not _drawn_alike(one.design, two.design):
        raise InputError(
            "the two results are no pair: their weights or clusters are others. Give both the same ones."
        )
    if one.X is not None and one.X is two.X:  # nothing need be read
        return
    if one.words is None or two.words is None or one.form != two.form:
        _check_predictions(one, two)
    elif not np.array_equal(one.words, two.words):
        raise InputError(_why_no_pair(one.words, two.words))


def _drawn_alike(one: Design | None, two: Design | None) -> bool:
    if one is None or two is None:
        return one is two
    return np.array_equal(one.steps, two.steps) and np.array_equal(one.unit, two.unit)


def _why_no_pair(one: NDArray[np.uint64], two: NDArray[np.uint64]) -> str:
    if np.array_equal(np.sort(one), np.sort(two)):
        return (
            "the two samples hold the same rows in another order, and rows are paired by their place, "
            "whatever pandas' index says: put them in one order."
        )
    return (
        f"the two samples are no pair: row {int((one != two).argmax())} has other cells here than there "
        "(pandas' index is not looked at). Give both the same rows in the same order, or say paired=False "
        "for two separate samples."
    )


def _check_predictions(one: RowNames, two: RowNames) -> None:
    place = {label: code for code, label in enumerate(two.labels.classes)}
    codes = np.array([place.get(label, -1) for label in one.labels.classes])[one.labels.codes]
    differ = codes != two.labels.codes
    if differ.any():
        row = int(differ.argmax())
        raise InputError(
            f"the two samples are no pair by their predictions, {one.predicted(row)!r} here and "
            f"{two.predicted(row)!r} there in row {row}, and not both have instances to tell by (pandas' "
            "index is not looked at): give both X, or say paired=False for two separate samples."
        )
