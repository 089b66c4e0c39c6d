"""SHAP values leaf by leaf of XGBoost, LightGBM and CatBoost: what each of them compares, and what it adds up."""

import attrs
import numpy as np
import pandas as pd
import pytest
from faithkit_feature_importance.shap_values.cells import Cells
from faithkit_feature_importance.shap_values.ensembles import UnreadableError
from faithkit_feature_importance.shap_values.explainer import READERS
from faithkit_feature_importance.shap_values.leaf_shap import LeafShap
from faithkit_feature_importance.shap_values.readers import read_ensemble
from hypothesis import given, settings
from hypothesis import strategies as st
from leaf_by_leaf import by_definition, check_by_definition, explained, per_class, raw_scores
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import faithkit

SMALL = {
    "xgboost": {"n_estimators": 5, "max_depth": 3, "n_jobs": 1},
    "lightgbm": {"n_estimators": 5, "num_leaves": 6, "min_child_samples": 2, "n_jobs": 1, "verbose": -1},
    "catboost": {"iterations": 5, "depth": 3, "thread_count": 1, "verbose": 0, "allow_writing_files": False},
}
NAMES = {"xgboost": "XGBClassifier", "lightgbm": "LGBMClassifier", "catboost": "CatBoostClassifier"}
pytestmark = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
PRECISION = 1e-5  # XGBoost adds up in float32
FEW_ROWS = {
    "cat_smooth": 1,
    "cat_l2": 0,
    "min_data_per_group": 1,
    "max_cat_to_onehot": 1,
}  # will do for a set


@attrs.frozen
class Case:
    """A model to fit, and to what."""

    library: str
    params: dict = attrs.field(factory=dict)
    words: bool = False
    classes: int = 2
    stopped: bool = False
    kind: str = ""

    def fitted(self, seed=0, before=None):
        """Return the model, behind a preparation if there is one, and its table."""
        library = pytest.importorskip(self.library)
        X, y = (words if self.words else numbers)(seed, self.classes)
        if "cat_features" in self.params:  # which must not have gaps
            X = X.dropna(subset=["job"]).astype({"job": "object"})
            y = y[X.index]
        params = SMALL[self.library] | {"random_state": seed % 1000} | self.params
        held_out = {"eval_set": [(X, np.roll(y, 7))]} if self.stopped else {}  # where later rounds do harm
        if self.stopped and self.library == "lightgbm":
            held_out["callbacks"] = [library.early_stopping(1, verbose=False)]
        elif self.stopped:
            params["early_stopping_rounds"] = 1
        model = getattr(library, self.kind or NAMES[self.library])(**params)
        if before is not None:
            return make_pipeline(before, model).fit(X, y), X
        return model.fit(X, y, **({"verbose": False} if self.library != "lightgbm" else {}), **held_out), X


def labels(cells, classes):
    order = (cells[:, 0] * cells[:, 1] + cells[:, 2]).argsort(kind="stable").argsort(kind="stable")
    return order * classes // len(order)


def numbers(seed, classes):
    """Few distinct numbers, so that many lie on thresholds: 0, −1 and gaps, each missing to some model."""
    random = np.random.default_rng(seed)
    X = random.integers(-2, 4, (80, 4)) / 2
    y = labels(X, classes)
    X[random.random(X.shape) < 0.15] = np.nan
    return X, y


def words(seed, classes):
    random = np.random.default_rng(seed)
    codes = random.integers(0, 5, (80, 4))
    names = {"job": list("edcba"), "age": [20.0, 30.0, 40.0, 50.0, np.nan], "size": [3, 1, 4, 0, 2]}
    table = pd.DataFrame({name: np.array(told)[codes[:, j]] for j, (name, told) in enumerate(names.items())})
    table = table.astype({"job": pd.CategoricalDtype(list("cabed")), "size": "category"})
    table["pay"] = codes[:, 3]
    table.loc[random.random(80) < 0.1, "job"] = None
    return table, labels(codes % 3 - 1.0, classes)


