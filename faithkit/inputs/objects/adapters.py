"""Find and apply the adapter for an object of another library, by the name of its type, without imports."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.containers import as_array, take_rows
from faithkit.errors import ContractError, InputError, PluginError
from faithkit.extension.creation import build
from faithkit.extension.entries import Entry
from faithkit.extension.registry import registry
from faithkit.third_party import guard
from faithkit.wording import join_words

ROLES = ("explanations", "rows", "predictions", "model")
"""What an adapter can convert an object to; each role is the name of a method."""

_NATIVE_PACKAGES = frozenset(
    {"builtins", "numpy", "pandas", "scipy", "sklearn", "faithkit", "datetime", "decimal"}
)  # their objects need no adapter


@attrs.frozen(eq=False, slots=False, kw_only=True)
class RowContext:
    """Context for adapters: the explained rows, and what is known about the model.

    Parameters
    ----------
    n : int, optional
        The number of rows.
    predict : callable, optional
        Returns the prediction of each row.
    classes : sequence, optional
        The labels in the order of the model's scores.
    features : sequence of str, optional
        The names of the columns of X.
    X : array, DataFrame, sparse matrix or list of str, optional
        The rows themselves. An adapter that builds rows or rules uses the same values.
    outcome : str, optional
        The declared outcome, if any: "labels", "numbers" or "scores".

    Examples
    --------
    >>> RowContext(n=2, predict=lambda: ["yes", "no"]).predictions.tolist()
    ['yes', 'no']
    """

    n: int | None = None
    predict: Callable[[], Any] | None = None
    classes: Sequence[Any] | None = None
    features: Sequence[str] | None = None
    X: Any = None
    outcome: str | None = None

    @cached_property
    def predictions(self) -> Any:
        """The prediction of each row, as an array; None if unknown."""
        return None if self.predict is None else as_array(self.predict())

    def at(self, rows: list[int]) -> "RowContext":
        """Return the context of the selected rows.

        Examples
        --------
        >>> RowContext(n=3, predict=lambda: ["yes", "no", "yes"]).at([1]).predictions.tolist()
        ['no']
        """
        predict = None if self.predict is None else lambda: self.predictions[rows]
        return attrs.evolve(self, n=len(rows), predict=predict, X=take_rows(self.X, rows))


def find_adapter(value: Any) -> Entry | None:
    """Return the adapter for an object, or for the objects in a list; None if there is none.

    Examples
    --------
    >>> find_adapter([[0.1, 0.2]]) is None
    True
    """
    for name in _class_names(type(_first_item(value))):
        adapters = [entry for entry in registry().entries("adapter") if name in _adapted_types(entry)]
        if len(adapters) > 1:
            names = join_words(entry.qualified for entry in adapters)
            raise InputError(
                f"objects of type {'.'.join(name)} are taken by {names}: "
                "say by which with faithkit.plugin.adapt(…, adapter=…)."
            )
        if adapters:
            return adapters[0]
    return None


def takes(entry: Entry, value: Any) -> bool:
    """Return whether an adapter accepts an object, or the objects in a list, by their type."""
    return bool(_adapted_types(entry) & set(_class_names(type(_first_item(value)))))


def adapt_object(value: Any, role: str, context: RowContext | None = None) -> Any:
    """Convert an object to a role with its adapter; return an object without an adapter unchanged."""
    entry = find_adapter(value)
    return value if entry is None else adapt_with(entry, value, role, context)


def adapt_with(
    entry: Entry,
    value: Any,
    role: str,
    context: RowContext | None = None,
    params: dict[str, Any] | None = None,
) -> Any:
    """Convert an object to a role with an adapter; return it unchanged if the adapter lacks the role."""
    _check_same_type(entry, value)
    adapter = build(entry, params or {})
    if not hasattr(adapter, role):
        return value
    arguments = (context or RowContext(),) if role in ("explanations", "model") else ()
    with guard(f"{entry}, given a {type(value).__name__},", error=PluginError):
        converted = getattr(adapter, role)(value, *arguments)
    if converted is None:
        raise ContractError(f"{entry} made nothing of a {type(value).__name__}: {role} returned None.")
    return converted


def _first_item(value: Any) -> Any:
    """Return the first item of a list that is not missing, or any other object itself."""
    return next((item for item in _items(value) if not is_missing(item)), value)


def is_missing(item: Any) -> bool:
    """Return whether an item of a list is missing: None, NaN, NA or NaT."""
    return bool(pd.api.types.is_scalar(item) and pd.isna(item))


def _items(value: Any) -> Sequence[Any]:
    if isinstance(value, np.ndarray | pd.Series):
        return value.tolist() if value.dtype == object and value.ndim == 1 else ()
    return value if isinstance(value, list | tuple) else ()


def _class_names(cls: type) -> list[tuple[str, str]]:
    """Return package and name of a class and its bases, without the native ones."""
    names = [(str(base.__module__).partition(".")[0], base.__qualname__) for base in cls.__mro__]
    package, _ = names[0]
    return [] if package in _NATIVE_PACKAGES else [name for name in names if name[0] not in _NATIVE_PACKAGES]


def _adapted_types(entry: Entry) -> set[tuple[str, str]]:
    """Return package and name of the classes that an adapter accepts."""
    paths = (name.partition(".") for name in entry.component.types)
    return {(package, path.rpartition(".")[2]) for package, _, path in paths}


def _check_same_type(entry: Entry, value: Any) -> None:
    """Check that a list has no other objects among those that the adapter accepts."""
    items, adapted_types = _items(value), _adapted_types(entry)
    item_types = {type(item) for item in items if not is_missing(item)}
    other_types = {cls for cls in item_types if not adapted_types & set(_class_names(cls))}
    if other_types and other_types != item_types:
        row = next(row for row, item in enumerate(items) if type(item) in other_types)
        raise InputError(
            f"row {row} of the list is a {type(items[row]).__name__} among "
            f"{join_words(entry.component.types)}: give objects of one type, and None where there is none."
        )
