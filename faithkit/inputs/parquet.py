"""A table in Parquet, one file or a folder of them, read in pieces that are converted as the whole would be.

pandas chooses a column's dtype by the values it sees: integers with a gap among them become floats. So that
a piece without gaps does not differ from one with, the dtypes are settled first, from the files' metadata.
"""

import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from faithkit.errors import InputError
from faithkit.inputs.tables import check_distinct
from faithkit.wording import describe, few

_SHARE = "workers need the files under the same path as here"
CELLS = 2**24  # converted at a time, 128 MiB of numbers


@attrs.frozen
class Piece:
    """Consecutive row groups of one file; `start` is the number of their first row in the table."""

    file: str
    row_groups: tuple[int, ...]
    start: int
    n: int


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
    >>> [frame["age"].tolist() for piece in table.pieces for frame in table.frames(piece)]
    [[31.0, 45.0], [nan, 28.0]]
    """

    path: Path
    schema: Any
    pieces: list[Piece]
    columns: list[str]
    gaps: frozenset[str] = frozenset()

    @classmethod
    def open(cls, path: Path) -> "ParquetTable":
        """Read the metadata of a file or folder, and refuse files that do not fit together."""
        # workers may have another working directory
        files = [file.resolve() for file in (_files_of(path) if path.is_dir() else [path])]
        headers = {file: _header(file) for file in files}
        schema = headers[files[0]].schema
        for file in files[1:]:
            _check_alike(files[0], schema, file, headers[file].schema)
        pieces = list(_pieces(headers, max(1, CELLS // max(1, len(schema)))))
        names = list(_converted(schema.empty_table()).columns)
        if not pieces or not names:
            raise InputError(f"{path} has 0 rows or 0 columns; expected at least one of each.")
        check_distinct(path, names)
        return cls(path, schema, pieces, names)

    def using(self, columns: Sequence[str]) -> "ParquetTable":
        """Return the same table with some of its columns only, their dtypes settled."""
        plain = [name for name in columns if _may_change(self.schema.field(name).type)]
        files = dict.fromkeys(piece.file for piece in self.pieces) if plain else {}
        gaps = {name for file in files for name in _with_gaps(Path(file), plain)}
        return attrs.evolve(self, columns=list(columns), gaps=frozenset(gaps))

    def __len__(self) -> int:
        return self.pieces[-1].start + self.pieces[-1].n

    def files(self) -> list[list[Piece]]:
        """Return the pieces of each file."""
        by_file: dict[str, list[Piece]] = {}
        for piece in self.pieces:
            by_file.setdefault(piece.file, []).append(piece)
        return list(by_file.values())

    def frames(self, piece: Piece) -> Iterator[pd.DataFrame]:
        """Yield the rows of a piece, in frames of bounded size."""
        size = max(1, CELLS // len(self.columns))
        try:
            with _opened(Path(piece.file)) as file:
                batches = file.iter_batches(size, row_groups=list(piece.row_groups), columns=self.columns)
                for batch in batches:
                    yield self._frame(pa.Table.from_batches([batch]))
        except FileNotFoundError:
            raise InputError(f"there is no file {piece.file} on {platform.node()}: {_SHARE}.") from None
        except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
            groups = few([str(group) for group in piece.row_groups])
            raise InputError(
                f"{piece.file} cannot be read in row group {groups} ({describe(error)}): it is damaged. "
                "Write the file again."
            ) from None

    def read(self) -> pd.DataFrame:
        """Read the whole table."""
        frames = [frame for piece in self.pieces for frame in self.frames(piece)]
        return pd.concat(frames, ignore_index=True)

    def row(self, number: int) -> pd.DataFrame:
        """Read one row."""
        piece = next(piece for piece in self.pieces if number < piece.start + piece.n)
        place = number - piece.start
        for frame in self.frames(piece):
            if place < len(frame):
                return frame.iloc[[place]]
            place -= len(frame)
        raise AssertionError(f"{piece.file} has fewer rows than it says")

    def empty(self) -> pd.DataFrame:
        """Return a frame of these columns without rows."""
        return self._frame(self.schema.empty_table().select(self.columns))

    def _frame(self, table: Any) -> pd.DataFrame:
        for name in self.gaps:
            if pa.types.is_integer(self.schema.field(name).type):
                place = table.schema.get_field_index(name)
                table = table.set_column(place, name, table.column(name).cast(pa.float64(), safe=False))
        frame = _converted(table.replace_schema_metadata(self.schema.metadata).select(self.columns))
        truths = [name for name in self.gaps if frame[name].dtype == np.dtype(bool)]
        return frame.astype(dict.fromkeys(truths, object)) if truths else frame


def _files_of(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.parquet"))
    deeper = next(folder.glob("*/**/*.parquet"), None)
    if deeper is not None:
        raise InputError(
            f"{folder} has Parquet files in a folder inside it ({deeper.relative_to(folder)}): name a folder "
            "that has all of them side by side."
        )
    if not files:
        raise InputError(f"the folder {folder} has no file that ends in .parquet: name the folder of a log.")
    return files


def _opened(file: Path) -> Any:
    return pq.ParquetFile(file, page_checksum_verification=True)


def _header(file: Path) -> Any:
    try:
        return _Header.of(file)
    except (pa.ArrowException, OSError, EOFError) as error:
        raise InputError(
            f"{file} is not a whole Parquet file ({describe(error)}). It may be truncated: write it again."
        ) from None


@attrs.frozen(eq=False)
class _Header:
    schema: Any
    rows: list[int]

    @classmethod
    def of(cls, path: Path) -> "_Header":
        with _opened(path) as file:
            groups = range(file.metadata.num_row_groups)
            return cls(file.schema_arrow, [file.metadata.row_group(i).num_rows for i in groups])


def _check_alike(first: Path, wanted: Any, file: Path, found: Any) -> None:
    """Refuse a file whose columns or their types are not those of the first; their order is moot."""
    types, others = ({field.name: field.type for field in schema} for schema in (wanted, found))
    unshared = [name for name in {**types, **others} if (name in types) != (name in others)]
    if unshared:
        owner = first if unshared[0] in types else file
        raise InputError(
            f"{first.name} and {file.name} have different columns: only {owner.name} has "
            f"{few([name for name in unshared if (name in types) == (owner == first)])}. "
            "Give all files of a folder the same columns."
        )
    for name, kind in types.items():
        if kind != others[name]:
            raise InputError(
                f"column {name!r} is {kind} in {first.name} and {others[name]} in {file.name}: "
                "write all files of a folder with the same types."
            )


def _pieces(headers: dict[Path, _Header], size: int) -> Iterator[Piece]:
    """Put small row groups of a file together; where edges are depends on the files alone."""
    start = 0
    for file, header in headers.items():
        groups: list[int] = []
        n = 0
        for i, rows in enumerate(header.rows):
            if groups and n + rows > size:
                yield Piece(str(file), tuple(groups), start, n)
                start, groups, n = start + n, [], 0
            if rows:
                groups, n = [*groups, i], n + rows
        if groups:
            yield Piece(str(file), tuple(groups), start, n)
            start += n


def _may_change(kind: Any) -> bool:
    """Whether pandas has another dtype for a column of this type when a value is missing."""
    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind))


def _with_gaps(path: Path, columns: list[str]) -> set[str]:
    """Return the columns that have missing values in a file."""
    with _opened(path) as file:
        metadata = file.metadata
        names = [metadata.schema.column(j).path for j in range(metadata.num_columns)]
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        return {name for name in columns if _has_gap(file, groups, name, names.index(name))}


def _has_gap(file: Any, groups: list[Any], name: str, place: int) -> bool:
    known = [group.column(place).statistics for group in groups]
    if all(one is not None and one.has_null_count for one in known):
        return any(one.null_count for one in known)
    return any(batch.column(0).null_count for batch in file.iter_batches(CELLS, columns=[name]))


def _converted(table: Any) -> pd.DataFrame:
    """Give an Arrow table as pandas does; dictionaries differ between pieces, so words come as words."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = table.column(place).cast(field.type.value_type)
            table = table.set_column(place, field.name, plain)
    frame = table.to_pandas(use_threads=False).reset_index(drop=True)
    frame.columns = [str(name) for name in frame.columns]
    return frame