XGBOOST = {
    "xgboost": Case("xgboost"),
    "xgboost, exact": Case("xgboost", {"tree_method": "exact"}),
    "xgboost, three classes": Case("xgboost", classes=3),
    "xgboost, a base score": Case("xgboost", {"base_score": 0.1}),
    "xgboost, stopped early": Case("xgboost", {"learning_rate": 2.0}, stopped=True),
    "xgboost, stopped early, three classes": Case("xgboost", {"learning_rate": 2.0}, classes=3, stopped=True),
    "xgboost, dart": Case("xgboost", {"booster": "dart", "rate_drop": 0.6, "n_estimators": 8}),
    "xgboost, dart, three classes": Case("xgboost", {"booster": "dart", "rate_drop": 0.6}, classes=3),
    "xgboost, -1 is missing": Case("xgboost", {"missing": -1.0}),
    "xgboost, 0 is missing": Case("xgboost", {"missing": 0}),
    "xgboost, forest": Case("xgboost", kind="XGBRFClassifier"),
    "xgboost, forests": Case("xgboost", {"num_parallel_tree": 3, "subsample": 0.5}, classes=3),
    "xgboost, lossguide": Case("xgboost", {"grow_policy": "lossguide", "max_leaves": 5}),
    "xgboost, categories": Case("xgboost", {"enable_categorical": True}, words=True),
    "xgboost, sets of categories": Case(
        "xgboost", {"enable_categorical": True, "max_cat_to_onehot": 1}, words=True, classes=3
    ),
    "xgboost, sets, dart": Case(
        "xgboost",
        {"enable_categorical": True, "max_cat_to_onehot": 1, "booster": "dart", "rate_drop": 0.6},
        words=True,
    ),
}
LIGHTGBM = {
    "lightgbm": Case("lightgbm"),
    "lightgbm, three classes": Case("lightgbm", classes=3),
    "lightgbm, one against all": Case("lightgbm", {"objective": "multiclassova"}, classes=3),
    "lightgbm, stopped early": Case("lightgbm", {"learning_rate": 2.0}, stopped=True),
    "lightgbm, stopped early, three classes": Case(
        "lightgbm", {"learning_rate": 2.0}, classes=3, stopped=True
    ),
    "lightgbm, 0 is missing": Case("lightgbm", {"zero_as_missing": True}),
    "lightgbm, nothing is missing": Case("lightgbm", {"use_missing": False}),
    "lightgbm, a steep sigmoid": Case("lightgbm", {"sigmoid": 3.0}),
    "lightgbm, dart": Case("lightgbm", {"boosting_type": "dart", "drop_rate": 0.6}),
    "lightgbm, forest": Case("lightgbm", {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1}),
    "lightgbm, forest, three classes": Case(
        "lightgbm", {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1}, classes=3
    ),
    "lightgbm, categories": Case("lightgbm", {"max_cat_to_onehot": 9}, words=True),
    "lightgbm, sets of categories": Case("lightgbm", FEW_ROWS, words=True, classes=3),
    "lightgbm, sets, 0 is missing": Case("lightgbm", FEW_ROWS | {"zero_as_missing": True}, words=True),
}
CATBOOST = {
    "catboost": Case("catboost"),
    "catboost, three classes": Case("catboost", classes=3),
    "catboost, gaps are large": Case("catboost", {"nan_mode": "Max"}),
    "catboost, gaps are large, three classes": Case("catboost", {"nan_mode": "Max"}, classes=3),
    "catboost, one against all": Case("catboost", {"loss_function": "MultiClassOneVsAll"}, classes=3),
    "catboost, from the average": Case("catboost", {"boost_from_average": True}),
    "catboost, stopped early": Case("catboost", {"learning_rate": 0.9}, stopped=True),
    "catboost, lossguide": Case("catboost", {"grow_policy": "Lossguide", "max_leaves": 5}),
    "catboost, depthwise, three classes": Case("catboost", {"grow_policy": "Depthwise"}, classes=3),
}
CASES = XGBOOST | LIGHTGBM | CATBOOST


