"""The explainer `tree`: rules that cover exactly a leaf, and measures that follow from the tree alone."""

import json
import math
import sys

import numpy as np
import pandas as pd
import pytest
from faithkit_scoped_rules.tree import float64_limits
from hypothesis import example, given, settings
from hypothesis import strategies as st
from looping import one_test
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import faithkit
from faithkit.arrays.bitsets import unpack_bits
from faithkit.explanations.in_scope import InScope

IRIS = load_iris(return_X_y=True)
TUMOURS = load_breast_cancer(return_X_y=True)
LARGEST = float(np.finfo(np.float32).max)
CITIES = ["Bonn", "Cork", "Oslo", "Ulm", None]
LEVELS = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)


def make_tree(**params):
    return faithkit.plugin.registry().create("explainer", "tree", params)


def fit_tree(model, background, **params):
    return make_tree(**params).fit(faithkit.Predictor(model, background=background), background)


def assert_rules_cover_their_leaves(explainer, X, leaves):
    """Every row's rule covers the rows of its leaf and no others; a leaf has one rule, the same object."""
    rules = explainer.explain(X, None).values
    assert len({id(rule) for rule in rules}) == len(set(leaves.tolist()))
    for leaf in np.unique(leaves):
        members = leaves == leaf
        rule = rules[members.argmax()]
        assert all(other is rule for other in rules[members])
        assert rule.covers(X).tolist() == members.tolist(), str(rule)


def find_neighbours(thresholds):
    """Values at which float32 and float64 comparisons part: the neighbours of every threshold."""
    near = np.asarray(thresholds, dtype=np.float64).astype(np.float32)
    with np.errstate(over="ignore"):
        grid = np.concatenate([near, *(np.nextafter(near, np.float32(end)) for end in (-np.inf, np.inf))])
    grid = np.unique(grid[np.isfinite(grid)].astype(np.float64))
    halves = (grid[:-1] + grid[1:]) / 2
    seeds = np.concatenate([thresholds, grid, halves])
    seeds = seeds[np.isfinite(seeds)]
    every = np.concatenate([seeds, np.nextafter(seeds, -np.inf), np.nextafter(seeds, np.inf)])
    return every[np.abs(every) <= LARGEST]


def make_probes(model, X):
    """Rows of X, each with one value replaced by one at or beside a threshold of its column."""
    rows = [X]
    for node in np.flatnonzero(model.tree_.children_left >= 0):
        values = find_neighbours([model.tree_.threshold[node]])
        extra = X[np.arange(len(values)) % len(X)].astype(np.float64)
        extra[:, model.tree_.feature[node]] = values
        rows.append(extra)
    return np.concatenate(rows)


# --- where float64 values change sides ---------------------------------------------------------------------


def goes_left(value, threshold):
    return bool(np.float64(np.float32(value)) <= threshold)


@given(st.floats(-LARGEST / 2, LARGEST / 2))
@example(0.0)
@example(-0.0)
@example(0.1)
@example(-0.1)
@example(1e-45)  # below float32's smallest numbers
@example(-1e-46)
@example(16777217.0)  # the first whole number that float32 does not have
@example(1.0)
@example(float(np.nextafter(np.float32(1), np.float32(2))))
@example((1.0 + float(np.nextafter(np.float32(1), np.float32(2)))) / 2)
def test_the_limit_is_the_last_float64_that_goes_left(threshold):
    limit = float64_limits(np.array([threshold]))[0]
    assert goes_left(limit, threshold)
    assert not goes_left(np.nextafter(limit, np.inf), threshold)


def test_an_infinite_threshold_parts_missing_values_from_all_others():
    assert float64_limits(np.array([np.inf])).tolist() == [math.inf]


# --- a rule covers exactly the rows of its leaf ------------------------------------------------------------


def punch_gaps(X, seed=0):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < 0.15] = np.nan
    return X


