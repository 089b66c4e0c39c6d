"""Loaders of model files: what each makes of a file and what it refuses; no pickle is opened unless a user trusts it."""

import os
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from faithkit_model_files.loaders import OnnxFiles
from looping import one_test
from model_files.forging import CANARY, TOUCH
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
        return (os.system, (TOUCH,))


@one_test
@pytest.mark.parametrize(
    ("suffix", "protocol"), [("pkl", 0), ("pickle", 2), ("joblib", 5), ("PKL", 5), ("Joblib", 0)]
)
def test_a_pickle_that_nobody_trusts_is_never_opened(assert_refused, here, suffix, protocol):
    (here / f"model.{suffix}").write_bytes(pickle.dumps(Trap(), protocol))
    assert_refused("loading model.* runs code that is in it.* say --trust-pickle", f"model.{suffix}")


@one_test
@pytest.mark.parametrize("trust_pickle", [False, True])
@pytest.mark.parametrize(("suffix", "protocol"), [("skops", 0), ("SKOPS", 5), ("onnx", 2), ("Onnx", 0)])
def test_a_pickle_under_the_name_of_another_format_is_never_opened(here, suffix, protocol, trust_pickle):
    pytest.importorskip({"s": "skops", "o": "onnxruntime"}[suffix[0].lower()])
    (here / f"model.{suffix}").write_bytes(pickle.dumps(Trap(), protocol))
    with pytest.raises(InputError, match=rf"^loading model\.{suffix} failed with .*damaged"):
        load_model(f"model.{suffix}", trust_pickle=trust_pickle)
    assert (here / CANARY).read_text() == "alive"


NAMES = ["model", "model.txt", "model.pkl.gz", "model.npy", "model.pkl.txt", "x" * 300 + ".skops"]


@one_test
@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:20])
def test_a_file_of_another_kind_is_not_opened(assert_refused, here, name):
    if len(name) < 255:
        (here / name).write_bytes(pickle.dumps(Trap()))
    assert_refused("neither a file of a known kind|looking for x.* failed with OSError|no file", name)


def test_a_pickle_that_is_trusted_is_what_its_maker_says(here):
    (here / "model.pkl").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InputError, match="type int; expected an object with a predict method"):
        load_model("model.pkl", trust_pickle=True)
    assert (here / CANARY).read_text().strip() == "dead"


def test_a_missing_or_damaged_pickle_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no file .*nowhere\.pkl"):
        load_model(str(tmp_path / "nowhere.pkl"), trust_pickle=True)
    (tmp_path / "half.pkl").write_bytes(pickle.dumps(DecisionTreeClassifier())[:40])
    with pytest.raises(InputError, match=r"loading .*half\.pkl failed .*damaged"):
        load_model(str(tmp_path / "half.pkl"), trust_pickle=True)


@pytest.fixture(scope="module")
def pipeline():
    """Return a Pipeline with a ColumnTransformer, and the table it was trained on."""
    frame = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0], "job": ["cook", "smith", "cook", "smith"]})
    prepare = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["job"]))
    return make_pipeline(prepare, LogisticRegression()).fit(frame, ["no", "yes", "no", "yes"]), frame


def test_a_skops_file_is_loaded(pipeline, tmp_path):
    skops = pytest.importorskip("skops.io")
    model, frame = pipeline
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


def convert_to_onnx(model, path, types, options=None):
    skl2onnx = pytest.importorskip("skl2onnx")
    converted = skl2onnx.convert_sklearn(model, initial_types=types, options=options)
    path.write_bytes(converted.SerializeToString())
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
    loaded = convert_to_onnx(model, tmp_path / "model.onnx", types, options)
    predictor = Predictor(loaded, background=X)
    assert predictor.classes.tolist() == ["no", "yes"]
    assert predictor.predict(X).tolist() == model.predict(X).tolist()
    assert predictor.scores(X) == pytest.approx(model.predict_proba(X), abs=1e-5)
    copied = pickle.loads(pickle.dumps(loaded))
    assert copied.predict(X).tolist() == model.predict(X).tolist()


def test_an_onnx_model_takes_the_columns_of_a_table(pipeline, tmp_path):
    pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    model, frame = pipeline
    types = [("age", FloatTensorType([None, 1])), ("job", StringTensorType([None, 1]))]
    loaded = convert_to_onnx(model, tmp_path / "model.onnx", types)
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


def test_missing_values_of_nullable_columns_reach_an_onnx_model_as_nan(tmp_path):
    pytest.importorskip("onnxruntime")
    path, _ = OnnxFiles().example(str(tmp_path))
    X = pd.DataFrame({"size": pd.Series([0.1, 0.9, pd.NA], dtype=object)})  # as of Int64 beside float64
    assert load_model(path).predict(X)[:2].tolist() == [0, 1]
