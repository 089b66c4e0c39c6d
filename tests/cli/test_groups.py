"""`evaluate --by`: groups of any column of the file, and of the rows that were drawn."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from consoles import run
from looping import one_test

from faithkit.errors import InputError
from faithkit.inputs.evaluation_inputs import prepare


def third(place):
    return "no" if place % 3 else "yes"


def mood(place):
    return "pos" if place % 2 else "neg"


@pytest.fixture
def letters(tmp_path, monkeypatch):
    """A file in which a row's number, which is a feature, tells its groups, whichever rows are drawn."""
    monkeypatch.chdir(tmp_path)
    places = np.arange(150)
    frame = pd.DataFrame({"place": places, "x": places % 7, "z": places % 11})
    frame["third"], frame["mood"] = list(map(third, places)), list(map(mood, places))
    frame["letter"] = ["good film" if place % 2 else "bad film" for place in places]
    frame.to_csv("letters.csv", index=False)
    (tmp_path / "own_model.py").write_text("def model(X):\n    return (X['place'] % 7 > 3).tolist()\n")
    return "letters.csv"


def group_sizes(*arguments):
    result = run(
        "evaluate", *arguments, "--diagnose", "none", "--control-draws", 0, "--out", "-", "--format", "json"
    )
    assert result.exit_code == 0, result.output
    groups = json.loads(result.stdout)["subgroups"]["groups"]["consistency"]
    return {group: facts["n"] for group, facts in groups.items()}


@one_test
@pytest.mark.parametrize(
    ("samples", "model", "column", "group_of"),
    [
        (None, "tree", "third", third),
        (40, "tree", "mood", mood),
        (None, "own_model:model", "mood", mood),
        (40, "own_model:model", "third", third),
    ],
)
def test_groups_come_from_any_column_and_belong_to_the_rows_drawn(letters, samples, model, column, group_of):
    options = {"target": "mood", "columns": "place,x,z", "model": model, "samples": samples}
    inputs = prepare(letters, **options, by=column)
    expected = [group_of(place) for place in inputs.X["place"]]
    assert inputs.groups.tolist() == expected
    assert len(expected) == (samples or (150 if ":" in model else 51))  # 34 % are judged
    arguments = [part for name, value in options.items() if value for part in (f"--{name}", value)]
    assert group_sizes("--data", letters, *arguments, "--explainer", "tree", "--by", column) == Counter(
        expected
    )


def test_the_groups_change_neither_the_rows_nor_the_numbers(letters):
    options = {"target": "mood", "columns": "place,x", "model": "tree", "samples": 40}
    pd.testing.assert_frame_equal(prepare(letters, **options).X, prepare(letters, **options, by="third").X)


def test_texts_have_groups_from_another_column(letters):
    own = ("--data", letters, "--target", "mood", "--text", "letter", "--model", "logistic")
    result = group_sizes(*own, "--explainer", "first-word", "--by", "third")
    assert set(result) == {"no", "yes"}
    assert sum(result.values()) == 51


def test_groups_of_a_dataset_come_from_its_columns():
    inputs = prepare("loans", columns="age,debt", model="tree", by="housing")
    assert "housing" not in inputs.X
    assert inputs.groups.name == "housing"
    assert inputs.groups.index.equals(inputs.X.index)


def test_a_misspelt_column_is_told_before_a_model_is_trained(letters):
    with pytest.raises(InputError, match=r"no column matches 'thrid'\. Did you mean 'third'\?"):
        prepare(letters, model="no_such_module:model", by="thrid")
    with pytest.raises(InputError, match="--by '\\*' matches 6 columns; expected one"):
        prepare(letters, target="mood", by="*")
