"""The results of chunks, and a folder that stores them, so that a killed run can resume.

A result is a file named by its key, a digest of everything that determines it. The file is an `.npz` archive.
It holds arrays and a JSON header, which describes the arrays and repeats the key. The archive has a checksum
for each member, and reading it runs no code. A reader finds a complete file or none. Any number of runs may
share a store: equal keys have equal content. A store belongs to the version of faithkit that wrote it.
"""

import io
import json
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import InputError, StoreError
from faithkit.explanations.explanations import Explanations, object_array
from faithkit.files import replace_file
from faithkit.run.explaining.packing import pack, unpack
from faithkit.run.provenance import check_writer, own_version
from faithkit.wording import describe

FORMAT = "faithkit chunk 8"
VERSION_FILE = "faithkit-version.txt"
CHUNK_FILES = "[0-9a-f][0-9a-f]/*.npz"
FIELDS = ("kind", "values", "identity", "missing", "shared", "relation", "discretizer", "remarks")


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
        explanations = self.explanations
        fields = None if explanations is None else {name: getattr(explanations, name) for name in FIELDS}
        content = {"key": key, "reasons": self.reasons, "warnings": self.warnings, "explanations": fields}
        try:
            header = json.dumps(pack(content, arrays))
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
            content = unpack(header, arrays)
            if content["key"] != key:
                raise ValueError("it has another key")
            fields = content["explanations"]
            explanations = None if fields is None else Explanations(**fields)
            return cls(explanations, content["reasons"], content["warnings"])
        except Exception as error:  # damaged bytes raise whatever zipfile, numpy or json raise
            raise ValueError(f"the file is not a result of this chunk: {describe(error)}") from None


@attrs.frozen
class Store:
    """Results of chunks in a folder, each in a file named by its key.

    Examples
    --------
    >>> import tempfile
    >>> from faithkit import Explanations
    >>> store = Store(tempfile.mkdtemp())
    >>> store.write("a key", ChunkResult(Explanations.of(["a"]), [None]))
    >>> store.read("a key").explanations.values
    array(['a'], dtype=object)
    >>> store.read("another key") is None
    True
    """

    folder: Path = attrs.field(converter=Path)

    def open(self) -> None:
        """Create the folder; an unusable store raises an error before anything is explained.

        A file in it names the version of faithkit, and a store of another version is refused.
        """
        file = self.folder / VERSION_FILE
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            has_chunks = any(self.folder.glob(CHUNK_FILES))  # before the version: other runs write that first
            if file.exists():
                writer = file.read_text("utf-8", errors="replace").strip()
            elif has_chunks:
                writer = "0.2.0 or older"
            else:
                writer = own_version()
                replace_file(file, f"{writer}\n".encode())
        except OSError as error:
            raise self._store_error(error) from None
        advice = "delete it or name a new folder, and the same command explains all rows again."
        check_writer(f"the store {self.folder}", writer, advice, StoreError)

    def read(self, key: str) -> ChunkResult | None:
        """Return the result under a key, or None if there is none.

        Raises
        ------
        ValueError
            If the file is damaged, or belongs to another key.
        """
        try:
            return ChunkResult.load(self._path(key).read_bytes(), key)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._store_error(error) from None

    def write(self, key: str, result: ChunkResult) -> None:
        """Write a result under a key."""
        data, path = result.dump(key), self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, data)
        except OSError as error:
            raise self._store_error(error) from None

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.npz"

    def _store_error(self, error: OSError) -> StoreError:
        return StoreError(
            f"the store {self.folder} cannot be used ({error.strerror}): name a folder that you can write "
            "to, and free some space if the disk is full. What it keeps is intact, and the same command goes "
            "on from there."
        )
