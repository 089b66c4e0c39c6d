"""SHAP values: what every algorithm promises, and what the explainer does where one of them fails."""

import functools
import warnings

import numpy as np
import pandas as pd
import pytest
from faithkit_feature_importance.shap_values import trees
from faithkit_feature_importance.shap_values.explained_output import Output
from faithkit_feature_importance.shap_values.trees import TreeShap
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import one_test
from scipy.sparse import csr_array
from shapley_values import shapley_values
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import faithkit

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 4)).round(1)
GAPS = np.where(rng.random(X.shape) < 0.1, np.nan, X)
TWO = (X[:, 0] + X[:, 1] * X[:, 2] > 0.3).astype(int)
THREE = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.5])


def make_xgboost():
    return pytest.importorskip("xgboost").XGBClassifier(n_estimators=4, max_depth=3, n_jobs=1)


def make_lightgbm(**params):
    small = {"n_estimators": 4, "num_leaves": 6, "n_jobs": 1, "verbose": -1}
    return pytest.importorskip("lightgbm").LGBMClassifier(**small | params)


def make_shap(**params):
    return faithkit.plugin.registry().create("explainer", "shap", {"background": "sample:20", **params})


def explain(model, table, rows, **params):
    """Fit on a table and explain rows, with the seeds that the kernel gives them."""
    fitted = make_shap(**params).fit(faithkit.Predictor(model), table)
    return fitted.explain(rows, faithkit.plugin.row_seeds(rows, 0))


def split_classes(explanations):
    """Return values (rows, columns, classes) of target=all."""
    classes = len(explanations.shared["base_value"])
    return explanations.values.reshape(len(explanations), classes, -1).transpose(0, 2, 1)


def compute_margins(model, rows):
    """What a model adds up, two classes as −d and d; forests add up probabilities."""
    name = type(model).__name__
    if name == "XGBClassifier":
        scores = model.predict(rows, output_margin=True)
    elif name == "LGBMClassifier":
        scores = model.predict(rows, raw_score=True)
    elif hasattr(model, "decision_function"):
        scores = model.decision_function(rows)
    else:
        scores = model.predict_proba(rows)
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores


MODELS = {
    "boosting": lambda: GradientBoostingClassifier(n_estimators=3),
    "histogram boosting": lambda: HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=6),
    "forest": lambda: RandomForestClassifier(3, random_state=0),
    "tree": lambda: DecisionTreeClassifier(max_depth=4),
    "xgboost": make_xgboost,
    "lightgbm": make_lightgbm,
    "logistic": LogisticRegression,
    "ridge": RidgeClassifier,
    "bayes": GaussianNB,
}
WITH_GAPS = {"histogram boosting", "forest", "tree", "xgboost", "lightgbm"}


@functools.cache
def fit_model(name, classes, with_gaps=False):
    """Fit each model once."""
    return MODELS[name]().fit(GAPS if with_gaps else X, TWO if classes == 2 else THREE)


@one_test
@pytest.mark.parametrize(
    ("name", "classes", "output"),
    [
        *(("boosting", 3, "raw"), ("histogram boosting", 2, "probability"), ("forest", 3, "probability")),
        *(("tree", 2, "raw"), ("xgboost", 2, "probability"), ("lightgbm", 3, "raw")),
        *(("logistic", 2, "raw"), ("logistic", 3, "probability")),
    ],
)
def test_values_and_base_value_add_up_to_the_model(name, classes, output):
    table = GAPS if name in WITH_GAPS else X
    model = fit_model(name, classes, name in WITH_GAPS)
    rows = table[:4]
    explanations = explain(model, table, rows, output=output, target="all")
    total = split_classes(explanations).sum(axis=1) + explanations.shared["base_value"]
    expected = model.predict_proba(rows) if output == "probability" else compute_margins(model, rows)
    assert total == pytest.approx(expected, abs=1e-4 if name == "xgboost" else 1e-6)


