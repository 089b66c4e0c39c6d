"""Images in NumPy's own files, on the command line."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from consoles import run
from looping import one_test

import faithkit

IMAGES = np.random.default_rng(0).integers(0, 2, size=(120, 4, 4)).astype(np.float64)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with images and a module that has a model."""
    np.save(tmp_path / "images.npy", IMAGES)
    np.save(tmp_path / "others.npy", IMAGES[:30])
    (tmp_path / "bright.py").write_text(
        "import numpy as np\n"
        "def is_bright(X):\n"
        "    return np.where(brightness(X) > 0.5, 'day', 'night')\n"
        "def brightness(X):\n"
        "    return X[:, :2].mean(axis=(1, 2))\n"
        "def top_left(X):\n"
        "    return [tuple(map(int, image[:2, :2].ravel())) for image in X]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(os.fspath(tmp_path))
    return tmp_path


COMMAND = (
    "evaluate",
    "--data",
    "images.npy",
    "--model",
    "bright:is_bright",
    "--out",
    "-",
    "--format",
    "json",
)


def test_images_in_a_file_are_evaluated_as_in_python(folder):
    done = run(*COMMAND, "--explainer", "bright:top_left")
    assert done.exit_code == 0, done.output
    import bright

    expected = faithkit.evaluate(bright.is_bright, IMAGES, explainer=bright.top_left)
    assert json.loads(done.stdout)["measures"]["consistency"]["value"] == expected.consistency.value
    assert json.loads(done.stdout)["data"] == expected.to_dict()["data"]


def test_a_background_and_a_pool_of_images_come_from_files_too(folder):
    more = ("--background", "others.npy", "--samples", 40)
    model = ("--data", "images.npy", "--model", "bright:brightness", "--classes", "night,day")
    explainer = ("--explainer", "patches:size=2", "--discretize", "1fp")
    done = run("evaluate", *model, *explainer, "--out", "-", "--format", "json", *more)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["n"] == 40
    refused = run(*COMMAND, "--explainer", "bright:top_left", "--pool", "others.npy", *more)
    # no relation that reads images is named
    assert "the pool cannot be used: " in " ".join(refused.output.split())


@one_test
@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            ("--target", "age"),
            "this data has rows of shape (4, 4), and no columns with names: leave --target age out",
        ),
        (("--columns", "age"), "leave --columns age out"),
        (("--drop", "age"), "leave --drop age out"),
        (("--by", "age"), "leave --by age out"),
        (("--weights", "age"), "leave --weights age out"),
        (("--text", "age"), "leave --text age out"),
        (("--background", "table.csv"), "table.csv is no array: give a .npy file"),
        (("--explainer", "lime"), "lime explains the rows of a table, and X has rows of shape (4, 4)"),
    ],
)
def test_what_images_do_not_have_is_said_in_one_line(folder, option, message):
    pd.DataFrame({"age": [31, 40]}).to_csv("table.csv", index=False)
    done = run(*COMMAND, "--explainer", "patches", *option)
    assert done.exit_code != 0
    assert message in " ".join(done.output.split())


def test_without_a_model_there_is_nothing_to_learn_from_a_file_of_images(folder):
    done = run("evaluate", "--data", "images.npy", "--explainer", "patches")
    assert done.exit_code != 0
    assert "give your own --model" in " ".join(done.output.split())
