"""Decision trees: the explanation of an instance is the path to its leaf, written as a rule.

scikit-learn compares values rounded to float32 with float64 thresholds, and sends missing values to the side
that it has learnt. A rule reads the values without rounding. So each threshold is moved to the point where
float64 values change sides: then the rule covers exactly the rows that reach the leaf.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_scoped_rules.unseen_categories import find_unseen

LARGEST = float(np.finfo(np.float32).max)


class TreeExplainer:
    """The path to the leaf of a decision tree: the model itself, or a surrogate fitted to its predictions.

    All instances of a leaf have the same explanation, which applies to these and no others; so consistency
    equals sufficiency. `shared` has the tree's "fidelity": the share of the background on which it predicts
    the model's label or, for numbers, the share of their variance that it explains (R²).

    Parameters
    ----------
    surrogate : bool or "auto"
        True fits a tree to the model's predictions on the background. False uses the model itself, which has
        to be a DecisionTreeClassifier or DecisionTreeRegressor on numeric columns. "auto" uses the model if
        it is such a tree, else a surrogate.
    max_leaf_nodes : int, optional
        The largest number of leaves of the surrogate, and thereby of explanations.
    max_depth : int, optional
        The largest number of comparisons to a leaf of the surrogate.
    min_samples_leaf : int
        The smallest number of rows of the background in each leaf of the surrogate.

    Notes
    -----
    A row with a category that the background does not have has no explanation: a rule lists the categories
    that it covers, so none could cover that row. The rule says on which side of a split missing values go,
    even if the background has none: "age ≤ 30 (or missing)".

    Integers beyond 2**53 are rounded to float64 before they are compared. Numbers beyond the range of float32
    are clipped to it.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["no", "no", "yes", "yes"]
    >>> model = DecisionTreeClassifier().fit(X, y)
    >>> paths = TreeExplainer().fit(faithkit.Predictor(model), X).explain(X, seeds=None)
    >>> print(f"{paths.values[0]:.6g} | {paths.values[3]:.6g} | {paths.shared}")
    0 ≤ 1.5 | 0 > 1.5 (or missing) | {'fidelity': 1.0}

    A surrogate works with any table and any model:

    >>> import pandas as pd
    >>> jobs = pd.DataFrame({"job": ["cook", "clerk", None, "smith"]})
    >>> is_cook = faithkit.Predictor(lambda table: table["job"] == "cook")
    >>> paths = TreeExplainer(min_samples_leaf=1).fit(is_cook, jobs).explain(jobs, seeds=None)
    >>> print(paths.values[0], "|", paths.values[2])
    job = cook | job = smith (or missing)
    """

    outcomes = ("labels", "numbers")
    rows_per_chunk = 4096  # a lookup per row

    def __init__(
        self,
        surrogate: bool | str = "auto",
        max_leaf_nodes: int | None = 32,
        max_depth: int | None = None,
        min_samples_leaf: int = 5,
    ) -> None:
        if not isinstance(surrogate, bool) and surrogate != "auto":
            raise faithkit.errors.ParameterError(
                f"tree: surrogate must be auto, true or false, got {surrogate!r}."
            )
        self.surrogate = surrogate
        self.max_leaf_nodes = _check_count(2, "max_leaf_nodes", max_leaf_nodes, optional=True)
        self.max_depth = _check_count(1, "max_depth", max_depth, optional=True)
        self.min_samples_leaf = _check_count(1, "min_samples_leaf", min_samples_leaf)

    @property
    def learns(self) -> bool:
        """Whether the explanations may depend on the background."""
        return self.surrogate is not False

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "TreeExplainer":
        """Choose or fit the tree, and write the rule of every leaf."""
        _check_table(background)
        self.encoder_ = faithkit.plugin.Encoder(background)
        self.is_surrogate_ = self._needs_surrogate(predictor.model)
        if self.is_surrogate_:
            self._fit_surrogate(predictor, background)
        else:
            predictor.predict(background[:1])  # raises if these are not the model's columns
            self.tree_, self.fidelity_ = predictor.model, 1.0
        self.rules_ = leaf_rules(self.tree_.tree_, self._describe_columns(background), self.encoder_.rule)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Look up the rule of every row's leaf; trees need no seeds."""
        _check_table(X)
        self._check_order(X)
        codes = self.encoder_.encode(X, unseen="keep")
        rules = self.rules_[self.tree_.tree_.apply(self._tree_input(codes))]
        has_unseen, remarks = find_unseen(self.encoder_, codes)
        rules[has_unseen] = None
        return faithkit.Explanations.of(
            rules.tolist(),
            kind="rule",
            instances=X,
            remarks=remarks,
            shared={"fidelity": self.fidelity_},
            relation="in-scope",
        )

    def _needs_surrogate(self, model: Any) -> bool:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        if self.surrogate is True:
            return True
        categorical = [j for j, values in self.encoder_.categories.items() if values != [False, True]]
        if isinstance(model, DecisionTreeClassifier | DecisionTreeRegressor) and not categorical:
            return False
        if self.surrogate == "auto":
            return True
        problem = f"the model is a {type(model).__name__}"
        if categorical:
            problem = f"the column {self.encoder_.names[categorical[0]]!r} holds categories"
        raise faithkit.errors.InputError(
            "tree: surrogate=false explains a DecisionTreeClassifier or DecisionTreeRegressor on numeric "
            f"columns, and {problem}: use surrogate=true, which fits a tree to the model's predictions."
        )

    def _fit_surrogate(self, predictor: faithkit.Predictor, background: Any) -> None:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        is_regressor = predictor.is_regressor
        tree = (DecisionTreeRegressor if is_regressor else DecisionTreeClassifier)(
            max_leaf_nodes=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            random_state=0,
        )
        # the order of rows decides between equally good splits, so rows are sorted by their content
        order = np.argsort(faithkit.plugin.row_seeds(background, seed=0), kind="stable")
        target = (_standardize if is_regressor else _encode)(predictor.predict(background)[order])
        codes = self._tree_input(self.encoder_.encode(background))[order]
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds up columns to look for NaN
            self.tree_ = tree.fit(codes, target)
            predicted = tree.predict(codes)
        self.fidelity_ = (
            _explained_variance(target, predicted) if is_regressor else float(np.mean(predicted == target))
        )

    def _tree_input(self, codes: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return the input of the tree: numbers, the ranks of categories, and NaN for missing values."""
        codes = codes.copy()
        for j, values in self.encoder_.categories.items():
            codes[codes[:, j] >= len(values), j] = np.nan
        return np.clip(codes, -LARGEST, LARGEST).astype(np.float32)

    def _describe_columns(self, background: Any) -> list["_Column"]:
        names = background.columns.tolist() if hasattr(background, "columns") else range(background.shape[1])
        return [_Column(name, self.encoder_.categories.get(j)) for j, name in enumerate(names)]

    def _check_order(self, X: Any) -> None:
        """Refuse columns in another order: the model reads them by position."""
        if self.is_surrogate_ or not hasattr(X, "columns"):
            return
        names = [str(name) for name in X.columns]
        if names != self.encoder_.names and sorted(names) == sorted(self.encoder_.names):
            raise faithkit.errors.InputError(
                "tree: X has its columns in another order than the background, and the model reads them by "
                "position: bring both into the order of the model's training data."
            )


@attrs.frozen
class _Column:
    """The name of a column in rules, and its categories in the order of their codes; None for numbers."""

    name: str | int
    categories: list[Any] | None

    def sides(self, limit: float, missing_left: bool) -> tuple[Any, Any]:
        """Return the predicates of both sides of a split: up to the limit, and beyond it."""
        if self.categories is None:
            return (
                faithkit.plugin.Interval(self.name, high=limit, missing=missing_left),
                faithkit.plugin.Interval(self.name, low=limit, missing=not missing_left),
            )
        left = [value for code, value in enumerate(self.categories) if code <= limit]
        right = self.categories[len(left) :]
        return (
            faithkit.plugin.OneOf(self.name, left, missing=missing_left),
            faithkit.plugin.OneOf(self.name, right, missing=not missing_left),
        )


def leaf_rules(
    tree: Any,
    columns: Sequence[_Column],
    build_rule: Callable[[Iterable[Any]], faithkit.Rule] = faithkit.Rule,
) -> NDArray[Any]:
    """Return the rule of every leaf of a scikit-learn `Tree`, by node number; None for inner nodes.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0], [4.0]], [0, 1, 0])
    >>> [f"{rule:.6g}" for rule in leaf_rules(model.tree_, [_Column("age", None)]) if rule]
    ['age ≤ 0.5', '0.5 < age ≤ 2.5', 'age > 2.5 (or missing)']
    """
    rules = np.full(tree.node_count, None, dtype=object)
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    limits, missing_left = float64_limits(tree.threshold).tolist(), tree.missing_go_to_left.astype(bool)
    pending: list[tuple[int, dict[int, Any]]] = [(0, {})]
    while pending:  # a loop, because a tree may be deeper than Python's recursion limit
        node, path = pending.pop()
        if left[node] < 0:
            rules[node] = build_rule(path.values())
            continue
        j = int(tree.feature[node])
        sides = columns[j].sides(limits[node], bool(missing_left[node]))
        for child, side in zip((left[node], right[node]), sides, strict=True):
            pending.append((child, {**path, j: side.meet(path[j]) if j in path else side}))
    return rules


def float64_limits(thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each threshold the largest float64 whose rounding to float32 does not exceed it.

    Values change sides halfway between the largest float32 at or below the threshold and the next one.
    Halfway itself rounds to the one that is even.

    Examples
    --------
    >>> threshold = np.array([0.1])
    >>> limit = float64_limits(threshold)
    >>> limit.astype(np.float32) <= threshold, np.nextafter(limit, 1).astype(np.float32) <= threshold
    (array([ True]), array([False]))
    """
    nearest = thresholds.astype(np.float32)
    below = np.where(nearest > thresholds, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    above = np.nextafter(below, np.float32(np.inf))
    halfway = (below.astype(np.float64) + above.astype(np.float64)) / 2
    return np.where(halfway.astype(np.float32) <= below, halfway, np.nextafter(halfway, -np.inf))


def _encode(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels as codes: scikit-learn accepts no labels such as 0.5."""
    return np.unique(labels, return_inverse=True)[1]


def _standardize(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centre numbers and scale the sum of their variances to 1, so that scikit-learn loses no digits."""
    centred = numbers - np.sort(numbers, axis=0)[len(numbers) // 2]
    centred = centred - centred.mean(axis=0)
    return centred / (np.sqrt(centred.var(axis=0).sum()) or 1.0)


def _explained_variance(numbers: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    """Return R² of the predictions of standardized numbers; 1 where all numbers are the same."""
    return 1.0 - float(((numbers - predicted) ** 2).mean(axis=0).sum())


def _check_count(minimum: int, name: str, value: Any, optional: bool = False) -> Any:
    return faithkit.plugin.check_integer(
        value, f"tree: {name}", minimum=minimum, optional=optional, error=faithkit.errors.ParameterError
    )


def _check_table(X: Any) -> None:
    if isinstance(X, list):
        raise faithkit.errors.InputError(
            "tree explains the rows of a table, and was given a list of texts: use first-word, all-words, "
            "top-coefficient or anchors-text."
        )
    if hasattr(X, "toarray"):
        raise faithkit.errors.InputError(
            "tree explains the rows of a table, and was given a sparse matrix: "
            "give X.toarray(), and a model that takes it."
        )