@one_test
@pytest.mark.parametrize(
    ("name", "classes", "output", "algorithm"),
    [
        ("boosting", 2, "raw", "leaves"),
        ("boosting", 3, "raw", "leaves"),
        ("histogram boosting", 3, "raw", "leaves"),
        ("forest", 3, "probability", "leaves"),
        ("lightgbm", 2, "raw", "leaves"),
        ("xgboost", 3, "raw", "leaves"),
        ("ridge", 3, "raw", "linear"),
        ("logistic", 2, "raw", "linear"),
        ("boosting", 3, "probability", "kernel"),
        ("logistic", 3, "probability", "kernel"),
        ("bayes", 2, "probability", "kernel"),
    ],
)
def test_auto_gives_the_values_of_the_definition(name, classes, output, algorithm):
    model, reference = fit_model(name, classes), X[:8]
    explanations = explain(model, reference, X[100:102], output=output, target="all", background="rows")
    assert explanations.shared["algorithm"] == algorithm

    def score(rows):
        return (
            model.predict_proba(rows) if output == "probability" else compute_margins(model, np.array(rows))
        )

    expected = [shapley_values(score, row, reference) for row in X[100:102]]
    assert split_classes(explanations) == pytest.approx(
        np.array(expected), abs=1e-5 if name == "xgboost" else 1e-6
    )


class Scored:
    """A classifier of two classes whose probability is a given function of the row."""

    classes_ = np.array([0, 1])

    def __init__(self, probability):
        self.probability = probability

    def predict_proba(self, X):
        p = self.probability(np.asarray(X, dtype=float))
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def test_permutations_are_exact_where_two_columns_interact_and_close_where_four_do():
    reference, rows = X[:10], X[100:103]
    pair = Scored(lambda Z: 0.5 + 0.02 * Z[:, 0] * Z[:, 1] + 0.03 * Z[:, 2] * Z[:, 3] + 0.01 * Z[:, 1] ** 2)
    values = explain(pair, reference, rows, algorithm="permutation", background="rows").values
    expected = [shapley_values(pair.predict_proba, row, reference)[:, 1] for row in rows]
    assert values == pytest.approx(np.array(expected), abs=1e-9)
    four = Scored(lambda Z: 1 / (1 + np.exp(-Z.prod(axis=1))))
    values = explain(four, reference, rows, algorithm="permutation", background="rows").values
    expected = [shapley_values(four.predict_proba, row, reference)[:, 1] for row in rows]
    assert values == pytest.approx(np.array(expected), abs=0.05)
    assert values != pytest.approx(np.array(expected), abs=1e-9)


@st.composite
def tables(draw):
    seed, classes = draw(st.integers(0, 2**32 - 1)), draw(st.sampled_from([2, 3]))
    random = np.random.default_rng(seed)
    table = np.unique(random.integers(0, 4, (60, 3)), axis=0).astype(float)
    labels = random.integers(0, classes, len(table))
    labels[:classes] = np.arange(classes)
    kind = draw(st.sampled_from([DecisionTreeClassifier, RandomForestClassifier, GradientBoostingClassifier]))
    few = {} if kind is DecisionTreeClassifier else {"n_estimators": 2}
    return kind(max_depth=2, random_state=0, **few).fit(table, labels), table


@given(tables(), st.sampled_from(["rows", "median"]))
@settings(max_examples=6)
def test_equal_values_with_their_base_values_mean_equal_labels(drawn, background):
    """The paper's theorem, for one fixed class of two and for all classes side by side."""
    model, table = drawn
    target = "all" if len(model.classes_) > 2 else "positive"
    explanations = explain(model, table, table, target=target, background=background, offset=True)
    labels: dict = {}
    for vector, label in zip(explanations.values, model.predict(table), strict=True):
        labels.setdefault(vector.tobytes(), set()).add(label)
    assert len(labels) < len(table)  # some rows do share an explanation
    assert all(len(group) == 1 for group in labels.values())


