import sys
import tempfile
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import attrs
import numpy as np
import pytest
from click.testing import CliRunner
from looping import one_test

from faithkit.cli.datasets import command
from faithkit.errors import FaithkitError, InputError, UnknownComponentError
from faithkit.extension.registry import Registry
from faithkit.inputs import datasets
from faithkit.inputs.datasets import dataset_names, dataset_place, dataset_summary, load_dataset
from faithkit.inputs.evaluation_inputs import prepare

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


@one_test
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
    assert {*EMBEDDED, "diabetes", "houses", "loans", "reasons"} <= set(dataset_names())
    assert {dataset_place(name) for name in (*EMBEDDED, "loans")} == {"embedded"}


def test_loans_are_granted_by_the_rule_that_is_written_down():
    dataset = load_dataset("loans")
    for row, label in zip(dataset.X.to_dict("records"), dataset.y, strict=True):
        wealthy = row["housing"] == "own" and row["income"] > 40_000
        assert label == ("yes" if not row["arrears"] and (row["debt"] <= 0.35 or wealthy) else "no")
    assert {"job", "income"} == {name for name in dataset.X if dataset.X[name].isna().any()}
    assert 0.3 < (dataset.y == "yes").mean() < 0.7


def test_reasons_are_stated_as_is_written_down():
    dataset = load_dataset("reasons")
    for row, label in zip(dataset.X.to_dict("records"), dataset.y, strict=True):
        stated = {row[name] for name in ("reason_1", "reason_2") if isinstance(row[name], str)}
        true = {
            "R01": row["delinquencies"] > 1,
            "R02": row["utilisation"] > 0.7,
            "R03": row["history"] < 2 and row["inquiries"] > 3,
        }
        is_poor_in_the_north = row["region"] == "north" and row["income"] < 20_000
        first_two = [code for code in true if true[code]][:2]
        assert label == ("refused" if first_two or is_poor_in_the_north or "R09" in stated else "approved")
        if stated and not first_two and "R09" not in stated:
            assert stated == {"R02"}
        else:
            assert stated - {"R09"} == set(first_two)
        assert bool(stated) == (label == "refused")
    assert dataset.X["income"].isna().any()


def test_diabetes_has_its_published_rows_and_a_number_to_predict():
    dataset = load_dataset("diabetes")
    assert dataset.X.shape == (442, 10)
    assert dataset.y.dtype == np.float64
    assert (dataset.y.min(), dataset.y.max(), round(dataset.y.mean(), 2)) == (25.0, 346.0, 152.13)


def test_houses_cost_what_is_written_down_but_for_noise():
    dataset = load_dataset("houses")
    better = {"centre": 90_000, "harbour": 60_000, "hills": 40_000, "suburb": 15_000}
    expected = [
        60_000
        + 25_000 * row["rooms"]
        + better.get(row["district"], 0)
        - (0 if row["renovated"] or row["age"] != row["age"] else 500 * row["age"])
        - 2_000 * row["station"]
        for row in dataset.X.to_dict("records")
    ]
    apart = dataset.y - expected
    assert abs(apart.mean()) < 400
    assert 4_700 < apart.std() < 5_300
    assert {"district", "age"} == {name for name in dataset.X if dataset.X[name].isna().any()}


def test_data_of_a_plugin_that_is_not_installed_leads_to_it(monkeypatch):
    kernel = Registry([point for point in entry_points(group="faithkit") if point.name == "kernel"])
    monkeypatch.setattr(datasets, "registry", lambda: kernel)
    with pytest.raises(InputError, match=r"^there is no file 'adult', and .*pip install -e plugins/paper$"):
        prepare("adult")


def test_an_unknown_name_is_answered_with_the_nearest():
    for ask in (load_dataset, dataset_place, dataset_summary):
        with pytest.raises(UnknownComponentError, match=r"'irsi' is installed\. Did you mean 'iris'\?"):
            ask("irsi")
    with pytest.raises(UnknownComponentError, match=r"Available: .*breast-cancer, .*wine"):
        load_dataset("mushrooms")


# --- datasets of others -------------------------------------------------------------------------------

PLUGIN = """
import numpy as np, pandas as pd
import faithkit

FAITHKIT_API = 1
TABLE = pd.DataFrame({"age": [1, 2]})

@faithkit.plugin.hookimpl
def faithkit_datasets():
    yield faithkit.plugin.Component(name="two-rows", factory=f"{__name__}:TwoRows", summary="Two rows.")

class TwoRows:
    def load(self):
        return LOADED
    def place(self):
        return PLACE
"""


