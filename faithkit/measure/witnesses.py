"""What makes an unfaithful explanation believable: concrete rows, in words that a person can read."""

from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.display import Displayable
from faithkit.jsonable import names, plain
from faithkit.measure.agreement.base import Agreement, toward
from faithkit.measure.counting.owners import Counts
from faithkit.measure.local_estimate import LocalEstimate
from faithkit.measure.prediction_codes import PredictionCodes


@attrs.frozen
class RowId:
    """What people call a row: the column that names it, and its value there, such as customer 4711."""

    column: str
    value: Any

    def __str__(self) -> str:
        return f"{self.column} {self.value}"


def told_id(found: RowId | None) -> Any:
    """Return the JSON value of what a row is called; None where it has no name."""
    return None if found is None else plain(found.value)


@attrs.frozen(repr=False)
class Witness(Displayable):
    """One row of the sample: its position, its prediction, and its cells (None where X is unknown).

    A row that is `in_pool` was not explained, and its position is that among such rows. `id` is what people
    call it, if somebody said.
    """

    row: int
    prediction: Any
    cells: dict[str, Any] | None
    in_pool: bool = False
    id: RowId | None = None

    @property
    def place(self) -> str:
        """Where the row stands, and what people call it."""
        place = f"row {self.row} of the pool" if self.in_pool else f"row {self.row}"
        return place if self.id is None else f"{place} ({self.id})"


LISTED = 100  # predictions of a violation; a recommender has thousands