def test_equal_values_of_the_predicted_class_may_belong_to_two_labels():
    """The theorem's limit: both leaves give φ = 0.5 and base value 0.5 to the class that they predict."""
    rows = np.array([[0.0], [1.0]])
    model = DecisionTreeClassifier().fit(rows, [0, 1])
    explanations = explain(model, rows, rows, target="predicted", offset=True)
    assert np.allclose(explanations.values, 0.5)
    assert model.predict(rows).tolist() == [0, 1]
    assert faithkit.score(model.predict(rows), explanations.values.round(9)).consistency.value == 0
    explanations = explain(model, rows, rows, target="positive", offset=True)
    assert np.allclose(explanations.values, [[-0.5, 0.5], [0.5, 0.5]])


def test_the_target_is_positive_for_two_classes_and_predicted_for_more():
    two, three = (fit_model("tree", classes) for classes in (2, 3))
    every = split_classes(explain(two, X, X[:9], target="all"))
    assert explain(two, X, X[:9]).values.tolist() == every[:, :, 1].tolist()
    every = split_classes(explain(three, X, X[:9], target="all"))
    explanations = explain(three, X, X[:9])
    assert explanations.values.tolist() == every[np.arange(9), :, three.predict(X[:9])].tolist()
    assert explanations.shared["target"] == "predicted"


def test_offsets_stand_behind_the_values_and_are_counted():
    model = fit_model("forest", 3)
    explanations = explain(model, X, X[:2], target="all", offset=True, background="rows")
    base = model.predict_proba(X).mean(axis=0)
    assert explanations.shared["base_value"] == pytest.approx(base)
    assert explanations.values[:, -3:] == pytest.approx(np.tile(base, (2, 1)))
    assert explanations.shared["offsets"] == 3
    assert explanations.shared["names"][:5] == ["0: x0", "0: x1", "0: x2", "0: x3", "1: x0"]
    assert explanations.shared["names"][-3:] == ["0: offset", "1: offset", "2: offset"]
    assert explain(model, X, X[:2]).shared["offsets"] == 0


# Rows, seeds and order


@one_test
@pytest.mark.parametrize(
    ("background", "algorithm"),
    [("median", "tree"), ("kmeans:5", "tree"), ("sample:20", "kernel")],
)
def test_the_order_of_the_background_does_not_matter(background, algorithm):
    model, table = fit_model("boosting", 2), np.concatenate([X[:40], X[:20]])
    straight, turned = (
        explain(model, part, X[:3], background=background, algorithm=algorithm)
        for part in (table, table[::-1])
    )
    assert straight.values.tolist() == turned.values.tolist()
    assert straight.shared == turned.shared


def test_auto_estimates_by_permutations_where_columns_are_many():
    wide = np.random.default_rng(3).normal(size=(40, 10))
    model = GaussianNB().fit(wide, wide[:, 0] > 0)
    assert explain(model, wide, wide[:1], background="median").shared["algorithm"] == "permutation"
    model = GaussianNB().fit(wide[:, :9], wide[:, 0] > 0)
    explanations = explain(model, wide[:, :9], wide[:1, :9], background="median")
    assert explanations.shared["algorithm"] == "kernel"


# Precision


def test_a_value_at_a_threshold_falls_to_the_models_side():
    """scikit-learn compares float32 with a float64 threshold; TreeSHAP keeps thresholds as float32."""
    steps = np.arange(32)
    table = np.column_stack([102.75 + steps * 2.0**-19, steps % 3])  # four cells for each number of float32
    single = table[:, 0].astype(np.float32)
    model = GradientBoostingClassifier(n_estimators=2, max_depth=4).fit(
        table, np.unique(single, return_inverse=True)[1] % 2
    )
    thresholds = np.concatenate([tree.tree_.threshold for tree in model.estimators_[:, 0]])
    sides = [
        table[:, :1] <= thresholds,
        single[:, None] <= thresholds,
        single[:, None] <= thresholds.astype(np.float32),
    ]
    assert (sides[0] != sides[1]).any()
    assert (sides[2] != sides[1]).any()
    explanations = explain(model, table, table, algorithm="tree", output="probability")
    total = explanations.values.sum(axis=1) + explanations.shared["base_value"][1]
    assert total == pytest.approx(model.predict_proba(table)[:, 1], abs=1e-6)


