"""Two explanations of the same predictions, feature by feature: what can be compared, and what cannot."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.importances import importances

MOST_NAMES = 3  # in a message


@attrs.frozen(eq=False)
class Side:
    """What one explainer says of all rows: importances of features, which may have names.

    Examples
    --------
    >>> side = Side.of("shap", [{"age": 0.4}, {"age": 0.1, "job": -0.3}])
    >>> side.features, side.values.tolist()
    (['age', 'job'], [[0.4, 0.0], [0.1, -0.3]])
    """

    name: str
    values: NDArray[np.float64]
    features: list[str] | None
    missing: NDArray[np.bool_]
    target: str | None

    @classmethod
    def of(cls, name: str, given: Any) -> "Side":
        """Take the importances of a result, or in any form that `faithkit.adapt` takes; never an offset."""
        found = given.sample.explanations if isinstance(given, faithkit.Evaluation) else faithkit.adapt(given)
        if found.kind != "vector":
            raise faithkit.errors.InputError(
                f"agreement: {name} gives explanations of kind {found.kind!r}, and importances (kind "
                "'vector') are compared: choose an explainer such as shap or lime."
            )
        values = importances(f"agreement: {name}", found, offsets=False)
        told = found.shared.get("names")
        features = None if told is None else [str(one) for one in told[: values.shape[1]]]
        return cls(name, values, features, found.missing, found.shared.get("target"))

    def in_order_of(self, other: "Side") -> "Side":
        """Return the same with the features of the other in its order, or say why that cannot be.

        Where either has no names, features are matched by their place.
        """
        d, wanted = self.values.shape[1], other.values.shape[1]
        if None in (self.features, other.features) or self.features == other.features:
            if d == wanted:
                return self
            raise faithkit.errors.InputError(
                f"agreement: {other.name} has importances of {wanted} features, {self.name} of {d}: give "
                "both those of the same features."
            )
        mine, theirs = self._distinct(), other._distinct()
        if mine.keys() != theirs.keys():
            odd = _only(other, theirs.keys() - mine.keys()) + _only(self, mine.keys() - theirs.keys())
            raise faithkit.errors.InputError(
                f"agreement: {odd}give both importances of the same features, by the same names."
            )
        places = [mine[feature] for feature in theirs]
        return attrs.evolve(self, values=self.values[:, places], features=other.features)

    def _distinct(self) -> dict[str, int]:
        """Return the column of every feature."""
        assert self.features is not None
        places = {feature: place for place, feature in enumerate(self.features)}
        if len(places) < len(self.features):
            twice = next(one for one in self.features if self.features.count(one) > 1)
            raise faithkit.errors.InputError(
                f"agreement: {self.name} has two features named {twice!r}: give each a name of its own."
            )
        return places


def _only(side: Side, features: Any) -> str:
    if not features:
        return ""
    shown = sorted(features)[:MOST_NAMES]
    more = f" and {len(features) - len(shown)} more" if len(features) > len(shown) else ""
    return f"only {side.name} has {', '.join(map(repr, shown))}{more}; "


def matched(first: Side, second: Side) -> tuple[Side, Side]:
    """Return two sides that speak of the same rows, classes and features, in one order of features."""
    rows = len(first.values), len(second.values)
    if rows[0] != rows[1]:
        raise faithkit.errors.InputError(
            f"agreement: {first.name} explains {rows[0]:,} rows, {second.name} {rows[1]:,}: give importances "
            "of the same rows, in the same order."
        )
    if None not in (first.target, second.target) and first.target != second.target:
        raise faithkit.errors.InputError(
            f"agreement: {first.name} explains the class that target={first.target} means, {second.name} "
            f"that of target={second.target}: give both explainers the same target."
        )
    return first, second.in_order_of(first)


def check_predictions(first: faithkit.Evaluation, second: faithkit.Evaluation, names: Sequence[str]) -> None:
    """Refuse results of different predictions, whose explanations are not of the same class."""
    one, two = ([found.labels.classes[code] for code in found.labels.codes] for found in (first, second))
    differ = [row for row, pair in enumerate(zip(one, two, strict=True)) if pair[0] != pair[1]]
    if differ:
        row = differ[0]
        raise faithkit.errors.InputError(
            f"agreement: {names[0]} explains the prediction {one[row]!r} in row {row}, {names[1]} "
            f"{two[row]!r}: give results of one model."
        )
