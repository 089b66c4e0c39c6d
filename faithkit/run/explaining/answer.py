"""The answer to a chunk: explanations, why some rows have none, the explainer's warnings; and its file.

The file is an `.npz`: the arrays, and a head of JSON that says what they are and which key they answer. Its
format has a checksum for each part, and reading it runs no code.
"""

import io
import json
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, object_array
from faithkit.run.explaining.packing import pack, unpack
from faithkit.wording import describe

FORMAT = "faithkit chunk 5"
COLUMNS = ("values", "identity", "missing", "shared")
TEXTS = ("kind", "relation", "discretizer")


@attrs.frozen(eq=False)
class Answer:
    """The explanations of some rows: `reasons` tell why a row has none, and are None where it has one.

    `warnings` are those that the explainer gave, to be shown again when the answer is read.

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
    ValueError: this is no answer to the chunk: ...
    """

    explanations: Explanations | None
    reasons: list[str | None]
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, explanations: Explanations) -> "Answer":
        """Answer for every row, without the instances, which whoever asked has; remarks become texts."""
        remarks = explanations.remarks
        if remarks is not None:
            remarks = object_array(None if remark is None else str(remark) for remark in remarks)
        return cls(attrs.evolve(explanations, instances=None, remarks=remarks), [None] * len(explanations))

    @classmethod
    def joined(cls, parts: list["Answer"]) -> "Answer":
        """Join the answers for consecutive rows."""
        explained = [part.explanations for part in parts if part.explanations is not None]
        return cls(
            Explanations.concat(explained) if explained else None,
            [reason for part in parts for reason in part.reasons],
            tuple(dict.fromkeys(text for part in parts for text in part.warnings)),
        )

    def __len__(self) -> int:
        return len(self.reasons)

    @property
    def rows(self) -> NDArray[np.int64]:
        """Where the rows that have an explanation are."""
        return np.flatnonzero([reason is None for reason in self.reasons])

    def dump(self, key: str) -> bytes:
        """Return the bytes of a file with this answer, and the key that it answers."""
        arrays: list[NDArray[Any]] = []
        try:
            packed = None if self.explanations is None else _pack_explanations(self.explanations, arrays)
            text = json.dumps(
                {"key": key, "reasons": self.reasons, "warnings": self.warnings, "explanations": packed}
            )
        except InputError:
            raise
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(
                f"an explanation cannot be stored ({describe(error)}): run without a store, or let the "
                "explainer give text and numbers."
            ) from None
        file = io.BytesIO()
        np.savez(file, *arrays, head=np.frombuffer(text.encode(), dtype=np.uint8))
        return file.getvalue()

    @classmethod
    def load(cls, data: bytes, key: str) -> "Answer":
        """Read the answer to a key; bytes that are damaged, or answer another key, raise ValueError."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                head = json.loads(file["head"].tobytes())
                arrays = [file[f"arr_{i}"] for i in range(len(file.files) - 1)]
            if head["key"] != key:
                raise ValueError("it has another key")
            explanations = head["explanations"]
            if explanations is not None:
                explanations = _unpack_explanations(explanations, arrays)
            return cls(explanations, head["reasons"], tuple(head["warnings"]))
        except Exception as error:  # damage has as many names as there are libraries that read a part of it
            raise ValueError(f"this is no answer to the chunk: {describe(error)}") from None


def _pack_explanations(explanations: Explanations, arrays: list[NDArray[Any]]) -> dict[str, Any]:
    texts = {name: getattr(explanations, name) for name in TEXTS}
    remarks = None if explanations.remarks is None else explanations.remarks.tolist()
    columns = {name: pack(getattr(explanations, name), arrays) for name in COLUMNS}
    return {**texts, "remarks": remarks, **columns}


def _unpack_explanations(head: dict[str, Any], arrays: list[NDArray[Any]]) -> Explanations:
    remarks = None if head["remarks"] is None else object_array(head["remarks"])
    columns = {name: unpack(head[name], arrays) for name in COLUMNS}
    return Explanations(remarks=remarks, **{name: head[name] for name in TEXTS}, **columns)
