import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from inputs.frames import people
from looping import one_test
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

from faithkit import Predictor
from faithkit.errors import InputError
from faithkit.inputs.datasets import load_dataset
from faithkit.inputs.models.default_models import DEFAULTS, default_model, train_default
from faithkit.inputs.models.model_loading import load_model

NAMES = ["gradient-boosting", "random-forest", "logistic", "tree", "knn"]


def make_persons(n=120):
    """Return raw mixed rows with missing values, and a label that depends on the job and the children."""
    rows = np.random.default_rng(0).integers(0, 3, n)
    frame = people().iloc[rows].reset_index(drop=True)
    return frame, np.where((frame["job"] == "smith") | (frame["children"] == 0).fillna(False), "yes", "no")


def test_the_default_models_are_these():
    assert sorted(DEFAULTS) == sorted([*NAMES, "linear"])


@one_test
@pytest.mark.parametrize("name", ["gradient-boosting", "random-forest", "linear", "tree", "knn"])
@pytest.mark.usefixtures("few_trees")
def test_a_target_with_fractions_is_learnt_by_a_regressor(name):
    X, _ = make_persons()
    y = np.linspace(0.5, 9.25, len(X))
    model, train, test = train_default(name, X, y)
    assert is_regressor(model)
    assert len(train) + len(test) == len(X)
    assert model.predict(X.iloc[test]).dtype == np.float64


@one_test
@pytest.mark.parametrize(
    ("y", "outcome", "regressor"),
    [([1, 2, 3, 4], None, False), ([1, 2, 3, 4], "numbers", True), ([1.0, 2.0, 1.0, 2.0], None, False)],
)
def test_whole_numbers_are_labels_unless_somebody_says_otherwise(y, outcome, regressor):
    model, *_ = train_default("tree", np.arange(8.0).reshape(4, 2), y, outcome=outcome)
    assert is_regressor(model) == regressor


@one_test
@pytest.mark.parametrize(
    ("name", "outcome", "proposal"), [("logistic", "numbers", "linear"), ("linear", "labels", "logistic")]
)
def test_a_model_that_cannot_predict_the_target_names_one_that_can(name, outcome, proposal):
    with pytest.raises(InputError, match=f"'{name}' does not predict {outcome}.*take '{proposal}'"):
        default_model(name, outcome=outcome)


def test_words_are_no_numbers_to_learn():
    with pytest.raises(InputError, match="target has other values than numbers, such as 'a'"):
        train_default("tree", np.arange(8.0).reshape(4, 2), list("abab"), outcome="numbers")


@one_test
@pytest.mark.parametrize("name", NAMES)
def test_numbers_without_gaps_get_the_bare_estimator(name):
    numbers = pd.DataFrame({"a": [1.0, 2.0], "b": [1, 2], "c": [True, False]})
    for X in (numbers, numbers.to_numpy(float), sparse.csr_array(numbers.to_numpy(float)), None):
        assert not isinstance(default_model(name, X), Pipeline)
    assert isinstance(default_model(name, numbers.assign(a=[1.0, np.nan])), Pipeline)
    assert isinstance(default_model(name, numbers.assign(a=["x", "y"])), Pipeline)


@one_test
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("few_trees")
def test_raw_mixed_frames_with_missing_values_can_be_learnt(name):
    X, y = make_persons()
    model = default_model(name, X).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    assert Predictor(model).scores(X).shape == (120, 2)
    reordered = X[X.columns[::-1]]
    assert model.predict(reordered).tolist() == y.tolist()
    # values that it has not seen are predicted as well
    odd = X.iloc[:2].assign(job=["pilot", None], age=[31, 28], active=[True, True])
    odd["height"] = np.nan
    assert set(model.predict(odd)) <= {"yes", "no"}


@one_test
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("few_trees")
def test_object_arrays_texts_and_sparse_matrices_can_be_learnt(name):
    X, _ = make_persons()
    objects = X[["age", "height", "town", "mixed"]].to_numpy(object)
    labels = np.where(X["town"] == "Bonn", 1, 0)
    assert default_model(name, objects).fit(objects, labels).predict(objects).tolist() == labels.tolist()
    texts = ["good film", "bad film"] * 20
    assert default_model(name, texts).fit(texts, [1, 0] * 20).predict(["good"]).tolist() == [1]
    counts = sparse.csr_array(np.tile([[2.0, 0.0], [0.0, 3.0]], (20, 1)))
    assert default_model(name, counts).fit(counts, [1, 0] * 20).predict(counts[:2]).tolist() == [1, 0]


@pytest.mark.usefixtures("few_trees")
def test_a_trained_default_model_survives_pickling():
    X, y = make_persons()
    model, _, test = train_default("gradient-boosting", X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X.iloc[test]).tolist() == model.predict(X.iloc[test]).tolist()


def test_an_unknown_default_is_answered_with_the_nearest():
    with pytest.raises(
        InputError, match=r"no default model 'random-forrest'\. Did you mean 'random-forest'\?"
    ):
        default_model("random-forrest")


