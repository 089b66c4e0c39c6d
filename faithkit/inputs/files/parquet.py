"""A table in Parquet, one file or a folder of them, read in pieces that are converted as the whole would be.

Which columns have gaps is settled first, from the files' metadata.
"""

import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby
from operator import attrgetter, or_
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import dataset

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.files.content import Content, check_distinct, check_none_only
from faithkit.inputs.files.named import PARQUET, files_of, is_pattern
from faithkit.inputs.files.partitions import check_apart, partition_values
from faithkit.inputs.files.paths import is_folder
from faithkit.inputs.files.typed import Gaps, check_flat, columns_of, may_change
from faithkit.inputs.files.written import EXACT
from faithkit.wording import few

_SHARE = "workers need the files under the same path as here"
_PARTIAL = "Perhaps it is not a whole Parquet file: write it again."
_TOGETHER = 50  # columns that the scanner is asked about at a time
CELLS = 2**24  # converted at a time, 128 MiB of numbers


@attrs.frozen
class Piece:
    """Consecutive row groups of one file; `start` is the number of their first row in the table."""

    file: str
    row_groups: tuple[int, ...]
    start: int
    n: int
    partition: dict[str, Any] = attrs.field(factory=dict, eq=False)  # what its folder says of all rows


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
    >>> [part.frame()["age"].tolist() for piece in table.pieces for part in table.parts(piece)]
    [[31.0, 45.0], [nan, 28.0]]
    """

    path: Path
    schema: Any
    pieces: list[Piece]
    columns: list[str]
    gaps: Gaps = attrs.field(factory=Gaps)
    settled: frozenset[str] = frozenset()  # the columns whose gaps are known

    @classmethod
    def open(cls, path: Path) -> "ParquetTable":
        """Read the metadata of files, and refuse those that do not fit together."""
        found = files_of(path)
        said = partition_values(found)
        # workers may have another working directory
        files = [file.path.resolve() for file in found]
        headers = {file: _header(file) for file in files}
        first = headers[files[0]][0]
        # one file may promise that no value is missing, and another break it
        fields = [pa.field(field.name, field.type) for field in first]
        for file in files[1:]:
            _check_alike(files[0], pa.schema(fields), file, headers[file][0])
        for one in found:
            check_apart(one, first.names)
        fields += [pa.field(name, value.type) for name, value in said[0].items()]
        schema = pa.schema(fields, first.metadata)
        rows = {str(file): (headers[file][1], named) for file, named in zip(files, said, strict=True)}
        pieces = list(_pieces(rows, max(1, CELLS // max(1, len(schema)))))
        names = columns_of(schema)
        if not pieces or not names:
            raise InputError(f"{path} has 0 rows or 0 columns; expected at least one of each.")
        return cls(path, schema, pieces, names)

    def using(self, columns: Sequence[str]) -> "ParquetTable":
        """Return the same table with some of its columns only, their gaps settled."""
        check_flat(self.schema, columns)
        new = [
            name for name in columns if may_change(self.schema.field(name).type) and name not in self.settled
        ]
        some = self._holding(new, _is_missing)
        gaps = Gaps(self.gaps.some | some, self.gaps.wide | self._holding(some, _is_beyond))
        return attrs.evolve(self, columns=list(columns), gaps=gaps, settled=self.settled.union(new))

    def _holding(self, names: Iterable[str], condition: Callable[[str, Any], Any]) -> frozenset[str]:
        said = self.pieces[0].partition
        fields = {name: self.schema.field(name) for name in names if name not in said}
        asked = {name: condition(name, field.type) for name, field in fields.items()}
        found = {name for name in names if name in said and self._says(name, condition)}
        for file in dict.fromkeys(piece.file for piece in self.pieces):
            left = {name: asked[name] for name in asked if name not in found}
            found.update(_holding(file, pa.schema(fields.values()), left) if left else ())
        return frozenset(found)

    def _says(self, name: str, condition: Callable[[str, Any], Any]) -> bool:
        """Whether a condition holds for what any folder says."""
        values = {piece.partition[name] for piece in self.pieces}
        cells = pa.chunked_array([pa.repeat(value, 1) for value in values], self.schema.field(name).type)
        return _finds(dataset.dataset(pa.table({name: cells})), [name], {name: condition(name, cells.type)})

    def __len__(self) -> int:
        return self.pieces[-1].start + self.pieces[-1].n

    def files(self) -> list[list[Piece]]:
        """Return the pieces of each file."""
        return [list(pieces) for _, pieces in groupby(self.pieces, attrgetter("file"))]

    def parts(self, piece: Piece) -> Iterator[Content]:
        """Yield the rows of a piece, in parts of bounded size."""
        size = max(1, CELLS // len(self.columns))
        if not os.path.exists(piece.file):
            raise InputError(f"there is no file {piece.file} on {platform.node()}: {_SHARE}.")
        with _opened(Path(piece.file)) as file:
            columns = [name for name in self.columns if name not in piece.partition]
            batches = file.iter_batches(size, row_groups=list(piece.row_groups), columns=columns)
            while (batch := _next(batches, piece)) is not None:
                yield self._part(pa.Table.from_batches([batch]), piece.partition)

    def read(self) -> Content:
        """Read the whole table."""
        parts = [part.cells for piece in self.pieces for part in self.parts(piece)]
        return self._part(pa.concat_tables(parts))

    def row(self, number: int) -> Content:
        """Read one row."""
        piece = next(piece for piece in self.pieces if number < piece.start + piece.n)
        place = number - piece.start
        for part in self.parts(piece):
            if place < len(part):
                return self._part(part.cells.slice(place, 1))
            place -= len(part)
        raise InputError(f"{piece.file} has fewer rows than it says: write the file again.")

    def empty(self) -> Content:
        """Return these columns without rows."""
        return self._part(self.schema.empty_table())

    def _part(self, cells: Any, said: Mapping[str, Any] = MappingProxyType({})) -> Content:
        schema = pa.schema([self.schema.field(name) for name in self.columns], self.schema.metadata)
        n = cells.num_rows
        columns = [pa.repeat(said[name], n) if name in said else cells.column(name) for name in self.columns]
        return Content(pa.Table.from_arrays(columns, schema=schema), written=False, gaps=self.gaps)


def _next(batches: Iterator[Any], piece: Piece) -> Any:
    groups = few([str(group) for group in piece.row_groups])
    with foreign(f"reading row group {groups} of {piece.file}", "It is damaged: write the file again."):
        return next(batches, None)


def is_parquet(path: str) -> bool:
    """Whether a path names files in Parquet."""
    return files_of(path)[0].kind == PARQUET


def read_cells(path: str | os.PathLike[str]) -> Any:
    """Read one file or several as an Arrow table, without what pandas wrote as an index."""
    if is_pattern(path) or is_folder(path):
        return ParquetTable.open(Path(path)).read().cells.unify_dictionaries()
    path = Path(path)
    schema, _ = _header(path)
    with foreign(f"reading {path}", _PARTIAL), _opened(path) as file:
        table = file.read(use_threads=False)
    return table.select(columns_of(schema))


def _opened(file: Path) -> Any:
    if is_folder(file):
        raise InputError(f"{file} is a folder; expected a Parquet file.")
    with foreign(f"reading {file}", _PARTIAL):
        return pq.ParquetFile(file, page_checksum_verification=True)


def _header(path: Path) -> tuple[Any, list[int]]:
    """Return the columns of a file, and how many rows each of its row groups has."""
    with _opened(path) as file, foreign(f"reading {path}", _PARTIAL):
        groups = range(file.metadata.num_row_groups)
        rows = [file.metadata.row_group(i).num_rows for i in groups]
        check_distinct(path, file.schema_arrow.names)
        return file.schema_arrow, rows


def _check_alike(first: Path, wanted: Any, file: Path, found: Any) -> None:
    """Refuse a file whose columns or their types are not those of the first; their order is moot."""
    types, others = ({field.name: field.type for field in schema} for schema in (wanted, found))
    for owner, mine, theirs in ((first, types, others), (file, others, types)):
        check_none_only(first, file, owner, list(mine), list(theirs))
    for name, kind in types.items():
        if kind != others[name]:
            raise InputError(
                f"column {name!r} is {kind} in {first.name} and {others[name]} in {file.name}: "
                "write all files of a folder with the same types."
            )


def _pieces(files: dict[str, tuple[list[int], dict[str, Any]]], size: int) -> Iterator[Piece]:
    """Put small row groups of a file together; where edges are depends on the files alone."""
    start = 0
    for file, (rows, said) in files.items():
        last = Piece(file, (), start, 0, said)
        for i, n in enumerate(rows):
            if last.n and last.n + n > size:
                yield last
                last = Piece(file, (), last.start + last.n, 0, said)
            if n:
                last = Piece(file, (*last.row_groups, i), last.start, last.n + n, said)
        if last.n:
            yield last
        start = last.start + last.n


def _holding(file: str, schema: Any, conditions: dict[str, Any]) -> list[str]:
    """Return the columns of a file in which their condition holds somewhere.

    A row group is read only where its statistics do not exclude it. Those of a damaged file can end the whole
    process, so the first row of each group is read before anybody asks for them.
    """
    with foreign(f"reading {file}", _PARTIAL):
        with _opened(Path(file)) as opened:
            for group in range(opened.num_row_groups):
                next(opened.iter_batches(1, row_groups=[group], columns=list(conditions)), None)
        table = dataset.dataset(file, schema, format="parquet")
        names = list(conditions)
        some = [names[i : i + _TOGETHER] for i in range(0, len(names), _TOGETHER)]
        asked = [name for part in some if _finds(table, part, conditions) for name in part]
        return [name for name in asked if _finds(table, [name], conditions)]


def _finds(table: Any, names: list[str], conditions: dict[str, Any]) -> bool:
    """Whether any of the conditions holds for any row."""
    either = reduce(or_, [conditions[name] for name in names])
    return table.head(1, columns=names, filter=either).num_rows > 0


def _is_missing(name: str, _kind: Any) -> Any:
    return dataset.field(name).is_null()


def _is_beyond(name: str, kind: Any) -> Any:
    """Return the condition that a float would round an integer; there is none where all are small."""
    field = dataset.field(name)
    if kind == pa.uint64():
        return field > pa.scalar(EXACT, kind)
    return (field > EXACT) | (field < -EXACT) if kind == pa.int64() else dataset.scalar(False)