@attrs.frozen(repr=False)
class Violation(Displayable):
    """An explanation that holds for instances of different predictions, and two rows that show it.

    Attributes
    ----------
    explanation : str
        In readable form.
    predictions : dict
        How many instances of each prediction it holds for: of more than 100 predictions, the most frequent
        and those of the witnesses.
    witnesses : tuple of Witness
        A row that was given this explanation, and a row that contradicts it.
    unlisted : int
        How many instances of other predictions it holds for: all of them, where predictions are no labels.
    numbers : PredictionCodes or None
        The predictions of these instances, if they are numbers.
    """

    explanation: str
    predictions: dict[Any, int]
    witnesses: tuple[Witness, Witness]
    unlisted: int = 0
    numbers: PredictionCodes | None = None

    @classmethod
    def of(
        cls, explanation: str, predictions: dict[Any, int], witnesses: tuple[Witness, Witness]
    ) -> "Violation":
        """List the predictions of the witnesses and those that occur, or of many the most frequent."""
        shown = {seen.prediction: 0 for seen in witnesses}  # an explanation need not hold for its owner
        every = predictions | {label: predictions.get(label, 0) for label in shown}
        most = set(sorted(every, key=lambda label: (label not in shown, -every[label]))[:LISTED])
        kept = {label: times for label, times in every.items() if label in most}
        return cls(explanation, kept, witnesses, sum(every.values()) - sum(kept.values()))

    @property
    def holds_for(self) -> int:
        """The number of instances for which the explanation holds."""
        return sum(self.predictions.values()) + self.unlisted

    @property
    def rows(self) -> tuple[int, int]:
        """The positions of the two rows."""
        return self.witnesses[0].row, self.witnesses[1].row

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values; a prediction is written as text where it is a key."""
        return {
            "explanation": self.explanation,
            "predictions": dict(zip(names(self.predictions), self.predictions.values(), strict=True)),
            "unlisted": self.unlisted,
            "numbers": None if self.numbers is None else attrs.asdict(self.numbers),
            "witnesses": [
                {
                    "row": seen.row,
                    "id": told_id(seen.id),
                    "in_pool": seen.in_pool,
                    "prediction": plain(seen.prediction),
                    "cells": seen.cells,
                }
                for seen in self.witnesses
            ],
        }


class Violations(Displayable, list[Violation]):
    """What `Evaluation.violations` returns: a list that is readable as a whole.

    Attributes
    ----------
    is_tested : bool
        Whether any explanation holds for a second instance: where none does, nothing can contradict it.
    note : str or None
        How to read the explanations, where they do not say it themselves.

    Examples
    --------
    >>> import faithkit
    >>> print(faithkit.score(["yes", "yes", "no"], ["a", "a", "a"]).violations())
    Explanations that hold for instances of different predictions, worst first:
    <BLANKLINE>
    1. a
       holds for 3 instances: 2 get yes and 1 get no
       row 0 → yes
       row 2 → no
    """

    is_tested = True

    def __init__(self, violations: Iterable[Violation] = (), note: str | None = None) -> None:
        super().__init__(violations)
        self.note = note


def contradicted(agreement: Agreement, owners: Counts, held: Counts) -> tuple[int, NDArray[np.bool_]]:
    """Return which owner of an explanation is contradicted, and which labels contradict it.

    That is the first who is, by whoever does not agree. Where predictions agree more or less, it is whoever
    agrees least with somebody that the explanation holds for, and they with it.

    Parameters
    ----------
    agreement : Agreement
    owners : (m,) int
        The labels of those who were given the explanation, in the order of rows.
    held : (k,) int
        How many instances of each label it holds for.

    Examples
    --------
    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> contradicted(SAME_LABEL, np.array([1, 0]), np.array([1, 1, 0]))
    (0, array([ True, False,  True]))
    """
    labels = np.arange(len(held))
    if agreement.is_whole:
        place = int((toward(agreement, held)[owners] < held.sum()).argmax())
        return place, agreement.apart(int(owners[place]), labels) > 0
    label, other = furthest(agreement, np.unique(owners), np.flatnonzero(held))
    return int((owners == label).argmax()), labels == other


def furthest(agreement: Agreement, owners: Counts, held: Counts) -> tuple[int, int]:
    """Return a label of the owners and one that an explanation holds for, which agree least.

    Labels are in order, so of numbers one of the two is an end. Of vectors they are found by going from
    somebody to whoever is furthest away, and so on: others may be further apart, and to find those would take
    all pairs.

    Examples
    --------
    >>> from faithkit.measure.agreement.squares import Squares
    >>> numbers = Squares.divided(np.array([[1.0], [2.0], [5.0], [6.0]]), np.array([1, 1, 1, 1]))
    >>> furthest(numbers, np.array([1, 2]), np.array([0, 1, 2, 3]))
    (1, 3)
    """
    found = [_further(agreement, int(start), owners, held) for start in {held[0], held[-1]}]
    label, other, _ = max(found, key=lambda pair: (pair[2], -pair[0], -pair[1]))
    return label, other


def _further(agreement: Agreement, other: int, owners: Counts, held: Counts) -> tuple[int, int, float]:
    """Begin with somebody, and go to whoever is furthest from them as long as that is further."""
    most = -1.0
    while True:
        apart = agreement.apart(other, owners)
        label = int(owners[apart.argmax()])
        back = agreement.apart(label, held)
        if back.max() <= most:
            return label, other, most
        other, most = int(held[back.argmax()]), float(back.max())


@attrs.frozen(repr=False)
class LocalResult(Displayable):
    """Both measures of one instance.

    Attributes
    ----------
    prediction : label
    explanation : str
        In readable form.
    consistency, sufficiency : LocalEstimate
        `sufficiency` is None where the evaluation has none.
    shared_by : tuple of int
        The *other* rows of the sample that have this explanation.
    cells : dict or None
        The instance itself: the columns that the model sees.
    id : RowId or None
        What people call it, if somebody said.
    shared_ids : tuple of RowId or None
        What they call the other rows, one for each.
    """

    prediction: Any
    explanation: str
    consistency: LocalEstimate
    sufficiency: LocalEstimate | None
    shared_by: tuple[int, ...]
    cells: dict[str, Any] | None
    id: RowId | None = None
    shared_ids: tuple[RowId | None, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        found = {"prediction": plain(self.prediction), "shared_by": list(self.shared_by)}
        ids = {"id": told_id(self.id), "shared_ids": [told_id(one) for one in self.shared_ids]}
        return attrs.asdict(self) | found | ids
