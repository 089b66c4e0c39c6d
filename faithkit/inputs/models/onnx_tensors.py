"""Whether an ONNX model keeps numbers in other files: a file could name any, and a runtime would read it.

An ONNX file is a protocol buffer: fields, each a number, a kind and a value. Only the ways that lead to
tensors are followed here, so that the package onnx is not needed.
"""

from collections.abc import Iterator

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
