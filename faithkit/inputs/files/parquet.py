"""Read a Parquet table from one or several files, in pieces that are converted like the whole table.

ParquetFile decodes a bounded number of rows at a time. pyarrow.dataset would decode entire row groups, which
takes twice the time and memory if these are large.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from types import MappingProxyType

import attrs
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from faithkit.errors import InputError
from faithkit.inputs.files.arrow_types import MissingValues, check_flat, columns_of, depends_on_missing
from faithkit.inputs.files.discovery import PARQUET, File, find_files
from faithkit.inputs.files.table import Table, check_file_columns, check_same_names, partition_values
from faithkit.third_party import guard
from faithkit.wording import join_few

VALUES_PER_BATCH = 2**24  # converted at a time: 128 MiB of numbers
_DAMAGED = "Perhaps it is not a whole Parquet file: write it again."


@attrs.frozen
class Piece:
    """Consecutive row groups of one file; `start` is the position of their first row in the table."""

    file: str
    row_groups: tuple[int, ...]
    start: int
    n: int
    partition: dict[str, pa.Scalar] = attrs.field(factory=dict, eq=False)  # the columns that Hive folders add


@attrs.frozen(eq=False)
class ParquetTable:
    """Files with the same columns as one table, sorted by their names.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name, ages in {"a.parquet": [31, 45], "b.parquet": [None, 28]}.items():
    ...     pq.write_table(pa.table({"age": pa.array(ages, pa.int64())}), folder / name)
    >>> table = ParquetTable.open(folder).select(["age"])
    >>> [part.frame()["age"].tolist() for part in table.parts()]
    [[31.0, 45.0], [nan, 28.0]]
    """

    schema: pa.Schema
    pieces: list[Piece]
    columns: list[str]
    missing_values: MissingValues = attrs.field(factory=MissingValues)
    scanned: frozenset[str] = frozenset()  # the columns that `missing_values` covers

    @classmethod
    def open(cls, path: Path) -> "ParquetTable":
        """Read the metadata of the files, and check that they have the same columns."""
        files = find_files(path)
        headers = [_read_header(file) for file in files]
        first_schema, _ = headers[0]
        for file, (schema, _) in zip(files, headers, strict=True):
            _check_same_columns(files[0], first_schema, file, schema)
        partitions = partition_values(files)
        # drop "not null" promises: another file may break them
        fields = [pa.field(field.name, field.type) for field in first_schema]
        fields += [pa.field(name, value.type) for name, value in partitions[0].items()]
        schema = pa.schema(fields, first_schema.metadata)
        max_rows, pieces = max(1, VALUES_PER_BATCH // max(1, len(schema))), list[Piece]()
        for file, (_, group_sizes), partition in zip(files, headers, partitions, strict=True):
            start = pieces[-1].start + pieces[-1].n if pieces else 0
            # workers may have another working directory
            pieces += _join_row_groups(
                Piece(str(file.path.resolve()), (), start, 0, partition), group_sizes, max_rows
            )
        names = columns_of(schema)
        if not pieces or not names:
            raise InputError(f"{path} has 0 rows or 0 columns; expected at least one of each.")
        return cls(schema, pieces, names)

    def select(self, columns: Sequence[str]) -> "ParquetTable":
        """Select columns; read those whose dtype depends on missing values."""
        check_flat(self.schema, columns)
        new = [name for name in columns if name not in self.scanned]
        to_scan = [name for name in new if depends_on_missing(self.schema.field(name).type)]
        parts = attrs.evolve(self, columns=to_scan).parts() if to_scan else ()
        missing_by_part = (MissingValues.of(part.values) for part in parts)
        missing_values = reduce(MissingValues.union, missing_by_part, self.missing_values)
        scanned = self.scanned.union(new)
        return attrs.evolve(self, columns=list(columns), missing_values=missing_values, scanned=scanned)

    def __len__(self) -> int:
        return self.pieces[-1].start + self.pieces[-1].n

    def parts(self, *pieces: Piece) -> Iterator[Table]:
        """Yield the rows of the given pieces, or of all pieces, in tables of bounded size."""
        for piece in pieces or self.pieces:
            for values in self._read_batches(piece, max(1, VALUES_PER_BATCH // len(self.columns))):
                yield self._to_table(values, piece.partition)

    def frames(self, categories: bool = False) -> Iterator[pd.DataFrame]:
        """Yield all rows as DataFrames of bounded size."""
        return (part.frame(categories=categories) for part in self.parts())

    def _read_batches(self, piece: Piece, size: int) -> Iterator[pa.Table]:
        groups = join_few([str(group) for group in piece.row_groups])
        if not os.path.exists(piece.file):
            raise InputError(f"the file {piece.file} is gone: leave a log as it is until all of it is read.")
        with _open(piece.file) as file:
            columns = [name for name in self.columns if name not in piece.partition]
            batches = file.iter_batches(size, row_groups=list(piece.row_groups), columns=columns)
            while True:
                with guard(f"reading row group {groups} of {piece.file}", "It is damaged: write it again."):
                    batch = next(batches, None)
                if batch is None:
                    return
                yield pa.Table.from_batches([batch])

    def read(self) -> Table:
        """Read the whole table."""
        values = pa.concat_tables([part.values for part in self.parts()])
        return Table(values.unify_dictionaries())

    def head(self, n: int) -> Table:
        """Read at most `n` of the first rows."""
        first = self.pieces[0]
        return self._to_table(next(self._read_batches(first, n)), first.partition)

    def row(self, number: int) -> Table:
        """Read one row."""
        piece = next(piece for piece in self.pieces if number < piece.start + piece.n)
        position = number - piece.start
        for part in self.parts(piece):
            if position < len(part):
                return attrs.evolve(part, values=part.values.slice(position, 1))
            position -= len(part)
        raise InputError(f"{piece.file} has fewer rows than it says: write the file again.")

    def empty(self) -> Table:
        """Return a table of these columns without rows."""
        return self._to_table(self.schema.empty_table())

    def _to_table(self, values: pa.Table, partition: Mapping[str, pa.Scalar] = MappingProxyType({})) -> Table:
        schema = pa.schema([self.schema.field(name) for name in self.columns], self.schema.metadata)
        columns = [
            pa.repeat(partition[name], values.num_rows) if name in partition else values.column(name)
            for name in self.columns
        ]
        return Table(pa.Table.from_arrays(columns, schema=schema), missing_values=self.missing_values)


def is_parquet(path: str) -> bool:
    """Return whether a path names Parquet files."""
    return find_files(path)[0].format == PARQUET


def _open(path: str | Path) -> pq.ParquetFile:
    with guard(f"reading {path}", _DAMAGED):
        return pq.ParquetFile(path, page_checksum_verification=True)


def _read_header(file: File) -> tuple[pa.Schema, list[int]]:
    """Return the schema of a file, and the number of rows of each row group."""
    with _open(file.path) as parquet_file, guard(f"reading {file.path}", _DAMAGED):
        metadata = parquet_file.metadata
        group_sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        check_file_columns(file, parquet_file.schema_arrow.names)
        return parquet_file.schema_arrow, group_sizes


def _check_same_columns(first: File, schema: pa.Schema, second: File, second_schema: pa.Schema) -> None:
    """Check that two files have the same columns with the same types, in any order."""
    check_same_names(first, schema.names, second, second_schema.names)
    for field in schema:
        second_type = second_schema.field(field.name).type
        if second_type != field.type:
            raise InputError(
                f"column {field.name!r} is {field.type} in {first.path.name} and {second_type} in "
                f"{second.path.name}: write all files of a folder with the same types."
            )


def _join_row_groups(piece: Piece, group_sizes: Sequence[int], max_rows: int) -> Iterator[Piece]:
    """Join small row groups of a file to pieces; the boundaries depend on the files alone."""
    for i, n in enumerate(group_sizes):
        if piece.n and piece.n + n > max_rows:
            yield piece
            piece = attrs.evolve(piece, row_groups=(), start=piece.start + piece.n, n=0)
        if n:
            piece = attrs.evolve(piece, row_groups=(*piece.row_groups, i), n=piece.n + n)
    if piece.n:
        yield piece