@pytest.mark.parametrize("name", CASES)
def test_raw_scores_are_explained_as_by_all_coalitions(name):
    check_by_definition(*CASES[name].fitted(1), precision=PRECISION)


@given(st.sampled_from(sorted(CASES)), st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_raw_scores_are_explained_as_by_all_coalitions_whatever_the_table(name, seed):
    check_by_definition(*CASES[name].fitted(seed), precision=PRECISION)


@pytest.mark.parametrize("name", CASES)
def test_leaves_add_up_to_the_models_score_but_for_where_it_starts(name):
    model, table = CASES[name].fitted()
    cells = Cells.of(model, [str(j) for j in range(4)])
    found = np.zeros((len(table), cells.ensemble.n_outputs))
    for tree in cells.ensemble.trees:
        found[:, tree.outputs] += walked(tree, np.asarray(cells.ensemble.cells(table)))
    apart = raw_scores(model, table)[:, -found.shape[1] :] - found  # of two classes the second
    assert apart == pytest.approx(np.tile(apart[0], (len(table), 1)), abs=PRECISION)
    assert np.ptp(found) > 0.01


def walked(tree, cells):
    """What each row finds at the end of its way, one question after the other."""
    found = []
    for row in cells:
        node = 0
        while tree.left[node] >= 0:
            cell = row[tree.column[node]]
            left = cell in tree.categories[node] if node in tree.categories else cell <= tree.threshold[node]
            if np.isnan(cell):
                left = tree.missing_left[node]
            node = tree.left[node] if left else tree.right[node]
        found.append(tree.values[node])
    return found


TWO_CLASSES = [name for name, case in CASES.items() if case.classes == 2]


@pytest.mark.parametrize("name", TWO_CLASSES)
def test_probabilities_are_raw_scores_rescaled_for_each_reference_row(name):
    """Rows apart from the reference rows: XGBoost's scores in float32 cannot tell the slope between equal ones."""
    model, table = CASES[name].fitted()
    raw, p = raw_scores(model, table)[:, 1], np.asarray(model.predict_proba(table), dtype=float)[:, 1]
    far = np.flatnonzero(np.abs(raw[:, None] - raw[:3]).min(axis=1) > 1e-2)[:10]
    rows = faithkit.take_rows(table, far)
    wanted = np.zeros((len(far), 4))
    for i in range(3):
        values = explained(model, table[i : i + 1], rows, output="raw", algorithm="tree").values
        wanted += values * ((p[far] - p[i]) / (raw[far] - raw[i]))[:, None] / 3
    found = explained(model, table[:3], rows, algorithm="tree")
    assert found.shared["algorithm"] == "leaves"
    assert found.values == pytest.approx(wanted, abs=1e-4)
    assert len(far) > 3


def test_cells_are_compared_in_the_models_precision():
    """XGBoost and CatBoost turn them into float32, LightGBM keeps float64."""
    cells = np.array([1.0, 1.0 + 1e-9, 1.0 + 2e-9, 1.0 + 1e-7, 2.0])[np.arange(100) % 5]
    X, y = np.column_stack([cells, np.arange(100) % 3]), (np.arange(100) % 5 > 1).astype(int)
    for name in ("xgboost", "xgboost, exact", "lightgbm", "catboost"):
        case = CASES[name]
        model = getattr(pytest.importorskip(case.library), NAMES[case.library])
        model = model(**SMALL[case.library] | case.params).fit(X, y)
        found = explained(model, X, X, output="raw", algorithm="tree", offset=True)
        assert found.shared["algorithm"] == "leaves"
        assert found.values.sum(axis=1) == pytest.approx(raw_scores(model, X)[:, 1], abs=PRECISION)


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
BEHIND = ("xgboost", "xgboost, 0 is missing", "lightgbm", "lightgbm, 0 is missing", "catboost")


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("name", BEHIND)
def test_raw_columns_are_explained_through_column_wise_preparation(name, before):
    """What a sparse matrix does not store is missing to XGBoost, and 0 to the others."""
    case = attrs.evolve(CASES[name], words=True)
    check_by_definition(*case.fitted(3, before=BEFORE[before]), precision=PRECISION)


WITH_WORDS = [name for name, case in CASES.items() if case.words]


@pytest.mark.parametrize("name", WITH_WORDS)
def test_categories_that_come_in_another_order_are_the_same(name):
    """LightGBM and XGBoost since 3.1 keep the categories of the table that they were fitted to."""
    model, table = CASES[name].fitted()
    turned = table.astype({"job": pd.CategoricalDtype(list("debac"))})
    if raw_scores(model, turned).tolist() != raw_scores(model, table).tolist():
        pytest.skip("this version takes the codes of a table as they are")
    found, same = (explained(model, part, part, output="raw", algorithm="tree") for part in (table, turned))
    assert same.shared["algorithm"] == "leaves"
    assert same.values == pytest.approx(found.values, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in WITH_WORDS if CASES[name].library == "lightgbm"])
