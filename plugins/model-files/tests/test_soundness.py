"""Fitted models whose numbers lead outside of them are refused before compiled code follows these numbers."""

import copy
import pickle
from functools import cache

import numpy as np
import pytest
from faithkit_model_files.soundness import check_sound
from looping import one_test
from model_files.honest_models import honest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier

from faithkit import load_model
from faithkit.errors import InputError


def copy_state(part):
    return pickle.loads(pickle.dumps(part.__getstate__()))  # with arrays of its own


def change_tree(tree, **change):
    """Return a tree of scikit-learn with other nodes: {field: (node, value)}, or another count of them."""
    state = copy_state(tree)
    for field, value in change.items():
        if field in state:
            state[field] = value
        else:
            state["nodes"][field][value[0]] = value[1]
    again = type(tree)(tree.n_features, tree.n_classes, tree.n_outputs)
    again.__setstate__(state)
    return again


def with_tree(**change):
    def forge(model):
        model.tree_ = change_tree(model.tree_, **change)

    return forge


def with_metric(**change):
    def forge(model):
        state = list(copy_state(model._tree))
        metric = list(state[11].__getstate__())
        for place, value in change.items():
            metric[{"vec": 1, "mat": 2}[place]] = value
        state[11].__setstate__(tuple(metric))
        model._tree.__setstate__(tuple(state))

    return forge


def with_neighbours(place, value):
    """Change one part of the state of a model's tree: an item of an array (field, node, value), or all of it."""

    def forge(model):
        state = list(copy_state(model._tree))
        if isinstance(value, tuple):
            field, at, item = value
            (state[place][field] if field else state[place])[at] = item
        else:
            state[place] = value
        model._tree.__setstate__(tuple(state))

    return forge


def with_nodes(field, at, value):
    def forge(model):
        model._predictors[0][0].nodes[field][at] = value

    return forge


def with_attribute(name, change):
    def forge(model):
        setattr(model, name, change(getattr(model, name)))

    return forge


def with_step(name, change):
    def forge(model):
        encoder = next(part for part in every_part(model) if name in vars(part))
        setattr(encoder, name, change(getattr(encoder, name)))

    return forge


def every_part(model):
    if isinstance(model, Pipeline):
        for step in model.named_steps.values():
            yield from every_part(step)
    elif hasattr(model, "named_transformers_"):
        for part in model.named_transformers_.values():
            yield from every_part(part)
    else:
        yield model


def with_boosted_tree(**change):
    def forge(model):
        first = model.estimators_[0, 0]
        first.tree_ = change_tree(first.tree_, **change)

    return forge


def with_narrow_tree(model):
    first = model.estimators_[0, 0]
    narrow = type(first.tree_)(2, first.tree_.n_classes, 1)
    state = copy_state(first.tree_)
    state["nodes"]["feature"] = 0
    narrow.__setstate__(state)
    first.tree_, first.n_features_in_ = narrow, 2


def as_a_step(model):
    model.steps = [*model.steps[:-1], ("model", honest("numbers", "tree")[0].tree_)]


