"""Damaged and absurd skops files: none takes the machine, or says more than one line."""

import io
import json
import os
import zipfile
from functools import cache

import numpy as np
from faithkit_model_files import skops_schema
from lazy_modules import import_when_used
from model_files.forging import (
    CANARY,
    array,
    items,
    list_node,
    mapping,
    model,
    node,
    npy,
    npy_of_shape,
    object_node,
    plain,
    read_skops,
    type_node,
    write_skops,
)
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from faithkit import load_model

skops_io = import_when_used("skops.io")

GENERATOR = "numpy.random._generator.Generator"


def build_generator(kind, pool=4, state="DictNode"):
    bits = {**mapping({"bit_generator": plain(kind)}), "__loader__": state}
    seed = mapping({"pool_size": plain(pool), "entropy": plain(0)})
    return node("RandomGeneratorNode", GENERATOR, content={"bit_generator": bits, "seed_seq": seed})


def build_unfolding(depth):
    """Write a file that is small, and as large as 2 to the power of its depth once it is unfolded."""
    levels = [list_node(plain(0))]
    for _ in range(depth):
        again = {"__id__": levels[-1]["__id__"], **node("JsonNode", "builtins.str", content="0")}
        again["__id__"] = levels[-1]["__id__"]
        levels.append(list_node(again, again))
    return list_node(*levels)


def repeat_brackets(depth, open_="[", close="]"):
    return (open_ * depth + close * depth).encode()


def nest_lists(depth):
    inner = plain(1)
    for _ in range(depth):
        inner = list_node(inner)
    return inner


def build_cycle():
    outer = list_node()
    outer["content"].append(list_node())
    outer["content"][0]["__id__"] = outer["__id__"]
    return outer


def build_number(**marks):
    return {**plain(1), **marks}


def build_state(name, *parts, loader="ObjectNode", **more):
    return model(part=node(loader, name, content=items(*parts), **more))


def build_tree(nodes=None, classes=None, **more):
    parts = {
        "max_depth": plain(1),
        "node_count": plain(1),
        "nodes": nodes or array("one.npy"),
        "values": array("one.npy"),
    }
    arguments = items(plain(1), classes or array("one.npy"), plain(1))
    content = mapping({**parts, **more})
    return model(
        part=node("TreeNode", "sklearn.tree._tree.Tree", __reduce__={"args": arguments}, content=content)
    )


