"""Models in files: what each loader makes of them, and what it refuses."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from looping import one_test
from model_files.honest_models import Strange
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from faithkit import Predictor, load_model
from faithkit.errors import InputError, PluginError
from faithkit.inputs.models.model_columns import select_model_columns


@one_test
@pytest.mark.parametrize("suffix", ["joblib", "pkl", "pickle"])
def test_a_pickle_is_loaded_only_when_it_is_trusted(tmp_path, suffix):
    path = tmp_path / f"model.{suffix}"
    model = DecisionTreeClassifier().fit([[0], [1]], ["a", "b"])
    if suffix == "joblib":
        joblib.dump(model, path)
    else:
        path.write_bytes(pickle.dumps(model))
    with pytest.raises(InputError, match=r"loading .* runs code that is in it.*--trust-pickle"):
        load_model(str(path))
    assert load_model(path, trust_pickle=True).predict([[1]]).tolist() == ["b"]


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("the pickle was loaded",))


def test_an_untrusted_pickle_runs_nothing(tmp_path):
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InputError, match="runs code"):
        load_model(str(tmp_path / "model.pkl"))


def test_a_missing_or_damaged_pickle_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no file .*nowhere\.pkl"):
        load_model(str(tmp_path / "nowhere.pkl"), trust_pickle=True)
    (tmp_path / "half.pkl").write_bytes(pickle.dumps(DecisionTreeClassifier())[:40])
    with pytest.raises(InputError, match=r"loading .*half\.pkl failed .*damaged"):
        load_model(str(tmp_path / "half.pkl"), trust_pickle=True)


@pytest.fixture
def mixed():
    """A Pipeline with a ColumnTransformer, as people have them, and the table it was trained on."""
    frame = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0], "job": ["cook", "smith", "cook", "smith"]})
    prepare = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["job"]))
    return make_pipeline(prepare, LogisticRegression()).fit(frame, ["no", "yes", "no", "yes"]), frame


def test_a_skops_file_is_loaded(mixed, tmp_path):
    skops = pytest.importorskip("skops.io")
    model, frame = mixed
    skops.dump(model, tmp_path / "model.skops")
    assert load_model(tmp_path / "model.skops").predict(frame).tolist() == model.predict(frame).tolist()


def test_a_skops_file_with_strange_types_is_refused_and_names_them(tmp_path):
    skops = pytest.importorskip("skops.io")
    skops.dump(Strange(), tmp_path / "model.skops")
    name = f"{Strange.__module__}.Strange"
    with pytest.raises(InputError, match=rf"not trusted: {name}\. .*: --trust-types {name}$"):
        load_model(tmp_path / "model.skops")
    for names in (name, [name], f"os.system, {name}"):
        assert load_model(tmp_path / "model.skops", trust_types=names).predict([0]) == ["yes"]


def test_a_damaged_or_missing_skops_file_is_refused(tmp_path):
    pytest.importorskip("skops")
    (tmp_path / "half.skops").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"loading .*half\.skops failed with BadZipFile.*damaged"):
        load_model(str(tmp_path / "half.skops"))
    with pytest.raises(InputError, match=r"no file .*nowhere\.skops"):
        load_model(str(tmp_path / "nowhere.skops"))


@one_test
@pytest.mark.parametrize("kind", ["skops", "onnx"])
def test_a_file_whose_library_is_not_installed_says_how_to_install_it(kind, monkeypatch, tmp_path):
    (tmp_path / f"model.{kind}").touch()
    monkeypatch.setattr("faithkit.extension.component._is_installed", lambda name: False)
    with pytest.raises(PluginError, match=rf"needs '{kind}\w*', not installed.* pip install {kind}"):
        load_model(tmp_path / f"model.{kind}")


def saved_as_onnx(model, path, types, options=None):
    skl2onnx = pytest.importorskip("skl2onnx")
    made = skl2onnx.convert_sklearn(model, initial_types=types, options=options)
    path.write_bytes(made.SerializeToString())
    return load_model(path)


@one_test
@pytest.mark.parametrize("mapping", [True, False])
def test_an_onnx_model_answers_as_the_one_it_was_made_from(mapping, tmp_path):
    pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import FloatTensorType

    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    y = np.where(X[:, 0] > 0, "yes", "no")
    model = LogisticRegression().fit(X, y)
    options = {} if mapping else {id(model): {"zipmap": False}}
    types = [("X", FloatTensorType([None, 3]))]
    loaded = saved_as_onnx(model, tmp_path / "model.onnx", types, options)
    predictor = Predictor(loaded, background=X)
    assert predictor.classes.tolist() == ["no", "yes"]
    assert predictor.predict(X).tolist() == model.predict(X).tolist()
    assert predictor.scores(X) == pytest.approx(model.predict_proba(X), abs=1e-5)
    again = pickle.loads(pickle.dumps(loaded))
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_an_onnx_model_takes_the_columns_of_a_table(mixed, tmp_path):
    pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    model, frame = mixed
    types = [("age", FloatTensorType([None, 1])), ("job", StringTensorType([None, 1]))]
    loaded = saved_as_onnx(model, tmp_path / "model.onnx", types)
    assert loaded.predict(frame).tolist() == model.predict(frame).tolist()
    with pytest.raises(InputError, match="wants the column 'job'"):
        loaded.predict(frame[["age"]])
    assert list(select_model_columns(loaded, frame.assign(branch="north"))) == [name for name, _ in types]
    with pytest.raises(InputError, match="takes 2 named columns"):
        loaded.predict(frame.to_numpy())


def test_a_damaged_or_missing_onnx_file_is_refused(tmp_path):
    pytest.importorskip("onnxruntime")
    (tmp_path / "half.onnx").write_bytes(b"no model")
    with pytest.raises(InputError, match=r"loading .*half\.onnx failed with .*damaged"):
        load_model(tmp_path / "half.onnx")
    with pytest.raises(InputError, match=r"no file .*nowhere\.onnx"):
        load_model(tmp_path / "nowhere.onnx")
