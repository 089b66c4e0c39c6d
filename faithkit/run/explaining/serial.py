"""Explanations as bytes: a head in JSON, then the arrays that it speaks of. Reading them runs no code.

Who may write into a store may say what explanations say. But nothing is read that `to_bytes` or `Chunk.dump`
would not have written: all other bytes raise `ValueError`, and nothing else.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.measure.explanations import Explanations, object_array
from faithkit.measure.rows import n_rows
from faithkit.run.explaining.packing import Content, framed, pack, unframed, unpack
from faithkit.wording import describe

FORMAT = 2


def to_bytes(explanations: Explanations) -> bytes:
    """Write explanations; instances are left out, since whoever asks has them.

    Examples
    --------
    >>> phi = Explanations.vectors([[0.5, -1.0]], shared={"names": ["age", "sex"]})
    >>> from_bytes(to_bytes(phi)).values
    array([[ 0.5, -1. ]])
    """
    blobs: list[bytes] = []
    return framed(_head(explanations, blobs), blobs)


def from_bytes(data: bytes) -> Explanations:
    """Read explanations back; anything else raises ValueError.

    Examples
    --------
    >>> from_bytes(b"hello")
    Traceback (most recent call last):
    ...
    ValueError: these are no explanations as faithkit writes them: ValueError: the head is cut off, ...
    """
    with _refusing():
        head, content = unframed(data)
        found = _explanations(head, content)
        content.end()
        return found


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    """Raise whatever goes wrong in reading as ValueError: forged bytes find every hole of every library."""
    try:
        yield
    except Exception as error:
        raise ValueError(f"these are no explanations as faithkit writes them: {describe(error)}") from None


def _head(explanations: Explanations, blobs: list[bytes]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "kind": explanations.kind,
        "relation": explanations.relation,
        "values": pack(explanations.values, blobs),
        "identity": pack(explanations.identity, blobs),
        "missing": pack(explanations.missing, blobs),
        "shared": pack(explanations.shared, blobs),
        "remarks": None if explanations.remarks is None else explanations.remarks.tolist(),
    }


def _explanations(head: dict[str, Any], content: Content) -> Explanations:
    if head["format"] != FORMAT:
        raise ValueError(f"format {head['format']!r:.20}, and this version reads {FORMAT}")
    kind, relation, remarks = head["kind"], head["relation"], head["remarks"]
    columns = {name: unpack(head[name], content) for name in ("values", "identity", "missing")}
    shared = unpack(head["shared"], content)
    n = _length(columns["values"])
    if not (isinstance(kind, str) and isinstance(relation, str | None) and isinstance(shared, dict)):
        raise ValueError("the kind, the relation or what is shared is of another type")
    if columns["identity"] is not None and _length(columns["identity"]) != n:
        raise ValueError("there are more or fewer identities than explanations")
    missing = columns["missing"]
    if not isinstance(missing, np.ndarray) or missing.dtype != bool or missing.shape != (n,):
        raise ValueError("it is not told of every explanation whether it is missing")
    told = None if remarks is None else object_array(_words(remarks))
    return Explanations(kind=kind, relation=relation, shared=shared, remarks=told, **columns)


def _length(column: Any) -> int:
    """Return the number of rows of a column, or of several side by side."""
    if isinstance(column, tuple):
        (n,) = {_length(part) for part in column}
        return n
    if isinstance(column, list | pd.DataFrame) or (isinstance(column, np.ndarray) and column.ndim):
        return n_rows(column)
    raise ValueError(f"a {type(column).__name__} is no column")


def _words(given: Any) -> list[str | None]:
    if not isinstance(given, list) or not all(isinstance(word, str | None) for word in given):
        raise ValueError("remarks, reasons and notes are texts")
    return given


@attrs.frozen(eq=False)
class Chunk:
    """The explanations of some rows: `reasons` tell why a row has none, and are None where it has one.

    `notes` are warnings that the explainer gave, to be told again when the chunk is read.

    Examples
    --------
    >>> chunk = Chunk(Explanations.of(["a"]), [None, "ValueError: not this one"])
    >>> len(chunk), chunk.rows
    (2, array([0]))
    >>> Chunk.load(chunk.dump()).reasons
    [None, 'ValueError: not this one']
    """

    found: Explanations | None
    reasons: list[str | None]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.reasons)

    @property
    def rows(self) -> NDArray[np.int64]:
        """Where the rows that have an explanation are."""
        return np.flatnonzero([reason is None for reason in self.reasons])

    def dump(self) -> bytes:
        """Write the chunk."""
        blobs: list[bytes] = []
        found = None if self.found is None else _head(self.found, blobs)
        return framed({"reasons": self.reasons, "notes": list(self.notes), "found": found}, blobs)

    @classmethod
    def load(cls, data: bytes) -> "Chunk":
        """Read the chunk back; anything else raises ValueError."""
        with _refusing():
            head, content = unframed(data)
            found = None if head["found"] is None else _explanations(head["found"], content)
            content.end()
            chunk = cls(found, _words(head["reasons"]), tuple(filter(None, _words(head["notes"]))))
            explained = len(chunk.rows)
            if (found is not None) != (explained > 0) or (found is not None and len(found) != explained):
                raise ValueError("there are more or fewer explanations than rows without a reason")
            return chunk

    @classmethod
    def joined(cls, parts: list["Chunk"]) -> "Chunk":
        """Join chunks of consecutive rows."""
        found = [part.found for part in parts if part.found is not None]
        return cls(
            Explanations.concat(found) if found else None,
            [reason for part in parts for reason in part.reasons],
            tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        )
