"""XGBoost, LightGBM and CatBoost: SHAP values leaf by leaf, what each library compares and adds up, and the contract."""

import functools
import importlib.util

import attrs
import faithkit_feature_importance
import numpy as np
import pandas as pd
import pytest
from boosted_models import CASES, NAMES, SMALL, Case, words
from contract import keep
from faithkit_conformance import Situation, checks_for
from faithkit_feature_importance.shap_values.errors import UnreadableError
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers import read_ensemble
from faithkit_feature_importance.shap_values.leaf_by_leaf.tree_inputs import TreeInputs
from hypothesis import given, settings
from hypothesis import strategies as st
from leaf_by_leaf import check_by_definition, explained, per_class, raw_scores
from looping import one_test
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import faithkit

pytestmark = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")


FEW_CASES = [  # between them all that is read of XGBoost and LightGBM
    *("xgboost, stopped early, three classes", "xgboost, sets, dart", "xgboost, 0 is missing"),
    *("xgboost, forests", "lightgbm, stopped early", "lightgbm, forest, three classes"),
    *("lightgbm, nothing is missing", "lightgbm, sets, 0 is missing", "catboost, three classes"),
]


@one_test
@pytest.mark.parametrize("name", FEW_CASES)
def test_raw_scores_of_a_few_models_are_explained_as_by_all_coalitions(name):
    expected = check_by_definition(*CASES[name].fitted(1), CASES[name].precision)
    assert np.abs(expected).max() > 1e-3


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("name", [name for name in CASES if name not in FEW_CASES])
def test_raw_scores_are_explained_as_by_all_coalitions(name):
    expected = check_by_definition(*CASES[name].fitted(1), CASES[name].precision)
    assert np.abs(expected).max() > 1e-3


INSTALLED = [case for case in CASES.values() if importlib.util.find_spec(case.library)]


