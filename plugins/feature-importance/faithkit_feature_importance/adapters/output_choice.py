"""Choose the outputs to explain, by the parameter `target`, if an object has values of several classes.

A log of predictions does not show the order of the model's classes. If the predicted labels do not determine
it, an error is raised.
"""

from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Positions = NDArray[np.int64]
_MAX_LISTED = 6


@attrs.frozen
class Outputs:
    """The outputs of a model for which an object has values.

    Parameters
    ----------
    adapter : str
        The adapter, for messages.
    count : int
        The number of outputs.
    classes : list, optional
        Their labels, as given by the user or the model.
    names : list of str, optional
        Their names in the object, which may or may not be the labels.

    Examples
    --------
    >>> context = faithkit.plugin.RowContext(predict=lambda: ["b", "c", "a", "b"])
    >>> Outputs.of("shap-values", 3, context).choose("predicted", context, 4).tolist()
    [[1], [2], [0], [1]]
    """

    adapter: str
    count: int
    classes: list[Any] | None = None
    names: list[str] | None = None

    @classmethod
    def of(
        cls, adapter: str, count: int, context: faithkit.plugin.RowContext, names: Any = None
    ) -> "Outputs":
        """Collect the known labels, and the names if they are more than numbers."""
        classes = None if context.classes is None else list(context.classes)
        if classes is not None and len(classes) != count:
            raise faithkit.errors.InputError(
                f"{adapter}: there are values of {count} classes, and {len(classes)} labels "
                f"({list_labels(classes)}): give classes=[…], a label for each, in the order of the model's "
                "scores."
            )
        texts = [] if names is None else [str(name) for name in names]
        are_names = len(texts) == count and not _are_only_numbered(texts)
        return cls(adapter, count, classes, texts if are_names else None)

    def choose(
        self, target: Any, context: faithkit.plugin.RowContext, n: int, predicted: Any = None
    ) -> Positions:
        """Return the positions of the chosen outputs, (n, chosen outputs).

        Parameters
        ----------
        target : str, int or None
            "positive" (the second of two), "predicted", "all", a label, or a number from 0; by default
            positive for two classes, predicted for more.
        context : RowContext
        n : int
        predicted : array, optional
            The positions of the predicted outputs according to the object, used if there are no predictions.
        """
        if target is None:
            target = {1: 0, 2: 1}.get(self.count, "predicted")
            return (
                self._repeat(target, n)
                if target != "predicted"
                else self._predicted_positions(context, n, predicted)
            )
        labels = [*(self.classes or ()), *(self.names or ())]
        if target in labels:  # also a label that is called "positive"
            return self._repeat(labels.index(target) % self.count, n)
        if target == "predicted":
            return self._predicted_positions(context, n, predicted)
        if target == "all":
            return np.tile(np.arange(self.count), (n, 1))
        return self._repeat(self._position(target), n)

    def shared(self, target: Any) -> dict[str, str]:
        """Return the entries of `Explanations.shared` that say which class the values speak for."""
        if self.count == 1:
            return {}
        if target in [*(self.classes or ()), *(self.names or ())]:
            return {"class": str(target)}
        name = target if target is not None else {2: "positive"}.get(self.count, "predicted")
        labels = self.classes or self.names or []
        label = {"class": str(labels[1])} if name == "positive" and labels else {}
        return {"target": name, **label} if name in ("positive", "predicted", "all") else {}

    def prefixes(self, target: Any) -> list[str]:
        """Return the prefix of column names for each chosen output; empty if there is only one."""
        if target != "all" or self.count == 1:
            return [""]
        labels = self.classes or self.names or [f"output {number}" for number in range(self.count)]
        return [f"{label}: " for label in labels]

    def _repeat(self, position: int, n: int) -> Positions:
        return np.full((n, 1), position, dtype=np.int64)

    def _position(self, target: Any) -> int:
        if target == "positive" and self.count == 2:
            return 1
        is_number = isinstance(target, int | np.integer) and not isinstance(target, bool)
        is_position = is_number and not any(
            isinstance(label, int | np.integer) for label in self.classes or ()
        )
        if is_position and 0 <= target < self.count:
            return int(target)
        choices = list_labels(self.classes or self.names or range(self.count))
        raise faithkit.errors.InputError(
            f"{self.adapter}: target={target!r} is none of the {self.count} classes: there is {choices}; "
            "or say predicted or all."
        )

    def _predicted_positions(self, context: faithkit.plugin.RowContext, n: int, predicted: Any) -> Positions:
        """Return the positions of the predicted labels, (n, 1)."""
        if context.predictions is None and predicted is not None:
            return np.asarray(predicted, dtype=np.int64).reshape(-1, 1)
        if context.predictions is None:
            raise faithkit.errors.InputError(
                f"{self.adapter}: there are values of {self.count} classes, and no predictions: give "
                "predictions=[…], or target= a label, a number or all."
            )
        if context.predictions.ndim != 1:
            raise faithkit.errors.InputError(
                f"{self.adapter}: predictions of several numbers each do not say which of the {self.count} "
                "classes is meant: give target= a label, a number or all."
            )
        labels = context.predictions.tolist()
        if len(labels) != n:
            raise faithkit.errors.InputError(
                f"{self.adapter}: numbers of {n} rows for {len(labels)} predictions."
            )
        positions = self._positions_of_labels(labels)
        return np.array([positions[label] for label in labels], dtype=np.int64).reshape(-1, 1)

    def _positions_of_labels(self, labels: list[Any]) -> dict[Any, int]:
        """Return the position of every predicted label; raise an error if it is ambiguous."""
        distinct = set(labels)
        if self.classes is not None:
            positions = {label: position for position, label in enumerate(self.classes)}
            unknown = next((label for label in labels if label not in positions), None)
            if unknown is not None:
                raise faithkit.errors.InputError(
                    f"{self.adapter}: the label {unknown!r} was predicted and is not among the classes "
                    f"({list_labels(self.classes)}): give all of them, in the order of the model's scores."
                )
            return positions
        if self.names is not None and {str(label) for label in distinct} <= set(self.names):
            return {label: self.names.index(str(label)) for label in distinct}
        # their order is unknown
        has_other_names = self.names is not None and any(isinstance(label, str) for label in distinct)
        if (
            len(distinct) == self.count
            and len({type(label) for label in distinct}) == 1
            and not has_other_names
        ):
            return {label: position for position, label in enumerate(sorted(distinct))}
        are_positions = all(isinstance(label, int) and 0 <= label < self.count for label in distinct)
        if are_positions and (0 in distinct or all(isinstance(label, bool) for label in distinct)):
            return {label: int(label) for label in distinct}  # without a 0, labels may count from 1
        raise faithkit.errors.InputError(
            f"{self.adapter}: which of the {self.count} classes {list_labels(sorted(distinct, key=str))} are "
            "is not known: call faithkit.plugin.adapt(…, predictions=…, classes=[…]) with all labels in the "
            "order of the scores."
        )


def check_target(adapter: str, target: Any) -> Any:
    """Return the parameter `target`; raise an error if its type is not allowed."""
    if target is not None and not isinstance(target, str | int | float | np.generic):
        raise faithkit.errors.ParameterError(
            f"{adapter}: target must be positive, predicted, all, a label or a number, got {target!r}."
        )
    return target


def list_labels(labels: Iterable[Any]) -> str:
    """Return the first labels as text.

    >>> list_labels(range(9))
    '0, 1, 2, 3, 4, 5, …'
    """
    texts = [str(label) for label in labels]
    return ", ".join(texts[:_MAX_LISTED] + ["…"] * (len(texts) > _MAX_LISTED))


def _are_only_numbered(names: list[str]) -> bool:
    """Whether names are only numbers, such as the defaults of libraries: "Output 1", "1"."""
    return names in ([f"Output {i}" for i in range(len(names))], [str(i) for i in range(len(names))])