def test_the_split_is_66_to_34_and_stratified():
    X = pd.DataFrame({"row": np.arange(300.0)})
    y = np.where(np.arange(300) % 10 == 0, "rare", "common")
    model, train, test = train_default("tree", X, y, seed=3)
    assert (len(train), len(test)) == (198, 102)
    assert sorted([*train, *test]) == list(range(300))
    assert sum(y[test] == "rare") == 10  # 34 % of 30, rounded
    assert (np.diff(train) > 0).all()
    assert model.classes_.tolist() == ["common", "rare"]


def test_a_class_with_one_row_does_not_stop_the_split():
    X = np.arange(20.0).reshape(10, 2)
    _, train, test = train_default("tree", X, ["a"] * 5 + ["b"] * 4 + ["once"])
    assert (len(train), len(test)) == (7, 3)


@pytest.mark.usefixtures("few_trees")
def test_the_same_seed_gives_the_same_split_and_model():
    data = load_dataset("iris")
    first, same_seed, other_seed = (
        train_default("random-forest", data.X, data.y, seed) for seed in (0, 0, 2**40 + 1)
    )
    assert first[2].tolist() == same_seed[2].tolist()
    assert (first[0].predict_proba(data.X) == same_seed[0].predict_proba(data.X)).all()
    assert first[2].tolist() != other_seed[2].tolist()


@one_test
@pytest.mark.parametrize(("name", "models"), [("wine", NAMES), ("breast-cancer", ["logistic"])])
def test_default_models_are_right_about_most_rows_they_never_saw(name, models, recwarn):
    data = load_dataset(name)
    for model_name in models:
        model, _, test = train_default(model_name, data.X, data.y)
        accuracy = (model.predict(data.X.iloc[test]) == data.y[test]).mean()
        assert accuracy > (0.6 if model_name == "knn" else 0.88)
    assert not [w for w in recwarn if "converge" in str(w.message)]


@one_test
@pytest.mark.parametrize(
    ("y", "words"),
    [
        (["a", "b"], r"target has shape \(2,\); expected \(4,\)"),
        (["a", None, "b", None], "target is missing in 2 of 4 rows"),
        (["a"] * 4, "target is 'a' in every row; expected at least two classes"),
        ([0.1, np.inf, 0.3, 0.4], "target is infinite in row 1: drop such rows"),
        ([[0.1]] * 4, r"target has shape \(4, 1\); expected \(4,\)"),
    ],
)
def test_a_target_that_cannot_be_learnt_is_refused(y, words):
    with pytest.raises(InputError, match=words):
        train_default("tree", np.arange(8.0).reshape(4, 2), y)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Make a folder with a module the current one, and leave no trace of it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    (tmp_path / "bank_models.py").write_text(
        "class Model:\n    def predict(self, X):\n        return [1] * len(X)\n\n\n"
        "model = Model()\n\n\ndef approve(X):\n    return X[:, 0] > 1000\n\n\nlimit = 1000\n"
    )
    (tmp_path / "broken_models.py").write_text("import nowhere_to_be_found\n")
    (tmp_path / "leaving_models.py").write_text("import sys\n\nsys.exit(0)\n")
    (tmp_path / "hidden_models.py").write_text("def __getattr__(name):\n    raise SystemExit(0)\n")
    return tmp_path


def test_a_model_is_imported_from_the_current_directory(here):
    assert load_model("bank_models:model").predict([0, 0]) == [1, 1]
    assert load_model("bank_models:approve")(np.array([[2000.0]])).tolist() == [True]
    assert load_model("bank_models:model.predict")([0]) == [1]
    assert str(here) in sys.path


@one_test
@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("bank_models:aprove", r"'bank_models' has no 'aprove'\. Did you mean 'approve'\?"),
        ("bank_models:limit", "type int; expected an object with a predict method"),
        ("bank_models:Model", "class Model; expected a fitted instance"),
        (
            "bank_modles:model",
            "importing the module 'bank_modles' failed with ModuleNotFoundError.*current directory",
        ),
        ("broken_models:model", "importing the module 'broken_models' failed with .*nowhere_to_be_found"),
        ("leaving_models:model", "importing the module 'leaving_models' failed with SystemExit: 0"),
        ("hidden_models:model", "looking up hidden_models:model failed with SystemExit: 0"),
        (":model", "importing the module '' failed"),
        ("bank_models:", "has no ''"),
        (
            "model.pb",
            r"'model\.pb' is neither .*expected module:attribute, or a file or folder \(\.joblib, .*\.skops",
        ),
        ("gradient-boosting", "neither a file of a known kind nor a name in a module"),
        ("logistik", r"On the command line also a default model: .*\. Did you mean 'logistic'\?"),
    ],
)
def test_a_reference_that_leads_to_no_model_is_refused_in_one_line(here, reference, words):
    with pytest.raises(InputError, match=words) as error:
        load_model(reference)
    assert "\n" not in str(error.value)