@pytest.mark.slow
@given(st.sampled_from(INSTALLED), st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_raw_scores_are_explained_as_by_all_coalitions_whatever_the_table(case, seed):
    check_by_definition(*case.fitted(seed), case.precision)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("name", CASES)
def test_leaves_add_up_to_the_models_score_but_for_where_it_starts(name):
    model, table = CASES[name].fitted()
    inputs = TreeInputs.read(model, [str(j) for j in range(4)])
    result = np.zeros((len(table), inputs.ensemble.n_outputs))
    for tree in inputs.ensemble.trees:
        result[:, tree.outputs] += walk_down(tree, np.asarray(inputs.ensemble.to_values(table)))
    apart = raw_scores(model, table)[:, -result.shape[1] :] - result  # of two classes the second
    assert apart == pytest.approx(np.tile(apart[0], (len(table), 1)), abs=CASES[name].precision)
    assert np.ptp(result) > 0.01


def walk_down(tree, cells):
    """What each row finds at the end of its way, one question after the other."""
    values = []
    for row in cells:
        node = 0
        while tree.left[node] >= 0:
            cell = row[tree.column[node]]
            left = cell in tree.categories[node] if node in tree.categories else cell <= tree.threshold[node]
            if np.isnan(cell):
                left = tree.missing_left[node]
            node = tree.left[node] if left else tree.right[node]
        values.append(tree.values[node])
    return values


TWO_CLASSES = [
    *("xgboost", "xgboost, a base score", "xgboost, dart", "xgboost, -1 is missing", "xgboost, sets, dart"),
    *("lightgbm", "lightgbm, a steep sigmoid", "lightgbm, forest", "lightgbm, sets, 0 is missing"),
    *("catboost", "catboost, from the average"),
]


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("name", TWO_CLASSES)
def test_probabilities_are_raw_scores_rescaled_for_each_reference_row(name):
    """Rows apart from the reference rows: XGBoost's scores in float32 cannot tell the slope between equal ones."""
    model, table = CASES[name].fitted()
    raw, p = raw_scores(model, table)[:, 1], np.asarray(model.predict_proba(table), dtype=float)[:, 1]
    far = np.flatnonzero(np.abs(raw[:, None] - raw[:3]).min(axis=1) > 0.05)[:10]
    rows = faithkit.plugin.take_rows(table, far)
    expected = np.zeros((len(far), 4))
    for i in range(3):
        values = explained(model, table[i : i + 1], rows, output="raw", algorithm="tree").values
        expected += values * ((p[far] - p[i]) / (raw[far] - raw[i]))[:, None] / 3
    explanations = explained(model, table[:3], rows, algorithm="tree", output="probability")
    assert explanations.shared["algorithm"] == "leaves"
    assert explanations.values == pytest.approx(expected, abs=1e-4)
    assert len(far) > 3


@one_test
@pytest.mark.parametrize("name", ["xgboost", "xgboost, exact", "lightgbm", "catboost"])
def test_cells_are_compared_in_the_models_precision(name):
    """XGBoost and CatBoost turn them into float32, LightGBM keeps float64."""
    cells = np.array([1.0, 1.0 + 1e-9, 1.0 + 2e-9, 1.0 + 1e-7, 2.0])[np.arange(100) % 5]
    X, y = np.column_stack([cells, np.arange(100) % 3]), (np.arange(100) % 5 > 1).astype(int)
    case = CASES[name]
    model = getattr(pytest.importorskip(case.library), NAMES[case.library])
    model = model(**SMALL[case.library] | case.params).fit(X, y)
    explanations = explained(model, X, X, output="raw", algorithm="tree", offset=True)
    assert explanations.shared["algorithm"] == "leaves"
    assert explanations.values.sum(axis=1) == pytest.approx(raw_scores(model, X)[:, 1], abs=case.precision)


# Behind preparation, and as categories


BEFORE = {
    "one-hot, scaled": make_column_transformer(
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["job", "size"]),
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["age", "pay"]),
    ),
    "sparse": make_column_transformer(
        (OneHotEncoder(), ["job", "size"]),
        (SimpleImputer(strategy="constant", fill_value=0.0), ["age", "pay"]),
        sparse_threshold=1.0,
    ),
    "gaps": make_column_transformer((OrdinalEncoder(), ["size", "job"]), remainder="passthrough"),
}
BEHIND = [
    ("xgboost", "gaps"),
    ("xgboost, 0 is missing", "one-hot, scaled"),
    ("lightgbm", "gaps"),
    ("lightgbm, 0 is missing", "sparse"),
    ("catboost", "one-hot, scaled"),
]


def check_preparation(name, before):
    case = attrs.evolve(CASES[name], words=True)
    check_by_definition(*case.fitted(3, before=BEFORE[before]), case.precision)


def test_what_a_sparse_matrix_does_not_store_is_missing_to_xgboost():
    check_preparation("xgboost", "sparse")


@pytest.mark.slow
@one_test
@pytest.mark.parametrize(("name", "before"), BEHIND)
def test_raw_columns_are_explained_through_column_wise_preparation(name, before):
    check_preparation(name, before)


@one_test
@pytest.mark.parametrize("name", ["xgboost, sets of categories", "lightgbm, sets of categories"])
def test_categories_that_come_in_another_order_are_the_same(name):
    """LightGBM and XGBoost since 3.1 keep the categories of the table that they were fitted to."""
    model, table = CASES[name].fitted()
    turned = table.astype({"job": pd.CategoricalDtype(list("debac"))})
    if raw_scores(model, turned).tolist() != raw_scores(model, table).tolist():
        pytest.skip("this version takes the codes of a table as they are")
    usual, same = (
        explained(model, part[:20], part[20:40], output="raw", algorithm="tree") for part in (table, turned)
    )
    assert same.shared["algorithm"] == "leaves"
    assert same.values == pytest.approx(usual.values, abs=1e-9)


@one_test
@pytest.mark.parametrize("name", ["lightgbm, sets of categories", "lightgbm, sets, 0 is missing"])
def test_an_unknown_category_goes_where_the_model_sends_it(name):
    """XGBoost takes none."""
    model, table = CASES[name].fitted()
    rows = table[:4].assign(job=pd.Categorical(["z"] * 4, categories=[*"cabed", "z"]))
    explanations = explained(model, table[:20], rows, output="raw", algorithm="tree", target="all")
    assert explanations.shared["algorithm"] == "leaves"
    total = per_class(explanations).sum(axis=1) + explanations.shared["base_value"]
    assert total == pytest.approx(raw_scores(model, rows), abs=1e-9)