@one_test
@pytest.mark.parametrize("algorithm", ["kernel", "permutation"])
def test_cells_that_are_nearly_equal_are_not_equal(algorithm):
    """shap takes them for equal up to five digits, and leaves the column without importance."""
    table = np.column_stack([1e9 + np.arange(10.0), 1e-9 * np.arange(10.0)])
    model = Scored(lambda Z: 0.04 * (Z[:, 0] - 1e9) + 0.02 * (Z[:, 1] * 1e9))
    values = explain(model, table, table[-1:], algorithm=algorithm, background="rows").values
    assert values == pytest.approx(np.array([[0.04 * 4.5, 0.02 * 4.5]]), abs=1e-6)


@one_test
@pytest.mark.parametrize("visits", [1, 700])
def test_trees_are_asked_about_a_few_rows_at_a_time_to_the_same_bits(monkeypatch, visits):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    model = GradientBoostingClassifier(n_estimators=7).fit(X, X[:, 0] + X[:, 1] > 0)
    whole = TreeShap(model, "raw", X[:10]).values(X)
    monkeypatch.setattr(trees, "MAX_VISITS", visits)
    assert (TreeShap(model, "raw", X[:10]).values(X) == whole).all()


def test_a_constant_column_has_no_importance():
    table = np.column_stack([X[:, 0], np.full(200, 7.0)])
    for model in (DecisionTreeClassifier(max_depth=2), GaussianNB(var_smoothing=1e-3)):
        values = explain(model.fit(table, TWO), table, table[:20]).values
        assert (values[:, 1] == 0).all()
        assert (values[:, 0] != 0).any()


# Where an algorithm reads the model wrongly


class Softened(DecisionTreeClassifier):
    """A tree whose probabilities are not those of its leaves."""

    def predict_proba(self, X):
        return (super().predict_proba(X) + 1) / 3


def test_auto_asks_the_model_where_trees_are_read_wrongly_and_says_so():
    model = Softened(max_depth=3).fit(X, TWO)
    with pytest.warns(
        faithkit.errors.FaithkitWarning, match=r"TreeSHAP misses .* on the background, so Kernel SHAP"
    ):
        explanations = explain(model, X[:15], X[100:103], background="rows")
    assert explanations.shared["algorithm"] == "kernel"
    expected = [shapley_values(model.predict_proba, row, X[:15])[:, 1] for row in X[100:103]]
    assert explanations.values == pytest.approx(np.array(expected), abs=1e-9)


def test_a_warning_says_that_fewer_reference_rows_are_faster():
    model = Softened(max_depth=3).fit(X, TWO)
    with pytest.warns(
        faithkit.errors.FaithkitWarning, match=r"takes longer\. background=sample:20 is faster"
    ):
        make_shap(background="sample:21").fit(faithkit.Predictor(model), X)
    with pytest.warns(faithkit.errors.FaithkitWarning, match=r"takes longer\.$"):
        make_shap(background="sample:20").fit(faithkit.Predictor(model), X)


def test_a_named_algorithm_never_returns_values_that_do_not_add_up():
    model = Softened(max_depth=3).fit(X, TWO)
    with pytest.raises(
        faithkit.errors.InputError, match=r"TreeSHAP misses .* would be wrong. Use algorithm=auto"
    ):
        explain(model, X, X, algorithm="tree")


def test_sums_may_miss_scores_in_single_precision_by_more_than_in_double():
    class Single(LogisticRegression):
        def predict_proba(self, X):
            return super().predict_proba(X).astype(np.float32)

    models = [faithkit.Predictor(kind().fit(X, TWO)) for kind in (LogisticRegression, Single)]
    assert [Output.choose("probability", model, X).tolerance for model in models] == [1e-6, 1e-4]


