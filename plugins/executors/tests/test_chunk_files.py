"""A chunk's file: what is written is read back, damage is noticed, and reading runs no code."""

import datetime as dt
import io
import os
from collections import namedtuple
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from faithkit_executors.store import dump_result, load_result
from hypothesis import given
from hypothesis import strategies as st
from looping import one_test

import faithkit
from faithkit import Explanations, Rule
from faithkit.plugin import ChunkResult, Interval, OneOf

KEY = "0" * 32 + "1" * 32
RULE = Rule([Interval("age", high=0.1), OneOf("job", ["clerk", 3])])
Point = namedtuple("Point", "x y")


def save_and_load(explanations):
    """Return explanations as a store gives them back."""
    return load_result(dump_result(ChunkResult.of(explanations), KEY), KEY).explanations


def build_chunk(*reasons, explanations=None, warnings=()):
    return ChunkResult(explanations, list(reasons), warnings)


TABLE = pd.DataFrame(
    {
        "age": [1.5, None, 2.5],
        "job": ["a", None, "b"],
        "class": pd.Categorical(["x", "y", None], categories=["y", "x"], ordered=True),
        "count": pd.array([1, None, 3], dtype="Int64"),
        "ok": [True, False, True],
        "when": pd.to_datetime(["2020-01-01", None, "2020-07-01"]).tz_localize("Europe/Berlin"),
        "day": pd.Series([dt.date(2020, 1, 1), None, dt.date(2020, 1, 2)], dtype=object),
        7: [1, 2, 3],
    }
)

HONEST = {
    "vectors": build_chunk(
        *[None] * 3,
        explanations=Explanations.vectors(np.array([[0.1, np.nan], [-0.0, np.nan], [1, 2]], np.float32)),
    ),
    "rules": build_chunk(
        *[None] * 3, explanations=Explanations.of([RULE, None, RULE], kind="rule", relation="in-scope")
    ),
    "failures": build_chunk(
        None, "ValueError: no", None, explanations=Explanations.of(["a", "b"]), warnings=("rough",)
    ),
    "nothing": build_chunk("no", "no", "time limit of 1 s"),
    "table": build_chunk(
        *[None] * 3, explanations=Explanations(kind="example", values=TABLE, shared={"metric": np.eye(2)})
    ),
    "values": build_chunk(
        *[None] * 3,
        explanations=Explanations.of([("a", 1, 2.5, float("nan")), frozenset({"x"}), (Decimal("0.1"), (1,))]),
    ),
    "identity": build_chunk(
        *[None] * 3,
        explanations=Explanations(
            kind="value",
            values=np.array(["a", "b", "c"]),
            identity=(np.arange(3), TABLE[["job"]]),
            remarks=np.array(["below the threshold", None, None], dtype=object),
            shared={"names": ["a"], "deep": {"er": (1, None)}, "base": 0.5},
        ),
    ),
}


# --- what is written is read back -------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("name", HONEST)
def test_a_chunk_is_read_as_it_was_written(name):
    data = dump_result(HONEST[name], KEY)
    answer = load_result(data, KEY)
    assert (answer.reasons, answer.warnings) == (HONEST[name].reasons, HONEST[name].warnings)
    assert dump_result(answer, KEY) == data


@one_test
@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 3, -(2**70), 0.1, "text", "a \ud800 surrogate", b"bytes", Decimal("1.10"), ()),
        *(
            dt.date(2020, 2, 29),
            dt.datetime(2020, 1, 1, 12, 30, 0, 5),
            dt.time(12, 30),
            dt.timedelta(-3, 5, 7),
        ),
        *(pd.Timestamp("2020-01-01 00:00:00.123456789"), pd.Timestamp("2020-07-01", tz="Europe/Berlin")),
        *(pd.Timedelta("-1 days 3 ns"), pd.Period("2020-01", "M"), pd.Interval(0, 1.5, closed="left")),
        *(
            frozenset({"a", ("b", 1)}),
            (1, (2, (3, "x"))),
            Point(1, 2),
            RULE,
            np.float32(0.1),
            np.str_("word"),
        ),
    ],
    ids=lambda value: (
        f"{type(value).__name__} {value!s:.30}" if not isinstance(value, frozenset) else "frozenset"
    ),
)
def test_every_value_of_an_explanation_survives(value):
    assert list(save_and_load(Explanations.of([value, "another"])).values) == [value, "another"]


@one_test
@pytest.mark.parametrize("value", [pd.NA, pd.NaT, float("nan")], ids=repr)
def test_every_kind_of_gap_survives(value):
    assert pd.isna(save_and_load(Explanations.of([(value,)])).values[0][0])


@one_test
@pytest.mark.parametrize(
    "column",
    [
        *([1, 2], [0.1, None], ["a", "b"], ["a", None], [True, False], [None, None], ["a", 1], [b"x", None]),
        *(pd.array([1, None], dtype=kind) for kind in ("Int64", "UInt8", "Float32", "boolean")),
        *(pd.array(["a", None], dtype=kind) for kind in ("string", "str", "category")),
        *(pd.Categorical([3, None], categories=[5, 3]), pd.Categorical([True, False], ordered=True)),
        *(
            pd.to_datetime(["2020-01-01", None]),
            pd.to_datetime(["2020-01-01", None]).tz_localize("Asia/Tokyo"),
        ),
        *(pd.to_timedelta([1, None], unit="h"), pd.period_range("2020-01", periods=2, freq="M")),
        *(pd.interval_range(0, 2), pd.arrays.SparseArray([0.0, 1.0])),
        *([dt.date(2020, 1, 1), None], [Decimal("0.1"), Decimal("0.10")], [pd.NA, np.nan]),
    ],
    ids=str,
)
def test_every_column_of_a_table_survives(column):
    frame = pd.DataFrame({"c": column}, index=[5, 9])
    loaded = save_and_load(Explanations(kind="example", values=frame)).values
    pd.testing.assert_frame_equal(loaded, frame.reset_index(drop=True))