def test_words_that_no_tree_of_catboost_asks_for_are_no_hindrance():
    catboost = pytest.importorskip("catboost")
    X, y = words(0, 2)
    table = X.drop(columns=["job", "size"]).assign(town="york")[["town", "pay", "age"]]
    model = catboost.CatBoostClassifier(**SMALL["catboost"], cat_features=["town"]).fit(table, y)
    explanations = explained(model, table, table[:5], output="raw", algorithm="tree", offset=True)
    assert explanations.shared["algorithm"] == "leaves"
    assert explanations.values.sum(axis=1) == pytest.approx(raw_scores(model, table[:5])[:, 1], abs=1e-9)
    assert (explanations.values[:, 0] == 0).all()


def test_catboosts_scale_and_bias_are_part_of_its_scores():
    model, X = CASES["catboost, three classes"].fitted()
    usual = explained(model, X, X, output="raw", target="all", algorithm="tree").values
    model.set_scale_and_bias(3.0, [1.0, 2.0, 4.0])
    explanations = explained(model, X, X, output="raw", target="all", algorithm="tree")
    assert explanations.shared["algorithm"] == "leaves"
    assert explanations.values == pytest.approx(3.0 * usual, abs=1e-9)


# What is not read


@one_test
@pytest.mark.parametrize(
    ("case", "why"),
    [
        (Case("xgboost", {"booster": "gblinear"}), "booster=gblinear has no trees"),
        (Case("xgboost", {"multi_strategy": "multi_output_tree"}, classes=3), "has vectors at its leaves"),
        (Case("xgboost", {"objective": "multi:softprob", "num_class": 2}), "other scores than one for each"),
        (Case("lightgbm", {"linear_tree": True}), "has linear models at its leaves"),
        (Case("catboost", {"loss_function": "MultiClass"}), "other scores than one for each class"),
        (
            Case("catboost", {"cat_features": ["job", "size"]}, words=True),
            "splits by more than numbers .OnlineCtr",
        ),
        (
            Case("catboost", {"cat_features": ["job", "size"], "one_hot_max_size": 9}, words=True),
            "splits by more than numbers .OneHotFeature",
        ),
    ],
    ids=lambda row: row[1],
)
def test_a_model_whose_trees_do_not_say_all_is_not_read(case, why):
    model, _ = case.fitted()
    with pytest.raises(UnreadableError, match=why):
        read_ensemble(model)


@one_test
@pytest.mark.parametrize("library", NAMES)
def test_probabilities_of_three_classes_are_asked_for(library):
    """shap's own reader is not tried on CatBoost: of several classes it would end the process."""
    model, X = CASES[f"{library}, three classes"].fitted()
    explanations = explained(model, X[:9], X[:2], target="all", output="probability")
    assert explanations.shared["algorithm"] == "kernel"
    total = per_class(explanations).sum(axis=1) + explanations.shared["base_value"]
    assert total == pytest.approx(model.predict_proba(X[:2]), abs=1e-5)


# The contract, which scikit-learn's models keep in test_contract.py


@functools.cache
def fit_situations():
    situations = {}
    for case in (CASES["xgboost"], CASES["lightgbm, three classes"]):
        model, X = case.fitted()
        situations[case.library] = Situation(model, np.vstack([X[60:65], X[61:62]]), X[:60])
    return situations


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("in_workers", [False, True])
@pytest.mark.parametrize("name", ["shap", "lime", "gradient"])
def test_explainers_of_boosted_trees_keep_the_contract(name, in_workers):
    explainers = {
        component.name: component for component in faithkit_feature_importance.faithkit_explainers()
    }
    checks = checks_for(("explainer", explainers[name]), situations=fit_situations())
    keep(check for check in checks if ("worker" in check.name) == in_workers)
