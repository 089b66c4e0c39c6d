"""What a model that was made of a file is checked for before it is asked: indices that lead outside of it.

scikit-learn's compiled code follows the numbers of a fitted model without a look: a tree whose child lies
behind its last node makes it read, or write, memory that is not its own. Checked are the parts that people
have and that a stranger could give such numbers; nothing is asked that an honest model does not fulfil.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

_MOST_WORKERS = 4096
_ATOMS = (str, bytes, int, float, complex, type(None), np.generic, type)
# modules of objects that compiled code walks through: each belongs to an estimator, which knows the columns
_COMPILED = (
    "sklearn.tree._tree",
    "sklearn.neighbors._kd_tree",
    "sklearn.neighbors._ball_tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor",
)
_BASES = ("sklearn.base", "sklearn.utils")


def check_sound(model: Any) -> None:
    """Raise ValueError if a part of the model has indices that lead outside of it, or reads files.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> check_sound(CountVectorizer().fit(["a fine film"]))
    >>> check_sound(CountVectorizer(vocabulary={"fine": 7}).set_params(input="filename"))
    Traceback (most recent call last):
    ...
    ValueError: its CountVectorizer reads files, or words that its vocabulary does not have
    """
    parts = list(_parts(model))
    estimators = [part for part in parts if _is_of_sklearn(part)]
    vouched: set[int] = set()
    with warnings.catch_warnings(action="ignore"):  # of rows that are made up, and have no names
        for attribute, check in _CHECKS.items():
            for part in estimators:
                if attribute in vars(part):
                    vouched.update(map(id, check(part) or ()))
    for part in parts:
        if type(part).__module__ in _COMPILED and id(part) not in vouched:
            raise ValueError(f"a {type(part).__name__} belongs to no estimator")
        if issparse(part) and hasattr(part, "check_format"):
            part.check_format(full_check=True)
        if isinstance(part, np.ndarray) and part.itemsize == 0 and part.size > 0:
            raise ValueError(f"an array has {part.size} items of no size")
        if isinstance(part, np.lib.npyio.NpzFile):
            raise ValueError("an archive stands in place of an array")


def _parts(model: Any) -> Iterator[Any]:
    """Yield the model and everything that it holds, once."""
    seen, waiting = dict[int, Any](), [model]
    while waiting:
        part = waiting.pop()
        if isinstance(part, _ATOMS) or id(part) in seen:
            continue
        seen[id(part)] = part  # kept, so that its id stays its own
        yield part
        waiting.extend(getattr(part, "__dict__", {}).values())
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple | set | frozenset):
            waiting.extend(part)
        elif isinstance(part, np.ndarray) and part.dtype.hasobject:
            waiting.extend(np.asarray(part).ravel().tolist())


def _is_of_sklearn(part: Any) -> bool:
    """Whether a part's attributes mean what they mean in scikit-learn; everybody builds on its bases."""
    modules = {kind.__module__ for kind in type(part).__mro__}
    own = any(name.startswith("sklearn.") and not name.startswith(_BASES) for name in modules)
    return own and hasattr(part, "__dict__")


def _require(sound: Any, part: Any, what: str) -> None:
    if not np.all(sound):
        raise ValueError(f"its {type(part).__name__} {what}")


def _leads_down(left: Any, right: Any, inner: Any) -> Any:
    """Whether each inner node has two children among the later nodes: then every path ends in a leaf."""
    here = np.flatnonzero(inner)
    children = np.stack([left[here], right[here]])
    return len(inner) > 0 and np.all((children > here) & (children < len(inner)))


def _decision_tree(estimator: Any) -> list[Any]:
    """Check an estimator with `tree_`; one of neighbours (a density) keeps its own under this name."""
    tree = estimator.tree_
    if not hasattr(tree, "node_count"):
        return _neighbour_tree(estimator, tree)
    _require(tree.node_count == tree.capacity, estimator, "has a tree of another size")
    inner = tree.children_left != -1
    down = _leads_down(tree.children_left, tree.children_right, inner)
    _require(down, estimator, "has a tree without an end")
    _check_features(estimator, tree.feature[inner], tree.n_features)
    return [tree]


