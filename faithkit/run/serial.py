"""Explanations as bytes, without pickle: a JSON header, then the arrays it points to.

Reading a file can run no code, and a reader of another version can tell at once that it cannot read it.
"""

import io
import json
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.measure.explanations import Explanations
from faithkit.measure.rules import Rule

FORMAT = 1


def to_bytes(explanations: Explanations) -> bytes:
    """Write explanations; instances are left out, since whoever asks has them.

    Examples
    --------
    >>> phi = Explanations.vectors([[0.5, -1.0]], shared={"names": ["age", "sex"]})
    >>> from_bytes(to_bytes(phi)).values
    array([[ 0.5, -1. ]])
    """
    blobs: list[bytes] = []
    header = {
        "format": FORMAT,
        "kind": explanations.kind,
        "relation": explanations.relation,
        "values": _pack(explanations.values, blobs),
        "identity": _pack(explanations.identity, blobs),
        "missing": _pack(explanations.missing, blobs),
        "remarks": None if explanations.remarks is None else explanations.remarks.tolist(),
        "shared": _pack(explanations.shared, blobs),
    }
    text = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
    return b"".join([len(text).to_bytes(8, "little"), text, *blobs])


def from_bytes(data: bytes) -> Explanations:
    """Read explanations back; anything else raises ValueError."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    if header["format"] != FORMAT:
        raise ValueError(f"format {header['format']}, and this version reads {FORMAT}")
    blobs, start = [], 8 + size
    for length in header["blobs"]:
        blobs.append(data[start : start + length])
        start += length
    if start != len(data):
        raise ValueError("cut off")
    remarks = header["remarks"]
    return Explanations(
        kind=header["kind"],
        values=_unpack(header["values"], blobs),
        identity=_unpack(header["identity"], blobs),
        missing=_unpack(header["missing"], blobs),
        shared=_unpack(header["shared"], blobs),
        relation=header["relation"],
        remarks=None if remarks is None else np.fromiter(remarks, dtype=object, count=len(remarks)),
    )


def _pack(value: Any, blobs: list[bytes]) -> Any:
    """Turn a value into JSON; tags say what plain JSON cannot."""
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, np.generic):
        return _pack(value.item(), blobs)
    if isinstance(value, np.ndarray):
        return _pack_array(value, blobs)
    if isinstance(value, pd.DataFrame):
        return {"frame": _add(_arrow(value), blobs)}
    if isinstance(value, Rule):
        return {"rule": value.to_json()}
    if isinstance(value, tuple | frozenset | list):
        tag = type(value).__name__
        return {tag: [_pack(item, blobs) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _pack(item, blobs) for key, item in value.items()}}
    raise InputError(
        f"a {type(value).__name__} in an explanation cannot be stored: it is no number, text, tuple, Rule or "
        "array. Run without a store, or let the explainer give such values."
    )


def _pack_array(array: NDArray[Any], blobs: list[bytes]) -> Any:
    if array.dtype.kind in "OU":
        flat = array.astype(object).ravel()
        # many rows share a rule: each object is written once, and objects that are merely equal stay apart
        codes, _ = pd.factorize(np.fromiter(map(id, flat), dtype=np.int64, count=len(flat)))
        first = np.unique(codes, return_index=True)[1]
        table = [_pack(flat[row], blobs) for row in first]
        return {"table": table, "codes": _pack(codes, blobs), "shape": list(array.shape)}
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return {"array": _add(out.getvalue(), blobs)}


def _add(blob: bytes, blobs: list[bytes]) -> int:
    blobs.append(blob)
    return len(blobs) - 1


def _arrow(frame: pd.DataFrame) -> bytes:
    import pyarrow as pa

    table = pa.Table.from_pandas(frame.reset_index(drop=True), preserve_index=False)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _frame(blob: bytes) -> pd.DataFrame:
    import pyarrow as pa

    return pa.ipc.open_stream(blob).read_all().to_pandas()


def _unpack(value: Any, blobs: list[bytes]) -> Any:
    if isinstance(value, list):
        return [_unpack(item, blobs) for item in value]
    if not isinstance(value, dict):
        return value
    if "table" in value:
        table = np.fromiter((_unpack(item, blobs) for item in value["table"]), dtype=object)
        return table[_unpack(value["codes"], blobs)].reshape(value["shape"])
    ((tag, inner),) = value.items()
    if tag == "dict":
        return {key: _unpack(item, blobs) for key, item in inner.items()}
    readers: dict[str, Any] = {
        "array": lambda: np.load(io.BytesIO(blobs[inner]), allow_pickle=False),
        "frame": lambda: _frame(blobs[inner]),
        "rule": lambda: Rule.from_json(inner),
        "tuple": lambda: tuple(_unpack(inner, blobs)),
        "frozenset": lambda: frozenset(_unpack(inner, blobs)),
        "list": lambda: _unpack(inner, blobs),
    }
    return readers[tag]()


@attrs.frozen(eq=False)
class Chunk:
    """The explanations of some rows: `rows` are those that have one, `reasons` tell about the others.

    `notes` are warnings that the explainer gave, to be told again when the chunk is read.
    """

    found: Explanations | None
    rows: NDArray[np.int64]
    reasons: list[str | None]
    notes: tuple[str, ...] = ()

    def dump(self) -> bytes:
        """Write the chunk."""
        head = {"rows": self.rows.tolist(), "reasons": self.reasons, "notes": list(self.notes)}
        text = json.dumps(head).encode()
        body = b"" if self.found is None else to_bytes(self.found)
        return len(text).to_bytes(8, "little") + text + body

    @classmethod
    def load(cls, data: bytes) -> "Chunk":
        """Read the chunk back."""
        size = int.from_bytes(data[:8], "little")
        head = json.loads(data[8 : 8 + size])
        body = data[8 + size :]
        rows = np.array(head["rows"], dtype=np.int64)
        return cls(from_bytes(body) if body else None, rows, head["reasons"], tuple(head["notes"]))

    @classmethod
    def joined(cls, parts: list["Chunk"]) -> "Chunk":
        """Join chunks of consecutive rows."""
        edges = np.cumsum([0, *(len(part.reasons) for part in parts)])
        found = [part.found for part in parts if part.found is not None]
        return cls(
            Explanations.concat(found) if found else None,
            np.concatenate([part.rows + edge for part, edge in zip(parts, edges, strict=False)]),
            [reason for part in parts for reason in part.reasons],
            tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        )
