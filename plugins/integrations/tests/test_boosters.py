"""Boosters and bare CatBoost models: predictors answer as the models do, and explainers read their trees."""

import attrs
import numpy as np
import pandas as pd
import pytest
from looping import one_test

import faithkit

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(200, 4)).round(1), columns=list("abcd"))
TWO = (X["a"] + X["b"] > 0).astype(int)
THREE = np.digitize(X["a"], [-0.5, 0.5])
NUMBER = 2 * X["a"] + X["b"]
QUIET = {"thread_count": 1, "verbose": 0, "allow_writing_files": False, "iterations": 5}


@attrs.frozen
class Trained:
    """A model as its library trains it, and the function by which the library predicts."""

    model: object
    predict: object


def train_xgboost(y, **params):
    library = pytest.importorskip("xgboost")
    booster = library.train({"nthread": 1, **params}, library.DMatrix(X, y), 5)
    return Trained(booster, lambda X: booster.predict(library.DMatrix(X)))


def train_lightgbm(y, **params):
    library = pytest.importorskip("lightgbm")
    params = {"num_threads": 1, "verbose": -1, "min_data_in_leaf": 5, **params}
    booster = library.train(params, library.Dataset(X, y), 5)
    return Trained(booster, booster.predict)


def train_catboost(y, **params):
    library = pytest.importorskip("catboost")
    model = library.CatBoost({**QUIET, **params}).fit(X, y)
    kind = "RawFormulaVal" if params["loss_function"] == "RMSE" else "Probability"

    def predict(X):
        predictions = model.predict(X, prediction_type=kind)
        return predictions[:, 1] if kind == "Probability" and predictions.shape[1] == 2 else predictions

    return Trained(model, predict)


CASES = {
    "xgboost two": (train_xgboost, TWO, {"objective": "binary:logistic"}),
    "xgboost three": (train_xgboost, THREE, {"objective": "multi:softprob", "num_class": 3}),
    "xgboost number": (train_xgboost, NUMBER, {}),
    "lightgbm two": (train_lightgbm, TWO, {"objective": "binary"}),
    "lightgbm three": (train_lightgbm, THREE, {"objective": "multiclass", "num_class": 3}),
    "lightgbm number": (train_lightgbm, NUMBER, {}),
    "catboost two": (train_catboost, TWO, {"loss_function": "Logloss"}),
    "catboost three": (train_catboost, THREE, {"loss_function": "MultiClass"}),
    "catboost number": (train_catboost, NUMBER, {"loss_function": "RMSE"}),
}


@one_test
@pytest.mark.parametrize("name", CASES)
def test_labels_scores_and_numbers_are_those_of_the_model_itself(name):
    train, y, params = CASES[name]
    trained = train(y, **params)
    predictor, expected = faithkit.Predictor(trained.model), np.asarray(trained.predict(X), dtype=np.float64)
    if name.endswith("number"):
        assert predictor.is_regressor
        assert np.allclose(predictor.predict(X), expected, atol=1e-6)
        return
    scores = np.column_stack([1 - expected, expected]) if expected.ndim == 1 else expected
    assert np.allclose(predictor.scores(X), scores, atol=1e-6)
    assert predictor.predict(X).tolist() == scores.argmax(axis=1).tolist()
    assert predictor.classes.tolist() == list(range(scores.shape[1]))


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("name", [name for name in CASES if "three" not in name])
def test_shap_reads_the_trees(name):
    train, y, params = CASES[name]
    model = train(y, **params).model
    result = faithkit.evaluate(model, X[:40], "shap", discretizer="sign", background=X[100:], progress=False)
    assert result.rows.explanations.shared["algorithm"] == "leaves"


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("name", [name for name in CASES if "two" in name])
def test_classes_are_named_by_a_predictor_and_workers_take_it(name):
    train, y, params = CASES[name]
    model = train(y, **params).model
    named = faithkit.Predictor(model, classes=["no", "yes"])
    expected = np.array(["no", "yes"])[faithkit.Predictor(model).predict(X)]
    assert named.predict(X).tolist() == expected.tolist()
    alone, together = (
        faithkit.evaluate(
            named, X[:6], "shap", discretizer="sign", background=X[180:], n_jobs=n_jobs, progress=False
        )
        for n_jobs in (1, 2)
    )
    assert alone.to_dict() == together.to_dict()
    assert set(alone.rows.predictions) <= {"no", "yes"}


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("train", [train_xgboost, train_lightgbm])
def test_a_store_keeps_explanations_of_boosters(train, tmp_path):
    model = train(TWO, objective="binary:logistic" if train is train_xgboost else "binary").model
    executor = f"stored:folder={tmp_path}"
    first, again = (
        faithkit.evaluate(
            model, X[:10], "shap", discretizer="sign", background=X[180:], executor=executor, progress=False
        )
        for _ in range(2)
    )
    assert first.to_dict() == again.to_dict()


