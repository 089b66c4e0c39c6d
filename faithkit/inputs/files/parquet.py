"""Read a table in Parquet, one file or several, in pieces that are converted as the whole would be.

ParquetFile decodes a bounded number of rows at a time. pyarrow.dataset would decode whole row groups, which
takes twice the time and the memory where these are large.
"""

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.parquet as pq

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.files.arrow_types import MissingCells, check_flat, columns_of, depends_on_gaps
from faithkit.inputs.files.column_roles import Table, partition_values
from faithkit.inputs.files.discovery import PARQUET, File, check_names, check_same_names, files_of
from faithkit.wording import few

CELLS = 2**24  # converted at a time, 128 MiB of numbers
_SHARE = "workers need the files under the same path as here"
_PARTIAL = "Perhaps it is not a whole Parquet file: write it again."


@attrs.frozen
class Piece:
    """Consecutive row groups of one file; `start` is the number of their first row in the table."""

    file: str
    row_groups: tuple[int, ...]
    start: int
    n: int
    partition: dict[str, Any] = attrs.field(factory=dict, eq=False)  # the values of columns that folders add


@attrs.frozen(eq=False)
class ParquetTable:
    """Files of equal columns as one table, in the order of their names.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name, ages in {"a.parquet": [31, 45], "b.parquet": [None, 28]}.items():
    ...     pq.write_table(pa.table({"age": pa.array(ages, pa.int64())}), folder / name)
    >>> table = ParquetTable.open(folder).using(["age"])
    >>> [part.frame()["age"].tolist() for part in table.parts()]
    [[31.0, 45.0], [nan, 28.0]]
    """

    schema: Any
    pieces: list[Piece]
    columns: list[str]
    gaps: MissingCells = attrs.field(factory=MissingCells)
    settled: frozenset[str] = frozenset()  # the columns whose gaps are known

    @classmethod
    def open(cls, path: Path) -> "ParquetTable":
        """Read the metadata of files, and refuse files that do not fit together."""
        files = files_of(path)
        headers = [_header(file) for file in files]
        first, _ = headers[0]
        for file, (schema, _) in zip(files, headers, strict=True):
            _check_same_columns(files[0], first, file, schema)
        partitions = partition_values(files)
        # one file may promise that no value is missing, and another break it
        fields = [pa.field(field.name, field.type) for field in first]
        fields += [pa.field(name, value.type) for name, value in partitions[0].items()]
        schema = pa.schema(fields, first.metadata)
        size, pieces = max(1, CELLS // max(1, len(schema))), list[Piece]()
        for file, (_, rows), partition in zip(files, headers, partitions, strict=True):
            start = pieces[-1].start + pieces[-1].n if pieces else 0
            # workers may have another working directory
            pieces += _pieces(Piece(str(file.path.resolve()), (), start, 0, partition), rows, size)
        names = columns_of(schema)
        if not pieces or not names:
            raise InputError(f"{path} has 0 rows or 0 columns; expected at least one of each.")
        return cls(schema, pieces, names)

    def using(self, columns: Sequence[str]) -> "ParquetTable":
        """Return the same table with some of its columns only; those whose dtype depends on gaps are read."""
        check_flat(self.schema, columns)
        new = [name for name in columns if name not in self.settled]
        unknown = [name for name in new if depends_on_gaps(self.schema.field(name).type)]
        parts = attrs.evolve(self, columns=unknown).parts() if unknown else ()
        gaps = reduce(MissingCells.union, (MissingCells.of(part.cells) for part in parts), self.gaps)
        return attrs.evolve(self, columns=list(columns), gaps=gaps, settled=self.settled.union(new))

    def __len__(self) -> int:
        return self.pieces[-1].start + self.pieces[-1].n

    def files(self) -> list[list[Piece]]:
        """Return the pieces of each file."""
        return [list(pieces) for _, pieces in groupby(self.pieces, attrgetter("file"))]

    def parts(self, *pieces: Piece) -> Iterator[Table]:
        """Yield the rows of some pieces, or of all, in parts of bounded size."""
        for piece in pieces or self.pieces:
            for cells in self._batches(piece, max(1, CELLS // len(self.columns))):
                yield self._part(cells, piece.partition)

    def _batches(self, piece: Piece, size: int) -> Iterator[Any]:
        groups = few([str(group) for group in piece.row_groups])
        if not os.path.exists(piece.file):
            raise InputError(f"there is no file {piece.file} on {platform.node()}: {_SHARE}.")
        with _open(piece.file) as file:
            columns = [name for name in self.columns if name not in piece.partition]
            batches = file.iter_batches(size, row_groups=list(piece.row_groups), columns=columns)
            while True:
                with foreign(f"reading row group {groups} of {piece.file}", "It is damaged: write it again."):
                    batch = next(batches, None)
                if batch is None:
                    return
                yield pa.Table.from_batches([batch])

    def read(self) -> Table:
        """Read the whole table."""
        cells = pa.concat_tables([part.cells for part in self.parts()])
        return Table(cells.unify_dictionaries())

    def head(self, n: int) -> Table:
        """Read at most so many of the first rows."""
        first = self.pieces[0]
        return self._part(next(self._batches(first, n)), first.partition)

    def row(self, number: int) -> Table:
        """Read one row."""
        piece = next(piece for piece in self.pieces if number < piece.start + piece.n)
        place = number - piece.start
        for part in self.parts(piece):
            if place < len(part):
                return attrs.evolve(part, cells=part.cells.slice(place, 1))
            place -= len(part)
        raise InputError(f"{piece.file} has fewer rows than it says: write the file again.")

    def empty(self) -> Table:
        """Return these columns without rows."""
        return self._part(self.schema.empty_table())

    def _part(self, cells: Any, partition: Mapping[str, Any] = MappingProxyType({})) -> Table:
        schema = pa.schema([self.schema.field(name) for name in self.columns], self.schema.metadata)
        columns = [
            pa.repeat(partition[name], cells.num_rows) if name in partition else cells.column(name)
            for name in self.columns
        ]
        return Table(pa.Table.from_arrays(columns, schema=schema), gaps=self.gaps)


def is_parquet(path: str) -> bool:
    """Return whether a path names files in Parquet."""
    return files_of(path)[0].kind == PARQUET


def _open(path: str | Path) -> Any:
    with foreign(f"reading {path}", _PARTIAL):
        return pq.ParquetFile(path, page_checksum_verification=True)


def _header(file: File) -> tuple[Any, list[int]]:
    """Return the columns of a file, and how many rows each of its row groups has."""
    with _open(file.path) as opened, foreign(f"reading {file.path}", _PARTIAL):
        groups = range(opened.metadata.num_row_groups)
        rows = [opened.metadata.row_group(i).num_rows for i in groups]
        check_names(file, opened.schema_arrow.names)
        return opened.schema_arrow, rows


def _check_same_columns(first: File, schema: Any, second: File, other: Any) -> None:
    """Refuse two files whose columns or their types differ, in whatever order they are."""
    check_same_names(first, schema.names, second, other.names)
    for field in schema:
        kind = other.field(field.name).type
        if kind != field.type:
            raise InputError(
                f"column {field.name!r} is {field.type} in {first.path.name} and {kind} in "
                f"{second.path.name}: write all files of a folder with the same types."
            )


def _pieces(piece: Piece, rows: Sequence[int], size: int) -> Iterator[Piece]:
    """Join small row groups of a file; where pieces end depends on the files alone."""
    for i, n in enumerate(rows):
        if piece.n and piece.n + n > size:
            yield piece
            piece = attrs.evolve(piece, row_groups=(), start=piece.start + piece.n, n=0)
        if n:
            piece = attrs.evolve(piece, row_groups=(*piece.row_groups, i), n=piece.n + n)
    if piece.n:
        yield piece
