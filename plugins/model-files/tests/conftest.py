"""A folder in which forged files are opened, and a check that they did nothing there."""

import contextlib
import importlib
import os
import sys

import pytest
from model_files.forging import CANARY, EVIL_MODULES

from faithkit import load_model
from faithkit.errors import InputError
from faithkit.plugin import registry

# by the loaders themselves, whatever is in a file; zips know an old encoding of names
NEEDED = ("skops.io", "onnxruntime", "encodings.cp437")
NEEDED += tuple(f"faithkit_model_files.{name}" for name in ("loaders", "skops_files", "onnx_model"))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Be in a folder with a canary, and with modules that kill it when they are imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / CANARY).write_text("alive")
    for name in EVIL_MODULES:
        (tmp_path / f"{name}.py").write_text(f"open({CANARY!r}, 'w').write('dead')\n")
    return tmp_path


@pytest.fixture
def assert_refused(here):
    """Load a model that must be refused with a message that matches, after which the folder is as it was."""

    registry().entries()  # the plugins that are installed, whatever is in a file
    for module in NEEDED:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)

    def load(message, path="model.skops", **options):
        modules, folder = set(sys.modules), set(os.listdir())
        with pytest.raises(InputError, match=message) as error:
            load_model(path, **options)
        assert (here / CANARY).read_text() == "alive"
        assert set(os.listdir()) == folder
        assert set(sys.modules) == modules
        assert str(error.value).isprintable()
        assert len(str(error.value)) < 2000

    return load
