"""The relation `same-top-features`: rows in the same bins of the k most important features. Not in the paper.

Unlike `near-in-top-features` it has a rule for every explanation, which says where the explanation applies.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.column_importances import (
    check_table,
    column_sizes,
    missing_instances_error,
    permuted_sizes,
)
from faithkit_feature_importance.discretizers import find_bins, learn_cuts
from faithkit_feature_importance.importances import mark_largest
from faithkit_feature_importance.near_in_top_features import NearInTopFeatures
from faithkit_feature_importance.objections import object_to_importances

NAME = "same-top-features"
IGNORED, MISSING = -2, -1  # codes of values that are not compared, and of missing values


class SameTopFeatures(faithkit.plugin.Relation):
    """The relation of instances that agree with the explained one on the k most important features.

    Numbers agree if they lie in the same quantile bin of the background, categories if they are equal, and a
    missing value agrees with a missing value. The k features have the largest absolute importance, summed
    over the classes or outputs if there are several. Of equal importances the later columns are chosen, as in
    `sign-of-top`. A feature of importance 0 is never chosen, so there may be fewer than k.

    The default relation of importances is `near-in-top-features`, which weighs importances by their size.

    Parameters
    ----------
    k : int
        How many features must agree. In a table with fewer columns, all of them.
    bins : int
        The number of quantile bins of a numeric column. If a column has no more distinct values than that,
        each value has its own bin.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [20, 30, 60, 70], "job": ["cook", "smith", "cook", "cook"]})
    >>> phi = faithkit.Explanations.vectors([[0.5, 0.1]] * 4, instances=X)
    >>> relation = SameTopFeatures(k=1, bins=2).fit(X, 3)
    >>> print(relation.key(phi)[0])
    age ≤ 30
    >>> relation.holds(faithkit.plugin.Sample(X, phi), phi)[0]
    array([ True,  True, False, False])
    """

    name = NAME
    instance_only = True

    def __init__(self, k: int = 3, bins: int = 4) -> None:
        for name, value, minimum in (("k", k, 1), ("bins", bins, 2)):
            faithkit.plugin.check_integer(
                value, f"same-top-features: {name}", minimum=minimum, error=faithkit.errors.ParameterError
            )
        self.k = k
        self.bins = bins
        self.phrase = f"rows that agree in the {k} most important feature{'' if k == 1 else 's'}"

    def fit(self, background: Any, n: int) -> "SameTopFeatures":
        """Learn the bins of numeric columns."""
        check_table(NAME, background)
        self.encoder_ = faithkit.plugin.Encoder(background)
        codes = self.encoder_.encode(background)
        self.cuts_ = {
            j: learn_cuts(column, self.bins)
            for j, column in enumerate(codes.T)
            if j not in self.encoder_.categorical
        }
        return self

    def key(self, explanations: faithkit.Explanations) -> NDArray[Any]:
        """Return one rule per row: the predicates that the instance satisfies on its top features."""
        if explanations.instances is None:
            raise missing_instances_error(NAME)
        if not hasattr(self, "encoder_"):
            raise faithkit.errors.InputError(
                "same-top-features has not learnt its bins: call fit(background) first."
            )
        coder = _ValueCoder(explanations.instances, self.encoder_, self.cuts_)
        sizes = column_sizes(NAME, explanations, self.encoder_.names)
        is_compared = mark_largest(sizes, min(self.k, sizes.shape[1]))
        value_codes = np.where(is_compared, coder.value_codes, IGNORED)
        distinct, rule_numbers = np.unique(value_codes, axis=0, return_inverse=True)
        rules = np.fromiter(map(coder.rule, distinct.tolist()), dtype=object, count=len(distinct))
        return rules[rule_numbers.ravel()]

    def holds(self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations) -> NDArray[np.bool_]:
        """Evaluate every rule on every instance."""
        X = sample.instances("same-top-features")
        coverage = [rule.covers(X) for rule in self.key(explanations)]
        matrix = np.array(coverage, dtype=bool).reshape(len(explanations), len(sample))
        return matrix & ~explanations.missing[:, None]

    def packed(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations
    ) -> NDArray[np.uint64]:
        """Return the same as bits, combined from one bitset per distinct predicate."""
        return faithkit.plugin.scope_bits(list(self.key(explanations)), sample)

    def control(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations, seeds: NDArray[Any]
    ) -> faithkit.Explanations:
        """Permute the importances of each row among its columns."""
        names = self.encoder_.names
        sizes = column_sizes(NAME, explanations, names)
        is_compared, narrower = mark_largest(sizes, min(self.k, len(names))), f"{NAME}:k=1"
        return permuted_sizes(explanations, sizes, is_compared, names, seeds, narrower)

    def objections(self, context: faithkit.plugin.ObjectionContext) -> list[faithkit.plugin.Objection]:
        """Object to signs as `near-in-top-features` does, whose similar rows are fewer and nearer."""
        near = NearInTopFeatures().fit(context.sample.X, len(context.sample))
        return object_to_importances(NAME, context, near.holds)

    def __str__(self) -> str:
        return f"same-top-features:k={self.k},bins={self.bins}"


class _ValueCoder:
    """Codes of the values of a table: the number of a bin or of a category, or `MISSING`."""

    def __init__(
        self, X: Any, encoder: faithkit.plugin.Encoder, cuts: dict[int, NDArray[np.float64]]
    ) -> None:
        codes = encoder.encode(X, unseen="keep")
        self.encoder = encoder
        self.labels = _rule_labels(X, encoder.names)
        self.cuts = cuts
        self.categories: dict[int, NDArray[Any]] = {}
        self.value_codes = np.empty(codes.shape, dtype=np.int64)
        for j, label in enumerate(self.labels):
            if j in cuts:
                self.value_codes[:, j] = np.nan_to_num(find_bins(codes[:, j], cuts[j]), nan=MISSING)
            else:  # by value: two instances may share a category that the background lacks
                values = X[label].to_numpy(object) if isinstance(X, pd.DataFrame) else X[:, j].astype(object)
                self.value_codes[:, j], self.categories[j] = pd.factorize(values)
        self._predicates: dict[tuple[int, int], Any] = {}

    def rule(self, value_codes: list[int]) -> faithkit.Rule:
        """Return the rule about the columns that are compared."""
        return self.encoder.rule(
            self._predicate(j, code) for j, code in enumerate(value_codes) if code != IGNORED
        )

    def _predicate(self, j: int, code: int) -> Any:
        if (j, code) not in self._predicates:
            self._predicates[j, code] = self._build_predicate(j, code)
        return self._predicates[j, code]

    def _build_predicate(self, j: int, code: int) -> Any:
        label = self.labels[j]
        if code == MISSING:
            return faithkit.plugin.OneOf(label, [], missing=True)
        if j in self.categories:
            return faithkit.plugin.OneOf(label, [self.categories[j][code]])
        ends = [-np.inf, *self.cuts[j], np.inf]
        return faithkit.plugin.Interval(label, ends[code], ends[code + 1])


def _rule_labels(X: Any, names: list[str]) -> list[Any]:
    """Return how rules refer to columns: by the names of a frame, or by position in an array."""
    if not isinstance(X, pd.DataFrame):
        return list(range(len(names)))
    label_by_name = {str(name): name for name in X.columns}
    return [label_by_name[name] for name in names]
