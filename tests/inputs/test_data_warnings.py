"""Data that may not mean what its owner thinks is warned about, and nothing of it is dropped or changed."""

import json
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from looping import one_test

import faithkit
from faithkit.errors import FaithkitWarning
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.populations.log_scoring import score_log


def record_warnings(call):
    """Return the result of a call, and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return result, [str(warning.message) for warning in caught]


def write_log(table, suffix, folder):
    path = folder / f"log.{suffix}"
    if suffix == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_dict("records")))
    else:
        table.to_csv(path, index=False) if suffix == "csv" else table.to_parquet(path, row_group_size=7)
    return str(path)


# --- labels that are numbers ---------------------------------------------------------------------------

# the predictions, options, and the text that the warning quotes, if there is one
NUMBERS = {
    "decimal commas": (["0,35", "0,4", "0,35", "1"], {}, "0,35"),
    "percent signs": (["35%", "40 %", "35%", "100 %"], {}, "100 %"),
    "a log's texts": (["0.35", "0.4", "0.35", "-.5"], {}, "-.5"),
    "called labels": (["0,35", "0,4", "0,35", "1"], {"outcome": "labels"}, None),
    "whole numbers": (["1", "2", "1", "2"], {}, None),
    "versions": (["1.0", "2.0", "1.0", "2.0"], {}, None),
    "a word among them": (["0,35", "high", "0,35", "1"], {}, None),
    "words": (["yes", "no", "yes", ""], {}, None),
    "truths": ([True, False, True, False], {}, None),
}


@pytest.mark.parametrize(
    ("predictions", "options", "is_warned_about"),
    [
        (range(101), {}, True),
        ([float(number) for number in range(101)], {}, True),
        (range(100), {}, False),
        (range(101), {"outcome": "labels"}, False),
        (range(101), {"outcome": "numbers"}, False),
        ([f"code {number}" for number in range(101)], {}, False),
    ],
)
def test_many_whole_numbers_may_be_amounts(tmp_path, predictions, options, is_warned_about):
    logged = pd.DataFrame({"p": [*predictions] * 2, "why": np.repeat(["a", "b"], len(predictions))})
    paths = [write_log(logged, suffix, tmp_path) for suffix in ("csv", "parquet")]
    warned = [record_warnings(lambda: faithkit.score(logged["p"], logged["why"].tolist(), **options))[1]]
    for path in paths:
        log = open_log(path, "p", ("why",), **options)
        warned.append(record_warnings(lambda log=log: score_log(log))[1])
    expected = ["predictions are 101 different whole numbers, and are taken for labels"] * is_warned_about
    assert [[text.partition(":")[0] for text in texts] for texts in warned] == [expected] * 3


@one_test
@pytest.mark.parametrize(("predictions", "options", "example"), NUMBERS.values(), ids=NUMBERS)
def test_labels_that_are_texts_of_numbers_are_warned_about(predictions, options, example):
    _, texts = record_warnings(lambda: faithkit.score(predictions, ["a", "a", "b", "b"], **options))
    expected = (
        [] if example is None else [f"predictions such as {example!r} are texts, and are taken for labels"]
    )
    assert [text.partition(":")[0] for text in texts] == expected


@one_test
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_so_are_those_of_a_file(suffix, tmp_path):
    path = write_log(
        pd.DataFrame({"p": ["0,35", "0,4", "0,35", "1,5"], "why": list("aabb")}), suffix, tmp_path
    )
    with pytest.warns(FaithkitWarning, match=r"^predictions such as '0,35' are texts, and are taken for lab"):
        score_log(open_log(path, "p", ("why",)))


# --- base values ---------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
PHI = pd.DataFrame(RNG.normal(size=(30, 2)).round(1), columns=["phi_age", "phi_debt"])
LABELS = np.where(PHI["phi_age"] > 0, "yes", "no")
MAYBE = "may be a base value and no feature"


def record_base_value_warnings(call):
    result, texts = record_warnings(call)
    return result, [text for text in texts if MAYBE in text]


@one_test
@pytest.mark.parametrize(
    "name", ["bias", "base_values", "expected_value", "Intercept", "baseValue", "phi[BIAS]"]
)
def test_a_number_that_is_the_same_in_every_row_and_called_a_base_value_is_warned_about(name):
    _, (text,) = record_base_value_warnings(lambda: faithkit.score(LABELS, PHI.assign(**{name: 7.5})))
    assert text.startswith(f"{name!r} may be a base value and no feature: it is the same in every row.")
    assert f"--explanation '…,!{name}'" in text


FEATURES = {
    "it varies": {"phi_bias": [0.5, 0.6] * 15},
    "another name": {"phi_constant": 7.5, "database": 1.0, "unbiased": 2.0},
    "no number": {"phi_bias": "none"},
    "nothing": {"phi_bias": np.nan},
}


@one_test
@pytest.mark.parametrize("columns", FEATURES.values(), ids=FEATURES)
def test_what_varies_or_is_called_otherwise_is_a_feature(columns):
    assert record_base_value_warnings(lambda: faithkit.score(LABELS, PHI.assign(**columns)))[1] == []


def test_a_table_of_nothing_but_base_values_is_not_warned_about():
    assert (
        record_base_value_warnings(lambda: faithkit.score(LABELS, pd.DataFrame({"bias": np.ones(30)})))[1]
        == []
    )


TABLES = {
    "a frame": lambda table: table,
    "an Arrow table": pa.Table.from_pandas,
    "dicts": lambda table: table.to_dict("records"),
    "a column of dicts": lambda table: pd.Series(table.to_dict("records")),
    "pairs": lambda table: [list(row.items()) for row in table.to_dict("records")],
}


@one_test
@pytest.mark.parametrize("form", TABLES)
def test_a_base_value_is_kept_in_python_as_it_is_in_an_array(form):
    table = PHI.assign(bias=7.5)
    by_name, texts = record_base_value_warnings(
        lambda: faithkit.score(LABELS, TABLES[form](table), discretizer="sign-of-top:k=1")
    )
    assert len(texts) == 1
    array = faithkit.score(LABELS, table.to_numpy(), discretizer="sign-of-top:k=1")
    assert by_name.n_explanations == array.n_explanations == 1  # it is the largest number of every row


@one_test
@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_a_base_value_in_a_log_is_kept_and_can_be_left_out(suffix, tmp_path):
    path = write_log(PHI.assign(phi_bias=7.5, label=LABELS), suffix, tmp_path)

    def score(pattern):
        return score_log(open_log(path, "label", (pattern,)), discretizer="sign-of-top:k=1").result

    with_base_value, texts = record_base_value_warnings(lambda: score("phi_*"))
    assert len(texts) == 1
    assert with_base_value.n_explanations == 1
    without, texts = record_base_value_warnings(lambda: score("phi_*,!phi_bias"))
    assert texts == []
    expected = faithkit.score(LABELS, PHI, discretizer="sign-of-top:k=1")
    assert without.consistency == expected.consistency


def test_a_base_value_in_the_cells_of_a_log_is_warned_about(tmp_path):
    cells = PHI.assign(bias=7.5).to_dict("records")
    path = write_log(pd.DataFrame({"label": LABELS, "why": cells}), "jsonl", tmp_path)
    with pytest.warns(FaithkitWarning, match=f"'bias' {MAYBE}"):
        assert open_log(path, "label", ("why",)).explanations.values.shape == (30, 3)


# --- texts among numbers -------------------------------------------------------------------------------


def test_a_text_in_a_column_of_importances_is_warned_about_in_tables_and_logs(tmp_path):
    broken = PHI.astype(object)
    broken.iloc[3, 1] = "timeout"
    message = (
        "'phi_debt' has texts among its numbers, such as 'timeout': the explanations are not taken for imp"
    )
    with pytest.warns(FaithkitWarning, match=message):
        faithkit.score(LABELS, broken)
    path = tmp_path / "log.csv"
    broken.assign(p=LABELS).to_csv(path, index=False)
    with pytest.warns(FaithkitWarning, match=message):
        score_log(open_log(path, "p", ("phi_age", "phi_debt")))


def test_a_text_in_the_only_column_of_importances_is_warned_about(tmp_path):
    column = pd.Series(["0.5", "NaN", "0.25"] * 10)
    message = "has texts among its numbers, such as 'NaN': the explanations are not taken for importances"
    for unnamed in (column, list(column)):
        with pytest.warns(FaithkitWarning, match=f"^the column of explanations {message}"):
            faithkit.score(LABELS, unnamed)
    table = pd.DataFrame({"phi": column})
    with pytest.warns(FaithkitWarning, match=f"^'phi' {message}"):
        faithkit.score(LABELS, table)
    for suffix in ("csv", "parquet", "jsonl"):
        path = write_log(table.assign(label=LABELS), suffix, tmp_path)
        with pytest.warns(FaithkitWarning, match=f"^'phi' {message}"):
            open_log(path, "label", ("phi",))


@one_test
@pytest.mark.parametrize(
    "column", [["12", "R3", "14"] * 10, ["low", "high", "0.5"] * 10, [0.5, None, 0.25] * 10], ids=str
)
def test_codes_and_words_and_missing_numbers_are_no_texts_among_numbers(column):
    for explanations in (PHI.assign(reason=column), pd.DataFrame({"reason": column}), column):
        _, texts = record_warnings(partial(faithkit.score, LABELS, explanations))
        assert not [text for text in texts if "texts among its numbers" in text]


# --- one row for each part of an explanation -----------------------------------------------------------


def test_other_columns_of_a_log_need_not_be_readable(tmp_path):
    """Looking for the names of cases must not refuse a column that nobody asked for."""
    bad = pa.StringArray.from_buffers(40, *pa.array([b"\xff", b"a"] * 20).buffers()[1:])
    pq.write_table(pa.table({"label": [0, 1] * 20, "why": ["a"] * 40, "odd": bad}), tmp_path / "log.parquet")
    assert score_log(open_log(str(tmp_path / "log.parquet"), "label", ("why",))).result.n == 40