def test_a_single_row_that_is_read_wrongly_is_explained_by_asking(monkeypatch):
    """LightGBM without missing values in training takes NaN for 0; shap's reader sends it to one side."""
    import faithkit_feature_importance.shap_values.explainer as module

    for algorithm in ("auto", "tree"):
        monkeypatch.setitem(module.MODEL_READERS, algorithm, (module.TreeShap,))
    model = make_lightgbm(n_estimators=10, num_leaves=31, min_child_samples=5).fit(X, TWO)
    rows = X[:12].copy()
    rows[[2, 5], 0] = np.nan
    rows[7, 1] = np.nan
    fitted = make_shap(target="all", output="probability").fit(faithkit.Predictor(model), X)
    seeds = faithkit.plugin.row_seeds(rows, 0)
    with pytest.warns(faithkit.errors.FaithkitWarning, match="TreeSHAP misses .* on some rows"):
        explanations = fitted.explain(rows, seeds)
    total = split_classes(explanations).sum(axis=1) + explanations.shared["base_value"]
    assert total == pytest.approx(model.predict_proba(rows), abs=1e-6)
    healthy = [0, 1, 3, 4, 6, 8]
    assert (
        fitted.explain(rows[healthy], seeds[healthy]).values.tolist() == explanations.values[healthy].tolist()
    )
    kernel_values = explain(model, X, rows, algorithm="kernel", target="all").values
    same = (explanations.values == kernel_values).all(axis=1)
    assert same[2]
    assert not same[healthy].any()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", faithkit.errors.FaithkitWarning)
        alone = [fitted.explain(rows[i : i + 1], seeds[i : i + 1]) for i in range(12)]
    assert [single.values[0].tolist() for single in alone] == explanations.values.tolist()
    assert all(single.shared == explanations.shared for single in alone)
    with pytest.raises(faithkit.errors.InputError, match="on some rows: its values would be wrong"):
        explain(model, X, rows, algorithm="tree")


@one_test
@pytest.mark.parametrize("name", ["boosting", "histogram boosting"])
def test_probabilities_of_three_classes_of_boosted_trees_are_asked_for_with_a_faster_way(name):
    model = fit_model(name, 3)
    with pytest.warns(faithkit.errors.FaithkitWarning, match="output=raw is exact and fast"):
        explanations = explain(model, X, X[:2], background="sample:5", output="probability")
    assert explanations.shared["algorithm"] == "kernel"
    with pytest.raises(faithkit.errors.InputError, match=r"cannot read .* as trees .* algorithm=auto"):
        explain(model, X, X[:2], algorithm="tree", output="probability")


def test_trees_with_more_nodes_than_shap_can_count_are_not_read(monkeypatch):
    import faithkit_feature_importance.shap_values.trees as module

    model = DecisionTreeClassifier(max_depth=3).fit(X, TWO)
    monkeypatch.setattr(module, "MAX_NODES", model.tree_.node_count - 1)
    with pytest.raises(faithkit.errors.InputError, match="a tree has more than"):
        TreeShap(model, "raw", X)


# Tables with words and missing values


def make_jobs(n=80, seed=0):
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": random.normal(40, 10, n).round(),
            "job": pd.Series(random.choice(["clerk", "smith", "cook"], n), dtype="str"),
            "member": random.random(n) < 0.5,
            "children": random.integers(0, 4, n),
        }
    )
    table.loc[random.random(n) < 0.15, "age"] = np.nan
    table.loc[random.random(n) < 0.15, "job"] = None
    return table


class Watchful:
    """A classifier that knows the job of every row it was asked about."""

    classes_ = np.array(["no", "yes"])

    def __init__(self):
        self.seen_jobs = set()

    def predict_proba(self, X):
        column = X["job"] if isinstance(X, pd.DataFrame) else pd.Series(X[:, 1])
        self.seen_jobs |= set(column.dropna())
        p = np.where(column == "zebra", 0.9, 0.3)
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@one_test
@pytest.mark.parametrize(
    ("container", "algorithm"),
    [
        *(("frame", "kernel"), ("categories", "permutation")),
        *(("objects", "kernel"), ("other order", "permutation")),
    ],
)
def test_a_category_that_the_background_lacks_reaches_the_model_as_it_is(container, algorithm):
    table, rows = make_jobs()[["age", "job"]], pd.DataFrame({"age": [30.0, 40.0], "job": ["zebra", "clerk"]})
    if container == "categories":
        kind = pd.CategoricalDtype(["clerk", "cook", "smith", "zebra"])
        table, rows = (part.astype({"job": kind}) for part in (table, rows))
    if container == "objects":
        table, rows = table.to_numpy(object), rows.to_numpy(object)
    if container == "other order":
        rows = rows[["job", "age"]]
    model = Watchful()
    values = explain(model, table, rows, algorithm=algorithm).values
    assert values == pytest.approx(np.array([[0.0, 0.6], [0.0, 0.0]]), abs=1e-9)
    assert model.seen_jobs == {"clerk", "cook", "smith", "zebra"}


