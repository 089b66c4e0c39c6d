"""A log in Parquet, which can be larger than memory: it is then read in pieces, each of them a small log."""

from collections import Counter
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa

from faithkit.explanations.rule_texts import is_like_a_rule
from faithkit.explanations.rules import Rule
from faithkit.explanations.vocabulary import Vocabulary
from faithkit.inputs.files.arrow_types import columns_of, is_text, value_type
from faithkit.inputs.files.column_roles import Table
from faithkit.inputs.files.parquet import ParquetTable, Piece
from faithkit.inputs.logs.log import ColumnRoles, Log, check_some
from faithkit.inputs.logs.rule_columns import NOT_HELD, all_json, not_held, not_understood, rules_of
from faithkit.inputs.pools import PoolRows
from faithkit.inputs.predictions.outcome import (
    LABELS,
    NUMBERS,
    SCORES,
    Outcome,
    are_probabilities,
    no_predictions,
)
from faithkit.inputs.seeds import cell_words, digest_words, header


@attrs.frozen(eq=False)
class ParquetLog:
    """A log on disk, and the roles of its columns: it can be read whole, or in pieces."""

    roles: ColumnRoles
    table: ParquetTable
    not_rules: dict[str, int] = attrs.field(factory=dict)  # what is remarked of texts that are no rules

    @classmethod
    def open(cls, path: Path, patterns: ColumnRoles) -> "ParquetLog":
        """Look at Parquet files; roles name columns by patterns."""
        whole = ParquetTable.open(path)
        roles = patterns.among(whole.columns)
        table = whole.using(roles.columns_and_id).using(roles.columns)
        if not _is_one_text(roles.explanation, table):
            return cls(roles, table)
        if all_json(part.iloc[:, 0] for part in _frames(table.using(roles.explanation))):
            return cls(attrs.evolve(roles, rules=True), table)
        words, remarks = _rule_texts(roles, table) if roles.features else (None, {})
        return cls(attrs.evolve(roles, words=words), table, remarks)

    def remarks(self) -> dict[str, int]:
        """Count what is remarked of explanations, reading the log once more if need be."""
        if self.roles.words is None:
            return self.not_rules
        remarks = (not_held(log.explanations, log.X) for log in self.logs())
        times = sum(remark is not None for some in remarks if some is not None for remark in some)
        return {NOT_HELD: times} if times else {}

    @property
    def features(self) -> tuple[str, ...]:
        """The columns of the instances."""
        return self.roles.features

    def head(self, n: int) -> tuple[Table, Log]:
        """Read the first rows: all columns of single values, and the log that they are."""
        schema = self.table.schema
        flat = [name for name in columns_of(schema) if not pa.types.is_nested(schema.field(name).type)]
        rows = attrs.evolve(self.table, columns=flat).head(n)
        return rows, self.roles.log(rows)

    def read(self) -> Log:
        """Read the whole log."""
        return self.roles.log(self.table.using(self.roles.columns_and_id).read())

    def outcome(self, agree: str | None = None, range: Any = None) -> Outcome:
        """Decide what predictions are; only floats are looked at, up to the first that is not whole."""
        names, kind = self.roles.prediction, self.roles.kind
        if kind is not None or agree is not None or range is not None:
            return Outcome.of(kind, agree, (), range=range)
        stored = self.table.schema.field(names[0]).type
        if len(names) == 1 and pa.types.is_duration(stored):
            raise no_predictions("durations")
        if len(names) == 1 and not _is_float(stored):
            return Outcome(unasked=True)
        parts = (part.predictions(names) for part in self.table.using(names).parts())
        if len(names) > 1:
            return Outcome(SCORES if all(map(_are_scores, parts)) else NUMBERS, unasked=True)
        outcomes = (Outcome.of(None, None, part) for part in parts)
        return next((outcome for outcome in outcomes if outcome.kind != LABELS), Outcome(unasked=True))

    def logs(self, *pieces: Piece) -> Iterator[Log]:
        """Read some pieces, or all, in logs of bounded size."""
        for part in self.table.parts(*pieces):
            yield self.roles.log(part)

    def apart(self) -> tuple[Log, PoolRows | None]:
        """Read the rows that have an explanation, and return the others as a pool that stays on disk."""
        if any(name is not None for name in (self.roles.weights, self.roles.clusters, self.roles.id)):
            return self.read().apart()  # all rows are needed at once
        kept, rest = [], []
        for log in self.logs():
            gone = log.explanations.missing
            kept.append(log.take(np.flatnonzero(~gone)))
            rest.append(log.predictions[gone])
        explained, predictions = Log.joined(kept), pd.concat(rest, ignore_index=True)
        check_some(explained.X, not len(explained.predictions))
        return explained, PoolRows(self._unexplained, predictions) if len(predictions) else None

    def _unexplained(self) -> Iterator[pd.DataFrame]:
        for log in self.logs():
            if log.explanations.missing.any():
                yield log.X[log.explanations.missing].reset_index(drop=True)

    def fingerprint(self) -> dict[str, Any]:
        """Describe the instances, or the explanations where there are none, reading column by column."""
        example = self.roles.log(self.table.empty())
        content = example.explanations.values if example.X is None else example.X
        if content.ndim != 2:  # rules and words
            return {"rows": len(self.table), "columns": None, "fingerprint": None}
        names = self.roles.features or self.roles.explanation
        kind, _, *rest = header(content)
        digest = digest_words((kind, (len(self.table), len(names)), *rest), self._words(names, content))
        return {"rows": len(self.table), "columns": len(names), "fingerprint": digest}

    def _words(self, names: tuple[str, ...], content: Any) -> Iterator[Any]:
        for name in names:
            for part in _frames(self.table.using([name])):
                column = part[name]
                if isinstance(content, np.ndarray):
                    column = pd.Series(column.to_numpy(dtype=content.dtype, na_value=np.nan))
                yield cell_words(column)


def _is_one_text(names: tuple[str, ...], table: ParquetTable) -> bool:
    return len(names) == 1 and is_text(value_type(table.schema.field(names[0]).type))


def _frames(table: ParquetTable) -> Iterator[pd.DataFrame]:
    return (part.frame() for part in table.parts())


def _rule_texts(roles: ColumnRoles, table: ParquetTable) -> tuple[dict[str, Rule] | None, dict[str, int]]:
    """Return the rules that are written in words, or what is to be said of those that are none."""
    times = Counter[str]()
    for part in _frames(table.using(roles.explanation)):
        times.update(part.iloc[:, 0].dropna().value_counts(sort=False).to_dict())
    if not any(map(is_like_a_rule, times)):
        return None, {}
    vocabulary = reduce(Vocabulary.united, map(Vocabulary.of, _frames(table.using(roles.features))))
    rules, why_not = rules_of(times, vocabulary)
    if not why_not:
        return rules, {}
    return None, {not_understood(why_not): sum(times[text] for text in why_not)}


def _is_float(kind: Any) -> bool:
    kind = value_type(kind)
    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _are_scores(part: pd.DataFrame) -> bool:
    """Whether a part of a table has probabilities; of what is missing the row is told when it is counted."""
    try:
        return are_probabilities(part.to_numpy(np.float64, na_value=np.nan))
    except (TypeError, ValueError):  # who encodes them says what is wrong
        return False
