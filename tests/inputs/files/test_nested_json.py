"""Explanations in one cell of JSON Lines: a list of weights, features and their weights, or a text."""

import json

import numpy as np
import pandas as pd
import pytest
from looping import one_test

import faithkit
from faithkit.errors import InputError
from faithkit.inputs.files.table_files import open_table
from faithkit.inputs.logs.log_files import open_log
from faithkit.inputs.objects.explanation_lists import vectors_of_dicts
from faithkit.run.populations.log_scoring import score_log

N = 40
LABELS = ["yes" if i % 4 < 2 else "no" for i in range(N)]
WEIGHTS = [[(i % 4) / 8, i % 2, 0.0] for i in range(N)]
NAMES = ["debt", "age", "sex"]


def write_log(path, cells):
    rows = [{"label": label, "why": cell} for label, cell in zip(LABELS, cells, strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return open_log(str(path), "label", ("why",))


def name_weights(row):
    return dict(zip(NAMES, row, strict=True))


def drop_zeros(row):
    return {name: weight for name, weight in name_weights(row).items() if weight}


FORMS = {
    "a list": lambda row: row,
    "all features": name_weights,
    "features in any order": lambda row: dict(reversed(name_weights(row).items())),
}


@one_test
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_weights_in_one_cell_are_a_vector(tmp_path, form):
    payload = score_log(write_log(tmp_path / "log.jsonl", map(form, WEIGHTS))).to_dict()
    expected = faithkit.score(LABELS, pd.DataFrame(WEIGHTS, columns=NAMES)).to_dict()
    assert payload["measures"] == expected["measures"]
    assert payload["n_explanations"] == 4


def test_a_feature_that_is_not_named_has_no_weight(tmp_path):
    cells = [drop_zeros(row) or {"age": 0} for row in WEIGHTS]
    explanations = write_log(tmp_path / "log.jsonl", cells).explanations
    assert explanations.shared["names"] == ["age", "debt"]
    assert explanations.values.tolist() == [[row[1], row[0]] for row in WEIGHTS]


@one_test
@pytest.mark.parametrize("nothing", [None, {}, {"age": None, "debt": None}])
def test_a_row_that_names_no_weight_has_no_explanation(tmp_path, nothing):
    cells = [nothing if i < 3 else {"age": 1, "debt": 2} for i in range(N)]
    assert score_log(write_log(tmp_path / "log.jsonl", cells)).result.unexplained == 3


def test_dicts_are_the_same_explanations_in_python_and_in_a_log(tmp_path):
    cells = [None, {}, *map(drop_zeros, WEIGHTS[2:])]
    payload = score_log(write_log(tmp_path / "log.jsonl", cells)).to_dict()
    in_memory = faithkit.score(LABELS, cells).to_dict()
    assert payload["measures"] == in_memory["measures"]
    assert payload["unexplained"] == in_memory["unexplained"] == 2 + cells[2:].count({})


def test_an_empty_list_is_no_explanation(tmp_path):
    assert score_log(write_log(tmp_path / "log.jsonl", [[], *WEIGHTS[1:]])).result.unexplained == 1


def test_a_weight_that_is_null_is_missing_and_not_0():
    result = vectors_of_dicts([{"a": None, "b": 1.0}, {"b": 2.0}])
    assert np.array_equal(result, [[np.nan, 1.0], [0.0, 2.0]], equal_nan=True)


@one_test
@pytest.mark.parametrize(
    ("cells", "kinds"),
    [
        ([{"age": "high"}] * N, "value"),
        ([["age", "sex"]] * N, "value"),
        ([[[1]]] * N, "value"),
        (["age"] * N, "value"),
        ([1.5] * N, "vector"),
    ],
)
def test_other_cells_are_compared_as_they_are(tmp_path, cells, kinds):
    result = write_log(tmp_path / "log.jsonl", cells)
    assert result.explanations.kind == kinds
    assert score_log(result).result.n_explanations == 1


@one_test
@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([[1.0], *WEIGHTS[1:]], r"the lists in the column 'why' have 1 values in row 0 and 3 in row 1"),
        ([1.0, *WEIGHTS[1:]], r"the column 'why' has a number in row 0 and a list in row 1"),
        ([{"a": 1.0}, *WEIGHTS[1:]], r"'why' has an object in row 0 and a list in row 1"),
        (["a", *[1] * (N - 1)], r"'why' has a text in row 0 and a number in row 1"),
        ([True, *[1] * (N - 1)], r"'why' has a truth value in row 0 and a number in row 1"),
    ],
)
def test_cells_of_different_forms_are_refused(tmp_path, cells, words):
    with pytest.raises(InputError, match=words):
        write_log(tmp_path / "log.jsonl", cells)


ROLES = {
    "a prediction": ("why", ("label",)),
    "a group": ("label", ("label",), (), "why"),
    "a feature": ("label", ("label",), ("why",)),
    "one of several columns": ("label", ("label", "why")),
}


@one_test
@pytest.mark.parametrize("roles", ROLES.values(), ids=ROLES)
def test_a_vector_is_nothing_but_an_explanation(tmp_path, roles):
    write_log(tmp_path / "log.jsonl", WEIGHTS)
    with pytest.raises(
        InputError, match=r"the column 'why' is of type .*; expected one number, text or date per row"
    ):
        open_log(str(tmp_path / "log.jsonl"), *roles)


def test_integers_among_fractions_are_floats(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 9007199254740992}\n{"a": 0.5}\n')
    assert open_table(tmp_path / "t.jsonl").values.column("a").to_pylist() == [2.0**53, 0.5]


@one_test
@pytest.mark.parametrize("numbers", [[2**63, 1], [2**53 + 1, 0.5]], ids=str)
def test_an_integer_that_no_column_holds_is_refused(tmp_path, numbers):
    (tmp_path / "t.jsonl").write_text("".join(f'{{"a": {number}}}\n' for number in numbers))
    with pytest.raises(InputError, match="Write large integers as texts"):
        open_table(tmp_path / "t.jsonl")


@one_test
@pytest.mark.parametrize("number", ["1e400", "-1e400"])
def test_a_number_that_no_float_holds_is_refused(tmp_path, number):
    (tmp_path / "t.jsonl").write_text(f'{{"a": 0.5}}\n{{"a": {number}}}\n')
    with pytest.raises(InputError, match=f"line 2 of .* the number {number} is too large"):
        open_table(tmp_path / "t.jsonl")
