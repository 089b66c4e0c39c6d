"""The labels of a classifier in an ONNX file, in the order of its scores: the file has them, no output does.

Labels are an attribute of the operator that classifies, or a list from which another operator chooses by
place. The operators are followed back from the output of the labels to the first that has some.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

import attrs

from faithkit.inputs.models.onnx_tensors import read_fields, read_varints

_GRAPH = 7  # a field of the model
_NODE, _INITIALIZER = 1, 5  # fields of a graph
_INPUT, _OUTPUT, _OPERATOR, _ATTRIBUTE = 1, 2, 4, 5  # of a node
_NAME, _INTS, _STRINGS = 1, 8, 9  # of an attribute
_TYPE, _STRING_DATA, _TENSOR_NAME, _RAW_DATA = 2, 6, 8, 9  # of a tensor
_STRING = 8  # a type of tensors
_INTEGERS = {6: (5, 4), 7: (7, 8)}  # for int32 and int64: the field of the values, and the bytes of each
_LABELS = ("classlabels_strings", "classlabels_int64s", "classlabels_ints")
_CHOICE = "ArrayFeatureExtractor"  # takes from its first input what stands at the places in its second


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
