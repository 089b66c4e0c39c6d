"""Forged chunks of a store: whatever their bytes say, reading them runs no code and opens no file."""

import io
import json
import os
import pickle

import numpy as np
import pyarrow as pa
import pytest
from inputs.forging import CANARY, TOUCH, npy, npy_of_shape

from faithkit.measure.explanations import Explanations
from faithkit.run.explaining.serial import from_bytes, to_bytes

LAST = "the number of the last blob"


class Trap:
    def __reduce__(self):
        return (os.system, (TOUCH,))


def forged(change, blob):
    """Write the explanation of one row, with other entries in the header, and one more blob behind it."""
    honest = to_bytes(Explanations.of(["a"]))
    size = int.from_bytes(honest[:8], "little")
    header, blobs = json.loads(honest[8 : 8 + size]), honest[8 + size :]
    header |= json.loads(json.dumps(change).replace(json.dumps(LAST), str(len(header["blobs"]))))
    header["blobs"].append(len(blob))
    text = json.dumps(header).encode()
    return b"".join([len(text).to_bytes(8, "little"), text, blobs, blob])


def arrow(kind=None, metadata=None):
    """Write a table whose column says that it is of a type of somebody else's."""
    field = pa.field("a", pa.int64(), metadata=kind)
    table = pa.table({"a": [1]}, schema=pa.schema([field], metadata=metadata))
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


PICKLED = {
    "ARROW:extension:name": "arrow.py_extension_type",
    "ARROW:extension:metadata": pickle.dumps(Trap(), 0),
}
STRANGE = {
    "name": "a",
    "field_name": "a",
    "pandas_type": "object",
    "numpy_type": f"os.system('{TOUCH}')",
    "metadata": None,
}
PANDAS = {"pandas": json.dumps({"index_columns": ["a"], "column_indexes": [STRANGE], "columns": [STRANGE]})}
# what a chunk says, and the bytes behind it
CASES = {
    "an array of pickled objects": ({"values": {"array": LAST}}, npy(np.array([Trap()], dtype=object))),
    "an array that is a pickle": ({"values": {"array": LAST}}, pickle.dumps(Trap())),
    "an array in an archive": ({"values": {"array": LAST}}, b"PK\x03\x04" + pickle.dumps(Trap())),
    "an array larger than memory": ({"values": {"array": LAST}}, npy_of_shape((2**50, 2**10))),
    "an array of a strange type": ({"values": {"array": LAST}}, npy_of_shape((1,), "|O")),
    "a table with a pickled type": ({"shared": {"dict": {"a": {"frame": LAST}}}}, arrow(PICKLED)),
    "a table with strange metadata": ({"shared": {"dict": {"a": {"frame": LAST}}}}, arrow(metadata=PANDAS)),
    "a table that is a pickle": ({"shared": {"dict": {"a": {"frame": LAST}}}}, pickle.dumps(Trap())),
    "a tag that nobody knows": ({"values": {"eval": f"__import__('os').system('{TOUCH}')"}}, b""),
    "a tag that is a name": ({"values": {"os.system": TOUCH}}, b""),
    "a rule that is none": ({"values": {"table": [{"rule": [{"op": "eval", "column": TOUCH}]}]}}, b""),
    "a kind that is a name": ({"kind": "os.system"}, b""),
    "a relation that is a name": ({"relation": f"x:a=__import__('os').system('{TOUCH}')"}, b""),
}


@pytest.mark.parametrize("case", CASES)
def test_bytes_of_a_chunk_run_nothing(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / CANARY).write_text("alive")
    change, blob = CASES[case]
    try:
        found = from_bytes(forged(change, blob))
    except Exception as error:
        found = error  # how it is told is the store's affair
    assert isinstance(found, Explanations | Exception)
    assert (tmp_path / CANARY).read_text() == "alive"
    assert os.listdir(tmp_path) == [CANARY]