DISTANCE, BALLS = "sklearn.metrics._dist_metrics.EuclideanDistance64", "sklearn.neighbors._ball_tree.BallTree"
LOSS = "sklearn._loss._loss.CyHalfBinomialLoss"
NOT_MADE_SO = "has a state that none has"
# What a file holds besides names that nobody trusts, and a word of the refusal
SCHEMAS = {
    "a list": ([], "TypeError"),
    "a number": (1, "TypeError"),
    "nothing": (None, "TypeError"),
    "a text": ("model", "TypeError"),
    "an empty object": ({}, "KeyError"),
    "a node without a loader": ({"__class__": "dict", "__module__": "builtins"}, "no type or no loader"),
    "a node without a type": ({"__loader__": "DictNode"}, "no type or no loader"),
    "a loader that is a list": (build_number(__loader__=[]), "no type or no loader"),
    "a type that is a number": (build_number(__class__=1), "no type or no loader"),
    "a type that is empty": (build_number(__class__=""), "no type or no loader"),
    "a name with control characters": (build_number(__class__="\x1b[2Jx"), "no type or no loader"),
    "a name of two lines": (build_number(__module__="os\nos"), "no type or no loader"),
    "a name without an end": (build_number(__module__="a" * 10**6), "no type or no loader"),
    "an id that is a list": (build_number(__id__=[]), "TypeError"),
    "an id and nothing else": (list_node(plain(1), {"__id__": 7}), "no type or no loader"),
    "one id for two": (list_node(build_number(__id__=7), build_number(__id__=7, content="2")), "one id"),
    "one id for two with a part that is called file": (
        list_node(
            {**mapping({"file": plain(1)}), "__id__": 7}, {**mapping({"file": list_node()}), "__id__": 7}
        ),
        "one id",
    ),
    "one id for a thing and its part": (build_cycle(), "one id"),
    "a file that unfolds": (build_unfolding(60), "one id"),
    "nodes in nodes in nodes": (nest_lists(400), "Recursion"),
    "JSON in JSON": (
        build_number(content="[" * 10**5),
        "RecursionError|JSONDecodeError|no predict|type list",
    ),
    "JSON that is none": (model(coef_=build_number(content="{")), "JSONDecodeError"),
    "a number without an end": (model(coef_=build_number(content="9" * 10**5)), "digits"),
    "an attribute that is missing": (node("DictNode", "builtins.dict"), "KeyError"),
    "an array without a file": (model(coef_=array("nowhere.npy")), "KeyError"),
    "an array beside the file": (model(coef_=array("../../etc/passwd")), "KeyError"),
    "an array whose file is a list": (model(coef_=array([])), "TypeError"),
    "an array of objects": (model(coef_=array("objects.npy")), "allow_pickle|pickle"),
    "an array that is text": (model(coef_=array("text.npy")), "pickle|magic|ValueError"),
    "an array that is larger than its file": (model(coef_=array("huge.npy")), "ValueError|MemoryError"),
    "an array that is larger than memory": (model(coef_=array("vast.npy")), "MemoryError|ValueError"),
    "an archive in place of an array": (model(coef_=array("strange.npz")), "an archive stands in place"),
    "an array of nothing": (model(coef_=array("nothing.npy")), "items of no size"),
    "a sparse matrix that leads outside": (
        model(
            coef_=node("SparseMatrixNode", "scipy.sparse._csr.csr_matrix", type="scipy", file="outside.npz")
        ),
        "ind",
    ),
    "a sparse matrix that is none": (
        model(coef_=node("SparseMatrixNode", "scipy.sparse._csr.csr_matrix", type="scipy", file="text.npy")),
        "BadZipFile",
    ),
    "a sparse matrix of another format": (
        model(
            coef_=node("SparseMatrixNode", "scipy.sparse._csr.csr_matrix", type="scipy", file="strange.npz")
        ),
        "Unknown|ValueError",
    ),
    "a sparse matrix that is a zip bomb": (
        model(coef_=node("SparseMatrixNode", "scipy.sparse._csr.csr_matrix", type="scipy", file="bomb.npz")),
        "unpack to more than",
    ),
    "an array that is a zip bomb": (model(coef_=array("bomb.npy")), "unpack to more than"),
    "an array that is read again and again": (
        model(coef_=list_node(*(array("large.npy") for _ in range(100)))),
        "unpack to more than",
    ),
    "a generator of another kind": (model(coef_=build_generator("seed")), "none of NumPy's"),
    "a generator of a function": (model(coef_=build_generator("set_bit_generator")), "none of NumPy's"),
    "a generator with a state of another kind": (
        model(coef_=build_generator("PCG64", state="SetNode")),
        "none of NumPy's",
    ),
    "a generator that takes for ever": (model(coef_=build_generator("PCG64", pool=10**6)), "none of NumPy's"),
    "a generator without a name": (
        node("RandomGeneratorNode", GENERATOR, content={"bit_generator": mapping({})}),
        "KeyError",
    ),
    "a vectorizer that reads files": (
        object_node("sklearn.feature_extraction.text.CountVectorizer", input=plain("filename")),
        "reads files",
    ),
    "a hashing vectorizer that reads files": (
        object_node("sklearn.feature_extraction.text.HashingVectorizer", input=plain("file")),
        "reads files",
    ),
    "a distance of nothing": (build_state(DISTANCE, plain(2), plain(None), plain(None)), NOT_MADE_SO),
    "a distance without a state": (model(part=node("ObjectNode", DISTANCE)), "KeyError"),
    "a distance with an empty state": (build_state(DISTANCE), NOT_MADE_SO),
    "a distance with a state that is a number": (
        model(part=node("ObjectNode", DISTANCE, content=plain(1))),
        NOT_MADE_SO,
    ),
    "a distance of points": (
        build_state(DISTANCE, plain(2), array("point.npy"), array("point.npy")),
        "is none",
    ),
    "a ball tree of nothing": (build_state(BALLS, *(plain(None) for _ in range(13))), NOT_MADE_SO),
    "a ball tree without a distance": (
        build_state(BALLS, *[array("one.npy")] * 4, *(plain(1) for _ in range(9))),
        NOT_MADE_SO,
    ),
    "a tree without nodes": (build_tree(plain(None)), NOT_MADE_SO),
    "a tree whose nodes are a point": (build_tree(array("point.npy")), "is none"),
    "a tree whose nodes are a number": (build_tree(array("one.npy", of="numpy.float64")), "is none"),
    "a tree whose nodes are text": (build_tree(array("text.npy")), "magic"),
    "a tree without classes": (build_tree(classes=plain(None)), NOT_MADE_SO),
    "a tree with more to it": (build_tree(nodes2=plain(1)), NOT_MADE_SO),
    "a loss with a state": (
        model(part=node("LossNode", LOSS, __reduce__={"args": items()}, content=items(plain(1)))),
        NOT_MADE_SO,
    ),
    "something that is no model": (mapping({"a": plain(1)}), "predict"),
    "a model that is a type": (type_node("builtins.int"), "class int"),
}


def npz(**arrays):
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def sparse_npz(**change):
    matrix = sparse.csr_matrix(np.eye(3))
    parts = {"indices": matrix.indices, "indptr": matrix.indptr, "data": matrix.data, "shape": matrix.shape}
    return npz(**{**parts, "format": b"csr", **change})


