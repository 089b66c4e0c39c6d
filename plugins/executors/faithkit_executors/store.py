"""The executor `stored`, and the folder that keeps its results, so that a killed run can resume.

A result is a file named by its key, a digest of everything that determines it. The file is an `.npz` archive.
It holds arrays and a JSON header, which describes the arrays and repeats the key. The archive has a checksum
for each member, and reading it runs no code. A reader finds a complete file or none. Any number of runs may
share a store: equal keys have equal content. A store belongs to the version of faithkit that wrote it.
"""

import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit import Explanations
from faithkit.errors import InputError, ParameterError, StoreError, warn
from faithkit.plugin import Chunk, ChunkResult, Executor, Job, resolve_component, write_file
from faithkit_executors.keys import chunk_keys, digest
from faithkit_executors.packing import pack, unpack
from faithkit_executors.shipping import Results
from faithkit_executors.wording import describe

VERSION_FILE = "faithkit-version.txt"
CHUNK_FILES = "[0-9a-f][0-9a-f]/*.npz"
FIELDS = ("kind", "values", "identity", "missing", "shared", "relation", "discretizer", "remarks")
MAX_VERSION_LENGTH = 30  # characters of another version that an error shows


class Stored:
    """Explain by another executor, and keep every finished chunk in a folder.

    The same run finds there what is finished, and explains the rest. A chunk is found only if nothing has
    changed that determines its explanations. Any number of runs may share a folder.

    Parameters
    ----------
    folder : str or path
        It is created if it does not exist.
    inside : str, object or callable
        The executor that explains, such as "processes" or "processes:workers=4".

    Examples
    --------
    >>> import tempfile
    >>> X = np.linspace(-1, 1, 100).reshape(-1, 1)
    >>> store = Stored(tempfile.mkdtemp())
    >>> for _ in range(2):  # the second run explains nothing
    ...     result = faithkit.evaluate(lambda X: X[:, 0] > 0, X, np.sign, executor=store)
    >>> result.consistency.value
    1.0
    """

    def __init__(self, folder: str | os.PathLike[str], inside: Any = "here") -> None:
        if not isinstance(folder, str | os.PathLike) or not str(folder):
            raise ParameterError(
                f"stored: folder is {folder!r}: name a folder that keeps finished chunks, in quotes if the "
                "name looks like a number."
            )
        # the code of a model may change the working folder
        self.store = Store(Path(folder).expanduser().absolute())
        self.inside: Executor = resolve_component("executor", inside).instance
        self.kept_in = str(self.store.folder)

    def run(self, job: Job, chunks: Sequence[Chunk]) -> Results:
        """Yield the chunks that the folder has, and then the others as they are finished."""
        self.store.open()
        keys = {chunk.number: key for chunk, key in zip(chunks, chunk_keys(job, chunks), strict=True)}
        pending, n_damaged = [], 0
        for chunk in chunks:
            try:
                result = self._read(job, keys[chunk.number])
            except ValueError:
                n_damaged, result = n_damaged + 1, None
            if result is None:
                pending.append(chunk)
            else:
                yield chunk, attrs.evolve(result, is_kept=True)
        if n_damaged:
            warn(
                f"{n_damaged} of {len(chunks)} chunks must be explained again: in the store "
                f"{self.store.folder} they are damaged, or not what their names say.",
            )
        if pending:
            for chunk, result in self.inside.run(job, pending):
                self._write(job, keys[chunk.number], result)
                yield chunk, result

    def _read(self, job: Job, key: str) -> ChunkResult | None:
        """Return a stored result, or None; one with failed rows only if they would fail alike."""
        complete = self.store.read(key)
        return self.store.read(self._key_with_failures(job, key)) if complete is None else complete

    def _write(self, job: Job, key: str, result: ChunkResult) -> None:
        """Store a result, under a key of its own if some rows failed."""
        is_complete = len(result.rows) == len(result)
        self.store.write(key if is_complete else self._key_with_failures(job, key), result)

    def _key_with_failures(self, job: Job, key: str) -> str:
        return digest(key, job.on_error, getattr(self.inside, "timeout", None))


# --- files ------------------------------------------------------------------------------------------------


def dump_result(result: ChunkResult, key: str) -> bytes:
    """Return the bytes of a file with a result and the key of its chunk.

    Examples
    --------
    >>> result = ChunkResult(Explanations.of(["a"]), [None, "ValueError: bad row"])
    >>> load_result(dump_result(result, "a key"), "a key").reasons
    [None, 'ValueError: bad row']
    """
    arrays: list[NDArray[Any]] = []
    explanations = result.explanations
    fields = None if explanations is None else {name: getattr(explanations, name) for name in FIELDS}
    content = {"key": key, "reasons": result.reasons, "warnings": result.warnings, "explanations": fields}
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


def load_result(data: bytes, key: str) -> ChunkResult:
    """Read the result of the chunk with a key.

    Raises
    ------
    ValueError
        If the bytes are damaged, or belong to another key.

    Examples
    --------
    >>> load_result(b"hello", "a key")
    Traceback (most recent call last):
    ...
    ValueError: the file is not a result of this chunk: ...
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
        return ChunkResult(explanations, content["reasons"], content["warnings"])
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
                writer = faithkit.__version__
                write_file(file, f"{writer}\n".encode())
        except OSError as error:
            raise self._store_error(error) from None
        own_version = faithkit.__version__
        if writer != own_version:
            writer = writer if len(writer) <= MAX_VERSION_LENGTH else f"{writer[:MAX_VERSION_LENGTH]}…"
            raise StoreError(
                f"the store {self.folder} was written by faithkit {writer}, and this is {own_version}: "
                "delete it or name a new folder, and the same command explains all rows again."
            )

    def read(self, key: str) -> ChunkResult | None:
        """Return the result under a key, or None if there is none.

        Raises
        ------
        ValueError
            If the file is damaged, or belongs to another key.
        """
        try:
            return load_result(self._path(key).read_bytes(), key)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._store_error(error) from None

    def write(self, key: str, result: ChunkResult) -> None:
        """Write a result under a key."""
        data, path = dump_result(result, key), self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, data)
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
