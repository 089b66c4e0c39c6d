"""Files that were honest once: a reader returns a table or raises a `FaithkitError`, and nothing else.

FAITHKIT_FUZZ=1 tries many more of them (the Hypothesis profile `ci`).
"""

import gzip
import io
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fixtures.odd_files import csv_files, parquet_files
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs.frames import read_table
from pages import json_of

from faithkit.errors import FaithkitError
from faithkit.inputs.files.table_files import open_table
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.populations.log_scoring import score_log

N = 12


def make_parquet(columns, **options):
    content = io.BytesIO()
    pq.write_table(pa.table(columns), content, row_group_size=5, **options)
    return content.getvalue()


def make_column(kind, cells):
    stored = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    return pa.array([cells[i % len(cells)] for i in range(N)], stored).cast(kind)


LOG = {"label": [0, 1] * (N // 2), "phi": np.arange(N) % 3 / 2, "id": pa.array([2**60, None, 3] * (N // 3))}
ODD = {
    name: make_column(kind, cells)
    for name, (kind, cells, _) in parquet_files.COLUMNS.items()
    if "kB" not in name
}
HONEST = {
    "plain": make_parquet(LOG, use_dictionary=False, compression="none"),
    "packed": make_parquet(LOG, compression="zstd", write_page_checksum=True),
    "second version": make_parquet(LOG, data_page_version="2.0", compression="none", write_page_index=True),
    "odd columns": make_parquet({**LOG, **ODD}, compression="none"),
    "nested": make_parquet(
        {**LOG, **{k: make_column(*v) for k, v in parquet_files.NESTED.items()}}, compression="none"
    ),
    "pandas": make_parquet(
        pa.Table.from_pandas(parquet_files.TABLE.to_pandas()).to_pydict(), compression="none"
    ),
}
TEXTS = [content for content, _ in csv_files.READ.values() if len(content) < 1000]


@st.composite
def damage(draw, contents):
    """Draw an honest file, and overwrite, cut out, repeat or insert some bytes of it."""
    content = bytearray(draw(st.sampled_from(contents)))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, max(0, len(content) - 1)))
        stop = start + draw(st.sampled_from([0, 1, 2, 4, 8, 64, len(content)]))
        kind = draw(st.sampled_from(["bytes", "flip", "cut", "repeat"]))
        if kind == "bytes":
            content[start:stop] = draw(st.binary(max_size=8))
        elif kind == "flip" and content:
            content[start] ^= 1 << draw(st.integers(0, 7))
        elif kind == "cut":
            del content[start:stop]
        elif len(content) < 100_000:
            content[start:start] = content[start:stop]
    return bytes(content)


def read_or_refuse(read):
    """Read; any other error than ours passes, and fails the test."""
    try:
        return read()
    except FaithkitError as error:
        lines = str(error).splitlines()
    assert len(lines) == 1
    return None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzzed")


@given(damage(TEXTS))
def test_a_damaged_csv_is_a_table_or_a_line(folder, content):
    path = folder / "odd.csv"
    path.write_bytes(content)
    table = read_or_refuse(lambda: read_table(path))
    if table is not None:
        assert len(table)
        assert read_or_refuse(lambda: open_table(path).labels(table.columns[0])) is not None


@given(damage([gzip.compress(text, mtime=0) for text in TEXTS[:5]]))
def test_a_damaged_packed_csv_is_a_table_or_a_line(folder, content):
    path = folder / "odd.csv.gz"
    path.write_bytes(content)
    read_or_refuse(lambda: read_table(path))


@given(damage(list(HONEST.values())))
@settings(max_examples=settings.default.max_examples // 2)
def test_a_damaged_parquet_file_is_a_table_or_a_line(folder, content):
    path = folder / "odd.parquet"
    path.write_bytes(content)
    read_or_refuse(lambda: read_table(path))
    for explanation in (("phi",), ("id",)):
        read_or_refuse(partial(score, path, explanation))


def score(path, explanation):
    return json_of(score_log(open_log(str(path), "label", explanation, (), "id")))


CELLS = st.text(st.sampled_from('01.eE+-xn ",;\n\rtrueTRUinfa\u00e9'), max_size=6)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=6))
@settings(max_examples=settings.default.max_examples // 2)
def test_a_csv_gives_back_the_cells_that_python_wrote(folder, rows):
    """Python's own writer is the judge: whatever it writes, the texts come back, and labels are told apart."""
    import csv

    path = folder / "honest.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["a", "b"], *rows])
    table = open_table(path)
    for j, name in enumerate("ab"):
        written = [row[j] or None for row in rows]
        texts = [cell if isinstance(cell, str) else None for cell in table.texts(name)]
        assert texts == written
        labels = [str(label) for label in table.labels(name).dropna()]
        assert labels == [cell for cell in written if cell is not None]
        table.frame([name])
        table.frame([name], "explanation")


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=8))
@settings(max_examples=settings.default.max_examples // 2)
def test_integers_come_back_exactly(folder, cells):
    path = folder / "honest.csv"
    path.write_text("a,b\n" + "".join(f"{'' if cell is None else cell},1\n" for cell in cells))
    pq.write_table(pa.table({"a": pa.array(cells, pa.int64())}), folder / "honest.parquet", row_group_size=3)
    for file in (path, folder / "honest.parquet"):
        table = open_table(file)
        for column in (table.frame()["a"], table.labels("a"), table.frame(["a"], "explanation")["a"]):
            values = column.astype(object).where(column.notna(), None)
            assert [None if value is None else int(value) for value in values] == cells