def _check_features(estimator: Any, features: Any, n_features: int) -> None:
    within = (features >= 0) & (features < n_features)
    same = n_features == estimator.n_features_in_
    _require(same and np.all(within), estimator, "has a tree of other columns")


def _boosted_trees(model: Any) -> None:
    """Check gradient boosting: its trees are asked all at once, and write where the first guess ends."""
    if "estimators_" not in vars(model):
        return
    n_features = model.n_features_in_
    _require(np.ndim(model.estimators_) == 2, model, "has trees in disorder")
    for estimator in np.ravel(model.estimators_):
        _require(estimator.tree_.n_features == n_features, model, "has a tree of other columns")
    guess = model._raw_predict_init(np.zeros((1, n_features), dtype=np.float32))
    _require(guess.shape[1] == model.estimators_.shape[1], model, "has trees for other classes")


def _histogram_trees(model: Any) -> list[Any]:
    n_features, bins = model.n_features_in_, model._bin_mapper
    blank = np.full((1, n_features), np.nan, dtype=object)  # a row of words and numbers, none of them known
    before = getattr(model, "_preprocessor", None)
    width = n_features if before is None else before.transform(blank).shape[1]
    same = len(bins.n_bins_non_missing_) == len(bins.is_categorical_) == width == n_features
    _require(same, model, "has bins of other columns")
    trees = [tree for stage in model._predictors for tree in stage]
    for tree in trees:
        nodes, inner = tree.nodes, tree.nodes["is_leaf"] == 0
        _require(_leads_down(nodes["left"], nodes["right"], inner), model, "has a tree without an end")
        _check_features(model, nodes["feature_idx"][inner], n_features)
        chosen = nodes[inner & (nodes["is_categorical"] != 0)]
        for bits in (tree.raw_left_cat_bitsets, tree.binned_left_cat_bitsets):
            _require(chosen["bitset_idx"] < len(bits), model, "has a tree of other categories")
            _require(np.shape(bits)[1:] == (8,), model, "has a tree of other categories")
        known = bins.is_categorical_[chosen["feature_idx"]]
        _require(known != 0, model, "has a tree of other categories")
    return trees


def _neighbours(estimator: Any) -> list[Any]:
    """Check an estimator with `_fit_X`: its labels are counted at the place that they say."""
    rows, columns = estimator._fit_X.shape
    _require(columns == estimator.n_features_in_, estimator, "knows rows of other columns")
    labels = getattr(estimator, "_y", None)
    if labels is not None:
        _require(len(labels) == rows, estimator, "knows labels of other rows")
        if np.ndim(labels) == 1 and hasattr(estimator, "classes_"):
            within = (labels >= 0) & (labels < len(estimator.classes_))
            _require(within, estimator, "knows labels of other classes")
    tree = getattr(estimator, "_tree", None)
    return [] if tree is None else _neighbour_tree(estimator, tree)