@one_test
@pytest.mark.parametrize("train", [train_xgboost, train_lightgbm])
def test_probabilities_are_numbers_where_somebody_says_so(train):
    params = {"objective": "binary:logistic" if train is train_xgboost else "binary"}
    trained = train(TWO, **params)
    predictor = faithkit.Predictor(trained.model, outcome="numbers")
    assert np.allclose(predictor.predict(X), trained.predict(X), atol=1e-6)


@one_test
@pytest.mark.parametrize("name", ["catboost two", "catboost three"])
def test_raw_scores_of_catboost_are_numbers_where_somebody_says_so(name):
    train, y, params = CASES[name]
    model = train(y, **params).model
    result = faithkit.evaluate(model, X, lambda rows: rows["a"].tolist(), outcome="numbers", progress=False)
    raw = faithkit.score(model.predict(X), X["a"].tolist(), outcome="numbers")
    assert result.consistency.value == pytest.approx(raw.consistency.value)


@one_test
@pytest.mark.parametrize("name", [name for name in CASES if "two" in name])
def test_columns_are_found_by_name_whatever_their_order_and_whatever_else_there_is(name):
    train, y, params = CASES[name]
    model = train(y, **params).model
    plain, other = (
        faithkit.evaluate(model, rows, lambda rows: rows["c"].tolist(), progress=False)
        for rows in (X, X[["d", "b", "a", "c"]].assign(branch="north"))
    )
    assert plain.consistency == other.consistency


def test_a_booster_that_was_stopped_early_answers_with_all_its_trees_as_it_does_itself():
    library = pytest.importorskip("xgboost")
    parts = [library.DMatrix(X[rows], TWO[rows]) for rows in (slice(0, 100), slice(100, 200))]
    params = {"objective": "binary:logistic", "eta": 1.0, "nthread": 1}
    booster = library.train(
        params, parts[0], 60, evals=[(parts[1], "later")], early_stopping_rounds=3, verbose_eval=False
    )
    assert booster.best_iteration + 1 < booster.num_boosted_rounds()
    expected = booster.predict(library.DMatrix(X))
    assert np.allclose(faithkit.Predictor(booster).scores(X)[:, 1], expected, atol=1e-6)
    assert booster.attr("best_iteration") is not None


def test_a_booster_takes_a_table_with_categories():
    library = pytest.importorskip("xgboost")
    table = X.assign(job=pd.Categorical(np.where(X["a"] > 0, "nurse", "smith")))
    data = library.DMatrix(table, TWO, enable_categorical=True)
    booster = library.train({"objective": "binary:logistic", "nthread": 1}, data, 5)
    assert np.allclose(faithkit.Predictor(booster).scores(table)[:, 1], booster.predict(data), atol=1e-6)


@one_test
@pytest.mark.parametrize(
    ("train", "y", "params", "message"),
    [
        (
            train_xgboost,
            NUMBER,
            {},
            "objective is reg:squarederror, which gives numbers: leave the classes out",
        ),
        (train_lightgbm, NUMBER, {}, "objective is regression, which gives numbers"),
        (
            train_lightgbm,
            TWO,
            {"objective": lambda scores, data: (scores - data.get_label(), np.ones_like(scores))},
            r"objective is a function, which gives numbers.*faithkit\.Predictor\(scores=f",
        ),
        (train_xgboost, TWO, {"objective": "binary:logitraw"}, r"log-odds: write faithkit\.Predictor\("),
    ],
)
def test_classes_of_a_booster_without_any_are_refused_with_what_to_write(train, y, params, message):
    with pytest.raises(faithkit.errors.InputError, match=message):
        faithkit.Predictor(train(y, **params).model, classes=["no", "yes"])


def test_what_the_refusal_of_log_odds_says_works():
    library, scipy = pytest.importorskip("xgboost"), pytest.importorskip("scipy.special")
    booster = train_xgboost(TWO, objective="binary:logitraw").model
    with pytest.raises(faithkit.errors.InputError) as refusal:
        faithkit.Predictor(booster)
    code = str(refusal.value).partition("write ")[2].rstrip(".")
    names = {"faithkit": faithkit, "scipy": type("scipy", (), {"special": scipy}), "xgboost": library}
    predictor = eval(code, {**names, "booster": booster})
    log_odds = booster.predict(library.DMatrix(X))
    assert predictor.predict(X).tolist() == (log_odds > 0).astype(int).tolist()


def test_estimators_of_catboost_stay_what_they_are():
    library = pytest.importorskip("catboost")
    model = library.CatBoostClassifier(**QUIET).fit(X, THREE)
    assert faithkit.Predictor(model).model is model
    assert faithkit.Predictor(model).predict(X).shape == (200,)
