"""Explanations and rows in words that a person can read."""

from typing import Any

import numpy as np
import pandas as pd

from faithkit.arrays.containers import take_rows
from faithkit.errors import ContractError
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.rules import Rule
from faithkit.foreign import foreign
from faithkit.jsonable import plain
from faithkit.measure.protocols import said
from faithkit.wording import cell_text

SHORT = ".6g"  # of limits that a person reads


def readable(explanations: Explanations, row: int, discretizer: Any = None) -> str:
    """Return an explanation as a person reads it: the rule, the words, or the named numbers.

    A discretizer whose identities say something else than their numbers has a method ``tell(identity,
    names)``, which words one of them.

    Examples
    --------
    >>> readable(Explanations.vectors([[0.25, 0.0]], shared={"names": ["age", "sex"]}), 0)
    'age = 0.25, sex = 0'
    """
    if explanations.missing[row]:
        return "no explanation"
    value = take_rows(explanations.identities, [row])
    tell = said(discretizer, "tell")
    if explanations.identity is not None and tell is not None:
        who = said(discretizer, "name") or type(discretizer).__name__
        with foreign(f"the discretizer {who}", "Mend its method tell.", ContractError):
            return str(tell(identity_at(explanations, row), explanations.shared.get("names")))
    if isinstance(value, pd.DataFrame) or (isinstance(value, np.ndarray) and value.ndim == 2):
        columns = explanations.shared.get("names") if isinstance(value, np.ndarray) else None
        cells = cells_of(value, 0, columns) or {}
        return ", ".join(f"{name} = {cell_text(cell)}" for name, cell in cells.items())
    with foreign(f"an explanation of type {type(value[0]).__name__}", "Mend its method __str__."):
        return format(value[0], SHORT) if isinstance(value[0], Rule) else str(value[0])


def identity_at(explanations: Explanations, row: int) -> Any:
    """Return one row of identities, as a discretizer returned them: of a frame a Series, of a tuple a tuple.

    Examples
    --------
    >>> identity_at(Explanations.vectors([[0.25, 0.0]]), 0)
    array([0.25, 0.  ])
    >>> identity_at(Explanations.of(["a"]).identified((np.array([1]), np.array(["b"]))), 0)
    (np.int64(1), np.str_('b'))
    """
    parts = explanations.identities
    found = [
        part.iloc[row] if isinstance(part, pd.DataFrame) else part[row]
        for part in (parts if isinstance(parts, tuple) else (parts,))
    ]
    return tuple(found) if isinstance(parts, tuple) else found[0]


def cells_of(X: Any, row: int, columns: Any = None) -> dict[str, Any] | None:
    """Return one row as JSON values by column name; a text is one cell, and an image is no row of cells.

    Examples
    --------
    >>> cells_of(pd.DataFrame({"age": [31, 28], "job": ["nurse", None]}), 1)
    {'age': 28, 'job': None}
    """
    if X is None or getattr(X, "ndim", 2) > 2:
        return None
    one = take_rows(X, [row])
    if isinstance(one, list):
        return {"text": one[0]}
    if isinstance(one, pd.DataFrame):
        return {str(name): plain(one[name].iloc[0]) for name in one.columns}
    values = one.toarray()[0] if hasattr(one, "toarray") else one[0]
    known = columns if columns is not None and len(columns) == len(values) else range(len(values))
    return {str(name): plain(value) for name, value in zip(known, values, strict=True)}
