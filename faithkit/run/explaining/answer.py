"""What came of a chunk: explanations, why some rows have none, what the explainer warned of; and its bytes.

Reading them runs no code. Who may write into a store may say what explanations say, but nothing is read that
`Answer.dump` would not have written: all other bytes raise `ValueError`, and nothing else.
"""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.measure.containers import n_rows
from faithkit.measure.explanations import Explanations, object_array
from faithkit.run.explaining.framing import Content, framed, unframed
from faithkit.run.explaining.packing import pack, unpack
from faithkit.wording import describe

COLUMNS = ("values", "identity", "missing")
NAMES = ("relation", "discretizer")  # of components that are meant for them


@attrs.frozen(eq=False)
class Answer:
    """The explanations of some rows: `reasons` tell why a row has none, and are None where it has one.

    `warnings` are those that the explainer gave, to be told again when the answer is read.

    Examples
    --------
    >>> answer = Answer(Explanations.of(["a"]), [None, "ValueError: not this one"])
    >>> len(answer), answer.rows
    (2, array([0]))
    >>> Answer.load(answer.dump("a key"), "a key").reasons
    [None, 'ValueError: not this one']
    >>> Answer.load(b"hello", "a key")
    Traceback (most recent call last):
    ...
    ValueError: these are no explanations as faithkit writes them: ValueError: 17 bytes are asked for ...
    """

    found: Explanations | None
    reasons: list[str | None]
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, found: Explanations) -> "Answer":
        """Answer for every row, without the instances, which whoever asked has; remarks become texts."""
        remarks = found.remarks
        if remarks is not None:
            remarks = object_array(None if remark is None else str(remark) for remark in remarks)
        return cls(attrs.evolve(found, instances=None, remarks=remarks), [None] * len(found))

    @classmethod
    def joined(cls, parts: list["Answer"]) -> "Answer":
        """Join the answers for consecutive rows."""
        found = [part.found for part in parts if part.found is not None]
        return cls(
            Explanations.concat(found) if found else None,
            [reason for part in parts for reason in part.reasons],
            tuple(dict.fromkeys(told for part in parts for told in part.warnings)),
        )

    def __len__(self) -> int:
        return len(self.reasons)

    @property
    def rows(self) -> NDArray[np.int64]:
        """Where the rows that have an explanation are."""
        return np.flatnonzero([reason is None for reason in self.reasons])

    def dump(self, key: str) -> bytes:
        """Write the answer, and what was asked."""
        blobs: list[bytes] = []
        found = None if self.found is None else _head(self.found, blobs)
        return framed({"key": key, "reasons": self.reasons, "warnings": self.warnings, "found": found}, blobs)

    @classmethod
    def load(cls, data: bytes, key: str) -> "Answer":
        """Read the answer to what is asked; anything else raises ValueError."""
        try:
            return cls._load(data, key)
        except Exception as error:  # forged bytes find every hole of every library
            raise ValueError(
                f"these are no explanations as faithkit writes them: {describe(error)}"
            ) from None

    @classmethod
    def _load(cls, data: bytes, key: str) -> "Answer":
        head, content = unframed(data)
        if head["key"] != key:
            raise ValueError("they answer another question")
        found = None if head["found"] is None else _explanations(head["found"], content)
        content.end()
        answer = cls(found, _words(head["reasons"]), tuple(filter(None, _words(head["warnings"]))))
        explained = len(answer.rows)
        if (found is not None) != (explained > 0) or (found is not None and len(found) != explained):
            raise ValueError("there are more or fewer explanations than rows without a reason")
        return answer


def _head(found: Explanations, blobs: list[bytes]) -> dict[str, Any]:
    columns = {name: pack(getattr(found, name), blobs) for name in (*COLUMNS, "shared")}
    remarks = None if found.remarks is None else found.remarks.tolist()
    named = {name: getattr(found, name) for name in NAMES}
    return {"kind": found.kind, **named, "remarks": remarks, **columns}


def _explanations(head: dict[str, Any], content: Content) -> Explanations:
    kind, named, remarks = head["kind"], {name: head[name] for name in NAMES}, head["remarks"]
    columns = {name: unpack(head[name], content) for name in COLUMNS}
    shared = unpack(head["shared"], content)
    n = _length(columns["values"])
    words = all(isinstance(name, str | None) for name in named.values())
    if not (isinstance(kind, str) and words and isinstance(shared, dict)):
        raise ValueError("the kind, what is named or what is shared is of another type")
    if columns["identity"] is not None and _length(columns["identity"]) != n:
        raise ValueError("there are more or fewer identities than explanations")
    missing = columns["missing"]
    if not isinstance(missing, np.ndarray) or missing.dtype != bool or missing.shape != (n,):
        raise ValueError("it is not told of every explanation whether it is missing")
    told = None if remarks is None else object_array(_words(remarks))
    return Explanations(kind=kind, shared=shared, remarks=told, **named, **columns)


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
        raise ValueError("remarks, reasons and warnings are texts")
    return given
