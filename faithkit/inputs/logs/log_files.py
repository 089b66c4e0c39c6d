"""Open logs in files. A log in Parquet may be larger than memory, and can be read in pieces."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa

from faithkit.errors import InputError
from faithkit.explanations.explanations import InfiniteImportanceError
from faithkit.inputs.data_warnings import (
    FIRST_ROWS,
    warn_about_base_values,
    warn_about_long_format,
    warn_about_texts_among_numbers,
)
from faithkit.inputs.files.arrow_types import check_flat, columns_of, is_text, value_type
from faithkit.inputs.files.parquet import ParquetTable, Piece, is_parquet
from faithkit.inputs.files.table import Table
from faithkit.inputs.files.table_files import open_table
from faithkit.inputs.logs.log import ColumnRoles, Log, are_json_rules
from faithkit.inputs.objects.adapters import RowContext
from faithkit.inputs.objects.explanation_forms import read_with
from faithkit.inputs.objects.text_adapters import NO_ADAPTER, TextAdapter, TextReading, choose_text_adapter
from faithkit.inputs.predictions.outcome import (
    LABELS,
    NUMBERS,
    SCORES,
    Outcome,
    are_probabilities,
    no_predictions,
)
from faithkit.inputs.seeds import digest_words, header, value_words
from faithkit.wording import join_few


def open_log(
    path: str,
    prediction: str,
    explanation: tuple[str, ...],
    features: tuple[str, ...] = (),
    by: str | None = None,
    weights: str | None = None,
    clusters: str | None = None,
    blocks: str | None = None,
    outcome: str | None = None,
    id: str | None = None,
    text: str | None = None,
    adapter: str | None = None,
) -> "Log | ParquetLog":
    """Read a log in CSV or JSON Lines, or open a log in Parquet: a file, or a folder of files.

    Labels and groups are names: in a CSV they stay as they were written, so `01` and `1` are different. In an
    explanation 0.50 equals 0.5, but codes such as `01` stay texts. A column of predictions with fractions is
    read as numbers, unless the `outcome` says otherwise.

    A single column of texts is read as rules if every value is a rule in JSON. Other texts are read by the
    adapter of texts that takes them, if there are `features`. `adapter` names the adapter for the explanation
    columns, or "none".

    All rows are read at once if the instances are the texts of a column, and for an adapter that needs them.
    """
    roles = ColumnRoles(
        (prediction,),
        explanation,
        features,
        by,
        weights,
        clusters,
        blocks,
        kind=outcome,
        adapter=adapter,
        id=id,
        text=text,
    )
    text_adapter = None if adapter in (None, NO_ADAPTER) else TextAdapter.named(adapter)
    reads_pieces = text is None and (text_adapter is None or text_adapter.reads_distinct_texts)
    if is_parquet(path) and reads_pieces:
        parquet_log = ParquetLog.open(Path(path), roles, text_adapter)
        _warn_about_rows(*parquet_log.head(FIRST_ROWS))
        return parquet_log
    table = open_table(path)
    roles = attrs.evolve(roles.resolve(table.names), has_date_texts=not is_parquet(path))
    is_one_column = len(roles.explanation) == 1 and text_adapter is None
    check_flat(table.values.schema, roles.features if is_one_column else roles.columns)
    may_be_rules = is_one_column and adapter is None
    has_json_rules = may_be_rules and are_json_rules([table.texts(roles.explanation[0])])
    log = attrs.evolve(roles, has_json_rules=has_json_rules).read_log(table)
    if text_adapter is not None:
        columns = table.frame(roles.explanation, "labels")
        context = RowContext(n=len(table), features=roles.features or None, X=log.X)
        explanations = read_with(text_adapter, columns, context)
        log = attrs.evolve(log, explanations=explanations, text_adapter=text_adapter)
    head = attrs.evolve(table, values=table.values.slice(0, FIRST_ROWS))
    _warn_about_rows(head, log.take(np.arange(len(head))))
    return log


def _warn_about_rows(table: Table, log: Log) -> None:
    warn_about_long_format(table, log)
    warn_about_base_values(log.explanations)
    warn_about_texts_among_numbers(log.explanations)


@attrs.frozen(eq=False)
class ParquetLog:
    """A log in Parquet files and the roles of its columns, which can be read at once or in pieces."""

    roles: ColumnRoles
    table: ParquetTable
    text_adapter: TextAdapter | None = None  # what has read the distinct texts
    text_remarks: dict[str, int] = attrs.field(factory=dict)  # its remarks about texts, with counts of rows
    needs_all_rows: bool = False  # because the adapter of its texts reads all rows at once

    @classmethod
    def open(cls, path: Path, patterns: ColumnRoles, text_adapter: TextAdapter | None = None) -> "ParquetLog":
        """Open Parquet files, resolve the patterns of the roles, and read each distinct text once."""
        all_columns = ParquetTable.open(path)
        roles = patterns.resolve(all_columns.columns)
        table = all_columns.select(roles.columns_and_id).select(roles.columns)
        column_type = value_type(table.schema.field(roles.explanation[0]).type)
        is_one_text = len(roles.explanation) == 1 and is_text(column_type)
        if text_adapter is not None and not is_one_text:
            raise InputError(
                f"{text_adapter.entry} reads one column of texts, and --explanation names "
                f"{join_few(map(repr, roles.explanation))}: name one such column, or leave --as out."
            )
        if not is_one_text or roles.adapter == NO_ADAPTER:
            return cls(roles, table)
        columns = table.select(roles.explanation)
        if text_adapter is None and are_json_rules(frame.iloc[:, 0] for frame in columns.frames()):
            return cls(attrs.evolve(roles, has_json_rules=True), table)
        if text_adapter is None and not roles.features:
            return cls(roles, table)
        counts = Counter[Any]()
        for frame in columns.frames():
            counts.update(frame.iloc[:, 0].dropna().value_counts(sort=False).to_dict())
        if counts and text_adapter is None:
            text_adapter = choose_text_adapter(list(counts))
        if not counts or text_adapter is None:
            return cls(roles, table)
        if not text_adapter.reads_distinct_texts:
            return cls(roles, table, needs_all_rows=True)
        parts = table.select(roles.features).frames() if roles.features else ()
        reading = TextReading.of(text_adapter.learn_from(parts), list(counts))
        roles = attrs.evolve(roles, reading=reading)
        return cls(roles, table, text_adapter, reading.count_remarks(counts))

    def remarks(self) -> dict[str, int]:
        """Count the remarks about explanations; this may read the log once more."""
        if self.text_remarks or self.text_adapter is None or not self.text_adapter.has_remarks:
            return self.text_remarks
        counts = Counter[str]()
        for log in self.logs():
            explanations = self.text_adapter.remark(log.explanations, log.X)
            remarks = () if explanations.remarks is None else explanations.remarks[~explanations.missing]
            counts.update(remark for remark in remarks if not pd.isna(remark))
        return dict(counts)

    def head(self, n: int) -> tuple[Table, Log]:
        """Read the first rows: as a table of all flat columns, and as a log."""
        schema = self.table.schema
        flat_columns = [
            name for name in columns_of(schema) if not pa.types.is_nested(schema.field(name).type)
        ]
        rows = attrs.evolve(self.table, columns=flat_columns).head(n)
        return rows, self.roles.read_log(rows)

    def read(self) -> Log:
        """Read all rows into memory."""
        log = self.roles.read_log(self.table.select(self.roles.columns_and_id).read())
        if self.text_adapter is None:
            return log
        explanations = self.text_adapter.remark(log.explanations, log.X)
        return attrs.evolve(log, explanations=explanations, text_adapter=self.text_adapter)

    def outcome(self, agree: str | None = None, range: str | Sequence[float] | None = None) -> Outcome:
        """Decide the outcome; this reads columns of floats, up to the first fraction."""
        names, kind = self.roles.prediction, self.roles.kind
        if kind is not None or agree is not None or range is not None:
            return Outcome.of(kind, agree, (), range=range)
        arrow_type = self.table.schema.field(names[0]).type
        if len(names) == 1 and pa.types.is_duration(arrow_type):
            raise no_predictions("durations")
        if len(names) == 1 and not _is_float(arrow_type):
            return Outcome(unasked=True)
        batches = (part.predictions(names) for part in self.table.select(names).parts())
        if len(names) > 1:
            return Outcome(SCORES if all(map(_are_scores, batches)) else NUMBERS, unasked=True)
        outcomes = (Outcome.of(None, None, predictions) for predictions in batches)
        return next((outcome for outcome in outcomes if outcome.kind != LABELS), Outcome(unasked=True))

    def logs(self, *pieces: Piece) -> Iterator[Log]:
        """Read the given pieces, or all pieces, as logs of bounded size."""
        for piece in pieces or self.table.pieces:
            start = piece.start
            for part in self.table.parts(piece):
                try:
                    log = self.roles.read_log(part)
                except InfiniteImportanceError as error:
                    raise InfiniteImportanceError(start + error.row) from None
                yield log
                start += len(part)

    def fingerprint(self) -> dict[str, Any]:
        """Return shape and fingerprint of the instances, or of the explanations if there are no instances."""
        example = self.roles.read_log(self.table.empty())
        content = example.explanations.values if example.X is None else example.X
        if content.ndim != 2:  # rules and texts
            return {"rows": len(self.table), "columns": None, "fingerprint": None}
        names = self.roles.features or self.roles.explanation
        kind, _, *other_fields = header(content)
        full_header = (kind, (len(self.table), len(names)), *other_fields)
        digest = digest_words(full_header, self._value_words(names, content))
        return {"rows": len(self.table), "columns": len(names), "fingerprint": digest}

    def _value_words(
        self, names: tuple[str, ...], content: pd.DataFrame | np.ndarray
    ) -> Iterator[np.ndarray]:
        for name in names:
            for frame in self.table.select([name]).frames():
                column = frame[name]
                if isinstance(content, np.ndarray):
                    column = pd.Series(column.to_numpy(dtype=content.dtype, na_value=np.nan))
                yield value_words(column)


def _is_float(arrow_type: pa.DataType) -> bool:
    arrow_type = value_type(arrow_type)
    return bool(pa.types.is_floating(arrow_type) or pa.types.is_decimal(arrow_type))


def _are_scores(frame: pd.DataFrame) -> bool:
    """Return whether rows are probabilities; counting reports missing values later."""
    try:
        return are_probabilities(frame.to_numpy(np.float64, na_value=np.nan))
    except (TypeError, ValueError):  # encoding reports what is wrong
        return False
