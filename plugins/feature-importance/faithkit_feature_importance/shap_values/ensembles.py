"""Trees as plain arrays: what models compare, in which precision, and what they add up."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class NotTreesError(ValueError):
    """The model is none that is made of trees."""


class UnreadableError(ValueError):
    """The model is made of trees, and cannot be explained leaf by leaf; the text says why."""


@attrs.frozen(eq=False)
class Tree:
    """One tree: a cell that is at most the threshold, or in the set of categories, goes to the left.

    Parameters
    ----------
    left, right : (nodes,)
        The children of each node, −1 at a leaf.
    column, threshold, missing_left : (nodes,)
        What is compared with what, and whether a missing cell goes to the left.
    values : (nodes, k)
        What a leaf adds to each of the outputs.
    outputs : tuple of int
        The k outputs of the ensemble to which the tree adds.
    categories : dict
        For each node that asks for a category: those that go to the left.
    """

    left: Integers
    right: Integers
    column: Integers
    threshold: Floats
    missing_left: NDArray[np.bool_]
    values: Floats
    outputs: tuple[int, ...]
    categories: dict[int, frozenset[float]] = attrs.field(factory=dict)

    @property
    def leaves(self) -> Integers:
        """The nodes without children."""
        return np.flatnonzero(self.left < 0)


@attrs.frozen(eq=False)
class Ensemble:
    """Trees that add up, and how the model looks at the cells that it compares.

    Parameters
    ----------
    trees : list of Tree
    n_outputs : int
        1 for two classes: the score of the second, of which the first one's is the opposite or the rest.
    log_odds : bool
        Whether the sums are log-odds, not probabilities.
    cells : callable
        From the table that the model is given to the numbers that it compares: an array in the model's
        own precision, NaN where missing, or a sparse matrix.
    places : (columns,)
        Which column of the model's table each column of `cells` is.
    absent : float
        What a cell that a sparse matrix does not store stands for.
    """

    trees: list[Tree]
    n_outputs: int
    log_odds: bool
    cells: Callable[[Any], Any]
    places: Integers
    absent: float = 0.0


def read_ensemble(model: Any) -> Ensemble:
    """Return the trees of a model.

    Raises
    ------
    NotTreesError
        Where the model is not made of trees.
    UnreadableError
        Where it is, and they do not say all of it.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> stump = DecisionTreeClassifier().fit([[0.0, 5.0], [1.0, 5.0]], [0, 1])
    >>> tree = read_ensemble(stump).trees[0]
    >>> tree.threshold[0], tree.values[tree.leaves].tolist()
    (np.float64(0.5), [[0.0], [1.0]])
    """
    for kind in type(model).__mro__:
        reader = READERS.get(f"{kind.__module__.partition('.')[0]}.{kind.__name__}")
        if reader is not None:
            return reader(model)
    raise NotTreesError(f"{type(model).__name__} is not made of trees")


def _decision_tree(model: Any) -> Ensemble:
    return _averaged(model, [model])


def _forest(model: Any) -> Ensemble:
    return _averaged(model, model.estimators_)


def _averaged(model: Any, members: list[Any]) -> Ensemble:
    if getattr(model, "n_outputs_", 1) != 1:
        raise UnreadableError(f"{type(model).__name__} predicts several targets")
    outputs = _outputs(len(model.classes_))
    chosen = [1] if len(model.classes_) == 2 else list(outputs)
    trees = []
    for member in members:
        counts = member.tree_.value[:, 0, :]
        shares = counts / counts.sum(axis=1, keepdims=True) / len(members)
        trees.append(_sklearn_tree(member.tree_, shares[:, chosen], outputs))
    return Ensemble(trees, len(outputs), False, _in_float32, np.arange(model.n_features_in_))


def _gradient_boosting(model: Any) -> Ensemble:
    if type(model.init_).__name__ != "DummyClassifier" and model.init_ != "zero":
        raise UnreadableError(f"GradientBoostingClassifier starts from {type(model.init_).__name__}")
    if model.loss != "log_loss":  # whose scores are no log-odds
        raise UnreadableError(f"GradientBoostingClassifier has the loss {model.loss}")
    outputs = _outputs(len(model.classes_))
    trees = [
        _sklearn_tree(member.tree_, member.tree_.value[:, 0, :] * model.learning_rate, (output,))
        for stage in model.estimators_
        for output, member in zip(outputs, stage, strict=True)
    ]
    return Ensemble(trees, len(outputs), True, _in_float32, np.arange(model.n_features_in_))


def _sklearn_tree(tree: Any, values: Floats, outputs: tuple[int, ...]) -> Tree:
    return Tree(
        tree.children_left.astype(np.int64),
        tree.children_right.astype(np.int64),
        tree.feature.astype(np.int64),
        tree.threshold,
        tree.missing_go_to_left.astype(bool),
        values,
        outputs,
    )


def _histogram_boosting(model: Any) -> Ensemble:
    outputs = _outputs(len(model.classes_))
    trees = [
        _histogram_tree(member, output)
        for stage in model._predictors
        for output, member in zip(outputs, stage, strict=True)
    ]
    places = np.arange(model.n_features_in_)
    if model._preprocessor is not None:  # which puts the columns of categories first
        places = np.concatenate([places[model.is_categorical_], places[~model.is_categorical_]])

    def cells(table: Any) -> Any:
        return np.asarray(model._preprocess_X(table, reset=False), dtype=np.float64)

    return Ensemble(trees, len(outputs), True, cells, places)


def _histogram_tree(predictor: Any, output: int) -> Tree:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    asked = np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf)
    sets = predictor.raw_left_cat_bitsets
    return Tree(
        np.where(leaf, -1, nodes["left"].astype(np.int64)),
        np.where(leaf, -1, nodes["right"].astype(np.int64)),
        nodes["feature_idx"].astype(np.int64),
        nodes["num_threshold"].astype(np.float64),
        nodes["missing_go_to_left"].astype(bool),
        nodes["value"].astype(np.float64)[:, None],
        (output,),
        {int(i): frozenset(_members(sets[nodes["bitset_idx"][i]])) for i in asked},
    )


def _members(bitset: Any) -> Iterator[float]:
    """Return the numbers in a set of bits, 32 of them in each word."""
    for word, bits in enumerate(np.asarray(bitset).tolist()):
        yield from (float(32 * word + bit) for bit in range(32) if bits >> bit & 1)


def _xgboost(model: Any) -> Ensemble:
    if not np.isnan(model.missing):
        raise UnreadableError(f"XGBClassifier takes {model.missing} for missing")
    return _read_by_shap(model, absent=np.nan)


def _lightgbm(model: Any) -> Ensemble:
    if model.get_params().get("zero_as_missing"):
        raise UnreadableError("LGBMClassifier takes zeros for missing")
    return _read_by_shap(model, absent=0.0)


def _read_by_shap(model: Any, absent: float) -> Ensemble:
    """Let shap read the files of other libraries."""
    import shap

    found = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent").model
    if (found.threshold_types == 1).any() or found.cat_feature_indices is not None:
        raise UnreadableError(f"{type(model).__name__} splits by category")
    outputs = tuple(range(found.num_outputs))
    if outputs != _outputs(len(model.classes_)):
        raise UnreadableError(f"{type(model).__name__} has {len(outputs)} scores")
    each = (found.children_left, found.children_right, found.children_default, found.features)
    trees = [
        Tree(left, right, column, threshold, default == left, values, outputs)
        for left, right, default, column, threshold, values in zip(
            *(part.astype(np.int64) for part in each), found.thresholds, found.values, strict=True
        )
    ]
    cells = partial(as_numbers, dtype=found.input_dtype)
    return Ensemble(trees, len(outputs), True, cells, np.arange(model.n_features_in_), absent)


def _outputs(classes: int) -> tuple[int, ...]:
    return (0,) if classes == 2 else tuple(range(classes))


def _in_float32(table: Any) -> Any:
    return as_numbers(table, dtype=np.float32)


def as_numbers(table: Any, dtype: Any) -> Any:
    """Return a table as numbers of a precision, NaN where missing; a sparse one stays sparse."""
    if hasattr(table, "toarray"):
        return table.tocsr().astype(dtype)
    if hasattr(table, "iloc"):
        return table.to_numpy(dtype=np.float64, na_value=np.nan).astype(dtype)
    return np.asarray(table, dtype=dtype)


READERS: dict[str, Callable[[Any], Ensemble]] = {
    "sklearn.DecisionTreeClassifier": _decision_tree,
    "sklearn.RandomForestClassifier": _forest,
    "sklearn.ExtraTreesClassifier": _forest,
    "sklearn.GradientBoostingClassifier": _gradient_boosting,
    "sklearn.HistGradientBoostingClassifier": _histogram_boosting,
    "xgboost.XGBClassifier": _xgboost,
    "lightgbm.LGBMClassifier": _lightgbm,
}
