"""The file of a chunk: what it is, a checksum, a head of JSON values, and the bytes of the arrays in it.

It is framed and unframed here and nowhere else. What is read back is trusted in nothing: a checksum finds
accidents, but whoever forges a file computes a new one.
"""

import hashlib
import json
from typing import Any

import attrs
import numpy as np

from faithkit.errors import InputError
from faithkit.wording import describe

FORMAT = b"faithkit chunk 4\n"
DIGEST = 16  # bytes of the checksum
SIZE = 8  # bytes of the head's length
DEEPEST = 160  # of JSON within JSON


def framed(head: dict[str, Any], blobs: list[bytes]) -> bytes:
    """Return a file with this head, and these bytes behind it.

    Examples
    --------
    >>> head, content = unframed(framed({"names": ["age"]}, [b"ab", b"c"]))
    >>> head, bytes(content.take(3))
    ({'names': ['age']}, b'abc')
    """
    try:
        text = json.dumps(head).encode()
    except (TypeError, ValueError) as error:  # a rule about what JSON cannot say, an integer of 5,000 digits
        raise InputError(
            f"an explanation cannot be stored ({describe(error)}): run without a store, or let the explainer "
            "give text and numbers."
        ) from None
    body = b"".join([len(text).to_bytes(SIZE, "little"), text, *blobs])
    return b"".join([FORMAT, _checksum(body), body])


def unframed(data: bytes) -> tuple[dict[str, Any], "Content"]:
    """Take the head and the bytes behind it apart again; ValueError where they are not to be trusted."""
    content = Content(memoryview(data))
    if content.take(len(FORMAT)) != FORMAT or content.take(DIGEST) != _checksum(content.left):
        raise ValueError("this is no chunk, or a damaged one")
    text = content.take(int.from_bytes(content.take(SIZE), "little"))
    if _nesting(text) > DEEPEST:
        raise ValueError("the head is nested too deeply")
    head = json.loads(text)
    if not isinstance(head, dict):
        raise ValueError("the head is no object")
    return head, content


def _checksum(body: bytes | memoryview) -> bytes:
    return hashlib.blake2b(body, digest_size=DIGEST).digest()


def _nesting(text: bytes | bytearray) -> int:
    """Return how deeply JSON is nested: its parser would only find out on a stack that may be too small."""
    marks = np.frombuffer(text.replace(b"\\\\", b"").replace(b'\\"', b""), dtype=np.uint8)
    quoted = np.cumsum(marks == ord('"'), dtype=np.uint8) & 1  # an odd number of quotes before it
    steps = np.where(quoted, 0, _STEPS[marks])
    return int(np.cumsum(steps[steps != 0], dtype=np.int64).max(initial=0))


_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[[*b"[{"]], _STEPS[[*b"]}"]] = 1, -1


@attrs.define
class Content:
    """Bytes, taken from the front to the end: no byte is read twice."""

    left: memoryview

    def take(self, size: int) -> bytearray:
        """Return the next bytes, as a copy that may be written to."""
        if size > len(self.left):
            raise ValueError(f"{size} bytes are asked for where {len(self.left)} are left")
        taken, self.left = self.left[:size], self.left[size:]
        return bytearray(taken)

    def end(self) -> None:
        """Refuse bytes that nothing asked for."""
        if len(self.left):
            raise ValueError(f"{len(self.left)} bytes are left over")
