"""Names in a CSV stay as they were written: predictions, targets and groups, and the codes of explanations."""

import math

import pandas as pd
import pytest
from looping import one_test

from faithkit.errors import InputError
from faithkit.inputs.evaluation_inputs import prepare
from faithkit.inputs.files.table_files import open_table
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.populations.log_scoring import score_log

INF = float("inf")
BIG = "123456789012345678901234567890"

# two different texts; what they are to a model, in an explanation, and as labels ("=": the texts themselves)
PAIRS = [
    (["1", "2"], [1, 2], [1, 2], [1, 2]),
    (["-1", "0"], [-1, 0], [-1, 0], [-1, 0]),
    (["0.5", "2.25"], [0.5, 2.25], [0.5, 2.25], [0.5, 2.25]),
    (["1e-05", "1e+16"], [1e-05, 1e16], [1e-05, 1e16], [1e-05, 1e16]),
    (["True", "False"], [True, False], [True, False], [True, False]),
    (["01", "1"], [1, 1], "=", "="),
    (["01", "02"], [1, 2], "=", "="),
    (["-01", "-1"], [-1, -1], "=", "="),
    (["00.5", "0.5"], [0.5, 0.5], "=", "="),
    (["0", "00"], [0, 0], "=", "="),
    (["1.0", "1"], [1.0, 1.0], [1.0, 1.0], "="),
    (["1", "2.5"], [1.0, 2.5], [1.0, 2.5], "="),
    (["1.50", "1.5"], [1.5, 1.5], [1.5, 1.5], "="),
    (["1e3", "1000"], [1000.0, 1000.0], [1000.0, 1000.0], "="),
    (["1E3", "1e3"], [1000.0, 1000.0], [1000.0, 1000.0], "="),
    (["+1", "1"], [1, 1], [1, 1], "="),
    ([" 1", "1"], [1, 1], [1, 1], "="),
    (["1 ", "1"], [1, 1], [1, 1], "="),
    (["-0", "0"], [0, 0], [0, 0], "="),
    (["-0.0", "0.0"], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]),
    ([".5", "0.5"], [0.5, 0.5], [0.5, 0.5], "="),
    (["inf", "Infinity"], [INF, INF], [INF, INF], "="),
    (["inf", "-inf"], [INF, -INF], [INF, -INF], [INF, -INF]),
    (["1", "inf"], [1.0, INF], [1.0, INF], "="),
    (["nan", "NaN"], "=", "=", "="),
    (["true", "TRUE"], [True, True], "=", "="),
    (["true", "True"], [True, True], "=", "="),
    (["true", "false"], [True, False], [True, False], "="),
    (["TRUE", "FALSE"], [True, False], [True, False], "="),
    (["True", "1"], "=", "=", "="),
    (["yes", "Yes"], "=", "=", "="),
    (["a", " a"], "=", "=", "="),
    (["0x1A", "26"], "=", "=", "="),
    (["1_000", "1000"], "=", "=", "="),
    (["1,000", "1000"], "=", "=", "="),
    (["１", "1"], "=", "=", "="),
    (["½", "0.5"], "=", "=", "="),
    (["é", "e\u0301"], "=", "=", "="),
    ([BIG + "1", BIG + "2"], "=", "=", "="),
    (["9007199254740993", "9007199254740992.0"], "=", "=", "="),
    (["9007199254740993", "9007199254740992"], [2**53 + 1, 2**53], [2**53 + 1, 2**53], [2**53 + 1, 2**53]),
    (
        ["18446744073709551615", "18446744073709551614"],
        [2**64 - 1, 2**64 - 2],
        [2**64 - 1, 2**64 - 2],
        [2**64 - 1, 2**64 - 2],
    ),
    (["2020-01-01", "2020-01-02"], "=", "=", "="),
]


some_pairs = pytest.mark.parametrize("pair", PAIRS[::8], ids=lambda pair: " ".join(pair[0]))


def write_pair(pair, folder):
    """Write each of two texts in ten rows of a log whose column `name` they are."""
    texts, *expected = pair
    rows = "".join(f'"{texts[k % 2]}",{k % 2},0.5\n' for k in range(20))
    (folder / "log.csv").write_text(f"name,label,phi\n{rows}", encoding="utf-8")
    return folder / "log.csv", texts, [texts if part == "=" else part for part in expected]


