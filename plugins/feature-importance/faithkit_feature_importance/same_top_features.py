"""The relation `same-top-features`, by which importances apply to other instances. It is not in the paper.

An importance says how much a feature mattered, but not for which instances. Together with the explained
instance it becomes a claim that can be checked: instances that agree with it on the features that matter most
get the same prediction.
"""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.discretizers import find_bins, learn_cuts
from faithkit_feature_importance.importances import mark_largest, read_importances
from faithkit_feature_importance.targets import NUMBERS

IGNORED, MISSING = -2, -1  # codes of values that are not compared, and of missing values


class SameTopFeatures(faithkit.plugin.Relation):
    """The relation of instances that agree with the explained one on the k most important features.

    Numbers agree if they lie in the same quantile bin of the background, categories if they are equal, and a
    missing value agrees with a missing value. The k features have the largest absolute importance, summed
    over the classes or outputs if there are several. Of equal importances the later columns are chosen, as in
    `sign-of-top`. A feature of importance 0 is never chosen, so there may be fewer than k.

    Explainers of importances name it as the relation of their explanations. So sufficiency is measured by it
    unless another relation is named.

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

    name = "same-top-features"
    instance_only = True

    def __init__(self, k: int = 3, bins: int = 4) -> None:
        for name, value, minimum in (("k", k, 1), ("bins", bins, 2)):
            faithkit.plugin.check_integer(
                value, f"same-top-features: {name}", minimum=minimum, error=faithkit.errors.ParameterError
            )
        self.k = k
        self.bins = bins

    def fit(self, background: Any, n: int) -> "SameTopFeatures":
        """Learn the bins of numeric columns."""
        if background is None:
            raise _missing_instances_error()
        if isinstance(background, list) or hasattr(background, "tocsr"):
            raise faithkit.errors.InputError(
                "same-top-features compares the columns of tables, and the instances are "
                f"{'texts' if isinstance(background, list) else 'a sparse matrix'}: name another relation."
            )
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
            raise _missing_instances_error()
        if not hasattr(self, "encoder_"):
            raise faithkit.errors.InputError(
                "same-top-features has not learnt its bins: call fit(background) first."
            )
        coder = _ValueCoder(explanations.instances, self.encoder_, self.cuts_)
        sizes = self._importance_per_column(explanations)
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
        sizes = self._importance_per_column(explanations)
        n_columns = sizes.shape[1]
        is_compared = mark_largest(sizes[~explanations.missing], min(self.k, n_columns))
        if is_compared.all(axis=1).sum() > len(is_compared) / 2:
            raise faithkit.errors.InputError(
                f"most explanations name all {n_columns} columns, and so would random ones. A relation that "
                "compares fewer has a control, such as same-top-features:k=1."
            )
        order = np.argsort(faithkit.plugin.row_uniforms(seeds, n_columns), axis=1)
        permuted, names = np.take_along_axis(sizes, order, axis=1), {"names": self.encoder_.names}
        return attrs.evolve(explanations, values=permuted, identity=None, shared=names)

    def __str__(self) -> str:
        return f"same-top-features:k={self.k},bins={self.bins}"

    def _importance_per_column(self, explanations: faithkit.Explanations) -> NDArray[np.float64]:
        """Return one importance per column of the table, summed over classes or outputs."""
        sizes = np.abs(read_importances("same-top-features", explanations, offsets=False))
        names, width = self.encoder_.names, sizes.shape[1]
        has_several = explanations.shared.get("target") in ("all", NUMBERS)
        n_outputs = max(1, width // len(names)) if has_several else 1
        if width != n_outputs * len(names):
            raise faithkit.errors.InputError(
                f"same-top-features: {width} importances for the {len(names)} columns of the instances: give "
                "one for each, in the same order."
            )
        column_names = explanations.shared.get("names", [])[:width]
        if n_outputs == 1 and sorted(column_names) == sorted(names):
            # a log may list columns in another order
            return sizes[:, [column_names.index(name) for name in names]]
        return sizes.reshape(len(sizes), n_outputs, len(names)).sum(axis=1)


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
            return faithkit.OneOf(label, [], missing=True)
        if j in self.categories:
            return faithkit.OneOf(label, [self.categories[j][code]])
        ends = [-np.inf, *self.cuts[j], np.inf]
        return faithkit.Interval(label, ends[code], ends[code + 1])


def _rule_labels(X: Any, names: list[str]) -> list[Any]:
    """Return how rules refer to columns: by the names of a frame, or by position in an array."""
    if not isinstance(X, pd.DataFrame):
        return list(range(len(names)))
    label_by_name = {str(name): name for name in X.columns}
    return [label_by_name[name] for name in names]


def _missing_instances_error() -> faithkit.errors.InputError:
    return faithkit.errors.InputError(
        "same-top-features reads the explained instances, and none were given: pass X (CLI: --features)."
    )
