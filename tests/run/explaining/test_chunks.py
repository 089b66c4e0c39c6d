"""A chunk's file: what is written is read back, and anything else is refused with ValueError and nothing else.

Checksums find accidents. Whoever forges a file computes a new one; so every head here is forged with a right checksum.
"""

import copy
import datetime as dt
import hashlib
import json
import sys
import tracemalloc
from collections import namedtuple
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithkit
from faithkit import Explanations, Interval, OneOf, Rule
from faithkit.run.explaining.answer import Answer
from faithkit.run.explaining.framing import DIGEST, FORMAT
from faithkit.testing.sameness import stored

KEY = "0" * 32 + "1" * 32
RULE = Rule([Interval("age", high=0.1), OneOf("job", ["clerk", 3])])
Point = namedtuple("Point", "x y")


def told(*reasons, found=None, warnings=()):
    return Answer(found, list(reasons), warnings)


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
    "vectors": told(
        *[None] * 3, found=Explanations.vectors(np.array([[0.1, np.nan], [-0.0, np.inf], [1, 2]], np.float32))
    ),
    "rules": told(*[None] * 3, found=Explanations.of([RULE, None, RULE], kind="rule", relation="in-scope")),
    "failures": told(None, "ValueError: no", None, found=Explanations.of(["a", "b"]), warnings=("rough",)),
    "nothing": told("no", "no", "time limit of 1 s"),
    "table": told(
        *[None] * 3, found=Explanations(kind="example", values=TABLE, shared={"metric": np.eye(2)})
    ),
    "values": told(
        *[None] * 3,
        found=Explanations.of([("a", 1, 2.5, float("nan")), frozenset({"x"}), (Decimal("0.1"), (1,))]),
    ),
    "identity": told(
        *[None] * 3,
        found=Explanations(
            kind="value",
            values=np.array(["a", "b", "c"]),
            identity=(np.arange(3), TABLE[["job"]]),
            remarks=np.array(["below the threshold", None, None], dtype=object),
            shared={"names": ["a"], "deep": {"er": (1, None)}, "base": 0.5},
        ),
    ),
}


# --- what is written is read back -------------------------------------------------------------------------


@pytest.mark.parametrize("name", HONEST)
def test_a_chunk_is_read_as_it_was_written(name):
    data = HONEST[name].dump(KEY)
    answer = Answer.load(data, KEY)
    assert (answer.reasons, answer.warnings) == (HONEST[name].reasons, HONEST[name].warnings)
    assert answer.dump(KEY) == data


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
    ids=lambda given: (
        f"{type(given).__name__} {given!s:.30}" if not isinstance(given, frozenset) else "frozenset"
    ),
)
def test_every_value_of_an_explanation_survives(value):
    found = stored(Explanations.of([value, "another"])).values
    assert found[0] == value
    assert found[1] == "another"


@pytest.mark.parametrize("value", [pd.NA, pd.NaT, float("nan")], ids=repr)
def test_every_kind_of_gap_survives(value):
    assert pd.isna(stored(Explanations.of([(value,)])).values[0][0])


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
    found = stored(Explanations(kind="example", values=frame)).values
    pd.testing.assert_frame_equal(found, frame.reset_index(drop=True))


@pytest.mark.parametrize(
    "names",
    [["a", "b"], [0, 1], ["a", "a"], ["a", 1], [("a", 1), ("a", 2)], pd.CategoricalIndex(["x", "y"])],
    ids=str,
)
def test_every_kind_of_column_name_survives(names):
    frame = pd.DataFrame(np.eye(2), columns=names)
    found = stored(Explanations(kind="example", values=frame)).values
    assert list(found.columns) == list(frame.columns)


