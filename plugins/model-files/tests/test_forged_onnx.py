"""Forged ONNX files: none reads another file or asks a server, and each is refused in one line."""

import numpy as np
import pytest
from faithkit_model_files.onnx_messages import _NESTED_MESSAGES, has_external_data
from looping import one_test
from model_files.forging import CANARY, TOUCH

from faithkit import load_model

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper  # noqa: E402

FLOATS = TensorProto.FLOAT


def make_external(location=CANARY, name="W"):
    """Return a tensor whose numbers lie in another file."""
    tensor = TensorProto(name=name, data_type=FLOATS, dims=[1], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    return tensor


def make_sparse(values):
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [0])
    return onnx.SparseTensorProto(values=values, indices=indices, dims=[1])


def make_graph(nodes=(), tensors=(), sparse_tensors=(), last="X"):
    X, Y = (helper.make_tensor_value_info(name, FLOATS, [None, 1]) for name in ("X", "Y"))
    added = helper.make_node("Identity", [last], ["Y"])
    return helper.make_graph([*nodes, added], "g", [X], [Y], tensors, sparse_initializer=sparse_tensors)


def make_model(*nodes, domains=("",), **more):
    functions = more.pop("functions", [])
    opsets = [helper.make_opsetid(domain, 17) for domain in domains]
    return helper.make_model(
        make_graph(nodes, **more), opset_imports=opsets, ir_version=8, functions=functions
    )


def make_constant(**attribute):
    return helper.make_node("Constant", [], ["c"], **attribute)


def make_branch():
    inner = helper.make_graph(
        [make_constant(value=make_external())], "inner", [], [helper.make_empty_tensor_value_info("c")]
    )
    return helper.make_node("If", ["X"], ["b"], then_branch=inner, else_branch=inner)


def make_function():
    return helper.make_function(
        "local", "f", ["a"], ["c"], [make_constant(value=make_external())], [helper.make_opsetid("", 17)]
    )


def make_trained_model():
    trained = make_model()
    trained.training_info.add().algorithm.CopyFrom(make_graph(tensors=[make_external()]))
    return trained


# Where numbers of a model may lie in another file
EXTERNAL = {
    "the canary": lambda: make_model(tensors=[make_external()]),
    "a file of the system": lambda: make_model(tensors=[make_external("/etc/passwd")]),
    "a file above": lambda: make_model(tensors=[make_external("../../secret")]),
    "memory of the process": lambda: make_model(tensors=[make_external("*/_ORT_MEM_ADDR_/*")]),
    "a location without a word": lambda: make_model(tensors=[make_external("")]),
    "the last of many tensors": lambda: make_model(
        tensors=[*(helper.make_tensor(f"t{i}", FLOATS, [1], [0.0]) for i in range(9)), make_external()]
    ),
    "a node's tensor": lambda: make_model(make_constant(value=make_external())),
    "a node's list of tensors": lambda: make_model(
        helper.make_node("Strange", [], ["c"], values=[make_external()])
    ),
    "a sparse tensor": lambda: make_model(sparse_tensors=[make_sparse(make_external())]),
    "a node's sparse tensor": lambda: make_model(make_constant(sparse_value=make_sparse(make_external()))),
    "a branch": lambda: make_model(make_branch()),
    "a function": lambda: make_model(domains=("", "local"), functions=[make_function()]),
    "its training": make_trained_model,
}


@pytest.fixture(autouse=True)
def _honest(here):
    (here / "honest.onnx").write_bytes(make_model().SerializeToString())
    load_model("honest.onnx")  # whatever honest files import is there now


@one_test
@pytest.mark.parametrize("case", EXTERNAL)
def test_a_model_with_numbers_in_other_files_is_refused(assert_refused, here, case):
    (here / "model.onnx").write_bytes(EXTERNAL[case]().SerializeToString())
    assert_refused(
        r"model\.onnx keeps numbers in other files, which are not read\. Save the model in one", "model.onnx"
    )


def test_a_number_that_is_written_at_length_is_the_same_number():
    tensor = make_external()
    content = tensor.SerializeToString()
    padded = content.replace(b"\x70\x01", b"\xf0\x00\x81\x80\x00")
    assert TensorProto.FromString(padded) == tensor
    in_graph = b"\x2a" + bytes([len(padded)]) + padded
    assert has_external_data(b"\x3a" + bytes([len(in_graph)]) + in_graph)