def test_an_unknown_category_goes_where_the_model_sends_it(name):
    """XGBoost takes none."""
    model, table = CASES[name].fitted()
    rows = table[:4].assign(job=pd.Categorical(["z"] * 4, categories=[*"cabed", "z"]))
    found = explained(model, table, rows, output="raw", algorithm="tree", target="all")
    assert found.shared["algorithm"] == "leaves"
    total = per_class(found).sum(axis=1) + found.shared["base_value"]
    assert total == pytest.approx(raw_scores(model, rows), abs=PRECISION)


def test_words_that_no_tree_of_catboost_asks_for_are_no_hindrance():
    catboost = pytest.importorskip("catboost")
    X, y = words(0, 2)
    table = X.drop(columns=["job", "size"]).assign(town="york")[["town", "pay", "age"]]
    model = catboost.CatBoostClassifier(**SMALL["catboost"], cat_features=["town"]).fit(table, y)
    found = explained(model, table, table[:5], output="raw", algorithm="tree", offset=True)
    assert found.shared["algorithm"] == "leaves"
    assert found.values.sum(axis=1) == pytest.approx(raw_scores(model, table[:5])[:, 1], abs=1e-9)
    assert (found.values[:, 0] == 0).all()


def test_catboosts_scale_and_bias_are_part_of_its_scores():
    model, X = CASES["catboost, three classes"].fitted()
    usual = explained(model, X, X, output="raw", target="all", algorithm="tree").values
    model.set_scale_and_bias(3.0, [1.0, 2.0, 4.0])
    found = explained(model, X, X, output="raw", target="all", algorithm="tree")
    assert found.shared["algorithm"] == "leaves"
    assert found.values == pytest.approx(3.0 * usual, abs=1e-9)


# What is not read


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (Case("xgboost", {"booster": "gblinear"}), "booster=gblinear has no trees"),
        (Case("xgboost", {"multi_strategy": "multi_output_tree"}, classes=3), "has vectors at its leaves"),
        (Case("xgboost", {"objective": "multi:softprob", "num_class": 2}), "other scores than one for each"),
        (Case("lightgbm", {"linear_tree": True}), "has linear models at its leaves"),
        (Case("catboost", {"loss_function": "MultiClass"}), "other scores than one for each class"),
        (Case("catboost", {"cat_features": ["job", "size"]}, words=True), "splits by OnlineCtr"),
        (
            Case("catboost", {"cat_features": ["job", "size"], "one_hot_max_size": 9}, words=True),
            "splits by OneHotFeature",
        ),
    ],
    ids=lambda given: given if isinstance(given, str) else given.library,
)
def test_a_model_whose_trees_do_not_say_all_is_not_read(case, why):
    model, _ = case.fitted()
    with pytest.raises(UnreadableError, match=why):
        read_ensemble(model)


# What would be read wrongly


def changed(**change):
    """A fault in the arrays of every tree."""
    return lambda tree: attrs.evolve(tree, **{name: how(tree) for name, how in change.items()})


