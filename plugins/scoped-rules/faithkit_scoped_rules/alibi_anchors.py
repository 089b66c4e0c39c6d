"""Adapt anchors of alibi: an `Explanation` of each row, with its conditions as texts.

alibi is not imported: the adapter reads the attributes `meta` and `data` of an `Explanation`.
"""

import math
import re
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd

import faithkit
from faithkit_scoped_rules.anchors.beam_search import BELOW_THRESHOLD

WHO = "alibi-anchors"

_NUMBER = r"([-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf))"
_BETWEEN = re.compile(rf"{_NUMBER} < (.+) <= {_NUMBER}")
_AT_MOST, _ABOVE = re.compile(rf"(.+) <= {_NUMBER}"), re.compile(rf"(.+) > {_NUMBER}")


@attrs.frozen
class Condition:
    """A condition of alibi: limits of a number, or a category; `column` is None if the text names none."""

    column: str | None
    low: float = -math.inf
    high: float = math.inf
    value: str | None = None


def parse_condition(text: str) -> Condition:
    """Parse one condition of an anchor.

    Examples
    --------
    >>> parse_condition("28.00 < Age <= 37.00")
    Condition(column='Age', low=28.0, high=37.0, value=None)
    >>> parse_condition("Marital Status = Never-Married")
    Condition(column='Marital Status', low=-inf, high=inf, value='Never-Married')
    """
    if match := _BETWEEN.fullmatch(text):
        return Condition(match[2], float(match[1]), float(match[3]))
    if match := _AT_MOST.fullmatch(text):
        return Condition(match[1], high=float(match[2]))
    if match := _ABOVE.fullmatch(text):
        return Condition(match[1], low=float(match[2]))
    name, equals, value = text.partition(" = ")
    return Condition(name, value=value) if equals else Condition(None, value=text)


class AlibiAnchors:
    """Anchors of alibi: a list with an `Explanation` of each row of a table, or of each text.

    Notes
    -----
    alibi writes limits with two decimals, so a rule may cover slightly more or fewer rows than the anchor. A
    category is compared with the values of X: by the name that alibi writes, or by the number of the
    explained row where X has numbers. One-hot encoded rows (`ohe`) are not supported.

    A word of a text's anchor is compared without regard to case, by the tokenizer "word". A token that is no
    word (``n't``, ``!``) is compared between spaces.

    An anchor whose precision is below alibi's threshold is kept, with a remark.

    Examples
    --------
    >>> value, context = AlibiAnchors().example()
    >>> for rule in AlibiAnchors().explanations(value, context).values:
    ...     print(rule)
    28 < Age ≤ 37 and Job = clerk
    always
    """

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return two anchors, in objects that look like alibi's."""
        conditions = ["28.00 < Age <= 37.00", "Job = clerk"]
        return [_fake_explanation(conditions), _fake_explanation([])], faithkit.plugin.RowContext(n=2)

    def explanations(self, value: Any, context: faithkit.plugin.RowContext) -> faithkit.Explanations:
        """Return a rule for each row."""
        anchors = list(value) if isinstance(value, Sequence) else [value]
        columns = Columns.of(context.X)
        rules = [_build_rule(row, anchor, columns) for row, anchor in enumerate(anchors)]
        remarks = np.array([_remark(anchor) for anchor in anchors], dtype=object)
        return faithkit.Explanations.of(rules, kind="rule", relation="in-scope", remarks=remarks)


def _fake_explanation(conditions: list[str]) -> Any:
    data = {"anchor": conditions, "precision": 1.0, "raw": {"feature": list(range(len(conditions)))}}
    explanation: Any = type("Explanation", (), {"__module__": "alibi.api.interfaces"})()
    explanation.meta, explanation.data = {"name": "AnchorTabular", "params": {"threshold": 0.95}}, data
    return explanation


