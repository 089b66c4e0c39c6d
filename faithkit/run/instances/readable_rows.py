"""Explanations and rows in a form that people read."""

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from faithkit.arrays.containers import take_rows
from faithkit.errors import ContractError
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.rules import Rule
from faithkit.jsonable import to_json_value
from faithkit.measure.protocols import get_optional_attribute
from faithkit.third_party import guard
from faithkit.wording import value_text

LIMIT_FORMAT = ".6g"  # of the limits in a rule


def format_explanation(explanations: Explanations, row: int, discretizer: Any = None) -> str:
    """Return an explanation as text: the rule, the words, or the named numbers.

    A discretizer may have a method ``describe(identity, names)`` that puts one of its identities into words.

    Examples
    --------
    >>> format_explanation(Explanations.vectors([[0.25, 0.0]], shared={"names": ["age", "sex"]}), 0)
    'age = 0.25, sex = 0'
    """
    if explanations.missing[row]:
        return "no explanation"
    describe = get_optional_attribute(discretizer, "describe")
    if explanations.identity is not None and describe is not None:
        name = get_optional_attribute(discretizer, "name") or type(discretizer).__name__
        with guard(f"the discretizer {name}", "Fix its method describe.", ContractError):
            return str(describe(identity_at(explanations, row), explanations.shared.get("names")))
    identity = take_rows(explanations.identities, [row])
    if isinstance(identity, pd.DataFrame) or (isinstance(identity, np.ndarray) and identity.ndim == 2):
        columns = explanations.shared.get("names") if isinstance(identity, np.ndarray) else None
        values = values_of(identity, 0, columns) or {}
        return ", ".join(f"{name} = {value_text(column_value)}" for name, column_value in values.items())
    value = identity[0]
    weights = word_weights(value) if explanations.kind == "words" else None
    if weights is not None:
        return ", ".join(f"{word} = {value_text(weight)}" for word, weight in weights) or "no words"
    with guard(f"an explanation of type {type(value).__name__}", "Fix its method __str__."):
        return format(value, LIMIT_FORMAT) if isinstance(value, Rule) else str(value)


def word_weights(value: Any) -> list[tuple[str, float]] | None:
    """Return the words of an explanation with their weights; None if it has no weights.

    Examples
    --------
    >>> word_weights((("good", 0.5), ("bad", -1))), word_weights(("good", "bad"))
    ([('good', 0.5), ('bad', -1.0)], None)
    """
    is_weighted = isinstance(value, tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], Real) for pair in value
    )
    return [(str(word), float(weight)) for word, weight in value] if is_weighted else None


def identity_at(explanations: Explanations, row: int) -> Any:
    """Return the identity of one row, in the form that the discretizer returned.

    A row of a frame is a Series, and a row of a tuple is a tuple.

    Examples
    --------
    >>> identity_at(Explanations.vectors([[0.25, 0.0]]), 0)
    array([0.25, 0.  ])
    >>> identity_at(Explanations.of(["a"]).identified((np.array([1]), np.array(["b"]))), 0)
    (np.int64(1), np.str_('b'))
    """
    identities = explanations.identities
    values = [
        column.iloc[row] if isinstance(column, pd.DataFrame) else column[row]
        for column in (identities if isinstance(identities, tuple) else (identities,))
    ]
    return tuple(values) if isinstance(identities, tuple) else values[0]


def order_values(values: dict[str, Any] | None, first: Iterable[str]) -> dict[str, Any] | None:
    """Return the values of a row, those of the named columns first.

    Examples
    --------
    >>> order_values({"age": 31, "job": "nurse"}, ["job", "town"])
    {'job': 'nurse', 'age': 31}
    """
    if values is None:
        return None
    return {name: values[name] for name in dict.fromkeys([*first, *values]) if name in values}


def image_of(X: Any, row: int) -> Any:
    """Return one row of an array of images or series; None for other rows."""
    return X[row] if isinstance(X, np.ndarray) and X.ndim > 2 else None


def values_of(X: Any, row: int, columns: Any = None) -> dict[str, Any] | None:
    """Return one row as JSON values by column name.

    A text is one value. An image has none: None.

    Examples
    --------
    >>> values_of(pd.DataFrame({"age": [31, 28], "job": ["nurse", None]}), 1)
    {'age': 28, 'job': None}
    """
    if X is None or getattr(X, "ndim", 2) > 2:
        return None
    rows = take_rows(X, [row])
    if isinstance(rows, list):
        return {"text": rows[0]}
    if isinstance(rows, pd.DataFrame):
        return {str(name): to_json_value(rows[name].iloc[0]) for name in rows.columns}
    values = rows.toarray()[0] if hasattr(rows, "toarray") else rows[0]
    has_names = columns is not None and len(columns) == len(values)
    names = columns if has_names else range(len(values))
    return {str(name): to_json_value(value) for name, value in zip(names, values, strict=True)}