@one_test
@pytest.mark.parametrize(
    ("X", "y"),
    [
        IRIS,
        (punch_gaps(IRIS[0]), IRIS[1]),
        TUMOURS,
        (IRIS[0] * 1e37, IRIS[1]),
        (IRIS[0] * 1e-44, IRIS[1]),
        (-IRIS[0], IRIS[1]),
        (np.round(IRIS[0] * 1e9), IRIS[1]),
    ],
    ids=["three classes", "missing values", "tumours", "huge", "subnormal", "negative", "whole"],
)
@pytest.mark.parametrize("kind", [DecisionTreeClassifier, ExtraTreeClassifier])
def test_the_models_own_rules_cover_its_leaves_also_at_thresholds(kind, X, y):
    model = kind(random_state=0).fit(X, y)
    rows = make_probes(model, X)
    assert_rules_cover_their_leaves(fit_tree(model, X), rows, model.apply(rows))


@one_test
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, np.uint16])
def test_arrays_of_other_dtypes_are_covered_as_the_model_reads_them(dtype):
    X = (IRIS[0] * 10).astype(dtype)
    model = DecisionTreeClassifier(random_state=0).fit(X, IRIS[1])
    assert_rules_cover_their_leaves(fit_tree(model, X), X, model.apply(X))


VALUES = st.one_of(
    st.floats(-1e38, 1e38),
    st.floats(-1, 1, width=32),
    st.integers(-3, 3).map(float),
    st.just(math.nan),
)


@settings(max_examples=12)
@given(
    rows=st.lists(st.tuples(VALUES, VALUES, st.integers(0, 2)), min_size=2, max_size=25),
    others=st.lists(st.tuples(VALUES, VALUES), max_size=10),
)
def test_any_numbers_are_covered_by_the_rule_of_their_leaf_alone(rows, others):
    table = np.array(rows)
    X, y = table[:, :2], table[:, 2]
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    every = np.concatenate([make_probes(model, X), np.array(others).reshape(-1, 2)])
    assert_rules_cover_their_leaves(fit_tree(model, X), every, model.apply(every))


def make_table(n, seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n).round(rng.integers(0, 4)),
            "city": pd.Series(rng.choice(np.array(CITIES, dtype=object), n), dtype="str"),
            "member": rng.random(n) < 0.5,
            "level": pd.Categorical.from_codes(rng.integers(-1, 3, n), dtype=LEVELS),
            "visits": rng.integers(0, 9, n),
            "size": pd.array(rng.integers(0, 3, n), dtype="Int64"),
        }
    )
    table.loc[rng.random(n) < 0.2, "age"] = np.nan
    table.loc[rng.random(n) < 0.2, "size"] = pd.NA
    return table


def predict_classes(table):
    score = (
        (table["age"].fillna(45) > 40).astype(int)
        + table["city"].isin(["Cork", "Ulm"]).astype(int) * 2
        + table["city"].isna().astype(int)
        + table["member"].astype(int)
        + (table["level"].astype(object) == "mid").astype(int) * (table["visits"] % 3)
    )
    return np.array(["few", "some", "many"])[score % 3]


def encode_by_hand(table, background):
    """The codes of a mixed table, by hand: ranks among the background's sorted values, NaN for missing."""
    cities = sorted(background["city"].dropna().unique())
    levels = [level for level in LEVELS.categories if (background["level"] == level).any()]
    columns = [
        table["age"],
        [cities.index(c) if isinstance(c, str) else np.nan for c in table["city"]],
        table["member"],
        [levels.index(c) if isinstance(c, str) else np.nan for c in table["level"].astype(object)],
        table["visits"],
        table["size"].to_numpy(dtype=np.float64, na_value=np.nan),
    ]
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def select_known(table, background):
    """Rows without a category that the background lacks."""
    return table[
        table["city"].isin(background["city"].tolist()) & table["level"].isin(background["level"].tolist())
    ]


