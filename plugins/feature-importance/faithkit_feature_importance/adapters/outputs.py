"""Which class's numbers are meant, where an object has those of several: what the parameter `target` says.

A log of predictions does not tell the order of the model's classes: where the labels that occur leave it
open, nobody guesses.
"""

from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Positions = NDArray[np.int64]
_SHOWN = 6


@attrs.frozen
class Outputs:
    """The outputs of a model that an object has numbers of.

    Parameters
    ----------
    who : str
        The adapter, for messages.
    count : int
        How many there are.
    classes : list, optional
        Their labels, as somebody said who knows.
    names : list of str, optional
        What the object itself calls them: perhaps the labels, perhaps words for people.

    Examples
    --------
    >>> about = faithkit.plugin.RowContext(predict=lambda: ["b", "c", "a", "b"])
    >>> Outputs.of("shap-values", 3, about).chosen("predicted", about, 4).tolist()
    [[1], [2], [0], [1]]
    """

    who: str
    count: int
    classes: list[Any] | None = None
    names: list[str] | None = None

    @classmethod
    def of(cls, who: str, count: int, about: faithkit.plugin.RowContext, names: Any = None) -> "Outputs":
        """Take the labels that are known, and names that are more than numbers."""
        classes = None if about.classes is None else list(about.classes)
        if classes is not None and len(classes) != count:
            raise faithkit.errors.InputError(
                f"{who}: there are numbers of {count} classes, and {len(classes)} labels "
                f"({few(classes)}): give classes=[…], a label for each, in the order of the model's scores."
            )
        words = [] if names is None else [str(name) for name in names]
        told = len(words) == count and not _is_counting(words)
        return cls(who, count, classes, words if told else None)

    def chosen(
        self, target: Any, about: faithkit.plugin.RowContext, n: int, predicted: Any = None
    ) -> Positions:
        """Return the positions of the chosen outputs, a row of them for each of n rows.

        Parameters
        ----------
        target : str, int or None
            "positive" (the second of two), "predicted", "all", a label, or a number from 0; by default
            positive for two classes, predicted for more.
        about : RowContext
        n : int
        predicted : array, optional
            The positions of the predicted outputs as the object tells them, for where nobody else knows.
        """
        if target is None:
            target = {1: 0, 2: 1}.get(self.count, "predicted")
            return self._same(target, n) if target != "predicted" else self._predicted(about, n, predicted)
        known = [*(self.classes or ()), *(self.names or ())]
        if target in known:  # also a label that is called "positive"
            return self._same(known.index(target) % self.count, n)
        if target == "predicted":
            return self._predicted(about, n, predicted)
        if target == "all":
            return np.tile(np.arange(self.count), (n, 1))
        return self._same(self._position(target), n)

    def shared(self, target: Any) -> dict[str, str]:
        """Return what explanations say of the class: that it is the predicted one, or that all are there."""
        if target in [*(self.classes or ()), *(self.names or ())] or self.count == 1:
            return {}
        name = target if target is not None else {2: "positive"}.get(self.count, "predicted")
        return {"target": name} if name in ("positive", "predicted", "all") else {}

    def prefixes(self, target: Any) -> list[str]:
        """Return what the names of columns begin with, for each output that is chosen beside others."""
        if target != "all" or self.count == 1:
            return [""]
        labels = self.classes or self.names or [f"output {number}" for number in range(self.count)]
        return [f"{label}: " for label in labels]

    def _same(self, position: int, n: int) -> Positions:
        return np.full((n, 1), position, dtype=np.int64)

    def _position(self, target: Any) -> int:
        if target == "positive" and self.count == 2:
            return 1
        is_number = isinstance(target, int | np.integer) and not isinstance(target, bool)
        by_number = is_number and not any(isinstance(label, int | np.integer) for label in self.classes or ())
        if by_number and 0 <= target < self.count:
            return int(target)
        there = few(self.classes or self.names or range(self.count))
        raise faithkit.errors.InputError(
            f"{self.who}: target={target!r} is none of the {self.count} classes: there is {there}; "
            "or say predicted or all."
        )

    def _predicted(self, about: faithkit.plugin.RowContext, n: int, predicted: Any) -> Positions:
        """Return the positions of the labels that were predicted."""
        if about.predictions is None and predicted is not None:
            return np.asarray(predicted, dtype=np.int64).reshape(-1, 1)
        if about.predictions is None:
            raise faithkit.errors.InputError(
                f"{self.who}: there are numbers of {self.count} classes, and nobody said what was predicted: "
                "give predictions=[…], or target= a label, a number or all."
            )
        if about.predictions.ndim != 1:
            raise faithkit.errors.InputError(
                f"{self.who}: predictions of several numbers each do not say which of the {self.count} "
                "classes is meant: give target= a label, a number or all."
            )
        labels = about.predictions.tolist()
        if len(labels) != n:
            raise faithkit.errors.InputError(
                f"{self.who}: numbers of {n} rows for {len(labels)} predictions."
            )
        place = self._places(labels)
        return np.array([place[label] for label in labels], dtype=np.int64).reshape(-1, 1)

    def _places(self, labels: list[Any]) -> dict[Any, int]:
        """Return the position of every label that occurs, where there is one way only to read them."""
        found = set(labels)
        if self.classes is not None:
            place = {label: position for position, label in enumerate(self.classes)}
            strange = next((label for label in labels if label not in place), None)
            if strange is not None:
                raise faithkit.errors.InputError(
                    f"{self.who}: the label {strange!r} was predicted and is not among the classes "
                    f"({few(self.classes)}): give all of them, in the order of the model's scores."
                )
            return place
        if self.names is not None and {str(label) for label in found} <= set(self.names):
            return {label: self.names.index(str(label)) for label in found}
        others = self.names is not None and any(isinstance(label, str) for label in found)  # in what order?
        if len(found) == self.count and len({type(label) for label in found}) == 1 and not others:
            return {label: position for position, label in enumerate(sorted(found))}
        numbers = all(isinstance(label, int) and 0 <= label < self.count for label in found)
        if numbers and (0 in found or all(isinstance(label, bool) for label in found)):
            return {label: int(label) for label in found}  # without a 0 they might count from 1
        raise faithkit.errors.InputError(
            f"{self.who}: which of the {self.count} classes {few(sorted(found, key=str))} are is not known: "
            "say faithkit.adapt(…, predictions=…, classes=[…]), all labels in the order of the scores."
        )


def check_target(who: str, target: Any) -> Any:
    """Return a parameter `target` as it is, or say what it may be."""
    if target is not None and not isinstance(target, str | int | float | np.generic):
        raise faithkit.errors.ParameterError(
            f"{who}: target must be positive, predicted, all, a label or a number, got {target!r}."
        )
    return target


def few(labels: Iterable[Any]) -> str:
    """Return the first of some labels as text.

    >>> few(range(9))
    '0, 1, 2, 3, 4, 5, …'
    """
    words = [str(label) for label in labels]
    return ", ".join(words[:_SHOWN] + ["…"] * (len(words) > _SHOWN))


def _is_counting(words: list[str]) -> bool:
    """Whether names say no more than a number, as those that libraries make up: "Output 1", "1"."""
    return words in ([f"Output {i}" for i in range(len(words))], [str(i) for i in range(len(words))])