# The reference rows


def pick_reference_rows(text, codes, categorical=()):
    from faithkit_feature_importance.shap_values.reference_rows import Reference

    return Reference.parse(text).rows(np.array(codes, dtype=float), categorical)


def test_the_median_row_has_middle_numbers_and_the_most_frequent_category():
    codes = [[1, 0, np.nan], [2, 3, np.nan], [4, 3, np.nan], [np.nan, 1, np.nan], [50, 3, np.nan]]
    # the middle code would be 3 by luck
    assert pick_reference_rows("median", codes, [1])[0].tolist()[:2] == [2, 3]
    # the lower of two as frequent
    assert pick_reference_rows("median", [[0], [0], [2], [2], [1]], [0]).tolist() == [[0]]
    assert np.isnan(pick_reference_rows("median", codes, [1])[0, 2])
    assert pick_reference_rows("median", [[1], [1], [5], [9]], [0]).tolist() == [[1]]


def test_centres_are_real_rows_and_every_cluster_has_one():
    random = np.random.default_rng(0)
    codes = np.column_stack([random.normal(size=90), np.repeat([0, 1, 2], 30), random.normal(size=90)])
    codes[:30, 0] += 100
    codes[::7, 2] = np.nan
    result = pick_reference_rows("kmeans:3", codes, [1])
    every = {tuple(np.nan_to_num(row, nan=-9)) for row in codes}
    assert all(tuple(np.nan_to_num(row, nan=-9)) in every for row in result)
    assert sorted(result[:, 1]) == [0, 1, 2]
    assert len(pick_reference_rows("kmeans:5", np.repeat([[1.0], [2.0]], 9, axis=0))) == 2
    assert len(pick_reference_rows("kmeans:5", [[1.0], [2.0]])) == 2


def test_a_sample_has_its_share_of_rows_that_occur_often():
    codes = np.repeat([[0.0], [1.0]], [900, 100], axis=0)
    drawn = pick_reference_rows("sample:200", codes)
    assert len(drawn) == 200
    assert 5 <= drawn.sum() <= 40  # about 20
    assert len(pick_reference_rows("sample:5", codes[:3])) == 3


# Errors