def test_all_ways_to_a_tensor_are_followed():
    """The field numbers stand in onnx.proto; a way that it has and the table lacks would be a hole."""
    ways, waiting = {}, [onnx.ModelProto.DESCRIPTOR]
    while waiting:
        message = waiting.pop()
        if message.name not in ways:
            ways[message.name] = {
                field.number: field.message_type for field in message.fields if field.message_type
            }
            waiting.extend(ways[message.name].values())
    leads = {"TensorProto"}
    for _ in ways:
        leads |= {name for name, fields in ways.items() if any(to.name in leads for to in fields.values())}

    def shorten(name):
        return name.removesuffix("Proto").removesuffix("Info")

    expected = {
        shorten(name): {number: shorten(to.name) for number, to in ways[name].items() if to.name in leads}
        for name in leads
    }
    assert expected == _NESTED_MESSAGES


def dump_valid_model():
    return make_model().SerializeToString()


# The bytes of a file that is called .onnx
BYTES = {
    "nothing": lambda: b"",
    "noise": lambda: np.random.default_rng(0).bytes(5000),
    "a pickle": lambda: f"cos\nsystem\n(S'{TOUCH}'\ntR.".encode(),
    "a model that is cut off": lambda: dump_valid_model()[:-20],
    "a model that begins late": lambda: dump_valid_model()[7:],
    "the runtime's own format": lambda: b"\x10\0\0\0ORTM" + bytes(200),
    "the runtime's own format with a word in it": lambda: b"\x10\0\0\0ORTM" + b"location" + bytes(200),
    "a word, and nothing to read": lambda: b"location",
    "a field that is larger than the file": lambda: (
        b"location"[:0] + b"\x3a\xff\xff\xff\xff\x0f" + b"location"
    ),
    "a number without an end": lambda: b"\xff" * 40 + b"location",
    "groups in groups": lambda: b"\x0b" * 10**5 + b"location",
    "graphs in graphs": lambda: nest_graphs(2000),
    "a library of operators": lambda: make_model(
        helper.make_node("Shell", ["X"], ["s"], domain="evil.so"), domains=("", "evil.so")
    ).SerializeToString(),
    "a server's answer": lambda: make_model(
        helper.make_node(
            "AzureTextToText",
            ["X", "X"],
            ["s"],
            domain="com.microsoft.extensions",
            model_uri="http://localhost:9",
        ),
        domains=("", "com.microsoft.extensions"),
    ).SerializeToString(),
    "a cache of another device": lambda: make_model(
        helper.make_node(
            "EPContext", ["X"], ["s"], domain="com.microsoft", embed_mode=0, ep_cache_context=CANARY
        ),
        domains=("", "com.microsoft"),
    ).SerializeToString(),
}


def nest_graphs(depth):
    """Write graphs of attributes of nodes of graphs, and behind them the word that calls for a look at all."""
    content = b""
    for _ in range(depth):
        for tag in (b"\x32", b"\x2a", b"\x0a"):  # a graph, an attribute, a node
            content = tag + encode_varint(len(content)) + content
    return b"\x3a" + encode_varint(len(content)) + content + b"\x32\x08location"


def encode_varint(number):
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


@one_test
@pytest.mark.parametrize("case", BYTES)
def test_bytes_that_are_no_onnx_model_are_refused_in_one_line(assert_refused, here, case):
    (here / "model.onnx").write_bytes(BYTES[case]())
    assert_refused(
        r"loading model\.onnx failed with .* It may be damaged, or need other versions", "model.onnx"
    )


def test_a_model_runs_on_this_machine_and_nowhere_else(here):
    assert load_model("honest.onnx")._session.get_providers() == ["CPUExecutionProvider"]


def test_a_model_may_have_columns_that_are_called_location(here):
    named = helper.make_tensor_value_info("location", FLOATS, [None, 1])
    out = helper.make_tensor_value_info("Y", FLOATS, [None, 1])
    graph = helper.make_graph([helper.make_node("Identity", ["location"], ["Y"])], "g", [named], [out])
    opsets = [helper.make_opsetid("", 17)]
    (here / "model.onnx").write_bytes(
        helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    )
    assert load_model("model.onnx").predict(np.array([[3.0]])).tolist() == [3.0]