FAULTS = {
    "left is right": changed(left=lambda tree: tree.right, right=lambda tree: tree.left),
    "gaps go elsewhere": changed(missing_left=lambda tree: ~tree.missing_left),
    "at most is less than": changed(threshold=lambda tree: np.nextafter(tree.threshold, -np.inf)),
    "less than is at most": changed(
        threshold=lambda tree: np.nextafter(tree.threshold.astype("f4"), np.float32(np.inf)).astype(float)
    ),
    "the column beside": changed(column=lambda tree: (tree.column + 1) % 4),
    "leaves in another order": changed(values=lambda tree: tree.values[::-1]),
    "leaves of another size": changed(values=lambda tree: tree.values * 1.01),
    "the class beside": changed(outputs=lambda tree: tuple((output + 1) % 3 for output in tree.outputs)),
    "the other categories": changed(
        categories=lambda tree: {
            node: frozenset(range(5)) - chosen for node, chosen in tree.categories.items()
        }
    ),
}


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        *((name, fault) for name in ("xgboost", "lightgbm", "catboost") for fault in list(FAULTS)[:2]),
        ("catboost", "at most is less than"),
        ("xgboost", "less than is at most"),
        *((name, fault) for name in ("xgboost", "lightgbm", "catboost") for fault in list(FAULTS)[4:7]),
        *((f"{name}, three classes", "the class beside") for name in ("xgboost", "lightgbm", "catboost")),
        *((f"{name}, sets of categories", "the other categories") for name in ("xgboost", "lightgbm")),
    ],
)
def test_trees_that_are_read_wrongly_are_noticed_when_fitted(monkeypatch, name, fault):
    model, table = CASES[name].fitted()
    if fault == "at most is less than":  # borders lie between the cells: let them lie on some
        pytest.importorskip("catboost")
        table = on_thresholds(table, read_ensemble(model))
    monkeypatch.setattr(
        "faithkit_feature_importance.shap_values.cells.read_ensemble",
        lambda given: attrs.evolve(
            read_ensemble(given), trees=[FAULTS[fault](tree) for tree in read_ensemble(given).trees]
        ),
    )
    monkeypatch.setitem(READERS, "tree", (LeafShap,))
    with pytest.raises(faithkit.InputError, match="misses the model's own output by"):
        explained(model, table, table[:2], output="raw", target="all", algorithm="tree")


def on_thresholds(table, ensemble):
    """Return rows that have a threshold of the trees in every cell for which there is one."""
    found = table.copy()
    for j in range(found.shape[1]):
        cuts = [tree.threshold[(tree.left >= 0) & (tree.column == j)] for tree in ensemble.trees]
        if len(cuts := np.concatenate(cuts)):
            found[:, j] = np.resize(cuts, len(found))
    return found


def test_rounds_after_the_best_are_noticed(monkeypatch):
    """As are weights of trees that are forgotten."""
    for name, there, wrong in (
        ("xgboost, stopped early", "_trees_in_use", lambda model, found: len(found["trees"])),
        ("xgboost, 0 is missing", "with_missing", lambda cells, missing: cells),
    ):
        model, table = CASES[name].fitted()
        monkeypatch.setattr(f"faithkit_feature_importance.shap_values.readers.xgboost_trees.{there}", wrong)
        monkeypatch.setitem(READERS, "tree", (LeafShap,))
        with pytest.raises(faithkit.InputError, match="misses the model's own output by"):
            explained(model, table, table[:2], output="raw", algorithm="tree")
        monkeypatch.undo()


def test_where_trees_are_read_wrongly_the_model_is_asked(monkeypatch):
    model, table = CASES["xgboost"].fitted()
    monkeypatch.setattr(
        "faithkit_feature_importance.shap_values.cells.read_ensemble",
        lambda given: attrs.evolve(read_ensemble(given), trees=read_ensemble(given).trees[1:]),
    )
    monkeypatch.setitem(READERS, "auto", (LeafShap,))
    with pytest.warns(faithkit.FaithkitWarning, match="TreeSHAP misses the model's own output by"):
        found = explained(model, table[:5], table[40:42], output="raw", target="all")
    assert found.shared["algorithm"] == "kernel"
    wanted = by_definition(model, table, table[:5], table[40:42])
    assert per_class(found) == pytest.approx(wanted, abs=PRECISION)