TREE, BALL, SVM, HIST = "tree", "neighbours by euclidean", "SVM", "histogram boosting"
ENDLESS, COLUMNS = "tree without an end", "other columns"
# the honest model, what is done to it, and a word of the refusal
CASES = {
    "a child behind the last node": (TREE, with_tree(left_child=(0, 10**9)), ENDLESS),
    "a child before the first node": (TREE, with_tree(right_child=(0, -5)), ENDLESS),
    "a node that is its own child": (TREE, with_tree(left_child=(0, 0)), ENDLESS),
    "a feature that X does not have": (TREE, with_tree(feature=(0, 10**9)), COLUMNS),
    "a feature before the first": (TREE, with_tree(feature=(0, -9)), COLUMNS),
    "fewer nodes than there are": (TREE, with_tree(node_count=1), "another size"),
    "less nodes than none": (TREE, with_tree(node_count=-1), "another size"),
    "a tree of more features than its model": (
        TREE,
        with_attribute("n_features_in_", lambda n: n - 1),
        COLUMNS,
    ),
    "a tree among others": ("gradient boosting", with_boosted_tree(feature=(0, 99)), COLUMNS),
    "a tree of fewer features among others": ("gradient boosting", with_narrow_tree, COLUMNS),
    "trees for more classes than there are": (
        "gradient boosting",
        with_attribute("estimators_", lambda trees: np.repeat(trees, 3, axis=1)),
        "other classes",
    ),
    "trees that are no table": ("gradient boosting", with_attribute("estimators_", np.ravel), "disorder"),
    "a tree in a place of its own": ("components", as_a_step, "belongs to no estimator"),
    "a histogram's child behind the last": (HIST, with_nodes("left", 0, 10**6), ENDLESS),
    "a histogram's child that leads back": (HIST, with_nodes("right", 0, 0), ENDLESS),
    "a histogram's feature": (HIST, with_nodes("feature_idx", 0, 4), COLUMNS),
    "a histogram's category": (HIST, with_nodes("is_categorical", 0, 1), "other categories"),
    "a histogram's bins": (HIST, with_attribute("n_features_in_", lambda n: n - 1), COLUMNS),
    "neighbours of other rows": (BALL, with_neighbours(1, (None, 0, 10**6)), "other rows"),
    "a row that comes twice": (BALL, with_neighbours(1, (None, 0, 1)), "other rows"),
    "a node that begins behind the rows": (BALL, with_neighbours(2, ("idx_start", 0, 10**6)), "other rows"),
    "a node that ends behind the rows": (BALL, with_neighbours(2, ("idx_end", 0, 10**6)), "other rows"),
    "a leaf that is none": (BALL, with_neighbours(2, ("is_leaf", -1, 0)), ENDLESS),
    "more levels than there are": (BALL, with_neighbours(5, 20), "other rows"),
    "more nodes than there are": (BALL, with_neighbours(6, 10**6), "other rows"),
    "neighbours of more columns": (BALL, with_attribute("n_features_in_", lambda n: n - 1), COLUMNS),
    "labels of other classes": (BALL, with_attribute("_y", lambda y: y + 10**6), "other classes"),
    "labels before the first class": (BALL, with_attribute("_y", lambda y: y - 1), "other classes"),
    "labels of fewer rows": (BALL, with_attribute("_y", lambda y: y[:3]), "labels of other rows"),
    "a distance with a small matrix": (
        "neighbours by Mahalanobis",
        with_metric(mat=np.eye(2)),
        "measures other columns",
    ),
    "a distance with few weights": ("neighbours by variance", with_metric(vec=np.ones(2)), "measures other"),
    "a distance with some weights": (
        "neighbours by Minkowski",
        with_metric(vec=np.ones(2)),
        "measures other",
    ),
    "support by vectors that are not there": (
        SVM,
        with_attribute("_n_support", lambda n: n + 10**6),
        "vectors",
    ),
    "support that is less than none": (SVM, with_attribute("_n_support", lambda n: n * [-1, 0]), "vectors"),
    "fewer coefficients": (SVM, with_attribute("_dual_coef_", lambda c: c[:, :2].copy()), "vectors"),
    "narrow vectors": (SVM, with_attribute("support_vectors_", lambda v: v[:, :2].copy()), "vectors"),
    "fewer vectors": (SVM, with_attribute("support_vectors_", lambda v: v[:2].copy()), "vectors"),
    "no intercept": (SVM, with_attribute("_intercept_", lambda i: i[:0]), "vectors"),
    "a few probabilities": (SVM, with_attribute("_probA", lambda p: np.ones(7)), "vectors"),
    "no vectors": (SVM, with_attribute("support_vectors_", lambda v: np.empty((0, 0))), "vectors"),
    "narrow clusters": ("clusters", with_attribute("cluster_centers_", lambda c: c[:, :2]), "other columns"),
    "threads without an end": ("clusters", with_attribute("_n_threads", lambda n: 10**9), "more workers"),
    "workers without an end": (BALL, with_attribute("n_jobs", lambda n: 10**9), "more workers"),
    "workers less than none": ("forest", with_attribute("n_jobs", lambda n: -(10**9)), "more workers"),
    "a place behind the rows": (SVM, with_attribute("support_", lambda s: s + 10**6), "vectors"),
}
ON_TABLES = {
    "categories without a column": (
        "columns",
        with_step("_n_features_outs", lambda widths: [width - 1 for width in widths]),
        "other categories",
    ),
    "rare categories far away": (
        "rare merged",
        with_step("_default_to_infrequent_mappings", lambda maps: [maps[0] + 10**6]),
        "other categories",
    ),
    "a dropped category far away": (
        "first dropped",
        with_step("_drop_idx_after_grouping", lambda drops: np.array([10**6], dtype=object)),
        "other categories",
    ),
}


