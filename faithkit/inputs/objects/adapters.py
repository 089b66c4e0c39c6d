"""Objects of other libraries, taken by the adapter that their type names: nothing is imported to find out."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.containers import as_array, take_rows
from faithkit.errors import ContractError, InputError, PluginError
from faithkit.extension.entries import Entry
from faithkit.extension.registry import registry
from faithkit.foreign import foreign
from faithkit.wording import listing

ROLES = ("explanations", "rows", "predictions", "model")
"""What an adapter may make of an object: each is the method that does it."""

_KNOWN = frozenset({"builtins", "numpy", "pandas", "scipy", "sklearn", "faithkit", "datetime", "decimal"})
# packages whose objects need no adapter: no plugin is asked for them


@attrs.frozen(eq=False, slots=False)
class RowContext:
    """What is known of the rows that explanations belong to, or of a model, for adapters that need it.

    Parameters
    ----------
    n : int, optional
        How many there are.
    predict : callable, optional
        Gives the prediction of each row.
    classes : sequence, optional
        The labels in the order of the model's scores.
    features : sequence of str, optional
        The names of the columns of X.
    X : array, DataFrame, sparse matrix or list of str, optional
        The rows themselves: an adapter that makes rows or rules speaks of values as they do.
    outcome : str, optional
        "labels", "numbers" or "scores", where somebody said what predictions are.

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
        """The prediction of each row, as an array; None where nobody knows."""
        return None if self.predict is None else as_array(self.predict())

    def at(self, rows: list[int]) -> "RowContext":
        """Return what is known of some of the rows.

        Examples
        --------
        >>> RowContext(n=3, predict=lambda: ["yes", "no", "yes"]).at([1]).predictions.tolist()
        ['no']
        """
        predict = None if self.predict is None else lambda: self.predictions[rows]
        return attrs.evolve(self, n=len(rows), predict=predict, X=take_rows(self.X, rows))


def adapter_for(given: Any) -> Entry | None:
    """Return the adapter that takes an object, or objects in a list; None where none does.

    Examples
    --------
    >>> adapter_for([[0.1, 0.2]]) is None
    True
    """
    for name in _names(type(_first(given))):
        found = [entry for entry in registry().entries("adapter") if name in _types(entry)]
        if len(found) > 1:
            several = listing(entry.qualified for entry in found)
            raise InputError(
                f"objects of type {'.'.join(name)} are taken by {several}: "
                "say by which with faithkit.adapt(…, adapter=…)."
            )
        if found:
            return found[0]
    return None


def takes(entry: Entry, given: Any) -> bool:
    """Whether an adapter takes an object, or those of a list, by its type."""
    return bool(_types(entry) & set(_names(type(_first(given)))))


def adapted(given: Any, role: str, about: RowContext | None = None) -> Any:
    """Return what an adapter makes of an object in a role; what no adapter takes, as it is."""
    entry = adapter_for(given)
    return given if entry is None else adapted_by(entry, given, role, about)


def adapted_by(
    entry: Entry, given: Any, role: str, about: RowContext | None = None, params: dict[str, Any] | None = None
) -> Any:
    """Return what one adapter makes of an object in a role; as it is if the adapter does not do that."""
    _check_one_type(entry, given)
    adapter = registry().create("adapter", entry.qualified, params)
    with foreign(str(entry), error=PluginError):  # a property is code, too
        is_able = hasattr(adapter, role)
    return made_by(adapter, entry, given, role, about) if is_able else given


def made_by(adapter: Any, entry: Entry, given: Any, role: str, about: RowContext | None = None) -> Any:
    """Ask an adapter, which says of what entry it is."""
    arguments = (about or RowContext(),) if role in ("explanations", "model") else ()
    with foreign(f"{entry}, given a {type(given).__name__},", error=PluginError):
        found = getattr(adapter, role)(given, *arguments)
    if found is None:
        raise ContractError(f"{entry} made nothing of a {type(given).__name__}: {role} returned None.")
    return found


def _first(given: Any) -> Any:
    """Return the object itself, or the first of a list that is there."""
    return next((one for one in _items(given) if not is_gone(one)), given)


def is_gone(one: Any) -> bool:
    """Whether there is nothing in a place of a list: None, NaN, NA or NaT, as whoever made it writes it."""
    return bool(pd.api.types.is_scalar(one) and pd.isna(one))


def _items(given: Any) -> Sequence[Any]:
    if isinstance(given, np.ndarray | pd.Series):
        return given.tolist() if given.dtype == object and given.ndim == 1 else ()
    return given if isinstance(given, list | tuple) else ()


def _names(kind: type) -> list[tuple[str, str]]:
    """Return package and name of a class and of its bases, but for those that need no adapter."""
    found = [(str(one.__module__).partition(".")[0], one.__qualname__) for one in kind.__mro__]
    return [] if found[0][0] in _KNOWN else [name for name in found if name[0] not in _KNOWN]


def _types(entry: Entry) -> set[tuple[str, str]]:
    """Return package and name of the classes that an adapter takes."""
    split = (name.partition(".") for name in entry.component.types)
    return {(package, rest.rpartition(".")[2]) for package, _, rest in split}


def _check_one_type(entry: Entry, given: Any) -> None:
    """Refuse a list in which others stand beside the objects that the adapter takes."""
    items, wanted = _items(given), _types(entry)
    kinds = {type(one) for one in items if not is_gone(one)}
    others = {kind for kind in kinds if not wanted & set(_names(kind))}
    if others and others != kinds:
        row = next(row for row, one in enumerate(items) if type(one) in others)
        raise InputError(
            f"row {row} of the list is a {type(items[row]).__name__} among {listing(entry.component.types)}: "
            "give objects of one type, and None where there is none."
        )
