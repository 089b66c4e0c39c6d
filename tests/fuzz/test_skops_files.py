"""skops files that were changed at random: a model that answers, or one line; no code runs, nothing crashes.

Changed are nodes of the schema, numbers of arrays, and bytes of the zip. A model that was loaded is asked, too:
what the file got past the loader must not end the process either.
"""

import copy
import io
import os
import warnings

import numpy as np
import pytest
from faithkit_model_files.skops_files import trusted_types
from fuzz.corpus import FILES, read_or_refuse
from hypothesis import given, settings
from hypothesis import strategies as st
from lazy_modules import import_when_used
from looping import one_test
from model_files.forging import (
    CANARY,
    TOUCH,
    constructor_node,
    function,
    npy,
    operator_node,
    partial,
    plain,
    read_skops,
    write_skops,
)

from faithkit import load_model
from faithkit.inputs.models.predictor import Predictor

import_when_used("skops")

HALF = settings(max_examples=settings().max_examples // 2)
HONEST = {name: read_skops(content) for name, content in FILES.items()}
X = np.random.default_rng(1).normal(size=(7, 3))
HOSTILE = [
    constructor_node("os.system", plain(TOUCH)),
    constructor_node("numpy.memmap", plain(CANARY), plain("uint8"), plain("w+"), plain(0), plain([4])),
    operator_node("methodcaller", plain("system"), plain(TOUCH)),
    partial(function("os.system"), plain(TOUCH)),
    function("builtins.exec"),
    plain(None),
    plain(-1),
    plain(10**9),
    plain("filename"),
    {"__id__": 1},
]
NAMES = [("os", "system"), ("numpy", "memmap"), ("builtins", "eval"), ("", ""), ("a" * 300, "b")]
NAMES += [tuple(name.rsplit(".", 1)) for _, name in sorted(trusted_types())]
LOADERS = sorted(
    {loader for loader, _ in trusted_types()} | {"MethodNode", "OperatorFuncNode", "CachedNode", ""}
)
JUNK = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([[], {}, [{}]])
)
PLACES = st.integers(0, 10**6)

EDITS = st.one_of(
    st.tuples(st.just("junk"), PLACES, JUNK),
    st.tuples(st.just("drop"), PLACES, st.none()),
    st.tuples(st.just("hostile"), PLACES, st.sampled_from(HOSTILE)),
    st.tuples(st.just("swap"), PLACES, PLACES),
    st.tuples(st.just("name"), PLACES, st.sampled_from(NAMES)),
    st.tuples(st.just("loader"), PLACES, st.sampled_from(LOADERS)),
    st.tuples(
        st.just("number"), PLACES, st.sampled_from(["-1", "0", "1", "7", "1e9", "null", "[]", '"x"', "NaN"])
    ),
)
ARRAYS = st.tuples(
    PLACES, PLACES, st.sampled_from([-1, 0, 1, 2, 255, 10**6, 2**31, 2**62]) | st.integers(-9, 9)
)
BYTES = st.tuples(st.integers(0, 10**6), st.binary(max_size=4))


def list_places(value, places=None):
    """Return every place of a tree of JSON: what holds it, and under which key."""
    places = [] if places is None else places
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        places.append((value, key))
        list_places(value[key], places)
    return places


def as_dict(value):
    return value if isinstance(value, dict) else {}


def edit_schema(schema, edits):
    for kind, place, value in edits:
        known = list_places(schema)
        if not known:
            return schema
        nodes = [(parent, key) for parent, key in known if "__loader__" in as_dict(parent[key])]
        texts = [(parent, key) for parent, key in known if isinstance(parent[key], str) and key == "content"]
        candidates = {"name": nodes, "loader": nodes, "hostile": nodes, "number": texts}.get(kind) or known
        parent, key = candidates[place % len(candidates)]
        if kind == "drop":
            del parent[key]
        elif kind == "swap":
            other, there = known[value % len(known)]
            parent[key] = copy.deepcopy(other[there])
        elif kind == "name" and nodes:
            parent[key]["__module__"], parent[key]["__class__"] = value
        elif kind == "loader" and nodes:
            parent[key]["__loader__"] = value
        else:
            parent[key] = copy.deepcopy(value)
    return schema


def change_numbers(files, changes):
    """Change numbers of arrays: an item, or one field of it."""
    for which, place, value in changes:
        name = sorted(files)[which % len(files)]
        values = np.load(io.BytesIO(files[name]))
        flat = values.reshape(-1)
        if len(flat) and values.dtype.names:
            field = values.dtype.names[place % len(values.dtype.names)]
            _put(flat[field], place, value)
        elif len(flat) and values.dtype.kind in "iuf":
            _put(flat, place, value)
        files[name] = npy(values)
    return files


def _put(items, place, value):
    with np.errstate(all="ignore"):
        items[place % len(items)] = np.array(value).astype(items.dtype)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Be in a folder with a canary for all of these tests."""
    before, here = os.getcwd(), tmp_path_factory.mktemp("fuzz")
    os.chdir(here)
    (here / CANARY).write_text("alive")
    yield here
    os.chdir(before)


def load_and_ask(path):
    with warnings.catch_warnings(action="ignore"):
        return Predictor(load_model(path)).predict(X)


def load_and_check(folder):
    read_or_refuse(load_and_ask, "model.skops")
    assert (folder / CANARY).read_text() == "alive"
    assert sorted(os.listdir(folder)) == [CANARY, "model.skops"]


@one_test
@pytest.mark.parametrize("name", FILES)
def test_the_corpus_itself_is_read(folder, name):
    (folder / "model.skops").write_bytes(FILES[name])
    load_and_check(folder)


@HALF
@given(st.sampled_from(sorted(HONEST)), st.lists(EDITS, min_size=1, max_size=4))
def test_a_schema_that_was_changed_is_a_model_or_one_line(folder, name, edits):
    schema, files = copy.deepcopy(HONEST[name])
    write_skops("model.skops", edit_schema(schema, edits), files, schema.get("protocol"))
    load_and_check(folder)


@HALF
@given(st.sampled_from(sorted(HONEST)), st.lists(ARRAYS, min_size=1, max_size=4))
def test_numbers_that_were_changed_make_a_model_or_one_line(folder, name, changes):
    schema, files = HONEST[name]
    write_skops("model.skops", schema, change_numbers(dict(files), changes))
    load_and_check(folder)


@HALF
@given(st.sampled_from(sorted(FILES)), st.lists(BYTES, min_size=1, max_size=4), st.integers(0, 10**6))
def test_bytes_that_were_changed_make_a_model_or_one_line(folder, name, changes, cut):
    content = bytearray(FILES[name])
    for place, part in changes:
        at = place % len(content)
        content[at : at + len(part)] = part
    (folder / "model.skops").write_bytes(content[: cut % len(content) or None] if cut % 3 == 0 else content)
    load_and_check(folder)
