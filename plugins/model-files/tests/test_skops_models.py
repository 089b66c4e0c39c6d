"""Honest models in skops files: every usual model is loaded, and predicts as before."""

import importlib
import json
import types
import warnings
import zipfile

import numpy as np
import pytest
from faithkit_model_files.skops_files import trusted_types
from lazy_modules import import_when_used
from looping import one_test
from model_files.forging import read_skops, write_skops
from model_files.honest_models import NAMES, Contrary, dictionaries, double, honest, sparse_svm
from scipy import sparse
from sklearn import __version__
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from faithkit import load_model
from faithkit.errors import FaithkitWarning, InputError

skops_io = import_when_used("skops.io")


@pytest.fixture
def save_and_load(tmp_path):
    def save(model, **options):
        skops_io.dump(model, tmp_path / "model.skops", **options)
        return load_model(tmp_path / "model.skops")

    return save


def assert_loaded(save_and_load, kind, name):
    model, X = honest(kind, name)
    loaded = save_and_load(model)
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    if hasattr(model, "predict_proba"):
        assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))


QUICK = [*NAMES[::36], ("numbers", "local outliers")]  # which knows rows without labels


@one_test
@pytest.mark.parametrize(("kind", "name"), QUICK)
def test_an_honest_model_is_loaded_and_answers_as_before(save_and_load, kind, name):
    assert_loaded(save_and_load, kind, name)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize(("kind", "name"), [name for name in NAMES if name not in QUICK])
def test_any_other_model_is_loaded_and_answers_as_before(save_and_load, kind, name):
    assert_loaded(save_and_load, kind, name)


def test_models_of_sparse_rows_and_of_dictionaries_are_loaded(save_and_load):
    X = sparse.csr_matrix(honest("numbers", "logistic")[1])
    assert save_and_load(sparse_svm()).predict(X).tolist() == sparse_svm().predict(X).tolist()
    model, rows = dictionaries()
    assert save_and_load(model).predict(rows).tolist() == model.predict(rows).tolist()


@one_test
@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_compressed_model_is_loaded(save_and_load, compression):
    model, X = honest("numbers", "tree")
    assert save_and_load(model, compression=compression).predict(X).tolist() == model.predict(X).tolist()


def resolve(name):
    """Return the object of a trusted name; None where this version of scikit-learn has no such thing."""
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError):
        return None


def test_a_trusted_name_is_the_name_that_it_was_defined_under():
    objects = {(loader, name): resolve(name) for loader, name in trusted_types()}
    installed = {key: item for key, item in objects.items() if item is not None}
    assert len(installed) > len(objects) / 2
    defined = {key: f"{item.__module__}.{item.__qualname__}" for key, item in installed.items()}
    # the second prefix since scikit-learn 1.9
    assert [name for (_, name), own in defined.items() if name not in (own, f"sklearn._loss.{own}")] == []
    functions = {key for key, item in installed.items() if is_function(item)}
    assert functions == {(loader, name) for loader, name in installed if loader == "FunctionNode"}
    assert all(isinstance(item, type) for key, item in installed.items() if key not in functions)


def is_function(item):
    return isinstance(item, types.FunctionType) or hasattr(item, "__wrapped__")


def test_the_refusal_of_types_of_ones_own_names_them_as_the_option_takes_them(tmp_path):
    X = np.arange(8.0).reshape(-1, 1)
    model = Contrary(make_pipeline(FunctionTransformer(double), LogisticRegression()).fit(X, X[:, 0] > 3))
    skops_io.dump(model, tmp_path / "model.skops")
    names = f"{Contrary.__module__}.Contrary,{Contrary.__module__}.double"
    with pytest.raises(InputError) as refusal:
        load_model(tmp_path / "model.skops")
    assert str(refusal.value).endswith(f"--trust-types {names}")
    assert "\n" not in str(refusal.value)
    loaded = load_model(tmp_path / "model.skops", trust_types=names)
    assert loaded.predict(X).tolist() == model.predict(X).tolist()


def test_the_refusal_repeats_the_names_that_were_given_already(tmp_path):
    skops_io.dump(Contrary(FunctionTransformer(double)), tmp_path / "model.skops")
    with pytest.raises(
        InputError,
        match=rf"not trusted: \S+double\. .*--trust-types {Contrary.__module__}\.Contrary,\S+double$",
    ):
        load_model(tmp_path / "model.skops", trust_types=f"{Contrary.__module__}.Contrary")


@one_test
@pytest.mark.parametrize("version", ["0.2", "0.11.0", "0.11.0.post1"])
def test_a_skops_that_forged_files_get_past_is_refused_in_words(tmp_path, monkeypatch, version):
    skops_io.dump(LogisticRegression(), tmp_path / "model.skops")
    monkeypatch.setattr("skops.__version__", version)
    with pytest.raises(
        InputError, match=rf"needs skops 0\.12 or newer: with {version}, .*pip install --upgrade"
    ):
        load_model(tmp_path / "model.skops")


@one_test
@pytest.mark.parametrize(
    ("version", "message"),
    [("0.24.1", "scikit-learn 0.24.1,"), ("1\n\x1b[2J", "scikit-learn of another version,")],
)
def test_a_model_of_another_scikit_learn_is_told_in_one_line(tmp_path, version, message):
    model, X = honest("numbers", "tree")
    path = tmp_path / "model.skops"
    schema, files = read_skops(skops_io.dumps(model))
    installed, other = (json.dumps(json.dumps(name)) for name in (__version__, version))
    write_skops(path, json.loads(json.dumps(schema).replace(installed, other)), files)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert load_model(path).predict(X).tolist() == model.predict(X).tolist()
    assert [(warning.category, warning.filename) for warning in warned] == [(FaithkitWarning, __file__)]
    assert message in str(warned[0].message)
    assert str(warned[0].message).isprintable()