def test_objects_that_many_rows_share_are_written_once():
    many = Explanations.of([RULE] * 1000)
    assert Answer.of(many).dump(KEY).count(b"clerk") == 1
    assert len({id(rule) for rule in stored(many).values}) == 1


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "a object in an explanation cannot be stored"),
        ((1 + 2j,), "a complex in an explanation"),
        (np.datetime64("2020-01-01T00:00:00.000000001"), "a datetime64 in an explanation"),
        ({1: 2}, "a dict in an explanation"),
        (10**5000, r"cannot be stored \(ValueError: Exceeds the limit"),
        (Rule([OneOf("day", [pd.Timestamp(0)])]), r"cannot be stored \(TypeError"),
        (np.zeros(2, dtype="i4,i4"), "an array of type .* cannot be stored"),
        (np.zeros((0, 2**40)), r"an array of type float64 and shape \(0, 1099511627776\)"),
        (pd.DataFrame({"c": pd.Series([1], dtype="int64[pyarrow]")}).assign(d=[object()]), "a object in"),
    ],
    ids=lambda given: given if isinstance(given, str) else type(given).__name__,
)
def test_what_cannot_be_stored_is_refused_with_a_way_out(value, message):
    with pytest.raises(faithkit.InputError, match=f"{message}.*un without a store"):
        stored(Explanations(kind="value", values=np.zeros((1, 1)), shared={"it": value}))


@pytest.mark.parametrize(
    "value",
    [np.ma.array([1.5, 2.5], mask=[False, True]), [np.ma.masked], {"a": np.ma.masked_all((2, 2))}],
    ids=repr,
)
def test_a_mask_that_would_be_lost_is_refused(value):
    with pytest.raises(faithkit.InputError, match=r"masked array.* hidden: the mask would be lost"):
        stored(Explanations.of(["a"], shared={"it": value}))


def test_a_mask_that_hides_nothing_is_left_behind():
    found = stored(Explanations.of(["a"], shared={"it": np.ma.array([1.5, 2.5])})).shared["it"]
    assert (type(found), found.tolist()) == (np.ndarray, [1.5, 2.5])


@pytest.mark.parametrize(
    ("remark", "text"),
    [(5, "5"), (0.5, "0.5"), (np.str_("rough"), "rough"), (ValueError("no"), "no"), (None, None)],
)
def test_remarks_are_texts(remark, text):
    found = stored(Explanations.of(["a"], remarks=np.array([remark], dtype=object)))
    assert found.remarks.tolist() == [text]


def test_what_is_nested_too_deeply_is_refused_with_a_way_out():
    endless = []
    endless.append(endless)
    with pytest.raises(faithkit.InputError, match=r"nested more than 32 deep.*run without a store"):
        stored(Explanations.of(["a"], shared={"it": endless}))


# --- forgeries --------------------------------------------------------------------------------------------


def taken_apart(answer):
    """Return the head of a chunk's file and the bytes behind it."""
    data = answer.dump(KEY)[len(FORMAT) + DIGEST :]
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def signed(body):
    """Return a chunk's file with a checksum that is right."""
    return FORMAT + hashlib.blake2b(body, digest_size=DIGEST).digest() + body


def put_together(head, content=b""):
    """Return a chunk's file with this head, given as JSON values or as text."""
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return signed(len(text).to_bytes(8, "little") + text + content)


def test_the_forger_can_write_an_honest_file():
    for chunk in HONEST.values():
        assert put_together(*taken_apart(chunk)) == chunk.dump(KEY)


def nested(depth, tag=b'{"list":['):
    closing = {b"[": b"]", b"{": b"}"}
    end = b"".join(closing[tag[i : i + 1]] for i in range(len(tag) - 1, -1, -1) if tag[i : i + 1] in closing)
    return tag * depth + b"1" + end * depth


