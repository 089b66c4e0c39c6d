"""The result of a chunk: explanations, reasons for missing ones and warnings, and its file format.

The file is an `.npz` archive. It holds the arrays and a JSON header, which describes the arrays and repeats
the chunk's key. The archive has a checksum for each member, and reading it runs no code.
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

COLUMNS = ("values", "identity", "missing", "shared")
TEXTS = ("kind", "relation", "discretizer")


@attrs.frozen(eq=False)
class ChunkResult:
    """The explanations of the rows of a chunk.

    Attributes
    ----------
    explanations : Explanations or None
        Those of the explained rows, in order; None if no row was explained.
    reasons : list of str or None
        For each row, why it has no explanation; None where it has one.
    warnings : tuple of str
        The explainer's warnings. They are shown again when the result is read from a store.

    Examples
    --------
    >>> result = ChunkResult(Explanations.of(["a"]), [None, "ValueError: bad row"])
    >>> len(result), result.rows
    (2, array([0]))
    >>> ChunkResult.load(result.dump("a key"), "a key").reasons
    [None, 'ValueError: bad row']
    >>> ChunkResult.load(b"hello", "a key")
    Traceback (most recent call last):
    ...
    ValueError: the file is not a result of this chunk: ...
    """

    explanations: Explanations | None
    reasons: list[str | None]
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, explanations: Explanations) -> "ChunkResult":
        """Build the result of a chunk whose rows all have an explanation.

        The instances are left out, because the caller has them. Remarks are converted to text.
        """
        remarks = explanations.remarks
        if remarks is not None:
            remarks = object_array(None if remark is None else str(remark) for remark in remarks)
        return cls(attrs.evolve(explanations, instances=None, remarks=remarks), [None] * len(explanations))

    @classmethod
    def concat(cls, results: list["ChunkResult"]) -> "ChunkResult":
        """Join the results of consecutive rows."""
        explanations = [result.explanations for result in results if result.explanations is not None]
        return cls(
            Explanations.concat(explanations) if explanations else None,
            [reason for result in results for reason in result.reasons],
            tuple(dict.fromkeys(text for result in results for text in result.warnings)),
        )

    def __len__(self) -> int:
        return len(self.reasons)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The positions of the rows that have an explanation."""
        return np.flatnonzero([reason is None for reason in self.reasons])

    def dump(self, key: str) -> bytes:
        """Return the bytes of a file with this result and the key of its chunk."""
        arrays: list[NDArray[Any]] = []
        try:
            packed = None if self.explanations is None else _pack_explanations(self.explanations, arrays)
            header = json.dumps(
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
        np.savez(file, *arrays, head=np.frombuffer(header.encode(), dtype=np.uint8))
        return file.getvalue()

    @classmethod
    def load(cls, data: bytes, key: str) -> "ChunkResult":
        """Read the result of the chunk with a key.

        Raises
        ------
        ValueError
            If the bytes are damaged, or belong to another key.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                header = json.loads(file["head"].tobytes())
                arrays = [file[f"arr_{i}"] for i in range(len(file.files) - 1)]
            if header["key"] != key:
                raise ValueError("it has another key")
            explanations = header["explanations"]
            if explanations is not None:
                explanations = _unpack_explanations(explanations, arrays)
            return cls(explanations, header["reasons"], tuple(header["warnings"]))
        except Exception as error:  # damaged bytes raise whatever zipfile, numpy or json raise
            raise ValueError(f"the file is not a result of this chunk: {describe(error)}") from None


def _pack_explanations(explanations: Explanations, arrays: list[NDArray[Any]]) -> dict[str, Any]:
    texts = {name: getattr(explanations, name) for name in TEXTS}
    remarks = None if explanations.remarks is None else explanations.remarks.tolist()
    columns = {name: pack(getattr(explanations, name), arrays) for name in COLUMNS}
    return {**texts, "remarks": remarks, **columns}


def _unpack_explanations(header: dict[str, Any], arrays: list[NDArray[Any]]) -> Explanations:
    remarks = None if header["remarks"] is None else object_array(header["remarks"])
    columns = {name: unpack(header[name], arrays) for name in COLUMNS}
    return Explanations(remarks=remarks, **{name: header[name] for name in TEXTS}, **columns)