@one_test
@pytest.mark.parametrize(
    "names",
    [["a", "b"], [0, 1], ["a", "a"], ["a", 1], [("a", 1), ("a", 2)], pd.CategoricalIndex(["x", "y"])],
    ids=str,
)
def test_every_kind_of_column_name_survives(names):
    frame = pd.DataFrame(np.eye(2), columns=names)
    loaded = save_and_load(Explanations(kind="example", values=frame)).values
    assert list(loaded.columns) == list(frame.columns)


def test_objects_that_many_rows_share_are_written_once():
    many = Explanations.of([RULE] * 1000)
    assert dump_result(ChunkResult.of(many), KEY).count(b"clerk") == 1
    assert len({id(rule) for rule in save_and_load(many).values}) == 1


@one_test
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "a object in an explanation cannot be stored"),
        ((1 + 2j,), "a complex in an explanation"),
        (np.datetime64("2020-01-01T00:00:00.000000001"), "a datetime64 in an explanation"),
        ({1: 2}, "a dict in an explanation"),
        (10**5000, r"cannot be stored \(ValueError: Exceeds the limit"),
        (Rule([OneOf("day", [pd.Timestamp(0)])]), r"cannot be stored \(TypeError"),
        (np.zeros(2, dtype="i4,O"), "an array of type .* cannot be stored"),
        (pd.DataFrame({"c": pd.Series([1], dtype="int64[pyarrow]")}).assign(d=[object()]), "a object in"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_cannot_be_stored_is_refused_with_a_way_out(value, message):
    with pytest.raises(faithkit.errors.InputError, match=f"{message}.*un without a store"):
        save_and_load(Explanations(kind="value", values=np.zeros((1, 1)), shared={"value": value}))


@one_test
@pytest.mark.parametrize(
    "value",
    [np.ma.array([1.5, 2.5], mask=[False, True]), [np.ma.masked], {"a": np.ma.masked_all((2, 2))}],
    ids=repr,
)
def test_a_mask_that_would_be_lost_is_refused(value):
    with pytest.raises(faithkit.errors.InputError, match=r"masked array.* hidden: the mask would be lost"):
        save_and_load(Explanations.of(["a"], shared={"value": value}))


def test_a_mask_that_hides_nothing_is_left_behind():
    loaded = save_and_load(Explanations.of(["a"], shared={"value": np.ma.array([1.5, 2.5])})).shared["value"]
    assert (type(loaded), loaded.tolist()) == (np.ndarray, [1.5, 2.5])


@one_test
@pytest.mark.parametrize(
    ("remark", "text"),
    [(5, "5"), (0.5, "0.5"), (np.str_("rough"), "rough"), (ValueError("no"), "no"), (None, None)],
)
def test_remarks_are_texts(remark, text):
    result = save_and_load(Explanations.of(["a"], remarks=np.array([remark], dtype=object)))
    assert result.remarks.tolist() == [text]


def test_an_endless_value_is_refused_with_a_way_out():
    endless = []
    endless.append(endless)
    with pytest.raises(faithkit.errors.InputError, match=r"RecursionError.*run without a store"):
        save_and_load(Explanations.of(["a"], shared={"value": endless}))


# --- damage, and code -------------------------------------------------------------------------------------


def test_an_answer_to_another_key_is_refused():
    with pytest.raises(ValueError, match="it has another key"):
        load_result(dump_result(HONEST["vectors"], "1" + KEY[1:]), KEY)


@one_test
@pytest.mark.parametrize("name", HONEST)
def test_a_file_that_was_cut_off_is_refused(name):
    data = dump_result(HONEST[name], KEY)
    for size in range(0, len(data), 7):
        with pytest.raises(ValueError, match="the file is not a result of this chunk"):
            load_result(data[:size], KEY)


edits = st.lists(
    st.tuples(st.integers(0, 10**4), st.binary(max_size=9), st.integers(0, 9)), min_size=1, max_size=4
)


@given(st.sampled_from(sorted(HONEST)), edits)
def test_damage_is_noticed_or_changes_nothing(name, changes):
    data = dump_result(HONEST[name], KEY)
    damaged = data
    for place, put, cut in changes:
        at = place % (len(damaged) + 1)
        damaged = damaged[:at] + put + damaged[at + cut :]
    try:
        answer = load_result(damaged, KEY)
    except ValueError:
        return
    assert dump_result(answer, KEY) == data  # a date in the file's format, say


class Trap:
    def __reduce__(self):
        return os.mkdir, ("trap",)


def test_a_pickle_in_the_place_of_an_array_is_not_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with np.load(io.BytesIO(dump_result(HONEST["vectors"], KEY))) as honest:
        arrays = {name: honest[name] for name in honest.files}
    file = io.BytesIO()
    np.savez(file, **{**arrays, "arr_0": np.array([Trap()], dtype=object)})
    with pytest.raises(ValueError, match="the file is not a result of this chunk"):
        load_result(file.getvalue(), KEY)
    assert list(tmp_path.iterdir()) == []