@one_test
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"algorithm": "exact"}, "auto, tree, linear, kernel, permutation, got 'exact'"),
        ({"output": "odds"}, "'probability' or 'raw'"),
        ({"target": "negative"}, "positive, predicted, all"),
        ({"offset": "yes"}, "offset must be true or false, got 'yes'"),
        ({"background": "kmean"}, "rows, median, kmeans:k or sample:n, got 'kmean'"),
        ({"background": "sample:0"}, "sample:n, got 'sample:0'"),
        ({"background": "median:3"}, "got 'median:3'"),
        ({"background": 100}, "got 100"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(faithkit.errors.ParameterError, match=message):
        make_shap(**params)


@one_test
@pytest.mark.parametrize(
    ("model", "params", "message"),
    [
        (
            LinearSVC().fit(X, TWO),
            {"output": "probability"},
            "LinearSVC has no probabilities .* use output=raw",
        ),
        (GaussianNB().fit(X, TWO), {"output": "raw"}, "GaussianNB has no raw scores .* output=probability"),
        (lambda X: X[:, 0] > 0, {}, "gives labels only"),
        (LogisticRegression().fit(X, TWO), {"algorithm": "tree"}, "cannot read LogisticRegression as trees"),
        (GaussianNB().fit(X, TWO), {"algorithm": "linear"}, "algorithm=linear explains the raw scores"),
        (GaussianNB().fit(X, THREE), {"target": "positive"}, "target=positive needs two classes"),
        (DecisionTreeClassifier().fit(X, np.zeros(200)), {}, "two classes or more"),
        (GaussianNB().fit(X[:, :2], TWO), {}, "asked about 1 rows, failed"),
    ],
)
def test_a_model_that_cannot_be_explained_so_is_refused_with_a_way_out(model, params, message):
    with pytest.raises(faithkit.errors.InputError, match=message):
        make_shap(**params).fit(faithkit.Predictor(model, background=X), X)


def test_raw_scores_of_a_model_without_probabilities_are_explained():
    for model in (LinearSVC(), SVC()):
        explanations = explain(model.fit(X, TWO), X, X[:3], output="raw", target="all")
        total = split_classes(explanations).sum(axis=1) + explanations.shared["base_value"]
        assert total[:, 1] == pytest.approx(model.decision_function(X[:3]), abs=1e-9)
        assert total[:, 0] == pytest.approx(-model.decision_function(X[:3]), abs=1e-9)


def test_a_model_that_scores_rows_by_their_neighbours_is_refused():
    model = Scored(lambda Z: 1 / (1 + np.exp(-(Z[:, 0] - Z[:, 0].mean()))))
    with pytest.raises(faithkit.errors.InputError, match="score of a row depends on the other rows"):
        explain(model, X, X[:3])


@one_test
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["good", "bad"], "was given a list of texts: use lime-text"),
        (csr_array(X), r"sparse matrix: give X.toarray\(\)"),
        (X[:, :2], "expected 4 columns"),
    ],
    ids=["texts", "sparse", "narrow"],
)
def test_rows_that_are_no_such_table_are_refused(rows, message):
    fitted = make_shap().fit(faithkit.Predictor(DecisionTreeClassifier().fit(X, TWO)), X)
    with pytest.raises(faithkit.errors.InputError, match=message):
        fitted.explain(rows, np.arange(2))


def test_a_background_that_is_no_table_is_refused():
    with pytest.raises(faithkit.errors.InputError, match="list of texts"):
        make_shap().fit(faithkit.Predictor(GaussianNB().fit(X, TWO)), ["good", "bad"])


# Rows at a time: thousands where the model is read, a few where it is asked

CODES = np.random.default_rng(0).integers(0, 4, (200, 3)).astype(float)


def fit_one_hot(model):
    encode = make_column_transformer((OneHotEncoder(), [0, 1, 2]))
    return make_pipeline(encode, model).fit(CODES, CODES[:, 0] + CODES[:, 1] > 3)


@one_test
@pytest.mark.parametrize(
    ("algorithm", "model", "rows"),
    [
        ("auto", GradientBoostingClassifier(n_estimators=2), 1024),
        ("tree", GradientBoostingClassifier(n_estimators=2), 4096),
        ("auto", LogisticRegression(), 1024),
        ("auto", MLPClassifier(hidden_layer_sizes=(2,), max_iter=2), 16),
        ("permutation", GradientBoostingClassifier(n_estimators=2), 16),
    ],
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_the_number_of_rows_at_a_time_follows_from_the_model(algorithm, model, rows):
    predictor = faithkit.Predictor(fit_one_hot(model))
    assert make_shap(algorithm=algorithm).rows_per_chunk(predictor) == rows


def test_more_rows_do_not_prepare_the_table_more_often(monkeypatch):
    model = fit_one_hot(GradientBoostingClassifier(n_estimators=5, random_state=0))
    prepare, sizes = model[0], []
    transform = type(prepare).transform

    def record_size(self, table, **options):
        sizes.append(len(table))
        return transform(self, table, **options)

    monkeypatch.setattr(type(prepare), "transform", record_size)

    def count_calls(rows):
        sizes.clear()
        faithkit.evaluate(model, CODES[:rows], explainer="shap", background=CODES[:50], n_jobs=1)
        return len(sizes)

    assert count_calls(20) == count_calls(200)
