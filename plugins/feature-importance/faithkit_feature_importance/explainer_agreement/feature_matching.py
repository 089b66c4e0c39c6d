"""Match the features of two explainers, and reject importances that cannot be compared."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.importances import read_importances

MAX_LISTED_NAMES = 3  # in a message


@attrs.frozen(eq=False)
class NamedImportances:
    """The importances that one explainer gives to the features of all rows.

    Examples
    --------
    >>> shap = NamedImportances.of("shap", [{"age": 0.4}, {"age": 0.1, "job": -0.3}])
    >>> shap.features, shap.values.tolist()
    (['age', 'job'], [[0.4, 0.0], [0.1, -0.3]])
    """

    name: str
    values: NDArray[np.float64]
    features: list[str] | None
    missing: NDArray[np.bool_]
    target: str | None

    @classmethod
    def of(cls, name: str, source: Any) -> "NamedImportances":
        """Read the importances, without offsets, of a result or of what `faithkit.plugin.adapt` takes."""
        explanations = (
            source.rows.explanations
            if isinstance(source, faithkit.Evaluation)
            else faithkit.plugin.adapt(source)
        )
        if explanations.kind != "vector":
            raise faithkit.errors.InputError(
                f"agreement: {name} gives explanations of kind {explanations.kind!r}, and importances (kind "
                "'vector') are compared: choose an explainer such as shap or lime."
            )
        values = read_importances(f"agreement: {name}", explanations, offsets=False)
        names = explanations.shared.get("names")
        features = None if names is None else [str(feature) for feature in names[: values.shape[1]]]
        return cls(name, values, features, explanations.missing, explanations.shared.get("target"))

    def reordered_like(self, other: "NamedImportances") -> "NamedImportances":
        """Return the same importances with features ordered as in `other`.

        If either side has no feature names, features are matched by position.
        """
        n_features, n_expected = self.values.shape[1], other.values.shape[1]
        if None in (self.features, other.features) or self.features == other.features:
            if n_features == n_expected:
                return self
            raise faithkit.errors.InputError(
                f"agreement: {other.name} has importances of {n_expected} features, {self.name} of "
                f"{n_features}: give both those of the same features."
            )
        own_columns, other_columns = self._column_by_feature(), other._column_by_feature()
        if own_columns.keys() != other_columns.keys():
            extra_features = _describe_extra_features(
                other, other_columns.keys() - own_columns.keys()
            ) + _describe_extra_features(self, own_columns.keys() - other_columns.keys())
            raise faithkit.errors.InputError(
                f"agreement: {extra_features}give both importances of the same features, by the same names."
            )
        order = [own_columns[feature] for feature in other_columns]
        return attrs.evolve(self, values=self.values[:, order], features=other.features)

    def _column_by_feature(self) -> dict[str, int]:
        """Return the column of every feature."""
        assert self.features is not None
        columns = {feature: column for column, feature in enumerate(self.features)}
        if len(columns) < len(self.features):
            duplicate = next(feature for feature in self.features if self.features.count(feature) > 1)
            raise faithkit.errors.InputError(
                f"agreement: {self.name} has two features named {duplicate!r}: give each a name of its own."
            )
        return columns


def _describe_extra_features(side: NamedImportances, features: Any) -> str:
    if not features:
        return ""
    listed = sorted(features)[:MAX_LISTED_NAMES]
    remainder = f" and {len(features) - len(listed)} more" if len(features) > len(listed) else ""
    return f"only {side.name} has {', '.join(map(repr, listed))}{remainder}; "


def match_features(
    first: NamedImportances, second: NamedImportances
) -> tuple[NamedImportances, NamedImportances]:
    """Check that both explain the same rows and classes, and give their features the same order."""
    n_rows = len(first.values), len(second.values)
    if n_rows[0] != n_rows[1]:
        raise faithkit.errors.InputError(
            f"agreement: {first.name} explains {n_rows[0]:,} rows, {second.name} {n_rows[1]:,}: give "
            "importances of the same rows, in the same order."
        )
    if None not in (first.target, second.target) and first.target != second.target:
        raise faithkit.errors.InputError(
            f"agreement: {first.name} explains the class that target={first.target} means, {second.name} "
            f"that of target={second.target}: give both explainers the same target."
        )
    return first, second.reordered_like(first)


def check_predictions(first: faithkit.Evaluation, second: faithkit.Evaluation, names: Sequence[str]) -> None:
    """Reject results with different predictions: their explanations are about different classes."""
    first_labels, second_labels = (result.rows.row_predictions for result in (first, second))
    differing_rows = [
        row for row, pair in enumerate(zip(first_labels, second_labels, strict=True)) if pair[0] != pair[1]
    ]
    if differing_rows:
        row = differing_rows[0]
        raise faithkit.errors.InputError(
            f"agreement: {names[0]} explains the prediction {first_labels[row]!r} in row {row}, {names[1]} "
            f"{second_labels[row]!r}: give results of one model."
        )
