"""What alibi's anchor explainers return: an `Explanation` of each row, with its conditions as texts.

alibi is not imported: an `Explanation` is read by its attributes, `meta` and `data`.
"""

import math
import re
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd

import faithkit

WHO = "alibi-anchors"
BELOW = "below the threshold"

_NUMBER = r"([-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf))"
_BETWEEN = re.compile(rf"{_NUMBER} < (.+) <= {_NUMBER}")
_AT_MOST, _ABOVE = re.compile(rf"(.+) <= {_NUMBER}"), re.compile(rf"(.+) > {_NUMBER}")


@attrs.frozen
class Condition:
    """A condition as alibi writes it: limits of a number, or a category; the column's name if it is told."""

    column: str | None
    low: float = -math.inf
    high: float = math.inf
    value: str | None = None


def read_condition(text: str) -> Condition:
    """Read one condition of an anchor.

    Examples
    --------
    >>> read_condition("28.00 < Age <= 37.00")
    Condition(column='Age', low=28.0, high=37.0, value=None)
    >>> read_condition("Marital Status = Never-Married")
    Condition(column='Marital Status', low=-inf, high=inf, value='Never-Married')
    """
    if found := _BETWEEN.fullmatch(text):
        return Condition(found[2], float(found[1]), float(found[3]))
    if found := _AT_MOST.fullmatch(text):
        return Condition(found[1], high=float(found[2]))
    if found := _ABOVE.fullmatch(text):
        return Condition(found[1], low=float(found[2]))
    name, equals, value = text.partition(" = ")
    return Condition(name, value=value) if equals else Condition(None, value=text)


class AlibiAnchors:
    """Anchors as alibi has them: a list with an `Explanation` of each row of a table, or of each text.

    Notes
    -----
    alibi writes limits with two decimals, and so they are read: a rule may cover a little more or less than
    alibi meant. A category is compared with the cells of X as they are: by the name that alibi writes, or by
    the number of the explained row where X has numbers. Rows that were one-hot encoded for alibi (`ohe`) are
    not understood.

    A word of a text's anchor is looked for in whatever case, as the tokenizer "word" does; one that is no
    word (``n't``, ``!``) between spaces.

    An anchor whose precision is below the threshold that alibi was given is kept, with a remark.

    Examples
    --------
    >>> given, about = AlibiAnchors().example()
    >>> for rule in AlibiAnchors().explanations(given, about).values:
    ...     print(rule)
    28 < Age ≤ 37 and Job = clerk
    always
    """

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return two anchors, in objects that look like alibi's."""
        conditions = ["28.00 < Age <= 37.00", "Job = clerk"]
        return [_look_alike(conditions), _look_alike([])], faithkit.plugin.RowContext(n=2)

    def explanations(self, given: Any, about: faithkit.plugin.RowContext) -> faithkit.Explanations:
        """Return a rule for each row."""
        found = list(given) if isinstance(given, Sequence) else [given]
        columns = Columns.of(about.X)
        rules = [_rule(row, one, columns) for row, one in enumerate(found)]
        remarks = np.array([_remark(one) for one in found], dtype=object)
        return faithkit.Explanations.of(rules, kind="rule", relation="in-scope", remarks=remarks)


def _look_alike(conditions: list[str]) -> Any:
    data = {"anchor": conditions, "precision": 1.0, "raw": {"feature": list(range(len(conditions)))}}
    kind = type("Explanation", (), {"__module__": "alibi.api.interfaces"})
    made = kind()
    made.meta, made.data = {"name": "AnchorTabular", "params": {"threshold": 0.95}}, data
    return made


def _rule(row: int, given: Any, columns: "Columns") -> faithkit.Rule:
    kind, anchor = given.meta.get("name"), given.data.get("anchor")
    if kind == "AnchorText":
        return faithkit.Rule([_contains(str(word)) for word in anchor])
    if kind not in ("AnchorTabular", "DistributedAnchorTabular") or anchor is None:
        raise faithkit.errors.InputError(
            f"{WHO}: object {row} is an explanation by alibi's {kind}, which has no conditions: give anchors "
            "of tables or texts, or what it says of each row as an array."
        )
    raw = given.data.get("raw") or {}
    places = list(dict.fromkeys(raw.get("feature") or ()))  # two limits of one column are one condition
    told = places if len(places) == len(anchor) else [None] * len(anchor)
    own = raw.get("instance")
    conditions = zip(map(str, anchor), told, strict=True)
    return faithkit.Rule([columns.predicate(text, place, own) for text, place in conditions])


def _contains(word: str) -> faithkit.Contains:
    lower = word.lower()
    is_word = faithkit.plugin.tokens(word, "word") == [lower]
    return faithkit.Contains(lower, "word") if is_word else faithkit.Contains(word)


def _remark(given: Any) -> str | None:
    threshold, precision = given.meta.get("params", {}).get("threshold"), given.data.get("precision")
    if threshold is None or precision is None:
        return None
    return BELOW if float(np.ravel(precision)[0]) < threshold else None


@attrs.frozen
class Columns:
    """How X names its columns, if there is an X, and which of them hold numbers.

    Examples
    --------
    >>> X = pd.DataFrame({"Age": [31, 40], "Job": [0, 1]})
    >>> print(Columns.of(X).predicate("Job = clerk", 1, own=[40, 1]))
    Job = 1
    >>> print(Columns.of(None).predicate("Job = clerk", 1, own=[40, 1]))
    Job = clerk
    """

    there: bool
    names: dict[str, Any] | None
    order: list[Any]
    numeric: list[bool]

    @classmethod
    def of(cls, X: Any) -> "Columns":
        """Look at the columns of X once, for all rules."""
        if X is None or isinstance(X, list):
            return cls(X is not None, None, [], [])
        if isinstance(X, pd.DataFrame):
            names = {str(name): name for name in X.columns}
            return cls(True, names, list(X.columns), _are_numbers(X))
        width = X.shape[1]
        mixed = X.dtype == object
        numeric = _are_numbers(pd.DataFrame(X).infer_objects()) if mixed else [X.dtype.kind in "biuf"] * width
        return cls(True, None, list(range(width)), numeric)

    def predicate(self, text: str, place: int | None, own: Any) -> Any:
        """Return a condition as a predicate on a column of X; without X, as it is written."""
        condition = read_condition(text)
        column = self._column(text, condition.column, place)
        if condition.value is None:
            return faithkit.Interval(column, condition.low, condition.high)
        return faithkit.OneOf(column, [self._category(condition.value, column, place, own)])

    def _column(self, text: str, name: str | None, place: int | None) -> Any:
        if not self.there and name is not None:
            return name
        if self.names is not None and name in self.names:
            return self.names[name]
        if place is not None and (self.names is None or name is None):
            if not self.there:
                return place
            if place < len(self.order):
                return self.order[place]
        raise faithkit.errors.InputError(
            f"{WHO}: X has no column for the condition {text!r}: give X with the columns that alibi was "
            "given, under the same names (feature_names)."
        )

    def _category(self, value: str, column: Any, place: int | None, own: Any) -> Any:
        """Return a category as X has it: by its name, or by the number that the explained row has."""
        if not self.there or not self.numeric[self.order.index(column)]:
            return value
        if own is None or place is None:
            raise faithkit.errors.InputError(
                f"{WHO}: the category {value!r} is a number in column {column!r} of X, and the explanation "
                "does not say which: give X with the names of categories."
            )
        return np.ravel(own)[place].item()


def _are_numbers(X: pd.DataFrame) -> list[bool]:
    return [pd.api.types.is_numeric_dtype(dtype) for dtype in X.dtypes]
