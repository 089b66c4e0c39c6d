"""When a vector of importances applies to an instance: our extension, which the paper does not have.

An importance says how much a feature mattered, not for whom. Read together with the explained instance it
becomes a claim that can be checked: whoever agrees with it on the features that mattered most gets the same
prediction.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.bins import learn_cuts, place
from faithkit_feature_importance.importances import importances, largest
from faithkit_feature_importance.targets import NUMBERS

NOT_ASKED, MISSING = -2, -1


class SameTopFeatures(faithkit.plugin.Relation):
    """The instance agrees with the explained one on the k most important features.

    Numbers agree where they lie in the same quantile bin of the background, categories where they are equal,
    and a missing value agrees with a missing one. The k features are those of largest absolute importance,
    summed over the classes or outputs where there are several; of equal ones at the edge the later columns,
    as in `sign-of-top`. A feature of importance 0 is never among them, so there may be fewer.

    Explainers of importances name it as the relation of their explanations, so sufficiency is measured by it
    unless another relation is named.

    Parameters
    ----------
    k : int
        How many features must agree; all of them in a table of fewer columns.
    bins : int
        Numeric columns are cut into so many parts of equal mass; where a column has no more distinct values
        than that, each is a part of its own.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [20, 30, 60, 70], "job": ["cook", "smith", "cook", "cook"]})
    >>> phi = faithkit.Explanations.vectors([[0.5, 0.1]] * 4, instances=X)
    >>> applies = SameTopFeatures(k=1, bins=2).fit(X)
    >>> print(applies.key(phi)[0])
    age ≤ 30
    >>> applies.holds(faithkit.plugin.Sample(X, phi), phi)[0]
    array([ True,  True, False, False])
    """

    name = "same-top-features"
    instance_only = True

    def __init__(self, k: int = 3, bins: int = 4) -> None:
        for name, value, least in (("k", k, 1), ("bins", bins, 2)):
            faithkit.plugin.whole_number(
                value, f"same-top-features: {name}", least, error=faithkit.errors.ParameterError
            )
        self.k = k
        self.bins = bins

    def fit(self, background: Any) -> "SameTopFeatures":
        """Learn the bins of numeric columns."""
        if background is None:
            raise _no_instances()
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
        """Return the rules: the predicates that the explained instance satisfies on its top features."""
        if explanations.instances is None:
            raise _no_instances()
        if not hasattr(self, "encoder_"):
            raise faithkit.errors.InputError(
                "same-top-features has not learnt its bins: call fit(background) first."
            )
        columns = _Columns(explanations.instances, self.encoder_, self.cuts_)
        sizes = self._per_feature(explanations)
        asked = largest(sizes, min(self.k, sizes.shape[1]))
        parts = np.where(asked, columns.parts, NOT_ASKED)
        distinct, where = np.unique(parts, axis=0, return_inverse=True)
        rules = np.fromiter(map(columns.rule, distinct.tolist()), dtype=object, count=len(distinct))
        return rules[where.ravel()]

    def holds(self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations) -> NDArray[np.bool_]:
        """Ask every rule about every instance."""
        X = sample.instances("same-top-features")
        held = [rule.covers(X) for rule in self.key(explanations)]
        matrix = np.array(held, dtype=bool).reshape(len(explanations), len(sample))
        return matrix & ~explanations.missing[:, None]

    def packed(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations
    ) -> NDArray[np.uint64]:
        """Combine one bitset per distinct predicate."""
        return faithkit.plugin.scope_bits(list(self.key(explanations)), sample)

    def __str__(self) -> str:
        return f"same-top-features:k={self.k},bins={self.bins}"

    def _per_feature(self, explanations: faithkit.Explanations) -> NDArray[np.float64]:
        """Return one importance per column of the table, summed over classes where there are several."""
        sizes = np.abs(importances("same-top-features", explanations, offsets=False))
        names, width = self.encoder_.names, sizes.shape[1]
        several = explanations.shared.get("target") in ("all", NUMBERS)
        classes = max(1, width // len(names)) if several else 1
        if width != classes * len(names):
            raise faithkit.errors.InputError(
                f"same-top-features: {width} importances for the {len(names)} columns of the instances: give "
                "one for each, in the same order."
            )
        told = explanations.shared.get("names", [])[:width]
        if classes == 1 and sorted(told) == sorted(names):  # a log may have its columns in another order
            return sizes[:, [told.index(name) for name in names]]
        return sizes.reshape(len(sizes), classes, len(names)).sum(axis=1)


class _Columns:
    """The cells of a table as numbers of predicates: a bin, a category, or missing."""

    def __init__(
        self, X: Any, encoder: faithkit.plugin.Encoder, cuts: dict[int, NDArray[np.float64]]
    ) -> None:
        codes = encoder.encode(X, unseen="keep")
        self.encoder = encoder
        self.labels = _labels(X, encoder.names)
        self.cuts = cuts
        self.categories: dict[int, NDArray[Any]] = {}
        self.parts = np.empty(codes.shape, dtype=np.int64)
        for j, label in enumerate(self.labels):
            if j in cuts:
                self.parts[:, j] = np.nan_to_num(place(codes[:, j], cuts[j]), nan=MISSING)
            else:  # by the cells themselves: the background may lack a category that two instances share
                cells = X[label].to_numpy(object) if isinstance(X, pd.DataFrame) else X[:, j].astype(object)
                self.parts[:, j], self.categories[j] = pd.factorize(cells)
        self._known: dict[tuple[int, int], Any] = {}

    def rule(self, parts: list[int]) -> faithkit.Rule:
        """Return the rule about the columns that are asked for."""
        return self.encoder.rule(
            self._predicate(j, part) for j, part in enumerate(parts) if part != NOT_ASKED
        )

    def _predicate(self, j: int, part: int) -> Any:
        if (j, part) not in self._known:
            self._known[j, part] = self._make(j, part)
        return self._known[j, part]

    def _make(self, j: int, part: int) -> Any:
        label = self.labels[j]
        if part == MISSING:
            return faithkit.OneOf(label, [], missing=True)
        if j in self.categories:
            return faithkit.OneOf(label, [self.categories[j][part]])
        ends = [-np.inf, *self.cuts[j], np.inf]
        return faithkit.Interval(label, ends[part], ends[part + 1])


def _labels(X: Any, names: list[str]) -> list[Any]:
    """Return what a rule calls the columns: a frame's own names, or an array's numbers."""
    if not isinstance(X, pd.DataFrame):
        return list(range(len(names)))
    own = {str(name): name for name in X.columns}
    return [own[name] for name in names]


def _no_instances() -> faithkit.errors.InputError:
    return faithkit.errors.InputError(
        "same-top-features reads the explained instances, and none were given: pass X (CLI: --features)."
    )
