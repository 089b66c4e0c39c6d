"""Forged chunks of a store: whatever their bytes say, reading them runs no code and opens no file."""

import hashlib
import json
import os
import pickle
import sys

import numpy as np
import pytest
from inputs.forging import CANARY, TOUCH, npy, npy_of_shape

from faithkit.measure.explanations import Explanations
from faithkit.run.explaining.answer import Answer
from faithkit.run.explaining.framing import DIGEST, FORMAT

OPENED = []  # what is opened while somebody listens
LISTENING = []
sys.addaudithook(lambda event, given: OPENED.append(given[0]) if LISTENING and event == "open" else None)


class Trap:
    def __reduce__(self):
        return (os.system, (TOUCH,))


def forged(change, blob):
    """Write the explanation of one row, with other entries in its head, and a blob in front of all others."""
    honest = Answer.of(Explanations.vectors([[0.5]])).dump("key")[len(FORMAT) + DIGEST :]
    size = int.from_bytes(honest[:8], "little")
    head, behind = json.loads(honest[8 : 8 + size]), honest[8 + size :]
    replaced = 8 if "values" in change else 0  # the bytes of the values, which come first
    head["found"] |= change
    text = json.dumps(head).encode()
    body = b"".join([len(text).to_bytes(8, "little"), text, blob, behind[replaced:]])
    return FORMAT + hashlib.blake2b(body, digest_size=DIGEST).digest() + body


def cells(blob):
    """Say that the blob is one cell of bytes."""
    return {"array": [f"|S{len(blob)}", [1]]}


def table(column):
    """Say that the values are a table of one column."""
    return {"frame": [1, {"table": [["a"], {"array": ["<i8", [1]]}, [1]]}, [column]]}


ZERO = bytes(8)  # the code of the first value
PICKLE = pickle.dumps(Trap(), 0)
OBJECTS = npy(np.array([Trap()], dtype=object))
SYSTEM = f"__import__('os').system('{TOUCH}')"
# what a chunk says of explanations, the bytes behind it, and whether it is read: as data, then
CASES = {
    "nothing strange": ({"values": {"array": ["<f8", [1, 1]]}}, ZERO, True),
    "a table": ({"kind": "example", "values": table({"array": ["<f8", [1]]})}, 2 * ZERO, True),
    "bytes that are a pickle": ({"kind": "value", "values": cells(PICKLE)}, PICKLE, True),
    "bytes that are an array of pickles": ({"kind": "value", "values": cells(OBJECTS)}, OBJECTS, True),
    "an array of pickled objects": ({"values": {"array": ["|O", [1]]}}, PICKLE, False),
    "an array of addresses": ({"values": {"array": ["|O", [1]]}}, ZERO, False),
    "an array of NumPy's own format": ({"values": {"array": 0}}, OBJECTS, False),
    "an array larger than memory": ({"values": {"array": ["<f8", [2**50, 2**10]]}}, npy_of_shape((2**50, 2**10)), False),
    "a table that is a pickle": ({"values": {"frame": PICKLE.decode()}}, b"", False),
    "a column of a type that is code": ({"values": table({"column": [SYSTEM, {"list": [1]}]})}, ZERO, False),
    "a sparse column filled with code": ({"values": table({"column": [f"Sparse[float64, {SYSTEM}]", {"list": [1]}]})}, ZERO, False),
    "a time zone that is a file": ({"values": table({"column": [f"datetime64[ns, dateutil/{os.sep}etc/hosts]", {"list": [None]}]})}, ZERO, False),
    "a time zone that climbs": ({"values": table({"column": ["datetime64[ns, ../../../etc/hosts]", {"list": [None]}]})}, ZERO, False),
    "a tag that nobody knows": ({"values": {"eval": SYSTEM}}, b"", False),
    "a tag that is a name": ({"values": {"os.system": TOUCH}}, b"", False),
    "a rule that is none": ({"values": {"table": [[{"rule": [{"op": "eval", "column": TOUCH}]}], {"array": ["<i8", [1]]}, [1]]}}, ZERO, False),
    "a kind that is a name": ({"kind": "os.system"}, b"", True),
    "a relation that is a name": ({"relation": f"x:a={SYSTEM}"}, b"", True),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bytes_of_a_chunk_run_nothing_and_open_nothing(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / CANARY).write_text("alive")
    change, blob, is_read = CASES[case]
    data = forged(change, blob)
    OPENED.clear()
    LISTENING.append(case)
    try:
        if is_read:
            assert len(Answer.load(data, "key")) == 1
        else:
            with pytest.raises(ValueError, match="no explanations as faithkit writes them"):
                Answer.load(data, "key")
    finally:
        LISTENING.clear()
    assert [path for path in OPENED if "etc" in str(path)] == []
    assert (tmp_path / CANARY).read_text() == "alive"
    assert os.listdir(tmp_path) == [CANARY]