@one_test
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: " ".join(pair[0]))
def test_what_a_column_is_depends_on_who_reads_it(pair, tmp_path):
    path, texts, (features, explanation, labels) = write_pair(pair, tmp_path)
    table = open_table(path)
    columns = (
        table.frame(["name"])["name"],
        table.frame(["name"], "explanation")["name"],
        table.labels("name"),
        table.texts("name"),
    )
    for column, expected in zip(columns, (features, explanation, labels, texts), strict=True):
        assert column.tolist() == expected * 10
        assert [type(value) for value in column.tolist()] == [type(value) for value in expected * 10]
    # predictions with fractions are numbers, and all others labels
    is_numeric = any(isinstance(cell, float) and math.isfinite(cell) and cell % 1 for cell in explanation)
    if texts == ["½", "0.5"]:
        with pytest.raises(InputError, match=r"numbers, such as '0\.5', and words, such as '½' in row 0"):
            table.predictions(["name"])
    else:
        expected = (explanation if is_numeric else labels) * 10
        assert table.predictions(["name"]).tolist() == expected


@one_test
@some_pairs
def test_two_texts_are_two_labels_and_two_groups(pair, tmp_path):
    path, *_ = write_pair(pair, tmp_path)
    predicted = score_log(open_log(str(path), "name", ("phi",), outcome="labels")).result
    assert predicted.consistency.value == pytest.approx(9 / 19)  # of ten and ten that share an explanation
    log = open_log(str(path), "label", ("phi",), (), "name")
    with pytest.warns(match="follow from the prediction"):
        groups = score_log(log).result.by(log.groups)
    assert len(groups) == 2


def test_minus_zero_is_the_group_of_zero_and_groups_stay_numbers(tmp_path):
    rows = "".join(f"{['-0.0', '10.0', '0.0', '9.5'][k % 4]},{k % 3},0.5\n" for k in range(24))
    (tmp_path / "log.csv").write_text(f"balance,label,phi\n{rows}")
    log = open_log(str(tmp_path / "log.csv"), "label", ("phi",), by="balance")
    groups = score_log(log).result.by(log.groups)
    assert {str(group): part.n for group, part in groups.items()} == {"0.0": 12, "9.5": 6, "10.0": 6}
    assert list(groups) == [0.0, 9.5, 10.0]  # as texts, 10.0 would come before 9.5


@one_test
@some_pairs
def test_explanations_are_two_or_one_as_numbers_or_codes_are(pair, tmp_path):
    path, _, (_, explanation, _) = write_pair(pair, tmp_path)
    alone = score_log(open_log(str(path), "label", ("name",))).result
    assert alone.n_explanations == len(set(explanation))
    beside = score_log(open_log(str(path), "label", ("name", "phi"))).result
    assert beside.n_explanations == len(set(explanation))


def test_grouping_by_a_column_does_not_change_what_the_model_gets(tmp_path):
    rows = "".join(f"{['1', '01', '1.0', '2'][k % 4]},{k % 2}\n" for k in range(60))
    (tmp_path / "people.csv").write_text(f"ward,y\n{rows}")
    path = str(tmp_path / "people.csv")
    alone, grouped = (
        prepare(path, target="y", model="tree"),
        prepare(path, target="y", model="tree", by="ward"),
    )
    pd.testing.assert_frame_equal(alone.X, grouped.X)
    assert set(grouped.groups) == {"1", "01", "1.0", "2"}


def test_targets_are_names(tmp_path):
    rows = "".join(f"{k},{['01', '1'][k % 2]}\n" for k in range(60))
    (tmp_path / "people.csv").write_text(f"x,y\n{rows}")
    inputs = prepare(str(tmp_path / "people.csv"), target="y", model="tree")
    assert inputs.model.classes_.tolist() == ["01", "1"]


def test_texts_of_digits_are_the_texts_that_were_written(tmp_path):
    rows = "".join(f"{['007', '1.50'][k % 2]},{k % 2}\n" for k in range(60))
    (tmp_path / "texts.csv").write_text(f"text,y\n{rows}")
    path = str(tmp_path / "texts.csv")
    inputs = prepare(path, target="y", text="text", model="tree", background=path)
    assert set(inputs.X) == set(inputs.background) == {"007", "1.50"}
    with pytest.raises(InputError, match="no column matches 'y'"):
        prepare(path, target="y", text="y", model="tree")


@one_test
@pytest.mark.parametrize("role", ["features", "explanation", "predictions"])
@pytest.mark.parametrize("number", ["1e400", " -1E999"])
def test_a_number_that_no_float_holds_is_refused_and_not_infinite(tmp_path, role, number):
    (tmp_path / "log.csv").write_text(f"name\n0.5\n{number}\n")
    table = open_table(tmp_path / "log.csv")
    with pytest.raises(InputError, match="in row 1 is too large and would be read as infinite"):
        table.frame(["name"], role)
    assert table.labels("name").tolist() == ["0.5", number]
