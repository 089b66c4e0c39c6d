import os
import subprocess
import sys

import attrs
import pytest

from faithkit import InputError
from faithkit.inputs.datasets import dataset_names, dataset_place, dataset_summary, load_dataset
from faithkit.inputs.published import PUBLISHED

# rows, columns, labels: as their descriptions in scikit-learn have them
EMBEDDED = {
    "breast-cancer": (569, 30, {"malignant": 212, "benign": 357}),
    "digits": (
        1797,
        64,
        dict(zip("0123456789", [178, 182, 177, 183, 181, 182, 181, 179, 174, 180], strict=True)),
    ),
    "iris": (150, 4, {"setosa": 50, "versicolor": 50, "virginica": 50}),
    "wine": (178, 13, {"class_0": 59, "class_1": 71, "class_2": 48}),
}


@pytest.mark.parametrize("name", EMBEDDED)
def test_each_dataset_has_its_published_rows_columns_and_labels(name):
    dataset = load_dataset(name)
    rows, columns, labels = EMBEDDED[name]
    assert dataset.name == name
    assert dataset.X.shape == (rows, columns)
    assert dataset.X.columns.is_unique
    assert not dataset.X.isna().to_numpy().any()
    assert {label: (dataset.y == label).sum() for label in labels} == labels
    assert {type(label) for label in dataset.y} == {str}
    assert dataset.summary == dataset_summary(name)


def test_columns_have_their_real_names():
    assert load_dataset("iris").X.columns[0] == "sepal length (cm)"
    assert load_dataset("breast-cancer").X.columns[0] == "mean radius"
    assert load_dataset("wine").X.columns[0] == "alcohol"
    assert load_dataset("digits").X.columns[9] == "pixel_1_1"


def test_every_dataset_is_listed():
    assert dataset_names() == [*sorted([*EMBEDDED, "loans"]), *PUBLISHED]
    assert {dataset_place(name) for name in (*EMBEDDED, "loans")} == {"embedded"}


def test_a_published_dataset_is_here_once_there_is_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("FAITHKIT_DATA", raising=False)
    assert dataset_place("heart") == "to be downloaded"
    (tmp_path / "faithkit").mkdir()
    (tmp_path / "faithkit" / "heart.csv.gz").touch()
    assert dataset_place("heart") == "here"


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(InputError, match=r"no dataset 'irsi'\. Did you mean 'iris'\?"):
        load_dataset("irsi")
    with pytest.raises(
        InputError, match=r"no dataset 'mushrooms'\. There is: breast-cancer, digits, iris, loans, wine"
    ):
        dataset_summary("mushrooms")


def test_a_dataset_cannot_be_changed():
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        load_dataset("iris").name = "other"


def test_listing_the_datasets_does_not_import_scikit_learn():
    code = """
import sys
from faithkit.inputs.datasets import dataset_names, dataset_summary
assert all(dataset_summary(name) for name in dataset_names())
assert "sklearn" not in sys.modules
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["", *sys.path])}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