def _build_rule(row: int, explanation: Any, columns: "Columns") -> faithkit.Rule:
    kind, anchor = explanation.meta.get("name"), explanation.data.get("anchor")
    if kind == "AnchorText":
        return faithkit.Rule([_contains(str(word)) for word in anchor])
    if kind not in ("AnchorTabular", "DistributedAnchorTabular") or anchor is None:
        raise faithkit.errors.InputError(
            f"{WHO}: object {row} is an explanation by alibi's {kind}, which has no conditions: give anchors "
            "of tables or texts, or what it says of each row as an array."
        )
    raw = explanation.data.get("raw") or {}
    features = list(dict.fromkeys(raw.get("feature") or ()))  # two limits of one column are one condition
    positions = features if len(features) == len(anchor) else [None] * len(anchor)
    instance = raw.get("instance")
    conditions = zip(map(str, anchor), positions, strict=True)
    return faithkit.Rule([columns.predicate(text, position, instance) for text, position in conditions])


def _contains(word: str) -> faithkit.plugin.Contains:
    lower = word.lower()
    is_word = faithkit.plugin.tokenize(word, "word") == [lower]
    return faithkit.plugin.Contains(lower, "word") if is_word else faithkit.plugin.Contains(word)


def _remark(explanation: Any) -> str | None:
    threshold = explanation.meta.get("params", {}).get("threshold")
    precision = explanation.data.get("precision")
    if threshold is None or precision is None:
        return None
    return BELOW_THRESHOLD if float(np.ravel(precision)[0]) < threshold else None


@attrs.frozen
class Columns:
    """The names of the columns of X, and which of them hold numbers; X may be absent.

    Examples
    --------
    >>> X = pd.DataFrame({"Age": [31, 40], "Job": [0, 1]})
    >>> print(Columns.of(X).predicate("Job = clerk", 1, instance=[40, 1]))
    Job = 1
    >>> print(Columns.of(None).predicate("Job = clerk", 1, instance=[40, 1]))
    Job = clerk
    """

    is_known: bool
    names: dict[str, Any] | None
    order: list[Any]
    numeric: list[bool]

    @classmethod
    def of(cls, X: Any) -> "Columns":
        """Describe the columns of X."""
        if X is None or isinstance(X, list):
            return cls(X is not None, None, [], [])
        if isinstance(X, pd.DataFrame):
            names = {str(name): name for name in X.columns}
            return cls(True, names, list(X.columns), _are_numbers(X))
        width = X.shape[1]
        mixed = X.dtype == object
        numeric = _are_numbers(pd.DataFrame(X).infer_objects()) if mixed else [X.dtype.kind in "biuf"] * width
        return cls(True, None, list(range(width)), numeric)

    def predicate(self, text: str, position: int | None, instance: Any) -> Any:
        """Convert a condition to a predicate on a column of X; without X, on the column that it names."""
        condition = parse_condition(text)
        column = self._column(text, condition.column, position)
        if condition.value is None:
            return faithkit.plugin.Interval(column, condition.low, condition.high)
        return faithkit.plugin.OneOf(column, [self._category(condition.value, column, position, instance)])

    def _column(self, text: str, name: str | None, position: int | None) -> Any:
        if not self.is_known and name is not None:
            return name
        if self.names is not None and name in self.names:
            return self.names[name]
        if position is not None and (self.names is None or name is None):
            if not self.is_known:
                return position
            if position < len(self.order):
                return self.order[position]
        raise faithkit.errors.InputError(
            f"{WHO}: X has no column for the condition {text!r}: give X with the columns that alibi was "
            "given, under the same names (feature_names)."
        )

    def _category(self, value: str, column: Any, position: int | None, instance: Any) -> Any:
        """Return a category as X has it: its name, or the number in the explained row."""
        if not self.is_known or not self.numeric[self.order.index(column)]:
            return value
        if instance is None or position is None:
            raise faithkit.errors.InputError(
                f"{WHO}: the category {value!r} is a number in column {column!r} of X, and the explanation "
                "does not say which: give X with the names of categories."
            )
        return np.ravel(instance)[position].item()


def _are_numbers(X: pd.DataFrame) -> list[bool]:
    return [pd.api.types.is_numeric_dtype(dtype) for dtype in X.dtypes]
