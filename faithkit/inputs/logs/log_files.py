"""Open logs in files. A log in Parquet may be larger than memory, and can be read in pieces."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa

from faithkit.errors import InputError
from faithkit.explanations.explanations import InfiniteImportanceError
from faithkit.explanations.rule_texts import looks_like_rule
from faithkit.explanations.rules import Rule
from faithkit.explanations.vocabulary import Vocabulary
from faithkit.inputs.data_warnings import (
    FIRST_ROWS,
    warn_about_base_values,
    warn_about_long_format,
    warn_about_texts_among_numbers,
)
from faithkit.inputs.files.arrow_types import check_flat, columns_of, is_text, value_type
from faithkit.inputs.files.column_patterns import match_name, suggest_column
from faithkit.inputs.files.parquet import ParquetTable, Piece, is_parquet
from faithkit.inputs.files.table import Table
from faithkit.inputs.files.table_files import open_table
from faithkit.inputs.logs.log import ColumnRoles, Log
from faithkit.inputs.logs.reason_codes import parse_reasons
from faithkit.inputs.logs.rule_columns import (
    DOES_NOT_HOLD,
    are_json_rules,
    describe_parse_errors,
    parse_rules,
    remark_violations,
)
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
    joined: str | None = None,
    reasons: str | None = None,
    separator: str | None = None,
) -> "Log | ParquetLog":
    """Read a log in CSV or JSON Lines, or open a log in Parquet: a file, or a folder of files.

    Labels and groups are names: in a CSV they stay as they were written, so `01` and `1` are different. In an
    explanation 0.50 equals 0.5, but codes such as `01` stay texts. A column of predictions with fractions is
    read as numbers, unless the `outcome` says otherwise.

    A single column of texts is read as rules if every value is a rule in JSON, or a rule in words ("age ≤ 37
    and sex = Male") about the `features`. If `reasons` names a file of claims, the explanation columns have
    codes, several in a value if there is a `separator`. `joined` names a second file of the log, whose rows
    have the same values of `id`.

    All rows are read at once for reasons, for a second file, and if the instances are the texts of a column.
    """
    roles = ColumnRoles(
        (prediction,), explanation, features, by, weights, clusters, blocks, kind=outcome, id=id, text=text
    )
    if is_parquet(path) and text is joined is reasons is None:
        parquet_log = ParquetLog.open(Path(path), roles)
        _warn_about_rows(*parquet_log.head(FIRST_ROWS))
        return parquet_log
    table = open_table(path) if joined is None or id is None else join_tables(path, joined, id)
    roles = attrs.evolve(roles.resolve(table.names), has_date_texts=not is_parquet(path))
    is_one_column = len(roles.explanation) == 1 and reasons is None
    check_flat(table.values.schema, roles.features if is_one_column else roles.columns)
    has_json_rules = is_one_column and are_json_rules([table.texts(roles.explanation[0])])
    log = attrs.evolve(roles, has_json_rules=has_json_rules).read_log(table)
    if reasons is not None:
        codes = table.frame(roles.explanation, "labels")
        explanations = parse_reasons(codes, reasons, log.X, separator=separator)
        log = attrs.evolve(log, explanations=explanations)
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
    text_remarks: dict[str, int] = attrs.field(factory=dict)  # about texts that are not rules, with counts

    @classmethod
    def open(cls, path: Path, patterns: ColumnRoles) -> "ParquetLog":
        """Open Parquet files, resolve the patterns of the roles, and find rules among the explanations."""
        all_columns = ParquetTable.open(path)
        roles = patterns.resolve(all_columns.columns)
        table = all_columns.select(roles.columns_and_id).select(roles.columns)
        explanation_types = [value_type(table.schema.field(name).type) for name in roles.explanation]
        if len(explanation_types) > 1 or not is_text(explanation_types[0]):
            return cls(roles, table)
        if are_json_rules(frame.iloc[:, 0] for frame in table.select(roles.explanation).frames()):
            return cls(attrs.evolve(roles, has_json_rules=True), table)
        rule_by_text, remarks = _parse_rule_texts(roles, table) if roles.features else (None, {})
        return cls(attrs.evolve(roles, rule_by_text=rule_by_text), table, remarks)

    def remarks(self) -> dict[str, int]:
        """Count the remarks about explanations; this may read the log once more."""
        if self.roles.rule_by_text is None:
            return self.text_remarks
        remark_arrays = (remark_violations(log.explanations, log.X) for log in self.logs())
        count = sum(int(pd.notna(remarks).sum()) for remarks in remark_arrays if remarks is not None)
        return {DOES_NOT_HOLD: count} if count else {}

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
        return self.roles.read_log(self.table.select(self.roles.columns_and_id).read())

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


def _parse_rule_texts(
    roles: ColumnRoles, table: ParquetTable
) -> tuple[dict[str, Rule] | None, dict[str, int]]:
    """Return the rules that are written in words, or the counted remark about texts that are not rules."""
    counts = Counter[str]()
    for frame in table.select(roles.explanation).frames():
        counts.update(frame.iloc[:, 0].dropna().value_counts(sort=False).to_dict())
    if not any(map(looks_like_rule, counts)):
        return None, {}
    vocabulary = reduce(Vocabulary.union, map(Vocabulary.of, table.select(roles.features).frames()))
    rules, parse_errors = parse_rules(counts, vocabulary)
    if not parse_errors:
        return rules, {}
    return None, {describe_parse_errors(parse_errors): sum(counts[text] for text in parse_errors)}


def _is_float(arrow_type: pa.DataType) -> bool:
    arrow_type = value_type(arrow_type)
    return bool(pa.types.is_floating(arrow_type) or pa.types.is_decimal(arrow_type))


def _are_scores(frame: pd.DataFrame) -> bool:
    """Return whether rows are probabilities; counting reports missing values later."""
    try:
        return are_probabilities(frame.to_numpy(np.float64, na_value=np.nan))
    except (TypeError, ValueError):  # encoding reports what is wrong
        return False


def join_tables(path: str, other_path: str, id_pattern: str) -> Table:
    r"""Read two files into memory, and add the columns of the second to the rows of the first.

    Every id occurs once in each file. No other column is in both.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "predictions.csv").write_text("id,label\n7,yes\n8,no\n")
    >>> _ = (folder / "shap.csv").write_text("id,phi\n8,-0.1\n7,0.2\n")
    >>> table = join_tables(str(folder / "predictions.csv"), str(folder / "shap.csv"), "id")
    >>> table.frame(["label", "phi"]).to_numpy().tolist()
    [['yes', 0.2], ['no', -0.1]]
    """
    table, other_table = open_table(path), open_table(other_path)
    file, other_file = Path(path).name, Path(other_path).name
    name = match_name(table.names, id_pattern, "--id")
    if name not in other_table.names:
        raise InputError(
            f"{other_file} has no column {name!r}, by which --with joins it to {file}. "
            f"{suggest_column(name, other_table.names)} Give the ids one name in both files."
        )
    shared = [column for column in other_table.names if column in table.names and column != name]
    if shared:
        raise InputError(
            f"{file} and {other_file} both have {join_few(map(repr, shared))}; expected {name!r} only. "
            f"Rename these columns in one of them, such as to 'phi_{shared[0]}', or drop them there."
        )
    ids, other_ids = _read_ids(table, name, file), _read_ids(other_table, name, other_file)
    _check_found(ids, other_ids, name, file, other_file)
    _check_found(other_ids, ids, name, other_file, file)
    values = table.values
    other_values = other_table.values.drop_columns([name]).take(other_ids.get_indexer(ids))
    for field, column in zip(other_values.schema, other_values.columns, strict=True):
        values = values.append_column(field, column)
    return Table(values, table.untyped | other_table.untyped - {name})


def _read_ids(table: Table, name: str, file: str) -> pd.Index:
    """Return the ids as texts, which are the same in all formats; each occurs once."""
    column = table.labels(name)
    if column.isna().any():
        row = int(column.isna().to_numpy().argmax())
        raise InputError(f"row {row} of {file} has no {name!r}: give every row an id, or drop the row.")
    ids = pd.Index([str(value).strip() for value in column])
    if not ids.is_unique:
        repeated = ids[ids.duplicated()].unique()
        first, second, *_ = (ids == repeated[0]).nonzero()[0]
        raise InputError(
            f"{file} has {len(repeated):,} values of {name!r} more than once, such as {repeated[0]!r} in "
            f"rows {first} and {second}; expected one row for each. Drop the others, or join the files "
            "before by a column that is unique."
        )
    return ids


def _check_found(ids: pd.Index, other_ids: pd.Index, name: str, file: str, other_file: str) -> None:
    lacking = ids[~ids.isin(other_ids)]
    if len(lacking):
        raise InputError(
            f"{len(lacking):,} of {len(ids):,} values of {name!r} in {file} are not in {other_file}: "
            f"{join_few(map(repr, lacking))}. Expected the same ids in both, written alike ({other_file} has "
            f"{other_ids[0]!r}): drop these rows, or add them to {other_file}."
        )