def _neighbour_tree(estimator: Any, tree: Any) -> list[Any]:
    data, order, nodes, bounds, _, levels, n_nodes, *_, metric, _ = tree.__getstate__()
    rows, columns = data.shape
    sound = columns == estimator.n_features_in_ and np.array_equal(np.sort(order), np.arange(rows))
    sound = sound and len(nodes) == n_nodes == 2**levels - 1 == bounds.shape[1] and bounds.shape[2] == columns
    _require(sound, estimator, "has a tree of other rows")
    start, end = nodes["idx_start"], nodes["idx_end"]
    _require((start >= 0) & (start <= end) & (end <= rows), estimator, "has a tree of other rows")
    _require(nodes["is_leaf"][n_nodes // 2 :] != 0, estimator, "has a tree without an end")
    _require(_measures(metric, columns), estimator, "measures other columns")
    return [tree]


def _measures(metric: Any, columns: int) -> bool:
    """Whether a distance has as many numbers of its own as it will read."""
    _, weights, matrix = metric.__getstate__()
    name = type(metric).__name__.removesuffix("Distance64")
    needed = {
        "Mahalanobis": matrix.shape == (columns, columns),
        "SEuclidean": len(weights) == columns,
        "Minkowski": len(weights) in (0, columns),
        "Haversine": columns == 2,
    }
    return needed.get(name, True)


def _support_vectors(model: Any) -> None:
    """Check a machine of libsvm, which takes all sizes from the number of its classes."""
    counts, coefficients = model._n_support, model._dual_coef_
    n_classes, n_vectors = len(counts), len(model.support_)
    pairs = n_classes * (n_classes - 1) // 2
    precomputed = model.kernel == "precomputed" or callable(model.kernel)
    classifies = model._impl in ("c_svc", "nu_svc")  # others leave the counts as they found them
    sound = n_classes >= 2 and (not classifies or (int(np.sum(counts)) == n_vectors and np.min(counts) >= 0))
    sound = sound and coefficients.shape == (n_classes - 1, n_vectors) and len(model._intercept_) >= pairs
    sound = sound and all(len(given) in (0, pairs) for given in (model._probA, model._probB))
    sound = sound and np.all((model.support_ >= 0) & (model.support_ < model.shape_fit_[0]))
    sound = sound and (precomputed or model.support_vectors_.shape == (n_vectors, model.n_features_in_))
    _require(sound, model, "has vectors of another model")


def _clusters(model: Any) -> None:
    columns = np.shape(model.cluster_centers_)[1:]
    _require(columns == (model.n_features_in_,), model, "has centers of other columns")


def _hashes(vectorizer: Any) -> None:
    _require(1 <= vectorizer.n_features < 2**31, vectorizer, "counts words in no columns")


def _workers(part: Any) -> None:
    wanted = [getattr(part, name, None) or 1 for name in ("n_jobs", "_n_threads")]
    _require(np.abs(wanted) <= _MOST_WORKERS, part, "wants more workers than there are")


def _vocabulary(vectorizer: Any) -> None:
    places = sorted(vectorizer.vocabulary_.values()) if hasattr(vectorizer, "vocabulary_") else []
    sound = getattr(vectorizer, "input", "content") == "content" and places == list(range(len(places)))
    _require(sound, vectorizer, "reads files, or words that its vocabulary does not have")


def _indicators(encoder: Any) -> None:
    """Check a OneHotEncoder: every category has a column, less the one that is dropped."""
    merged = encoder._default_to_infrequent_mappings if encoder._infrequent_enabled else None
    dropped = encoder._drop_idx_after_grouping
    for i, (known, width) in enumerate(zip(encoder.categories_, encoder._n_features_outs, strict=True)):
        codes = np.arange(len(known)) if merged is None or merged[i] is None else merged[i]
        drop = None if dropped is None else dropped[i]
        last = int(np.max(codes))
        sound = len(codes) == len(known) and np.min(codes) >= 0 and width == last + (drop is None)
        _require(sound and (drop is None or 0 <= drop <= last), encoder, "has columns of other categories")


# What an estimator has decides what is checked. A check of compiled objects returns them, for it vouches for
# them. Gradient boosting comes last: it is asked for a first guess.
_CHECKS: dict[str, Callable[[Any], list[Any] | None]] = {
    "tree_": _decision_tree,
    "_predictors": _histogram_trees,
    "_fit_X": _neighbours,
    "_dual_coef_": _support_vectors,
    "input": _vocabulary,
    "vocabulary_": _vocabulary,
    "_n_features_outs": _indicators,
    "cluster_centers_": _clusters,
    "n_features": _hashes,
    "n_jobs": _workers,
    "_n_threads": _workers,
    "init_": _boosted_trees,
}
