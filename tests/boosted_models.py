"""Models of XGBoost, LightGBM and CatBoost, and tables on which they show what is their own."""

import attrs
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

SMALL = {
    "xgboost": {"n_estimators": 5, "max_depth": 3, "n_jobs": 1},
    "lightgbm": {"n_estimators": 5, "num_leaves": 6, "min_child_samples": 2, "n_jobs": 1, "verbose": -1},
    "catboost": {"iterations": 5, "depth": 3, "thread_count": 1, "verbose": 0, "allow_writing_files": False},
}
NAMES = {"xgboost": "XGBClassifier", "lightgbm": "LGBMClassifier", "catboost": "CatBoostClassifier"}
SETS = {"cat_smooth": 1, "cat_l2": 0, "min_data_per_group": 1, "max_cat_to_onehot": 1}  # out of few rows


@attrs.frozen
class Case:
    """A model to fit, and to what."""

    library: str
    params: dict = attrs.field(factory=dict)
    words: bool = False
    classes: int = 2
    stopped: bool = False
    kind: str = ""

    @property
    def precision(self):
        """How exact its scores are: XGBoost adds up in float32."""
        return 1e-4 if self.library == "xgboost" else 1e-9

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
    table = pd.DataFrame(
        {name: np.array(values)[codes[:, j]] for j, (name, values) in enumerate(names.items())}
    )
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
    "lightgbm, sets of categories": Case("lightgbm", SETS, words=True, classes=3),
    "lightgbm, sets, 0 is missing": Case("lightgbm", SETS | {"zero_as_missing": True}, words=True),
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