@settings(max_examples=5)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(5, 50),
    leaves=st.sampled_from([2, 5, 32, None]),
    least=st.integers(1, 5),
)
def test_a_surrogates_rules_cover_its_leaves_on_mixed_tables(seed, n, leaves, least):
    background = make_table(n, seed)
    explainer = fit_tree(predict_classes, background, max_leaf_nodes=leaves, min_samples_leaf=least)
    X = pd.concat([background, select_known(make_table(40, seed + 1), background)], ignore_index=True)
    assert explainer.is_surrogate_
    assert_rules_cover_their_leaves(explainer, X, explainer.tree_.apply(encode_by_hand(X, background)))


def test_the_order_of_columns_and_of_the_background_does_not_matter_to_a_surrogate():
    background, X = make_table(200, 0), make_table(50, 1)
    straight = fit_tree(predict_classes, background).explain(X, None).values
    turned = fit_tree(predict_classes, background[::-1]).explain(X[X.columns[::-1]], None).values
    assert straight.tolist() == turned.tolist()


def test_columns_keep_their_labels_in_rules():
    X, y = IRIS
    model = DecisionTreeClassifier(random_state=0, max_depth=2).fit(X, y)
    for labels in (["a", "b", "c", "d"], [10, 20, 30, 40]):
        table = pd.DataFrame(X, columns=labels)
        explainer = fit_tree(lambda t: model.predict(t.to_numpy()), table, max_depth=2)
        assert_rules_cover_their_leaves(explainer, table, explainer.tree_.apply(X))
        columns = {p.column for rule in explainer.explain(table, None).values for p in rule.predicates}
        assert columns <= set(labels)


def test_a_split_of_missing_values_from_all_others_is_a_rule_of_its_own():
    X = np.array([[1.0], [2.0], [5.0], [np.nan], [np.nan]])
    model = DecisionTreeClassifier().fit(X, [0, 0, 0, 1, 1])
    assert np.isinf(model.tree_.threshold[0])
    assert_rules_cover_their_leaves(fit_tree(model, X), X, model.apply(X))


@one_test
@pytest.mark.parametrize(
    ("values", "expected"),
    [([True, False, True], "paid = True"), ([True, False, None], "paid = True (or missing)")],
)
def test_booleans_read_as_true_and_false(values, expected):
    X = pd.DataFrame({"paid": values})
    model = DecisionTreeClassifier(random_state=0).fit(X, [1, 0, 1])
    explainer = fit_tree(model, X, surrogate=False)
    assert_rules_cover_their_leaves(explainer, X, model.apply(X))
    assert str(explainer.explain(X, None).values[2]).startswith(expected)


def test_boolean_arrays_are_numbers_to_the_model():
    X = np.array([[True, False], [False, False], [True, True], [False, True]])
    model = DecisionTreeClassifier(random_state=0).fit(X, [0, 1, 1, 1])
    assert_rules_cover_their_leaves(fit_tree(model, X, surrogate=False), X, model.apply(X))


@pytest.mark.filterwarnings("error")
@one_test
@pytest.mark.parametrize("gap", [[], [[np.nan]]])
def test_infinite_and_huge_values_have_a_leaf_of_a_surrogate(gap):
    X = np.array([[-np.inf], [-1e300], [0.0], [1.0], [1e39], [1e300], [np.inf], *gap])
    explainer = fit_tree(lambda X: (X[:, 0] > 0.5).astype(int), X, min_samples_leaf=1)
    clipped = np.clip(X, -LARGEST, LARGEST)
    assert_rules_cover_their_leaves(explainer, X, explainer.tree_.apply(clipped))


def test_a_tree_deeper_than_pythons_recursion_is_no_problem():
    n = 1300
    X = np.arange(float(n))[:, None]
    model = DecisionTreeClassifier(random_state=0).fit(X, np.arange(n) % 2)
    assert model.get_depth() > sys.getrecursionlimit()
    leaves = model.apply(X)
    rules = fit_tree(model, X).explain(X, None).values
    assert all(rule.covers(X[i - 1 : i + 2]).sum() == 1 for i, rule in list(enumerate(rules))[1:-1:5])
    assert len(set(leaves.tolist())) == len(set(rules.tolist())) == n


