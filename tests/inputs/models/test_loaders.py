"""Loaders of other people: found by the type of a file, and never used to run code unasked."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from looping import one_test

from faithkit.errors import ContractError, InputError, ParameterError
from faithkit.extension.registry import Registry
from faithkit.inputs.models import model_loading
from faithkit.inputs.models.model_loading import load_model

HOUSE = Path(__file__).parents[3] / "docs" / "howto"
PLUGIN = """
from faithkit.plugin import Component, hookimpl
FAITHKIT_API = 1

@hookimpl
def faithkit_loaders():
    for name in ("Silent", "Empty", "Raises", "Folder", "One", "Other"):
        kind = "acme.txt" if name == "Folder" else ".both" if name in ("One", "Other") else "." + name.lower()
        yield Component(name=name.lower(), factory=f"{__name__}:{name}", summary="…", types=(kind,))

class Folder:
    runs_code = False
    def load(self, path):
        return lambda X: ["yes"] * len(X)

class Silent:
    def load(self, path):
        raise AssertionError("was loaded")

class Empty(Folder):
    def load(self, path):
        return None

class Raises(Folder):
    def load(self, path):
        raise SystemExit(0)

class One(Folder):
    pass

class Other(Folder):
    pass
"""


@pytest.fixture
def acme(tmp_path, monkeypatch):
    """Be in a folder with a file for each of acme's loaders, and with the house's."""
    (tmp_path / "acme_loaders.py").write_text(PLUGIN)
    for name in ("a.silent", "a.empty", "a.raises", "a.both", "a.card"):
        (tmp_path / name).write_text('{"points": 1, "limit": 5}')
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "acme.txt").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(HOUSE)
    points = [EntryPoint(name, name, "faithkit") for name in ("acme_loaders", "house")]
    known = Registry(entry_points=points)
    monkeypatch.setattr(model_loading, "registry", lambda: known)


@one_test
@pytest.mark.parametrize(("path", "labels"), [("a.card", ["paid", "refused"]), ("folder", ["yes", "yes"])])
def test_a_model_is_loaded_by_who_takes_its_type(acme, path, labels):
    assert load_model(path)([[1.0], [9.0]]) == labels


@one_test
@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        ("a.silent", InputError, r"loading a\.silent runs code that is in it\. .*--trust-pickle"),
        ("a.empty", ContractError, r"made nothing of a\.empty: load returned None"),
        ("a.raises", InputError, r"loading a\.raises failed with SystemExit: 0\. It may be damaged"),
        ("a.both", InputError, r"a\.both would be loaded by .*one and .*other: load it yourself"),
        ("b.card", InputError, r"there is no file b\.card\. Check the path"),
        ("a.txt", InputError, r"or a file or folder \(\.both, .*MLmodel, acme\.txt\)"),
    ],
)
def test_what_cannot_be_loaded_is_refused_in_one_line(acme, path, error, words):
    with pytest.raises(error, match=words):
        load_model(path)


@one_test
@pytest.mark.parametrize(
    ("path", "loader"),
    [
        ("a.skops", "skops"),
        ("a.ONNX", "onnx"),
        ("a.pkl", "pickle"),
        ("a.joblib", "pickle"),
        ("saved", "mlflow"),
    ],
)
def test_without_a_loader_the_refusal_says_what_to_install(acme, path, loader):
    Path("saved").mkdir(exist_ok=True)
    Path("saved", "MLmodel").touch()
    words = rf"^{path} needs the loader {loader}, .*faithkit-model-files.*: python -m pip install -e plugins/model-files$"
    with pytest.raises(InputError, match=words):
        load_model(path, trust_pickle=True)


def test_types_are_trusted_only_by_a_loader_that_asks_for_them(acme):
    with pytest.raises(ParameterError, match="no parameter 'trust_types'"):
        load_model("a.card", trust_types="os.system")
