"""Check a model from a file for indices out of bounds, before its first prediction.

scikit-learn's compiled code does not check the indices in a fitted model. A tree with a child behind its last
node makes it read or write foreign memory. The checks cover the common estimators that a forged file could
misuse. Every honest model passes them.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

_MAX_WORKERS = 4096
_LEAF_TYPES = (str, bytes, int, float, complex, type(None), np.generic, type)
# modules of objects that compiled code walks through; each must belong to an estimator, which has the columns
_COMPILED = (
    "sklearn.tree._tree",
    "sklearn.neighbors._kd_tree",
    "sklearn.neighbors._ball_tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor",
)
_BASES = ("sklearn.base", "sklearn.utils")


def check_sound(model: Any) -> None:
    """Raise ValueError if the model has an index out of bounds, or reads files.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> check_sound(CountVectorizer().fit(["a fine film"]))
    >>> check_sound(CountVectorizer(vocabulary={"fine": 7}).set_params(input="filename"))
    Traceback (most recent call last):
    ...
    ValueError: its CountVectorizer reads files, or words that its vocabulary does not have
    """
    parts = list(_walk_objects(model))
    estimators = [part for part in parts if _is_sklearn_estimator(part)]
    checked_ids: set[int] = set()
    with warnings.catch_warnings(action="ignore"):  # about artificial rows without names
        for attribute, check in _CHECKS.items():
            for part in estimators:
                if attribute in vars(part):
                    checked_ids.update(map(id, check(part) or ()))
    for part in parts:
        if type(part).__module__ in _COMPILED and id(part) not in checked_ids:
            raise ValueError(f"a {type(part).__name__} belongs to no estimator")
        if issparse(part) and hasattr(part, "check_format"):
            part.check_format(full_check=True)
        if isinstance(part, np.ndarray) and part.itemsize == 0 and part.size > 0:
            raise ValueError(f"an array has {part.size} items of no size")
        if isinstance(part, np.lib.npyio.NpzFile):
            raise ValueError("an archive stands in place of an array")


def _walk_objects(model: Any) -> Iterator[Any]:
    """Yield the model and every object that it contains, once."""
    visited, waiting = dict[int, Any](), [model]
    while waiting:
        part = waiting.pop()
        if isinstance(part, _LEAF_TYPES) or id(part) in visited:
            continue
        visited[id(part)] = part  # keeps the object alive, so that its id stays unique
        yield part
        waiting.extend(getattr(part, "__dict__", {}).values())
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple | set | frozenset):
            waiting.extend(part)
        elif isinstance(part, np.ndarray) and part.dtype.hasobject:
            waiting.extend(np.asarray(part).ravel().tolist())


def _is_sklearn_estimator(part: Any) -> bool:
    """Return whether a class derives from an estimator of scikit-learn; its base classes do not count."""
    modules = {kind.__module__ for kind in type(part).__mro__}
    is_sklearn = any(name.startswith("sklearn.") and not name.startswith(_BASES) for name in modules)
    return is_sklearn and hasattr(part, "__dict__")


def _require(sound: Any, part: Any, problem: str) -> None:
    if not np.all(sound):
        raise ValueError(f"its {type(part).__name__} {problem}")


def _is_descending(left: Any, right: Any, inner: Any) -> Any:
    """Return whether both children of each inner node come later, so that every path ends in a leaf."""
    parents = np.flatnonzero(inner)
    children = np.stack([left[parents], right[parents]])
    return len(inner) > 0 and np.all((children > parents) & (children < len(inner)))


def _check_decision_tree(estimator: Any) -> list[Any]:
    """Check an estimator with `tree_`; KernelDensity has a tree of neighbours under this name."""
    tree = estimator.tree_
    if not hasattr(tree, "node_count"):
        return _check_neighbour_tree(estimator, tree)
    _require(tree.node_count == tree.capacity, estimator, "has a tree of another size")
    inner = tree.children_left != -1
    is_descending = _is_descending(tree.children_left, tree.children_right, inner)
    _require(is_descending, estimator, "has a tree without an end")
    _check_features(estimator, tree.feature[inner], tree.n_features)
    return [tree]


def _check_features(estimator: Any, features: Any, n_features: int) -> None:
    is_within = (features >= 0) & (features < n_features)
    is_same = n_features == estimator.n_features_in_
    _require(is_same and np.all(is_within), estimator, "has a tree of other columns")


def _check_boosted_trees(model: Any) -> None:
    """Check gradient boosting: all trees predict at once, and write to the array of initial scores."""
    if "estimators_" not in vars(model):
        return
    n_features = model.n_features_in_
    _require(np.ndim(model.estimators_) == 2, model, "has trees in disorder")
    for estimator in np.ravel(model.estimators_):
        _require(estimator.tree_.n_features == n_features, model, "has a tree of other columns")
    initial_scores = model._raw_predict_init(np.zeros((1, n_features), dtype=np.float32))
    _require(initial_scores.shape[1] == model.estimators_.shape[1], model, "has trees for other classes")


def _check_histogram_trees(model: Any) -> list[Any]:
    n_features, bins = model.n_features_in_, model._bin_mapper
    blank = np.full((1, n_features), np.nan, dtype=object)  # object: for columns of texts or numbers
    preprocessor = getattr(model, "_preprocessor", None)
    width = n_features if preprocessor is None else preprocessor.transform(blank).shape[1]
    is_same = len(bins.n_bins_non_missing_) == len(bins.is_categorical_) == width == n_features
    _require(is_same, model, "has bins of other columns")
    trees = [tree for stage in model._predictors for tree in stage]
    for tree in trees:
        nodes, inner = tree.nodes, tree.nodes["is_leaf"] == 0
        _require(_is_descending(nodes["left"], nodes["right"], inner), model, "has a tree without an end")
        _check_features(model, nodes["feature_idx"][inner], n_features)
        categorical_nodes = nodes[inner & (nodes["is_categorical"] != 0)]
        for bits in (tree.raw_left_cat_bitsets, tree.binned_left_cat_bitsets):
            _require(categorical_nodes["bitset_idx"] < len(bits), model, "has a tree of other categories")
            _require(np.shape(bits)[1:] == (8,), model, "has a tree of other categories")
        is_known = bins.is_categorical_[categorical_nodes["feature_idx"]]
        _require(is_known != 0, model, "has a tree of other categories")
    return trees


def _check_neighbours(estimator: Any) -> list[Any]:
    """Check a nearest-neighbour model: its labels must index its class counts."""
    rows, columns = estimator._fit_X.shape
    _require(columns == estimator.n_features_in_, estimator, "knows rows of other columns")
    labels = getattr(estimator, "_y", None)
    if labels is not None:
        _require(len(labels) == rows, estimator, "knows labels of other rows")
        if np.ndim(labels) == 1 and hasattr(estimator, "classes_"):
            is_within = (labels >= 0) & (labels < len(estimator.classes_))
            _require(is_within, estimator, "knows labels of other classes")
    tree = getattr(estimator, "_tree", None)
    return [] if tree is None else _check_neighbour_tree(estimator, tree)


def _check_neighbour_tree(estimator: Any, tree: Any) -> list[Any]:
    data, order, nodes, bounds, _, levels, n_nodes, *_, metric, _ = tree.__getstate__()
    rows, columns = data.shape
    sound = columns == estimator.n_features_in_ and np.array_equal(np.sort(order), np.arange(rows))
    sound = sound and len(nodes) == n_nodes == 2**levels - 1 == bounds.shape[1] and bounds.shape[2] == columns
    _require(sound, estimator, "has a tree of other rows")
    start, end = nodes["idx_start"], nodes["idx_end"]
    _require((start >= 0) & (start <= end) & (end <= rows), estimator, "has a tree of other rows")
    _require(nodes["is_leaf"][n_nodes // 2 :] != 0, estimator, "has a tree without an end")
    _require(_has_valid_parameters(metric, columns), estimator, "measures other columns")
    return [tree]


def _has_valid_parameters(metric: Any, columns: int) -> bool:
    """Return whether a distance metric has as many parameters as it reads."""
    _, weights, matrix = metric.__getstate__()
    name = type(metric).__name__.removesuffix("Distance64")
    is_valid = {
        "Mahalanobis": matrix.shape == (columns, columns),
        "SEuclidean": len(weights) == columns,
        "Minkowski": len(weights) in (0, columns),
        "Haversine": columns == 2,
    }
    return is_valid.get(name, True)


def _check_support_vectors(model: Any) -> None:
    """Check a support vector machine: libsvm derives all sizes from the number of classes."""
    counts, coefficients = model._n_support, model._dual_coef_
    n_classes, n_vectors = len(counts), len(model.support_)
    pairs = n_classes * (n_classes - 1) // 2
    precomputed = model.kernel == "precomputed" or callable(model.kernel)
    classifies = model._impl in ("c_svc", "nu_svc")  # for others the counts are not initialised
    sound = n_classes >= 2 and (not classifies or (int(np.sum(counts)) == n_vectors and np.min(counts) >= 0))
    sound = sound and coefficients.shape == (n_classes - 1, n_vectors) and len(model._intercept_) >= pairs
    sound = sound and all(len(array) in (0, pairs) for array in (model._probA, model._probB))
    sound = sound and np.all((model.support_ >= 0) & (model.support_ < model.shape_fit_[0]))
    sound = sound and (precomputed or model.support_vectors_.shape == (n_vectors, model.n_features_in_))
    _require(sound, model, "has vectors of another model")


def _check_clusters(model: Any) -> None:
    columns = np.shape(model.cluster_centers_)[1:]
    _require(columns == (model.n_features_in_,), model, "has centers of other columns")


def _check_hashes(vectorizer: Any) -> None:
    _require(1 <= vectorizer.n_features < 2**31, vectorizer, "counts words in no columns")


def _check_workers(part: Any) -> None:
    n_workers = [getattr(part, name, None) or 1 for name in ("n_jobs", "_n_threads")]
    _require(np.abs(n_workers) <= _MAX_WORKERS, part, "wants more workers than there are")


def _check_vocabulary(vectorizer: Any) -> None:
    indices = sorted(vectorizer.vocabulary_.values()) if hasattr(vectorizer, "vocabulary_") else []
    sound = getattr(vectorizer, "input", "content") == "content" and indices == list(range(len(indices)))
    _require(sound, vectorizer, "reads files, or words that its vocabulary does not have")


def _check_indicators(encoder: Any) -> None:
    """Check a OneHotEncoder: each category has a column, except a dropped one."""
    merged = encoder._default_to_infrequent_mappings if encoder._infrequent_enabled else None
    dropped = encoder._drop_idx_after_grouping
    for i, (categories, width) in enumerate(zip(encoder.categories_, encoder._n_features_outs, strict=True)):
        codes = np.arange(len(categories)) if merged is None or merged[i] is None else merged[i]
        drop = None if dropped is None else dropped[i]
        last = int(np.max(codes))
        sound = len(codes) == len(categories) and np.min(codes) >= 0 and width == last + (drop is None)
        _require(sound and (drop is None or 0 <= drop <= last), encoder, "has columns of other categories")


# The attributes of an estimator select its checks. A check returns the compiled objects that it has checked.
# Gradient boosting comes last, because its check computes predictions.
_CHECKS: dict[str, Callable[[Any], list[Any] | None]] = {
    "tree_": _check_decision_tree,
    "_predictors": _check_histogram_trees,
    "_fit_X": _check_neighbours,
    "_dual_coef_": _check_support_vectors,
    "input": _check_vocabulary,
    "vocabulary_": _check_vocabulary,
    "_n_features_outs": _check_indicators,
    "cluster_centers_": _check_clusters,
    "n_features": _check_hashes,
    "n_jobs": _check_workers,
    "_n_threads": _check_workers,
    "init_": _check_boosted_trees,
}