def test_a_constant_model_has_one_rule_that_applies_to_everything():
    X = IRIS[0]
    explanations = fit_tree(lambda X: np.full(len(X), "yes"), X).explain(X, None)
    assert set(explanations.values.tolist()) == {faithkit.Rule()}
    assert explanations.shared == {"fidelity": 1.0}


# --- in-scope -----------------------------------------------------------------------------------------------


def is_satisfied(predicates, row):
    """Whether a row satisfies a rule in its JSON form, one value at a time."""
    for predicate in predicates:
        value = row[predicate["column"]]
        if pd.isna(value):
            inside = predicate["missing"]
        elif predicate["op"] == "one-of":
            inside = value in predicate["values"]
        else:
            low, high = (float(predicate.get(k, d)) for k, d in (("low", "-inf"), ("high", "inf")))
            inside = (low < value or low == -math.inf) and value <= high
        if not inside:
            return False
    return True


@settings(max_examples=4)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 20))
def test_in_scope_is_a_naive_mask_per_rule(seed, n):
    background = make_table(60, seed)
    X = select_known(make_table(n, seed + 1), background)
    explanations = fit_tree(predict_classes, background, min_samples_leaf=1).explain(X, None)
    sample = faithkit.plugin.Sample(X, explanations)
    rows = [dict(zip(X.columns, row, strict=True)) for row in X.astype(object).itertuples(index=False)]
    rules = [json.loads(json.dumps(rule.to_json())) for rule in explanations.values]
    expected = [[is_satisfied(rule, row) for row in rows] for rule in rules]
    assert InScope().holds(sample, explanations).tolist() == expected
    assert unpack_bits(InScope().packed(sample, explanations), len(X)).tolist() == expected


# --- the measures ------------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(("X", "y"), [IRIS, (punch_gaps(IRIS[0]), IRIS[1])])
def test_a_tree_that_explains_itself_is_faithful_but_for_instances_alone_in_their_leaf(X, y):
    model = DecisionTreeClassifier(random_state=0).fit(X[::2], y[::2])
    judged = X[1::2]
    _, inverse, sizes = np.unique(model.apply(judged), return_inverse=True, return_counts=True)
    alone = np.mean(sizes[inverse] == 1)
    result = faithkit.evaluate(model, judged, explainer="tree:surrogate=false")
    for measure in (result.consistency, result.sufficiency):
        assert measure.value == pytest.approx(1 - alone, abs=1e-12)
        assert measure.bracket[1] == pytest.approx(1, abs=1e-12)
    assert result.singletons == pytest.approx(alone, abs=1e-12)
    population = faithkit.evaluate(model, judged, explainer="tree:surrogate=false", estimator="plug-in")
    assert population.consistency.value == population.sufficiency.value == 1.0


def compute_purity(tree_):
    """1 − Σ μ(C)·Gini(C), from the shares of the classes that scikit-learn notes in every leaf."""
    leaves = tree_.children_left < 0
    share = tree_.weighted_n_node_samples[leaves] / tree_.weighted_n_node_samples[0]
    classes = tree_.value[leaves, 0]
    classes = classes / classes.sum(axis=1, keepdims=True)
    return 1 - (share * (1 - (classes**2).sum(axis=1))).sum()


def leave_one_out(leaves, labels):
    """The leave-one-out estimate, leaf by leaf: Σ_C Σ_y n_Cy (n_Cy − 1) / (n_C − 1), over n."""
    table = pd.crosstab(pd.Series(leaves), pd.Series(labels)).to_numpy()
    size = table.sum(axis=1)
    inside = (table * (table - 1)).sum(axis=1)
    return np.divide(inside, size - 1, out=np.zeros(len(size)), where=size > 1).sum() / len(leaves)


