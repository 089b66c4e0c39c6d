"""Base values: what a model gives before any feature counts. They are no feature, and the largest number."""

import re
from collections.abc import Iterable, Iterator, Sequence

import attrs
import pandas as pd

from faithkit.inputs.files.column_roles import Table
from faithkit.inputs.files.parquet import ParquetTable
from faithkit.measure.explanations import Explanations
from faithkit.wording import listing

TO_KEEP = "give an array without names"
_WORDS = r"bias|base|baseline|intercept|expected|base_?values?|expected_?values?"
_NAMED = re.compile(rf"(?:^|[^a-z])(?:{_WORDS})(?:[^a-z]|$)")


def sounds_like_base(name: str) -> bool:
    """Whether a column's name says that it holds a base value.

    Examples
    --------
    >>> [name for name in ("phi_bias", "expected_value", "database", "BaseValue") if sounds_like_base(name)]
    ['phi_bias', 'expected_value', 'BaseValue']
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return _NAMED.search(apart.lower()) is not None


def base_columns(names: Iterable[str], table: Table | ParquetTable) -> Iterator[str]:
    """Yield those that are called so, and are the same number in all rows: only these are read."""
    for name in filter(sounds_like_base, names):
        if _is_constant(_parts(name, table)):
            yield name


def _parts(name: str, table: Table | ParquetTable) -> Iterator[pd.Series]:
    if isinstance(table, Table):
        yield table.frame([name], "explanation")[name]
        return
    yield from (part.frame()[name] for part in table.using([name]).parts())


def _is_constant(parts: Iterable[pd.Series]) -> bool:
    """Whether all cells that are there are one number; rows without an explanation have no base value."""
    found: set[float] = set()
    for part in parts:
        if not pd.api.types.is_numeric_dtype(part.dtype):
            return False
        found.update(part.dropna().unique().tolist()[:2])
        if len(found) > 1:
            return False
    return len(found) == 1


def without_base(table: pd.DataFrame, remedy: str = TO_KEEP) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return explanations in a table without base values among them, and what is to be said of it.

    Examples
    --------
    >>> table, said = without_base(pd.DataFrame({"age": [0.1, 0.2], "bias": [0.9, 0.9]}))
    >>> list(table), len(said)
    (['age'], 1)
    """
    if table.shape[1] < 2 or not table.columns.is_unique:
        return table, ()
    named = [name for name in table.columns if sounds_like_base(str(name))]
    base = [name for name in named if _is_constant([table[name]])]
    if not base or len(base) == table.shape[1]:
        return table, ()
    return table.drop(columns=base), (left_out([str(name) for name in base], remedy),)


def vectors_without_base(found: Explanations, remedy: str = TO_KEEP) -> tuple[Explanations, tuple[str, ...]]:
    """Return vectors with names, such as those of dicts, without base values among them.

    Examples
    --------
    >>> phi = Explanations.vectors([[0.1, 0.9], [0.2, 0.9]], shared={"names": ["age", "bias"]})
    >>> found, said = vectors_without_base(phi)
    >>> found.values.tolist(), found.shared, len(said)
    ([[0.1], [0.2]], {'names': ['age']}, 1)
    """
    names = found.shared.get("names", ())
    if found.kind != "vector" or found.identity is not None or len(names) != found.values.shape[1]:
        return found, ()
    table, said = without_base(pd.DataFrame(found.values, columns=names, copy=False), remedy)
    if not said:
        return found, ()
    return attrs.evolve(found, values=table.to_numpy(), shared={**found.shared, "names": list(table)}), said


def left_out(names: Sequence[str], remedy: str) -> str:
    """Say which columns were taken for base values, and how they can be kept."""
    many = len(names) > 1
    return (
        f"{listing([repr(name) for name in names])} {'are' if many else 'is'} the same in every row and "
        f"{'were' if many else 'was'} taken for {'base values' if many else 'a base value'}, which "
        f"{'are' if many else 'is'} no feature, and left out; to keep {'them' if many else 'it'}, {remedy}."
    )
