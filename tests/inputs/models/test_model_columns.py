"""A model sees the columns that it was fitted with, in its order, whatever it is wrapped in."""

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import faithkit
from faithkit.errors import InputError
from faithkit.inputs.models.model_columns import describe_unused_columns, select_model_columns

N = 40
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "day": pd.date_range("2026-01-01", periods=N),
        "branch": RNG.choice(["north", "south"], N),
        "debt ratio": RNG.normal(size=N),
        "age": RNG.integers(20, 60, N).astype(float),
    }
)
Y = np.where(TABLE["debt ratio"] > 0, "no", "yes")
MODEL_COLUMNS = ["age", "debt ratio"]


def fit_xgboost():
    return pytest.importorskip("xgboost").XGBClassifier(n_estimators=2).fit(TABLE[MODEL_COLUMNS], Y == "yes")


def fit_lightgbm():
    model = pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=2, verbose=-1)
    return model.fit(TABLE[MODEL_COLUMNS], Y)  # which writes debt_ratio


def fit_catboost():
    model = pytest.importorskip("catboost").CatBoostClassifier(iterations=2, verbose=0)
    return model.fit(TABLE[MODEL_COLUMNS], Y)


MODELS = {
    "tree": lambda: DecisionTreeClassifier().fit(TABLE[MODEL_COLUMNS], Y),
    "Predictor": lambda: faithkit.Predictor(DecisionTreeClassifier().fit(TABLE[MODEL_COLUMNS], Y)),
    "steps": lambda: make_pipeline(StandardScaler(), LogisticRegression()).fit(TABLE[MODEL_COLUMNS], Y),
    "search": lambda: GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, cv=2).fit(
        TABLE[MODEL_COLUMNS], Y
    ),
    "calibrated": lambda: CalibratedClassifierCV(DecisionTreeClassifier(), cv=2).fit(TABLE[MODEL_COLUMNS], Y),
    "xgboost": fit_xgboost,
    "lightgbm": fit_lightgbm,
    "catboost": fit_catboost,
}


@one_test
@pytest.mark.parametrize("name", MODELS)
def test_a_model_sees_its_columns_in_its_order_and_predicts(name):
    model = MODELS[name]()
    selected = select_model_columns(model, TABLE)
    assert list(selected) == MODEL_COLUMNS
    assert len(faithkit.Predictor(model).predict(selected)) == N


@one_test
@pytest.mark.parametrize(
    "columns",
    [MODEL_COLUMNS, [3, 2], slice("debt ratio", "age"), [False, False, True, True], lambda X: MODEL_COLUMNS],
    ids=["names", "places", "slice", "mask", "function"],
)
def test_what_a_column_transformer_drops_is_not_seen_and_need_not_be_there(columns):
    chosen = ColumnTransformer([("numbers", StandardScaler(), columns), ("gone", "drop", ["day"])])
    model = make_pipeline(chosen, LogisticRegression()).fit(TABLE, Y)
    assert sorted(select_model_columns(model, TABLE)) == MODEL_COLUMNS
    selected = select_model_columns(model, TABLE[MODEL_COLUMNS])
    assert np.array_equal(model.predict(selected), model.predict(TABLE))


def test_what_one_part_drops_and_another_takes_is_seen():
    parts = [("gone", "drop", ["age"]), ("numbers", StandardScaler(), MODEL_COLUMNS)]
    assert sorted(select_model_columns(ColumnTransformer(parts).fit(TABLE), TABLE)) == MODEL_COLUMNS


class Odd:
    """A model whose names are not what they should be."""

    def __init__(self, names):
        self.names = names

    @property
    def feature_names_in_(self):
        if isinstance(self.names, Exception):
            raise self.names
        return self.names

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


@one_test
@pytest.mark.parametrize("names", [None, [], 7, [1, 2], ["age", "age"], RuntimeError("not fitted")], ids=repr)
def test_names_that_are_none_change_nothing(names):
    assert select_model_columns(Odd(names), TABLE) is TABLE


@one_test
@pytest.mark.parametrize(
    "X", [TABLE[MODEL_COLUMNS], TABLE[MODEL_COLUMNS].to_numpy(), ["a text"]], ids=["same", "array", "texts"]
)
def test_rows_that_need_no_change_stay_what_they_are(X):
    assert select_model_columns(MODELS["tree"](), X) is X


def test_names_that_a_library_made_up_for_an_array_change_nothing():
    assert select_model_columns(Odd(["Column_0", "Column_1"]), TABLE[MODEL_COLUMNS]).equals(
        TABLE[MODEL_COLUMNS]
    )


def test_columns_that_a_model_needs_are_named_where_they_lack():
    with pytest.raises(InputError, match=r"the pool lacks 'age'; expected .* \('age', 'debt ratio'\)"):
        select_model_columns(MODELS["tree"](), TABLE.drop(columns="age"), "the pool")
    with pytest.raises(InputError, match="X lacks 'age'"):  # as many as it needs, and not all of them
        select_model_columns(MODELS["tree"](), TABLE[["branch", "debt ratio"]])


@one_test
@pytest.mark.parametrize(
    ("table", "selected", "sentences"),
    [
        (TABLE, TABLE, ()),
        (TABLE[["debt ratio", "age"]], TABLE[MODEL_COLUMNS], ()),
        (TABLE[["age", "day"]], TABLE[["age"]], ("The model does not use the column 'day'.",)),
        (TABLE, TABLE[MODEL_COLUMNS], ("The model does not use the columns 'day' and 'branch'.",)),
    ],
    ids=["all", "another order", "one", "two"],
)
def test_the_columns_that_a_model_does_not_use_are_told(table, selected, sentences):
    assert describe_unused_columns(table, selected) == sentences


@one_test
@pytest.mark.parametrize("explainer", ["shap", "tree"])
def test_importances_of_a_pipeline_that_drops_columns_are_those_of_its_own(explainer):
    chosen = ColumnTransformer([("words", OneHotEncoder(), ["branch"]), ("numbers", "passthrough", ["age"])])
    model = make_pipeline(chosen, DecisionTreeClassifier(max_depth=3, random_state=0)).fit(TABLE, Y)
    rows = faithkit.evaluate(model, TABLE, explainer=explainer, background=TABLE).rows
    assert list(rows.X) == ["branch", "age"]
    if explainer == "shap":
        alone = make_pipeline(chosen, model[-1])
        narrow = TABLE[["branch", "age"]]
        alone[0].fit(narrow)
        narrow_rows = faithkit.evaluate(alone, narrow, explainer=explainer, background=narrow).rows
        assert np.allclose(rows.explanations.values, narrow_rows.explanations.values)
