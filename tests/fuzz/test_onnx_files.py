"""ONNX files that were changed at random: tensors in other files are seen wherever a parser would see them."""

import pytest
from faithkit_model_files.onnx_messages import has_external_data
from hypothesis import given
from hypothesis import strategies as st

onnx = pytest.importorskip("onnx")
from google.protobuf.message import DecodeError  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402


def make_model(location):
    inside = helper.make_tensor("W", TensorProto.FLOAT, [1], [1.0])
    outside = TensorProto(name="V", data_type=1, dims=[1], data_location=TensorProto.EXTERNAL)
    outside.external_data.add(key="location", value="canary")
    tensor = outside if location else inside
    inner = helper.make_graph([helper.make_node("Constant", [], ["c"], value=tensor)], "inner", [], [])
    branch = helper.make_node("If", ["X"], ["b"], then_branch=inner, else_branch=inner)
    graph = helper.make_graph([branch], "location", [], [], [inside, tensor])
    return helper.make_model(graph).SerializeToString()


HONEST, FORGED = make_model(False), make_model(True)
CHANGES = st.lists(st.tuples(st.integers(0, len(FORGED)), st.binary(max_size=3)), max_size=6)


def holds_external(message):
    """Look for a tensor in another file by the package that ONNX files are written with."""
    if isinstance(message, TensorProto):
        return message.data_location == TensorProto.EXTERNAL or bool(message.external_data)
    for field, value in message.ListFields():
        values = value if hasattr(value, "add") else [value]  # repeated, or not
        if field.message_type and any(map(holds_external, values)):
            return True
    return False


def change_bytes(content, changes):
    for at, part in changes:
        content = content[:at] + part + content[at + len(part) :]
    return content


@given(st.binary() | st.builds(change_bytes, st.sampled_from([HONEST, FORGED]), CHANGES))
def test_no_tensor_in_another_file_is_overlooked(content):
    try:
        result = has_external_data(content)
    except ValueError:
        return  # refused, too
    try:
        parsed = onnx.ModelProto.FromString(content)
    except DecodeError:
        return  # the runtime refuses it
    if b"location" in content:
        assert result >= holds_external(parsed)


def test_the_two_models_that_are_changed_differ_in_what_is_looked_for():
    assert has_external_data(FORGED)
    assert not has_external_data(HONEST)