@one_test
@pytest.mark.parametrize(("X", "y", "size"), [(*IRIS, 2), (*IRIS, 32)], ids=lambda case: str(case[2]))
def test_a_surrogates_measures_follow_from_the_gini_index_of_its_leaves(X, y, size):
    model = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y)
    name = f"tree:max-leaf-nodes={size},min-samples-leaf=1"
    explainer = fit_tree(model, X, max_leaf_nodes=size, min_samples_leaf=1)
    plain = faithkit.evaluate(model, X, explainer=name, background=X, estimator="plug-in")
    expected = compute_purity(explainer.tree_.tree_)
    assert plain.consistency.value == pytest.approx(expected, abs=1e-12)
    assert plain.sufficiency.value == pytest.approx(expected, abs=1e-12)
    assert expected < 1 or size > 4
    left_out = faithkit.evaluate(model, X, explainer=name, background=X)
    expected = leave_one_out(explainer.tree_.apply(X), model.predict(X))
    assert left_out.consistency.value == pytest.approx(expected, abs=1e-12)
    assert left_out.sufficiency.value == pytest.approx(expected, abs=1e-12)


def test_a_surrogates_measures_on_mixed_rows_that_it_has_not_seen():
    background, X = make_table(300, 2), make_table(200, 3)
    explainer = fit_tree(predict_classes, background, max_leaf_nodes=6)
    result = faithkit.evaluate(
        predict_classes, X, explainer="tree:max-leaf-nodes=6", background=background, n_jobs=1
    )
    expected = leave_one_out(explainer.tree_.apply(encode_by_hand(X, background)), predict_classes(X))
    assert 0.3 < expected < 1
    assert result.consistency.value == pytest.approx(expected, abs=1e-12)
    assert result.sufficiency.value == pytest.approx(expected, abs=1e-12)
    assert result.n_explanations <= 6


# --- which tree, and how good it is ------------------------------------------------------------------------


def test_the_fidelity_is_the_surrogates_agreement_with_the_model_on_the_background():
    X, y = IRIS
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    explainer = fit_tree(model, X, max_leaf_nodes=2)
    shared = explainer.explain(X[:3], None).shared
    plain = DecisionTreeClassifier(max_leaf_nodes=2, min_samples_leaf=5, random_state=0).fit(
        X, model.predict(X)
    )
    assert shared == {"fidelity": float(np.mean(plain.predict(X) == model.predict(X)))}
    assert 0.5 < shared["fidelity"] < 1
    assert json.loads(json.dumps(shared)) == shared


def test_auto_explains_a_tree_on_numbers_by_itself_and_anything_else_by_a_surrogate():
    X, y = IRIS
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert fit_tree(model, X).tree_ is model
    assert fit_tree(model, X, surrogate=True).tree_ is not model
    assert fit_tree(RandomForestClassifier(3).fit(X, y), X).is_surrogate_
    assert fit_tree(model.predict, X).is_surrogate_


def test_only_without_a_surrogate_is_nothing_learnt_from_the_background():
    assert [make_tree(surrogate=s).learns for s in ("auto", True, False)] == [True, True, False]
    model = DecisionTreeClassifier(random_state=0).fit(*IRIS)
    with pytest.warns(faithkit.errors.FaithkitWarning, match="learns from the rows"):
        faithkit.evaluate(model, IRIS[0], explainer="tree")


def test_labels_may_be_any_numbers_or_texts():
    X = IRIS[0]
    for labels in ([0.5, 1.5], ["no", "yes"], [False, True]):
        result = fit_tree(lambda X, labels=labels: np.array(labels)[(X[:, 0] > 5.8).astype(int)], X)
        assert result.explain(X, None).shared == {"fidelity": 1.0}


def test_a_surrogates_leaves_obey_the_parameters():
    X, y = TUMOURS
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    small = fit_tree(model, X, max_leaf_nodes=3).tree_
    flat = fit_tree(model, X, max_depth=2, max_leaf_nodes=None).tree_
    wide = fit_tree(model, X, min_samples_leaf=50).tree_
    assert small.get_n_leaves() == 3
    assert flat.get_depth() == 2
    assert np.bincount(wide.apply(X))[np.unique(wide.apply(X))].min() >= 50


