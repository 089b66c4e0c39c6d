"""What an ONNX file says of its tensors and labels, read without the package onnx.

An ONNX file is a protocol buffer: fields, each with a number, a kind and a value. `has_external_data` follows
the fields that lead to tensors: a file could name any other file, and a runtime would read it. `find_labels`
finds the labels of a classifier in the order of its scores. They are an attribute of the operator that
classifies, or a list from which another operator chooses by place, so operators are followed back from the
output of the labels to the first that has some.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

import attrs

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_EXTERNAL_DATA, _DATA_LOCATION = 13, 14  # fields of a tensor
_KEY = b"location"  # what a tensor in another file calls the file's path
# for each message the fields that lead on, as onnx.proto numbers them
_WAYS: dict[str, dict[int, str]] = {
    "Model": {7: "Graph", 20: "Training", 25: "Function"},
    "Training": {1: "Graph", 2: "Graph"},
    "Function": {7: "Node", 11: "Attribute"},
    "Graph": {1: "Node", 5: "Tensor", 15: "SparseTensor"},
    "Node": {5: "Attribute"},
    "Attribute": {5: "Tensor", 6: "Graph", 10: "Tensor", 11: "Graph", 22: "SparseTensor", 23: "SparseTensor"},
    "SparseTensor": {1: "Tensor", 2: "Tensor"},
    "Tensor": {},
}

_GRAPH = 7  # a field of the model
_NODE, _INITIALIZER = 1, 5  # fields of a graph
_INPUT, _OUTPUT, _OPERATOR, _ATTRIBUTE = 1, 2, 4, 5  # of a node
_NAME, _INTS, _STRINGS = 1, 8, 9  # of an attribute
_TYPE, _STRING_DATA, _TENSOR_NAME, _RAW_DATA = 2, 6, 8, 9  # of a tensor
_STRING = 8  # a type of tensors
_INTEGERS = {6: (5, 4), 7: (7, 8)}  # for int32 and int64: the field of the values, and the bytes of each
_LABELS = ("classlabels_strings", "classlabels_int64s", "classlabels_ints")
_CHOICE = "ArrayFeatureExtractor"  # takes from its first input what stands at the places in its second


def has_external_data(content: bytes) -> bool:
    r"""Return whether any tensor of an ONNX model lies in another file; ValueError if it is no ONNX model.

    Examples
    --------
    >>> has_external_data(b"")
    False
    >>> entry = b"\n\x08location\x12\x0b/etc/passwd"
    >>> tensor = b"\x6a" + bytes([len(entry)]) + entry  # field 13
    >>> graph = b"\x2a" + bytes([len(tensor)]) + tensor  # field 5
    >>> has_external_data(b"\x3a" + bytes([len(graph)]) + graph)  # field 7
    True
    """
    if _KEY not in content:  # the walk takes seconds where a forest has millions of numbers
        return False
    waiting = [("Model", memoryview(content))]
    while waiting:
        kind, message = waiting.pop()
        for field, value in read_fields(message):
            if kind == "Tensor" and (field == _EXTERNAL_DATA or (field == _DATA_LOCATION and value != 0)):
                return True
            if field in _WAYS[kind] and isinstance(value, memoryview):
                waiting.append((_WAYS[kind][field], value))
    return False


def read_fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the number and the value of each field of a message."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        field, kind = tag >> 3, tag & 7
        if field == 0 or tag >= 2**32:
            raise ValueError(f"a field {field}")
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield field, value
            continue
        if kind == _BYTES:
            size, at = _varint(message, at)
        elif kind in (_FIXED32, _FIXED64):
            size = 4 if kind == _FIXED32 else 8
        else:
            raise ValueError(f"a field of kind {kind}")
        if at + size > len(message):
            raise ValueError("a field that is cut off")
        yield field, message[at : at + size]
        at += size


def read_varints(message: memoryview) -> Iterator[int]:
    """Yield numbers that are packed together."""
    at = 0
    while at < len(message):
        value, at = _varint(message, at)
        yield value


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Return the number that begins here, seven bits a byte, and where the next thing begins."""
    value = 0
    for shift, byte in enumerate(message[at : at + 10]):
        value |= (byte & 127) << (7 * shift)
        if byte < 128:
            return value, at + shift + 1
    raise ValueError("a number that is cut off")


@attrs.define
class _Node:
    operator: str = ""
    inputs: list[str] = attrs.field(factory=list)
    labels: list[Any] = attrs.field(factory=list)


def find_labels(content: bytes, output: str) -> list[Any] | None:
    """Return the labels from which an output is chosen, in the order of the scores; None if none is known."""
    makers: dict[str, _Node] = {}
    tensors: dict[str, memoryview] = {}
    for graph in _messages(content, _GRAPH):
        tensors |= {_text(message, _TENSOR_NAME): message for message in _messages(graph, _INITIALIZER)}
        for message in _messages(graph, _NODE):
            node, outputs = _node(message)
            makers |= dict.fromkeys(outputs, node)
    waiting, seen = deque([output]), {output}
    while waiting:
        node = makers.get(waiting.popleft(), _Node())
        if node.labels:
            return node.labels
        if node.operator == _CHOICE and node.inputs[:1] and node.inputs[0] in tensors:
            return _values(tensors[node.inputs[0]]) or None
        fresh = [name for name in node.inputs if name not in seen]
        seen.update(fresh)
        waiting.extend(fresh)
    return None


def _messages(message: Any, field: int) -> Iterator[memoryview]:
    fields = read_fields(memoryview(message))
    return (value for number, value in fields if number == field and isinstance(value, memoryview))


def _texts(message: Any, field: int) -> Iterator[str]:
    return (bytes(value).decode() for value in _messages(message, field))


def _text(message: Any, field: int) -> str:
    """Return the first text of a field; what stands behind it, such as millions of numbers, is not read."""
    return next(_texts(message, field), "")


def _integers(message: Any, field: int) -> list[int]:
    """Return integers, which stand one by one or packed together."""
    integers: list[int] = []
    for number, value in read_fields(message):
        if number == field:
            integers += [value] if isinstance(value, int) else read_varints(value)
    return [integer - 2**64 if integer >= 2**63 else integer for integer in integers]


def _node(message: memoryview) -> tuple[_Node, list[str]]:
    node = _Node(_text(message, _OPERATOR), [*_texts(message, _INPUT)])
    for attribute in _messages(message, _ATTRIBUTE):
        if _text(attribute, _NAME) in _LABELS:
            node.labels += [*_texts(attribute, _STRINGS)] or _integers(attribute, _INTS)
    return node, [*_texts(message, _OUTPUT)]


def _values(message: memoryview) -> list[Any]:
    """Return the values of a tensor where they may be labels."""
    kind = next(iter(_integers(message, _TYPE)), None)
    if kind == _STRING:
        return [*_texts(message, _STRING_DATA)]
    if kind not in _INTEGERS:
        return []
    field, size = _INTEGERS[kind]
    raw = b"".join(bytes(value) for value in _messages(message, _RAW_DATA))
    in_raw = [int.from_bytes(raw[at : at + size], "little", signed=True) for at in range(0, len(raw), size)]
    return in_raw or _integers(message, field)