@pytest.fixture
def offer_dataset(tmp_path, monkeypatch):
    """A plugin's dataset: what its methods return is given as Python code."""

    def offer(loaded="TABLE, [0, 1]", place="'here'"):
        code = PLUGIN.replace("LOADED", loaded).replace("PLACE", place)
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        (folder / "their_data.py").write_text(code)
        monkeypatch.syspath_prepend(folder)
        monkeypatch.delitem(sys.modules, "their_data", raising=False)
        result = Registry([EntryPoint("main", "their_data", "faithkit")])
        assert result.broken == []
        monkeypatch.setattr(datasets, "registry", lambda: result)

    return offer


def test_a_plugins_dataset_is_loaded_with_its_labels_as_texts(offer_dataset):
    offer_dataset()
    dataset = load_dataset("two-rows")
    assert dataset.X["age"].tolist() == [1, 2]
    assert (dataset.y.tolist(), dataset.summary, dataset_place("two-rows")) == (
        ["0", "1"],
        "Two rows.",
        "here",
    )


FAULTS = {
    "nothing": ("None", "the dataset 'two-rows' of their-data failed with TypeError.*Its load"),
    "only features": ("TABLE", "failed with ValueError.*Its load"),
    "an error": ("1 / 0", "failed with ZeroDivisionError"),
    "an exit": ("exit(0)", "failed with SystemExit: 0"),
    "an array": ("np.zeros((2, 1)), [0, 1]", "is an array of shape \\(2, 1\\): expected a DataFrame, a list"),
    "no texts": ("['good', None], [0, 1]", "is of type list: expected a DataFrame, a list of texts, or"),
    "too few labels": ("TABLE, [0]", "has 2 rows and 1 labels: expected one for each row"),
}


@one_test
@pytest.mark.parametrize(("loaded", "words"), FAULTS.values(), ids=FAULTS)
def test_a_plugins_dataset_that_is_none_is_refused_in_one_line(offer_dataset, loaded, words):
    offer_dataset(loaded)
    with pytest.raises(FaithkitError, match=words):
        load_dataset("two-rows")


PLACES = {
    "'on the moon'": "is at 'on the moon': expected 'embedded', 'here' or",
    "1 / 0": "ZeroDivisionError",
}


@one_test
@pytest.mark.parametrize(("place", "words"), PLACES.items())
def test_a_plugins_dataset_that_does_not_know_its_place_is_told_beside_the_others(
    offer_dataset, place, words
):
    offer_dataset(place=place)
    with pytest.raises(FaithkitError, match=words):
        dataset_place("two-rows")
    listed = CliRunner().invoke(command)
    assert listed.exit_code == 0
    assert listed.stdout == "broken\n  two-rows  Two rows.\n"
    assert listed.stderr.startswith("warning: the dataset 'two-rows'")


def test_a_dataset_cannot_be_changed():
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        load_dataset("iris").name = "other"


@one_test
@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"columns": "age"}, "has texts only, and no columns with names: leave --columns age out"),
        ({"drop": "age"}, "has texts only, and no columns with names: leave --drop age out"),
        ({"id": "name"}, "has texts only, and no columns with names: leave --id name out"),
        ({"text": "review"}, "has texts only, and no columns with names: leave --text review out"),
        ({"by": "sex"}, "has texts only, and no columns with names: leave --by sex out"),
    ],
)
def test_a_dataset_of_texts_has_no_columns_to_choose(option, message, monkeypatch):
    texts = attrs.evolve(load_dataset("iris"), X=["good", "bad"], y=["yes", "no"])
    monkeypatch.setattr("faithkit.inputs.evaluation_inputs.load_dataset", lambda name: texts)
    with pytest.raises(InputError, match=message):
        prepare("reviews", **option)


def test_a_dataset_of_images_has_a_default_model_that_takes_them(monkeypatch):
    bright = np.arange(60) % 2
    images = np.random.default_rng(0).random((60, 4, 4)) + bright[:, None, None]
    pictures = attrs.evolve(load_dataset("iris"), X=images, y=np.where(bright, "day", "night"))
    monkeypatch.setattr("faithkit.inputs.evaluation_inputs.load_dataset", lambda name: pictures)
    inputs = prepare("pictures", model="logistic")
    assert inputs.X.shape[1:] == inputs.background.shape[1:] == (4, 4)
    assert inputs.model.predict(images).tolist() == pictures.y.tolist()


def test_a_plugins_dataset_may_be_an_array_of_images(offer_dataset):
    offer_dataset("np.zeros((2, 3, 3)), [0, 1]")
    assert load_dataset("two-rows").X.shape == (2, 3, 3)