NAN = float("nan")
# which honest file, where in its head (a path), and what is put there
FORGED = [
    *(("vectors", "found.values.array.1", shape) for shape in ([2**50, 2], [0, 2**50], [3, 2**50], [2**62, 2**62])),
    *(("vectors", "found.values.array.1", shape) for shape in ([-3, -2], [3, 2.0], [3, NAN], [True, 6], "32", [6], None)),
    *(("vectors", "found.values.array.1", shape) for shape in ([3], [1, 3], [3, 3], [3, 2, 1], [1] * 70, {"a": 1})),
    *(("vectors", "found.values.array.0", dtype) for dtype in ("|O", "|V4", "i2,i2", "(2,)f2", "|S0", "<U1", "=f4")),
    *(("vectors", "found.values.array.0", dtype) for dtype in (">f8", "<f2", "nonsense", 5, None, ["<f4"], NAN)),
    *(("vectors", "found.values", value) for value in (None, 5, "abc", [1, 2, 3], {}, {"a": 1, "b": 2}, {"pickle": "x"})),
    *(("vectors", "found.values", {tag: 5}) for tag in ("array", "table", "frame", "list", "tuple", "dict", "rule")),
    *(("vectors", "key", value) for value in (None, "", 3, NAN, [KEY], KEY[:-1], KEY + "0", KEY[:32] + "0" * 32, "1" + KEY[1:])),
    *(("vectors", "found.kind", value) for value in (None, 5, ["vector"], "rule ", {})[:3]),
    *(("vectors", "found.relation", value) for value in (5, ["in-scope"], {})),
    *(("vectors", "found.shared", value) for value in (None, 5, {"list": []}, {"dict": []}, [])),
    *(("vectors", "found.remarks", value) for value in (["a"], [1, 2, 3], "abc", {}, [None] * 4)),
    *(("vectors", "found.identity", value) for value in (5, "abc", {"list": [1]}, {"tuple": []}, {"tuple": [1, 2, 3]})),
    *(("vectors", "found.missing", value) for value in (None, True, {"list": [False] * 3}, {"array": ["|i1", [3]]})),
    *(("vectors", "found.missing.array.1", shape) for shape in ([2], [3, 1], [], [2**50])),
    *(("vectors", "found", value) for value in (None, [], 5, "found", {})),
    *(("vectors", "reasons", value) for value in ([None] * 2, [None] * 4, ["no"] * 3, [1, None, None], "abc", {}, None)),
    *(("vectors", "warnings", value) for value in ([1], "note", {}, None, [["a"]])),
    *(("failures", "reasons", value) for value in ([None] * 3, [None, "no", "no"], ["no"] * 3, [None, NAN, None])),
    *(("nothing", "found", value) for value in (5, {}, [])),
    *(("rules", "found.values.table.2", shape) for shape in ([2**50], [4], [-3], [3.0], [1, 2], None)),
    *(("rules", "found.values.table.1", codes) for codes in (5, {"list": [0, 0, 0]}, {"array": ["<f8", [3]]})),
    *(("rules", "found.values.table.0", items) for items in ([], [1], 5, None, [[1]], [{"rule": "[]"}, None])),
    *(("rules", "found.values.table.0.0.rule", rule) for rule in (5, None, {}, [5], [{"op": "interval"}], [[[]]])),
    *(("rules", "found.values.table.0.0.rule.0.op", op) for op in ("exec", 5, None, ["interval"], {})),
    *(("rules", "found.values.table.0.0.rule.0.high", high) for high in (NAN, "x", None, [], {})),
    *(("table", "found.values.frame.0", n) for n in (2, 4, -3, 2**50, 3.0, NAN, None, "3")),
    *(("table", "found.values.frame.1", names) for names in (5, None, [], {"list": []}, {"table": [[], 5, [0]]})),
    *(("table", "found.values.frame.2", columns) for columns in ([], None, 5, [1], [None] * 8)),
    *(("table", "found.values.frame.2.2.category.0.array", codes) for codes in (["|i1", [2]], ["<f8", [3]], ["|u1", [3]])),
    *(("table", "found.values.frame.2.3.column.0", dtype) for dtype in ("nonsense", 5, None, "datetime64[ns, Mars]")),
    *(("values", "found.values.table.0.1", {"frozenset": value}) for value in ([{"list": []}], 5, None, {})),
    *(("values", "found.values.table.0.2.tuple.0", {"decimal": value}) for value in ("x", None, {}, [5, 5])),
    *(("identity", "found.identity.tuple.1.frame.0", n) for n in (2, 4)),
]  # fmt: skip


