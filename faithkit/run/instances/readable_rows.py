"""Explanations and rows in a form that people read: as text, and decomposed into weights and conditions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.containers import take_rows
from faithkit.errors import ContractError
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.rules import Rule
from faithkit.jsonable import to_json_value
from faithkit.measure.instances.explanation_view import Box, ExplanationView, Weight
from faithkit.measure.protocols import get_optional_attribute
from faithkit.measure.words import PREDICTED_CLASS
from faithkit.third_party import guard
from faithkit.wording import join_few, value_text

LIMIT_FORMAT = ".6g"  # of the limits in a rule
PATCH = re.compile(r"\[(\d+(?::\d+)?(?:, \d+(?::\d+)?)*)\]$")  # "[0:2, 4:6]", or one pixel "[0, 4]"
OWN_PREDICTION = "the prediction of the row"
SPEAKS_FOR = {
    "positive": "the second class",
    "all": "the class that is named before it",
    "prediction": "a higher prediction",
}


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


# --- decomposed explanations ----------------------------------------------------------------------------


def view_explanation(
    explanation: Explanations,
    rule: Rule | None,
    discretizer: Any = None,
    owner_labels: Sequence[str] = (),
    shape: tuple[int, ...] = (),
) -> ExplanationView:
    """Decompose one explanation, in the form that was compared.

    Parameters
    ----------
    explanation : Explanations
        A batch of one.
    rule : Rule or None
        The rule that says where it applies.
    discretizer : Discretizer, optional
    owner_labels : sequence of str
        The predictions of the rows that have it.
    shape : tuple of int
        The shape of a row with several axes, such as an image.

    Examples
    --------
    >>> shared = {"names": ["age", "sex", "job"], "target": "positive", "class": "churn"}
    >>> explanation = Explanations.vectors([[0.25, 0.0, -0.5]], shared=shared)
    >>> view = view_explanation(explanation, None)
    >>> [(weight.name, weight.value) for weight in view.weights], view.speaks_for
    ([('job', -0.5), ('age', 0.25)], 'churn')
    """
    text, is_rule = format_explanation(explanation, 0, discretizer), explanation.kind == "rule"
    are_importances = explanation.kind in ("vector", "words") and not explanation.missing[0]
    weights = _weights(explanation, discretizer) if are_importances else []
    if len(shape) > 1:
        weights = [attrs.evolve(weight, box=_box(weight.name, shape)) for weight in weights]
    has_patches = any(weight.box is not None for weight in weights)
    noun = "words" if explanation.kind == "words" else "patches" if has_patches else "features"
    return ExplanationView(
        text=text,
        weights=tuple(sorted(weights, key=lambda weight: -abs(weight.value))),
        conditions=() if rule is None else rule.predicates,
        speaks_for=_class_of_weights(explanation.shared, owner_labels)
        if are_importances
        else join_few(owner_labels) or None,
        noun=noun,
        are_signs=explanation.identity is not None and all(abs(weight.value) == 1 for weight in weights),
        is_rule=is_rule,
        are_importances=are_importances,
    )


def _weights(explanation: Explanations, discretizer: Any) -> list[Weight]:
    """Return the nonzero weights; none if a discretizer replaced the weights."""
    is_original = explanation.identity is None or discretizer is None
    if not is_original and not get_optional_attribute(discretizer, "keeps_signs"):
        return []
    if explanation.kind == "words":
        pairs = word_weights(explanation.values[0]) or []
    else:
        identity = identity_at(explanation, 0)
        numbers = np.asarray(explanation.values[0] if is_original else identity, dtype=np.float64)
        n_features = explanation.values.shape[1] - explanation.shared.get("offsets", 0)
        names = explanation.shared.get("names") or [str(column) for column in range(len(numbers))]
        pairs = list(zip(names, numbers.tolist(), strict=False))[:n_features]
    return [Weight(str(name), float(number)) for name, number in pairs if number and np.isfinite(number)]


def _class_of_weights(shared: Mapping[str, Any], owner_labels: Sequence[str]) -> str | None:
    """Return the class that positive weights support, as declared in `Explanations.shared`."""
    target = shared.get("target")
    if target == "predicted":
        return owner_labels[0] if len(owner_labels) == 1 else OWN_PREDICTION
    return shared.get("class") or SPEAKS_FOR.get(str(target))


def _box(name: str, shape: tuple[int, ...]) -> Box | None:
    """Return the box of a patch, or of the pixel with a number; None for any other name.

    Examples
    --------
    >>> _box("[0:2, 4:6]", (8, 8)), _box("yes: [1, 4]", (8, 8)), _box("9", (8, 8)), _box("ink", (8, 8))
    (((0, 2), (4, 6)), ((1, 2), (4, 5)), ((1, 2), (1, 2)), None)
    """
    match = PATCH.search(name)
    if match is None:
        is_pixel = name.isdecimal() and int(name) < np.prod(shape)
        pixel = np.unravel_index(int(name), shape) if is_pixel else ()
        return tuple((int(start), int(start) + 1) for start in pixel) or None
    ranges = [list(map(int, part.split(":"))) for part in match[1].split(", ")]
    return tuple((ends[0], ends[-1] + (len(ends) == 1)) for ends in ranges)


def meaning_of_signs(kind: str, explained_by: Mapping[str, str]) -> str | None:
    """Say which class a positive value speaks for; None if it is the same class for all rows.

    Examples
    --------
    >>> meaning_of_signs("vector", {"target": "predicted"})
    'A positive value (+) speaks for the class that the model predicts for that row, ...'
    >>> meaning_of_signs("vector", {"target": "positive"})
    """
    return PREDICTED_CLASS if kind != "rule" and explained_by.get("target") == "predicted" else None