FILES = {
    "one.npy": lambda: npy([1.0]),
    "point.npy": lambda: npy(1.0),
    "objects.npy": lambda: npy(np.array([open], dtype=object)),
    "text.npy": lambda: b"no array at all",
    "huge.npy": lambda: npy_of_shape((10**9,)),
    "vast.npy": lambda: npy_of_shape((2**50, 2**10)),
    "nothing.npy": lambda: npy_of_shape((2**40,), "<U0"),
    "outside.npz": lambda: sparse_npz(indices=np.array([0, 10**6, 2], dtype=np.int32)),
    "strange.npz": lambda: sparse_npz(format=b"load_npz"),
    "bomb.npz": lambda: sparse_npz(data=np.zeros(2**19)),
    "bomb.npy": lambda: npy(np.zeros(2**19)),
    "large.npy": lambda: npy(np.zeros(2**14)),
}


def test_a_schema_that_nobody_wrote_is_refused_in_one_line(subtests, assert_refused, monkeypatch):
    monkeypatch.setattr(skops_schema, "_MAX_UNPACKED", 2**21)  # so that the bombs need not be large
    for case, (schema, message) in SCHEMAS.items():
        with subtests.test(case):
            text = json.dumps(schema)
            files = {name: build() for name, build in FILES.items() if name in text}
            write_skops("model.skops", schema, files)
            assert_refused(message)


def test_a_format_of_skops_that_is_not_known_is_refused(subtests, assert_refused):
    for protocol in (0, -1, 3, 10**9, "2", None, [], {}, 1.5):
        with subtests.test(protocol=protocol):
            write_skops("model.skops", model(), protocol=protocol)
            assert_refused("it has the format")


def zip_without_schema():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("other.json", "{}")
    return out.getvalue()


@cache
def dump_honest_model():
    return skops_io.dumps(LogisticRegression().fit([[0.0], [1.0]], ["a", "b"]))


def zip_bomb():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b" " * (2**20 + 1))
    return out.getvalue()


def zip_schema(text):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("schema.json", text)
    return out.getvalue()


def encrypt_zip():
    content = bytearray(dump_honest_model())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = content.find(mark)
        while start >= 0:
            content[start + at] |= 1
            start = content.find(mark, start + 4)
    return bytes(content)


# The bytes of a file that is called .skops, and a word of the refusal
BYTES = {
    "nothing": (lambda: b"", "BadZipFile"),
    "a pickle": (lambda: b"cos\nsystem\n(S'echo dead > canary'\ntR.", "BadZipFile"),
    "noise": (lambda: bytes(np.random.default_rng(0).bytes(5000)), "BadZipFile"),
    "a zip without a schema": (zip_without_schema, "schema.json"),
    "a zip that is cut off": (lambda: dump_honest_model()[:-100], "BadZipFile"),
    "a zip that begins late": (lambda: dump_honest_model()[100:], "BadZipFile|Error"),
    "a zip whose middle is gone": (
        lambda: dump_honest_model()[:400] + dump_honest_model()[800:],
        "Error|BadZipFile",
    ),
    "a zip with a password": (encrypt_zip, "password|encrypted"),
    "a schema that is a bomb": (zip_bomb, "unpack to more than"),
    "a schema that is no JSON": (lambda: zip_schema("model"), "JSONDecodeError"),
    "a schema that is no text": (lambda: zip_schema(b"\xff\xfe\xfa"), "Unicode|JSONDecodeError"),
    "a schema that is deep": (lambda: zip_schema(repeat_brackets(10**5)), "RecursionError"),
    "a schema that is deep in objects": (
        lambda: zip_schema(repeat_brackets(10**5, '{"a":', "}")),
        "RecursionError|JSON",
    ),
}


def test_bytes_that_are_no_skops_file_are_refused_in_one_line(subtests, here, assert_refused, monkeypatch):
    monkeypatch.setattr(skops_schema, "_MAX_SCHEMA", 2**20)
    for case, (build, message) in BYTES.items():
        with subtests.test(case):
            (here / "model.skops").write_bytes(build())
            assert_refused(message)


def test_a_model_of_many_zeros_is_loaded_however_well_they_are_compressed(here):
    honest_model = LogisticRegression().fit([[0.0], [1.0]], ["a", "b"])
    honest_model.coef_ = np.zeros((1, 3 * 10**5))
    skops_io.dump(honest_model, "model.skops", compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    assert os.path.getsize("model.skops") < 24 * 10**5 / 100
    assert load_model("model.skops").coef_.shape == (1, 3 * 10**5)


def test_names_in_the_zip_are_never_written_to_disk(here):
    schema, files = read_skops(skops_io.dumps(LogisticRegression()))
    for name in (f"../{CANARY}", f"/{here}/{CANARY}", CANARY, "../../../../../../etc/passwd"):
        files[name] = b"dead"
    write_skops("model.skops", schema, files)
    folder = set(os.listdir()) | set(os.listdir(".."))
    load_model("model.skops")
    assert (here / CANARY).read_text() == "alive"
    assert set(os.listdir()) | set(os.listdir("..")) == folder