def forged(name, path, value):
    head, content = taken_apart(HONEST[name])
    place = head
    *way, last = (int(step) if step.isdigit() else step for step in path.split("."))
    for step in way:
        place = place[step]
    place[last] = copy.deepcopy(value)
    return put_together(head, content)


def refused(data):
    """Whether a file is refused, by ValueError and nothing else, and at no cost."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError) as raised:
            Answer.load(data, KEY)
        assert type(raised.value) is ValueError
        assert tracemalloc.get_traced_memory()[1] < 32e6 + 10 * len(data)
    finally:
        tracemalloc.stop()
    return True


@pytest.mark.parametrize(("name", "path", "value"), FORGED, ids=lambda given: f"{given!r:.40}")
def test_a_forged_head_is_refused(name, path, value):
    assert refused(forged(name, path, value))


@pytest.mark.parametrize("index", [2, 3, -1, -3, 2**62])
def test_an_index_of_a_value_that_is_not_there_is_refused(index):
    head, content = taken_apart(HONEST["rules"])
    codes = np.frombuffer(content[:24], dtype="<i8")
    assert codes.tolist() == [0, 1, 0]
    assert refused(put_together(head, np.array([0, 1, index], dtype="<i8").tobytes() + content[24:]))


def test_a_category_that_is_not_there_is_refused():
    head, content = taken_apart(HONEST["table"])
    assert content.count(b"\1\0\xff") == 1  # x, y, missing
    assert refused(put_together(head, content.replace(b"\1\0\xff", b"\1\2\xff")))


def test_a_truth_value_other_than_yes_and_no_is_refused():
    head, content = taken_apart(HONEST["vectors"])
    assert refused(put_together(head, content[:-3] + b"\0\2\0"))


@pytest.mark.parametrize("name", HONEST)
def test_bytes_too_few_or_too_many_are_refused(name):
    head, content = taken_apart(HONEST[name])
    assert refused(put_together(head, content + b"\0"))
    assert not content or refused(put_together(head, content[:-1]))
    assert not content or refused(put_together(head))


@pytest.mark.parametrize("limit", [None, 10**6], ids=["recursion as usual", "recursion without a limit"])
@pytest.mark.parametrize("tag", [b"[", b'{"list":[', b'{"dict":{"a":', b'{"tuple":[1,'], ids=str)
@pytest.mark.parametrize("depth", [170, 2000, 10**6])
def test_deep_nesting_is_refused_before_a_stack_overflows(depth, tag, limit):
    head, content = taken_apart(HONEST["vectors"])
    head["found"]["shared"] = {"dict": {"it": "HERE"}}
    text = json.dumps(head).encode().replace(b'"HERE"', nested(depth, tag))
    usual = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(limit or usual)
        assert refused(put_together(text, content))
    finally:
        sys.setrecursionlimit(usual)


def test_nesting_hidden_in_a_text_is_not_read():
    head, content = taken_apart(HONEST["rules"])
    head["found"]["values"]["table"][0][0]["rule"] = "[" * 10**6
    assert refused(put_together(head, content))


def test_brackets_in_texts_are_no_nesting():
    words = ["[" * 1000 + '"' + "{" * 1000 + "\\", "]", '\\"[' * 1000, "\\\\" * 7 + "[" * 500]
    assert stored(Explanations.of(words)).values.tolist() == words


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"{}", b'{"reasons": []}', b"1" * 5000]
)
def test_a_head_that_is_none_is_refused(text):
    assert refused(put_together(text))


@pytest.mark.parametrize("name", ["key", "reasons", "warnings", "found"])
def test_a_head_that_says_too_little_is_refused(name):
    head, content = taken_apart(HONEST["vectors"])
    del head[name]
    assert refused(put_together(head, content))


def test_an_answer_to_another_question_is_refused():
    with pytest.raises(ValueError, match="answer another question"):
        Answer.load(HONEST["vectors"].dump("1" + KEY[1:]), KEY)


@pytest.mark.parametrize("size", [0, 1, 10**6, 2**63, 2**64 - 1])
def test_a_size_that_lies_is_refused(size):
    assert refused(signed(size.to_bytes(8, "little") + b"{}"))


def test_memory_that_is_too_small_for_an_answer_is_damage(monkeypatch):
    def full(*given):
        raise MemoryError

    data = HONEST["vectors"].dump(KEY)
    monkeypatch.setattr("faithkit.run.explaining.answer.unpack", full)
    with pytest.raises(ValueError, match="MemoryError"):
        Answer.load(data, KEY)


@pytest.mark.parametrize("cut", [*range(len(FORMAT) + DIGEST + 8), -1])
def test_a_file_that_was_cut_off_is_refused(cut):
    assert refused(HONEST["vectors"].dump(KEY)[:cut])


# --- fuzzing ----------------------------------------------------------------------------------------------


def consistent(answer):
    """Check that all of an answer can be used: it is what some explainer might have said."""
    assert all(reason is None or isinstance(reason, str) for reason in answer.reasons)
    assert all(isinstance(told, str) for told in answer.warnings)
    explained = [reason is None for reason in answer.reasons]
    assert sum(explained) == (0 if answer.found is None else len(answer.found))
    if answer.found is not None:
        rows = np.arange(len(answer.found))
        parts = (
            answer.found.values,
            answer.found.missing,
            answer.found.remarked,
            answer.found.take(rows[::-1]).missing,
        )
        assert {len(part) for part in parts if not isinstance(part, tuple)} <= {len(rows)}
    once = answer.dump(KEY)
    assert Answer.load(once, KEY).dump(KEY) == once
    return True


def accepted_or_refused(data):
    try:
        answer = Answer.load(data, KEY)
    except ValueError:
        return
    assert consistent(answer)


honest = st.sampled_from(sorted(HONEST))
edits = st.lists(
    st.tuples(st.integers(0, 10**4), st.binary(max_size=9), st.integers(0, 9)), min_size=1, max_size=4
)
numbers = st.sampled_from([-1, 0, 1, 2, 3, 4, 7, 2**31, 2**50, 2**63, 0.5, NAN, True])
json_values = st.recursive(
    st.none() | numbers | st.sampled_from(["<f8", "|b1", "a", "rule", ""]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["array", "table", "frame", "category", "column", "rule", "tuple", "frozenset", "list", "dict", "decimal", "date", "NaT"]),
        inner,
        max_size=2,
    ),
    max_leaves=6,
)  # fmt: skip


def edited(data, changes):
    for place, put, cut in changes:
        at = place % (len(data) + 1)
        data = data[:at] + put + data[at + cut :]
    return data


@given(honest, edits)
def test_an_accident_is_found(name, changes):
    data = HONEST[name].dump(KEY)
    changed = edited(data, changes)
    if changed != data:
        with pytest.raises(ValueError):
            Answer.load(changed, KEY)


@given(honest, edits)
def test_bytes_that_were_forged_are_refused_or_make_sense(name, changes):
    accepted_or_refused(signed(edited(HONEST[name].dump(KEY)[len(FORMAT) + DIGEST :], changes)))


def places(value, path=()):
    """Yield the path of everything in a head."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in inner:
        yield from places(part, (*path, step))


@given(st.data())
def test_heads_that_were_forged_are_refused_or_make_sense(data):
    head, content = taken_apart(HONEST[data.draw(honest)])
    for _ in range(data.draw(st.integers(1, 3))):
        *way, last = data.draw(st.sampled_from([path for path in places(head) if path]))
        place = head
        for step in way:
            place = place[step]
        place[last] = data.draw(json_values)
    accepted_or_refused(put_together(head, content))