@cache
def fit_sound_model(kind, name):
    model = honest(kind, name)[0]
    check_sound(model)
    return model


@one_test
@pytest.mark.parametrize("case", CASES | ON_TABLES)
def test_a_number_that_leads_outside_is_found(case):
    name, forge, message = (CASES | ON_TABLES)[case]
    model = copy.deepcopy(fit_sound_model("table" if case in ON_TABLES else "numbers", name))
    forge(model)
    with pytest.raises(ValueError, match=message):
        check_sound(model)


@one_test
@pytest.mark.parametrize(
    ("vectorizer", "message"),
    [
        (CountVectorizer(vocabulary={"fine": 7}), "vocabulary"),
        (CountVectorizer(vocabulary={"fine": 0, "film": 0}), "vocabulary"),
        (CountVectorizer(vocabulary={"fine": -1}), "vocabulary"),
        (CountVectorizer(input="filename"), "reads files"),
        (CountVectorizer(input="file"), "reads files"),
        (HashingVectorizer(n_features=0), "no columns"),
        (HashingVectorizer(n_features=-1), "no columns"),
    ],
)
def test_a_vectorizer_counts_words_that_it_has_in_texts_that_it_was_given(vectorizer, message):
    vectorizer.vocabulary_ = getattr(vectorizer, "vocabulary", None) or {}
    with pytest.raises(ValueError, match=message):
        check_sound(make_pipeline(vectorizer, fit_sound_model("numbers", "logistic")))


def test_a_density_keeps_its_neighbours_elsewhere():
    model = KernelDensity().fit(np.arange(40.0).reshape(-1, 2))
    check_sound(model)
    model.n_features_in_ = 3
    with pytest.raises(ValueError, match="other rows"):
        check_sound(model)


def test_a_sparse_matrix_has_its_indices_inside():
    model = honest("numbers", "logistic")[0]
    inside = sparse.csr_matrix(np.eye(3))
    outside = inside.copy()
    outside.indices[1] = 10**6
    check_sound([model, {"a": inside}])
    with pytest.raises(ValueError, match="ind"):
        check_sound([model, {"a": outside}])


class Counting(BaseEstimator):
    """An estimator of one's own, whose attributes mean something else than scikit-learn's."""

    def __init__(self):
        self.input, self.n_features, self.n_jobs, self.tree_, self.vocabulary_ = (
            "file",
            0,
            10**9,
            None,
            {"a": 5},
        )


class Grown(DecisionTreeClassifier):
    """A tree of one's own, which is one of scikit-learn's in all that counts."""


def test_attributes_of_other_estimators_mean_what_they_mean_there():
    check_sound(make_pipeline(Counting(), honest("numbers", "logistic")[0]))
    X, y = honest("numbers", "tree")[1], np.arange(60) % 2
    model = Grown().fit(X, y)
    check_sound(model)
    model.tree_ = change_tree(model.tree_, left_child=(0, 10**9))
    with pytest.raises(ValueError, match=ENDLESS):
        check_sound(model)


def test_a_part_that_holds_itself_is_looked_at_once():
    model = honest("numbers", "logistic")[0]
    model.itself = [model]
    check_sound(model)


@one_test
@pytest.mark.parametrize("name", ["logistic", "forest", "gradient boosting", "histogram boosting", "SVM"])
def test_honest_models_of_three_classes_are_sound(name):
    check_sound(honest("three classes", name)[0])


def test_a_file_with_such_a_tree_is_refused_in_one_line(tmp_path):
    model = honest("numbers", "tree")[0]
    model.tree_ = change_tree(model.tree_, left_child=(0, 10**9))
    pytest.importorskip("skops.io").dump(model, tmp_path / "model.skops")
    with pytest.raises(
        InputError, match=r"model\.skops failed with ValueError: its DecisionTreeClassifier has a tree"
    ):
        load_model(tmp_path / "model.skops")
