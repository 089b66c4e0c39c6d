"""Models in folders of MLflow: loaded from the disk if the user trusts them, and never from a server."""

import os

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

import faithkit
from faithkit import load_model
from faithkit.errors import InputError, PluginError

X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
y = ["no", "no", "yes", "yes"]


def test_a_folder_is_loaded_only_when_it_is_trusted(tmp_path):
    (tmp_path / "MLmodel").write_text("flavors: {}\n")
    with pytest.raises(InputError, match=r"runs code that is in it.*--trust-pickle \(trust_pickle=True"):
        load_model(tmp_path)


def test_a_folder_without_a_model_is_none(tmp_path):
    with pytest.raises(InputError, match=r"neither a file of a known kind.*or a file or folder \(.*MLmodel"):
        load_model(tmp_path)


@one_test
@pytest.mark.parametrize("place", ["models:/credit/3", "runs:/0a1b/model"])
def test_a_server_is_not_asked_and_the_way_to_a_folder_is_told(place):
    with pytest.raises(
        InputError, match=f"mlflow artifacts download -u {place} -d model, and give the folder"
    ):
        load_model(place)


def test_without_mlflow_it_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "MLmodel").write_text("flavors: {}\n")
    monkeypatch.setattr("faithkit.extension.component._is_installed", lambda name: False)
    with pytest.raises(PluginError, match=r"needs 'mlflow', not installed.*pip install mlflow-skinny"):
        load_model(tmp_path, trust_pickle=True)


@pytest.fixture
def mlflow(monkeypatch):
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    return pytest.importorskip("mlflow")


def save_estimator(mlflow, model, folder):
    """Save an estimator without looking for what it needs, which takes long."""
    pytest.importorskip("mlflow.sklearn").save_model(
        model, folder, serialization_format="cloudpickle", pip_requirements=[]
    )
    return folder


def test_an_estimator_comes_back_with_its_scores(mlflow, tmp_path):
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    loaded = load_model(save_estimator(mlflow, model, tmp_path / "model"), trust_pickle=True)
    assert faithkit.Predictor(loaded).predict(X).tolist() == y
    assert faithkit.Predictor(loaded).scores(X).tolist() == model.predict_proba(X).tolist()


def test_a_regressor_is_one(mlflow, tmp_path):
    model = LinearRegression().fit(X, [0.5, 1.5, 2.5, 3.5])
    loaded = load_model(save_estimator(mlflow, model, tmp_path / "model"), trust_pickle=True)
    assert faithkit.Predictor(loaded).is_regressor


def test_a_class_of_ones_own_answers_through_mlflow(mlflow, tmp_path):
    class Chances(mlflow.pyfunc.PythonModel):
        def predict(self, context, model_input, params=None):
            return np.column_stack([1 - model_input["a"] / 3, model_input["a"] / 3])

    mlflow.pyfunc.save_model(tmp_path / "model", python_model=Chances(), pip_requirements=[])
    model = load_model(tmp_path / "model", trust_pickle=True)
    with pytest.raises(InputError, match=r"Predictor\(scores=model\.predict, classes=\[0, 1\]\)"):
        faithkit.Predictor(model).predict(X)
    named = load_model(tmp_path / "model", trust_pickle=True, classes=["no", "yes"])
    assert named.predict(X).tolist() == y
    result = faithkit.evaluate(named, X, "tree", background=X, progress=False)
    assert result.rows.row_predictions == y


def test_a_damaged_folder_is_refused_in_one_line(mlflow, tmp_path):
    (tmp_path / "MLmodel").write_text("flavors: {}\n")
    with pytest.raises(InputError, match=r"loading .* failed with .*requirements\.txt") as refusal:
        load_model(tmp_path, trust_pickle=True)
    assert "\n" not in str(refusal.value)


def test_nothing_is_told_to_anybody(tmp_path, monkeypatch):
    pytest.importorskip("mlflow")
    monkeypatch.delenv("MLFLOW_DISABLE_TELEMETRY", raising=False)
    (tmp_path / "MLmodel").write_text("flavors: {}\n")
    with pytest.raises(InputError):
        load_model(tmp_path, trust_pickle=True)
    assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true"