# --- what is refused ---------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"surrogate": "maybe"}, "auto, true or false, got 'maybe'"),
        ({"surrogate": 1}, "auto, true or false, got 1"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be a whole number of at least 2 or none, got 1"),
        ({"max_depth": 0}, "max_depth must be a whole number of at least 1 or none, got 0"),
        ({"max_depth": True}, "max_depth must be a whole number"),
        ({"min_samples_leaf": 0.1}, "min_samples_leaf must be a whole number of at least 1, got 0.1"),
        ({"min_samples_leaf": None}, "min_samples_leaf must be a whole number of at least 1, got None"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(faithkit.errors.ParameterError, match=message):
        make_tree(**params)


def test_without_a_surrogate_the_model_has_to_be_a_tree_on_numbers():
    X, y = IRIS
    with pytest.raises(
        faithkit.errors.InputError, match="the model is a RandomForestClassifier: use surrogate=true"
    ):
        fit_tree(RandomForestClassifier(3).fit(X, y), X, surrogate=False)
    with pytest.raises(faithkit.errors.InputError, match="the column 'city' holds categories"):
        fit_tree(DecisionTreeClassifier().fit(X, y), make_table(20, 0), surrogate=False)


def test_texts_and_sparse_matrices_are_refused_with_a_way_out():
    model = DecisionTreeClassifier().fit(*IRIS)
    with pytest.raises(faithkit.errors.InputError, match="list of texts: use first-word, all-words"):
        make_tree().fit(faithkit.Predictor(model), ["a fine film"])
    with pytest.raises(faithkit.errors.InputError, match="list of texts: use first-word, all-words"):
        fit_tree(model, IRIS[0]).explain(["a fine film"], None)
    with pytest.raises(faithkit.errors.InputError, match=r"give X\.toarray\(\)"):
        make_tree().fit(faithkit.Predictor(model), sparse.csr_matrix(IRIS[0]))


def test_a_row_with_an_unseen_category_has_no_rule_and_says_why():
    background = make_table(100, 0)
    X = background.assign(city=background["city"].where(background.index != 3, "Rome"))
    explanations = fit_tree(predict_classes, background).explain(X, None)
    assert np.flatnonzero(explanations.missing).tolist() == [3]
    assert explanations.remarks[3] == "a category that the background does not have"
    result = faithkit.evaluate(predict_classes, X, explainer="tree", background=background)
    assert result.unexplained == 1


@one_test
@pytest.mark.parametrize("surrogate", [True, False])
def test_an_empty_background_is_refused(surrogate):
    model = DecisionTreeClassifier().fit(*IRIS)
    with pytest.raises(faithkit.errors.InputError, match=r"empty \(0 rows\)"):
        make_tree(surrogate=surrogate).fit(faithkit.Predictor(model), IRIS[0][:0])


def test_columns_in_another_order_than_the_models_are_refused():
    named = pd.DataFrame(IRIS[0], columns=list("abcd"))
    turned = named[list("dcba")]
    trained_with_names = DecisionTreeClassifier().fit(named, IRIS[1])
    with pytest.raises(
        faithkit.errors.InputError, match="DecisionTreeClassifier, asked about 1 rows, failed"
    ):
        fit_tree(trained_with_names, turned, surrogate=False)
    trained_without = DecisionTreeClassifier().fit(*IRIS)
    with pytest.warns(UserWarning, match="feature names"):
        explainer = fit_tree(trained_without, named)
    with pytest.raises(faithkit.errors.InputError, match="another order than the background"):
        explainer.explain(turned, None)


def test_another_number_of_columns_is_refused():
    X, y = IRIS
    model = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(faithkit.errors.InputError, match="asked about 1 rows, failed"):
        make_tree().fit(faithkit.Predictor(model), X[:, :2])
    with pytest.raises(faithkit.errors.InputError, match="expected 4 columns"):
        fit_tree(model, X).explain(X[:, :2], None)
