"""Read tensors and labels of an ONNX file without the package onnx.

An ONNX file is a protocol buffer: fields, each with a number, a kind and a value. `has_external_data` follows
the fields that lead to tensors, because a tensor can name any other file, and a runtime would read it.
`find_labels` returns the labels of a classifier in the order of its scores. The labels are an attribute of
the classifying operator, or a list from which another operator chooses by index. So the search goes back from
the label output to the first operator that has labels.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

import attrs

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_EXTERNAL_DATA, _DATA_LOCATION = 13, 14  # fields of a tensor
_KEY = b"location"  # the key of the path in a tensor that lies in another file
# the fields of each message that hold messages, numbered as in onnx.proto
_NESTED_MESSAGES: dict[str, dict[int, str]] = {
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
_CHOICE = "ArrayFeatureExtractor"  # returns the values of its first input at the indices in its second


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
    if _KEY not in content:  # a shortcut: walking a forest with millions of numbers takes seconds
        return False
    waiting = [("Model", memoryview(content))]
    while waiting:
        kind, message = waiting.pop()
        for field, value in read_fields(message):
            if kind == "Tensor" and (field == _EXTERNAL_DATA or (field == _DATA_LOCATION and value != 0)):
                return True
            if field in _NESTED_MESSAGES[kind] and isinstance(value, memoryview):
                waiting.append((_NESTED_MESSAGES[kind][field], value))
    return False


def read_fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the number and the value of each field of a message."""
    position = 0
    while position < len(message):
        tag, position = _read_varint(message, position)
        field, kind = tag >> 3, tag & 7
        if field == 0 or tag >= 2**32:
            raise ValueError(f"a field {field}")
        if kind == _VARINT:
            value, position = _read_varint(message, position)
            yield field, value
            continue
        if kind == _BYTES:
            size, position = _read_varint(message, position)
        elif kind in (_FIXED32, _FIXED64):
            size = 4 if kind == _FIXED32 else 8
        else:
            raise ValueError(f"a field of kind {kind}")
        if position + size > len(message):
            raise ValueError("a field that is cut off")
        yield field, message[position : position + size]
        position += size


def read_varints(message: memoryview) -> Iterator[int]:
    """Yield the numbers of a packed field."""
    position = 0
    while position < len(message):
        value, position = _read_varint(message, position)
        yield value


def _read_varint(message: memoryview, position: int) -> tuple[int, int]:
    """Return the number at a position, seven bits per byte, and the position after it."""
    value = 0
    for shift, byte in enumerate(message[position : position + 10]):
        value |= (byte & 127) << (7 * shift)
        if byte < 128:
            return value, position + shift + 1
    raise ValueError("a number that is cut off")


@attrs.define
class _Node:
    operator: str = ""
    inputs: list[str] = attrs.field(factory=list)
    labels: list[Any] = attrs.field(factory=list)


def find_labels(content: bytes, output: str) -> list[Any] | None:
    """Return the labels from which an output is chosen, in the order of the scores; None if none is known."""
    node_of_output: dict[str, _Node] = {}
    tensors: dict[str, memoryview] = {}
    for graph in _read_messages(content, _GRAPH):
        tensors |= {
            _read_text(message, _TENSOR_NAME): message for message in _read_messages(graph, _INITIALIZER)
        }
        for message in _read_messages(graph, _NODE):
            node, outputs = _read_node(message)
            node_of_output |= dict.fromkeys(outputs, node)
    waiting, visited = deque([output]), {output}
    while waiting:
        node = node_of_output.get(waiting.popleft(), _Node())
        if node.labels:
            return node.labels
        if node.operator == _CHOICE and node.inputs[:1] and node.inputs[0] in tensors:
            return _read_label_values(tensors[node.inputs[0]]) or None
        new_names = [name for name in node.inputs if name not in visited]
        visited.update(new_names)
        waiting.extend(new_names)
    return None


def _read_messages(message: Any, field: int) -> Iterator[memoryview]:
    fields = read_fields(memoryview(message))
    return (value for number, value in fields if number == field and isinstance(value, memoryview))


def _read_texts(message: Any, field: int) -> Iterator[str]:
    return (bytes(value).decode() for value in _read_messages(message, field))


def _read_text(message: Any, field: int) -> str:
    """Return the first text of a field, without reading the rest, which may be millions of numbers."""
    return next(_read_texts(message, field), "")


def _read_integers(message: Any, field: int) -> list[int]:
    """Return the integers of a field, whether packed or not."""
    integers: list[int] = []
    for number, value in read_fields(message):
        if number == field:
            integers += [value] if isinstance(value, int) else read_varints(value)
    return [integer - 2**64 if integer >= 2**63 else integer for integer in integers]


def _read_node(message: memoryview) -> tuple[_Node, list[str]]:
    node = _Node(_read_text(message, _OPERATOR), [*_read_texts(message, _INPUT)])
    for attribute in _read_messages(message, _ATTRIBUTE):
        if _read_text(attribute, _NAME) in _LABELS:
            node.labels += [*_read_texts(attribute, _STRINGS)] or _read_integers(attribute, _INTS)
    return node, [*_read_texts(message, _OUTPUT)]


def _read_label_values(message: memoryview) -> list[Any]:
    """Return the values of a tensor if they can be labels, else an empty list."""
    kind = next(iter(_read_integers(message, _TYPE)), None)
    if kind == _STRING:
        return [*_read_texts(message, _STRING_DATA)]
    if kind not in _INTEGERS:
        return []
    field, size = _INTEGERS[kind]
    raw = b"".join(bytes(value) for value in _read_messages(message, _RAW_DATA))
    integers = [
        int.from_bytes(raw[position : position + size], "little", signed=True)
        for position in range(0, len(raw), size)
    ]
    return integers or _read_integers(message, field)
