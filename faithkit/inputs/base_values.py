"""Base values: what a model gives before any feature counts. They are no feature, and the largest number."""

import re
from collections.abc import Iterable, Iterator, Sequence

import attrs
import numpy as np
import pandas as pd

from faithkit.inputs.content import Content
from faithkit.inputs.parquet import ParquetTable
from faithkit.measure.explanations import Explanations
from faithkit.wording import listing

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


def base_columns(names: Iterable[str], table: Content | ParquetTable) -> Iterator[str]:
    """Yield those that are called so, and are the same number in all rows: only these are read."""
    for name in filter(sounds_like_base, names):
        if _is_constant(_parts(name, table)):
            yield name


def _parts(name: str, table: Content | ParquetTable) -> Iterator[pd.Series]:
    if isinstance(table, Content):
        yield table.frame([name], "explanation")[name]
        return
    one = table.using([name])
    for piece in one.pieces:
        yield from (part.frame()[name] for part in one.parts(piece))


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


def without_base(explanations: Explanations) -> tuple[Explanations, tuple[str, ...]]:
    """Return vectors without base values among them, and what is to be said of it.

    Examples
    --------
    >>> phi = Explanations.vectors([[1, 9], [2, 9]], shared={"names": ["age", "bias"]})
    >>> found, said = without_base(phi)
    >>> found.values.tolist(), found.shared["names"]
    ([[1], [2]], ['age'])
    """
    names: Sequence[str] = explanations.shared.get("names", ())
    if explanations.kind != "vector" or not isinstance(names, list) or len(names) < 2:
        return explanations, ()
    values = explanations.values
    base = [
        place
        for place, name in enumerate(names)
        if sounds_like_base(str(name)) and _is_constant([pd.Series(values[:, place])])
    ]
    kept = np.setdiff1d(np.arange(len(names)), base)
    if not base or not len(kept):
        return explanations, ()
    identity = explanations.identity
    found = attrs.evolve(
        explanations,
        values=values[:, kept],
        identity=identity.iloc[:, kept] if isinstance(identity, pd.DataFrame) else identity,
        shared=explanations.shared | {"names": [names[place] for place in kept]},
    )
    return found, (left_out([str(names[place]) for place in base], "give an array without names"),)


def left_out(names: Sequence[str], remedy: str) -> str:
    """Say which columns were taken for base values, and how they can be kept."""
    many = len(names) > 1
    return (
        f"{listing([repr(name) for name in names])} {'are' if many else 'is'} the same in every row and "
        f"{'were' if many else 'was'} taken for {'base values' if many else 'a base value'}, which "
        f"{'are' if many else 'is'} no feature, and left out: {remedy} to keep {'them' if many else 'it'}."
    )
