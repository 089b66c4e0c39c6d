"""Logs of predictions and explanations: what an audit has when the model is out of reach.

A log in Parquet can be larger than memory: it is then read in pieces, each of them a small log.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa

from faithkit.errors import InputError
from faithkit.inputs.files.content import Content
from faithkit.inputs.files.parquet import ParquetTable, Piece, is_parquet
from faithkit.inputs.files.tables import match_name, match_names, open_table, split_patterns
from faithkit.inputs.files.typed import check_flat, is_text
from faithkit.inputs.logs.base_values import base_columns, left_out, vectors_without_base
from faithkit.inputs.logs.rules import NOT_HELD, as_rules, not_held, not_understood, rules_of
from faithkit.inputs.objects.forms import as_explanations
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
from faithkit.measure.explanations import Explanations, object_array
from faithkit.measure.rule_texts import is_like_a_rule
from faithkit.measure.rules import Rule
from faithkit.measure.vocabulary import Vocabulary
from faithkit.wording import few

_RULE = re.compile(r"\[\s*[\]{]")  # the JSON form
BESIDE = ("predictions", "X", "groups", "weights", "clusters", "ids")  # the explanations of a log, row by row


@attrs.frozen(eq=False)
class Log:
    """Predictions and explanations, and what else was asked for: instances, groups, names of rows."""

    predictions: Any
    explanations: Explanations
    X: Any
    groups: Any
    weights: Any
    clusters: Any
    ids: Any
    roles: "Roles"

    @property
    def features(self) -> tuple[str, ...]:
        """The columns of the instances."""
        return () if self.X is None else tuple(self.X.columns)

    def take(self, rows: Any) -> "Log":
        """Return some of the rows."""
        columns = {name: getattr(self, name) for name in BESIDE}
        taken: dict[str, Any] = {
            name: None if one is None else one.iloc[rows].reset_index(drop=True)
            for name, one in columns.items()
        }
        return attrs.evolve(self, explanations=self.explanations.take(rows), **taken)

    @classmethod
    def joined(cls, logs: "list[Log]") -> "Log":
        """Return the rows of several logs as those of one."""
        if len(logs) == 1:
            return logs[0]
        columns = {name: [getattr(log, name) for log in logs] for name in BESIDE}
        joined: dict[str, Any] = {
            name: None if parts[0] is None else pd.concat(parts, ignore_index=True)
            for name, parts in columns.items()
        }
        whole = Explanations.concat([log.explanations for log in logs])
        return attrs.evolve(logs[0], explanations=whole, **joined)

    def apart(self) -> "tuple[Log, PoolRows | None]":
        """Return the rows that have an explanation, and the others as a pool."""
        gone = self.explanations.missing
        _check_some(self.X, bool(gone.all()))
        kept, rest = (self.take(np.flatnonzero(rows)) for rows in (~gone, gone))
        if not gone.any():
            return self, None
        pool = PoolRows.of(rest.X, rest.predictions)
        return kept, attrs.evolve(pool, weights=rest.weights, clusters=rest.clusters, ids=rest.ids)


@attrs.frozen
class Roles:
    """Which columns of a log are what; `rules` where the explanations are rules in their JSON form.

    Where they are rules in words, `words` has the rule of each.

    Several columns of predictions are outputs, or the scores of labels; `kind` is what predictions are, where
    somebody said it. `id` names rows where some are shown: it is read for these only.

    Examples
    --------
    >>> Roles(("label",), ("phi_*",)).among(["label", "phi_age", "phi_sex"]).explanation
    ('phi_age', 'phi_sex')
    """

    prediction: tuple[str, ...]
    explanation: tuple[str, ...]
    features: tuple[str, ...] = ()
    by: str | None = None
    weights: str | None = None
    clusters: str | None = None
    rules: bool = False
    kind: str | None = None
    words: Mapping[str, Rule] | None = None
    id: str | None = None
    left_out: tuple[str, ...] = ()
    said: tuple[str, ...] = ()  # of what was left out of a cell

    def among(self, names: list[str]) -> "Roles":
        """Find the columns that are asked for by name or pattern."""

        def one(name: str | None, option: str) -> str | None:
            return None if name is None else match_name(names, name, option)

        if self.kind == LABELS:
            for pattern in self.prediction:
                match_name(names, pattern, "--prediction")
        return Roles(
            tuple(match_names(names, self.prediction)),
            tuple(match_names(names, self.explanation)),
            tuple(match_names(names, self.features)) if self.features else (),
            one(self.by, "--by"),
            one(self.weights, "--weights"),
            one(self.clusters, "--clusters"),
            kind=self.kind,
            id=one(self.id, "--id"),
        )

    def without_base(self, names: Sequence[str], patterns: tuple[str, ...], table: Any) -> "Roles":
        """Leave out columns of the explanation that a pattern took and that hold a base value."""
        in_full, _ = split_patterns(names, patterns)
        taken = [name for name in self.explanation if name not in in_full]
        base = tuple(base_columns(taken, table)) if len(self.explanation) > 1 else ()
        kept = tuple(name for name in self.explanation if name not in base)
        return attrs.evolve(self, explanation=kept, left_out=base) if kept else self

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of columns: which are no features, and which say the prediction itself."""
        said = [left_out(self.left_out, "give the full name")] if self.left_out else list(self.said)
        both = [repr(name) for name in self.prediction if name in self.explanation]
        said += [f"{few(both)} is read both as the prediction and as its explanation."] if both else []
        return tuple(said)

    @property
    def columns(self) -> list[str]:
        """All columns that are needed."""
        others = [name for name in (self.by, self.weights, self.clusters) if name is not None]
        return list(dict.fromkeys([*self.prediction, *self.explanation, *self.features, *others]))

    @property
    def columns_and_id(self) -> list[str]:
        """All columns that are needed once rows are shown."""
        return list(dict.fromkeys([*self.columns, *([] if self.id is None else [self.id])]))

    def log(self, table: Content, piece: bool = False) -> Log:
        """Read a table, or a piece of one, in these roles; a row without any value has no explanation."""
        logged = _sharing(table.frame(self.explanation, "explanation"))
        X = table.frame(self.features) if self.features else None
        explanations = _rules(logged.iloc[:, 0]) if self.rules else as_explanations(logged)
        if piece and explanations.kind == "vector" and not _is_uniform(logged):
            # whether some integer is too large to be compared as a float is known after the last piece only
            explanations = attrs.evolve(explanations, identity=logged)
        explained = attrs.evolve(explanations, instances=X)
        if self.words is not None:
            explained = as_rules(explained, self.words)
            told = None if piece else not_held(explained, X)
            explained = attrs.evolve(explained, remarks=told)
        groups, clusters = (None if one is None else table.labels(one) for one in (self.by, self.clusters))
        weights = None if self.weights is None else table.frame([self.weights])[self.weights]
        predictions = table.predictions(self.prediction, self.kind)
        ids = table.labels(self.id) if self.id in table.names else None
        return Log(predictions, explained, X, groups, weights, clusters, ids, self)


def _is_uniform(logged: pd.DataFrame) -> bool:
    """Whether all columns have one dtype of NumPy, and so are one array of it."""
    dtypes = set(logged.dtypes)
    return len(dtypes) == 1 and isinstance(dtypes.pop(), np.dtype)


def _sharing(logged: pd.DataFrame) -> pd.DataFrame:
    """Let equal texts of a single column be one object: an object that many rows share is compared once."""
    column = logged.iloc[:, 0]
    if logged.shape[1] > 1 or not isinstance(column.dtype, pd.StringDtype):
        return logged
    codes, texts = pd.factorize(column)
    return pd.DataFrame({column.name: object_array([*texts, None])[codes]}, dtype=object)


@attrs.frozen(eq=False)
class ParquetLog:
    """A log on disk, and the roles of its columns: it can be read whole, or in pieces."""

    roles: Roles
    table: ParquetTable
    not_rules: dict[str, int] = attrs.field(factory=dict)  # what is remarked of texts that are no rules

    @classmethod
    def open(cls, path: Path, asked: Roles) -> "ParquetLog":
        """Look at Parquet files."""
        whole = ParquetTable.open(path)
        found = asked.among(whole.columns)
        found = found.without_base(whole.columns, asked.explanation, whole)
        table = whole.using(found.columns_and_id).using(found.columns)
        if not _is_one_text(found.explanation, table):
            return cls(found, table)
        if _hold_rules(found.explanation, table):
            return cls(attrs.evolve(found, rules=True), table)
        words, remarks = _rule_texts(found, table) if found.features else (None, {})
        return cls(attrs.evolve(found, words=words), table, remarks)

    def remarks(self) -> dict[str, int]:
        """Count what is remarked of explanations, reading the log once more if need be."""
        if self.roles.words is None:
            return self.not_rules
        logs = (log for piece in self.table.pieces for log in self.logs(piece))
        told = (not_held(log.explanations, log.X) for log in logs)
        times = sum(one is not None for some in told if some is not None for one in some)
        return {NOT_HELD: times} if times else {}

    @property
    def features(self) -> tuple[str, ...]:
        """The columns of the instances."""
        return self.roles.features

    def read(self) -> Log:
        """Read the whole log."""
        return self.roles.log(self.table.using(self.roles.columns_and_id).read())

    def outcome(self, agree: str | None = None) -> Outcome:
        """Decide what predictions are; only floats are looked at, up to the first that is not whole."""
        names, kind = self.roles.prediction, self.roles.kind
        if kind is not None or agree is not None:
            return Outcome.of(kind, agree, ())
        one = self.table.using(names)
        stored = one.schema.field(names[0]).type
        if len(names) == 1 and pa.types.is_duration(stored):
            raise no_predictions("durations")
        if len(names) == 1 and not _is_float(stored):
            return Outcome(unasked=True)
        parts = (part.predictions(names) for piece in one.pieces for part in one.parts(piece))
        if len(names) > 1:
            return Outcome(SCORES if all(map(_are_scores, parts)) else NUMBERS, unasked=True)
        found = (Outcome.of(None, None, part) for part in parts)
        return next((one for one in found if one.kind != LABELS), Outcome(unasked=True))

    def logs(self, piece: Piece) -> Iterator[Log]:
        """Read a piece, in logs of bounded size."""
        for part in self.table.parts(piece):
            yield self.roles.log(part, piece=True)

    def apart(self) -> tuple[Log, PoolRows | None]:
        """Read the rows that have an explanation, and return the others as a pool that stays on disk."""
        if any(one is not None for one in (self.roles.weights, self.roles.clusters, self.roles.id)):
            return self.read().apart()  # all rows are needed at once
        kept, rest = [], []
        for piece in self.table.pieces:
            for log in self.logs(piece):
                gone = log.explanations.missing
                kept.append(log.take(np.flatnonzero(~gone)))
                rest.append(log.predictions[gone])
        found, predictions = Log.joined(kept), pd.concat(rest, ignore_index=True)
        _check_some(found.X, not len(found.predictions))
        return found, PoolRows(self._unexplained, predictions) if len(predictions) else None

    def _unexplained(self) -> Iterator[pd.DataFrame]:
        for piece in self.table.pieces:
            for log in self.logs(piece):
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
            one = self.table.using([name])
            for piece in one.pieces:
                for part in one.parts(piece):
                    column = part.frame()[name]
                    if isinstance(content, np.ndarray):
                        column = pd.Series(column.to_numpy(dtype=content.dtype, na_value=np.nan))
                    yield cell_words(column)


def open_log(
    path: str,
    prediction: str,
    explanation: tuple[str, ...],
    features: tuple[str, ...] = (),
    by: str | None = None,
    weights: str | None = None,
    clusters: str | None = None,
    outcome: str | None = None,
    id: str | None = None,
) -> Log | ParquetLog:
    """Read a log in CSV, or look at one in Parquet: a file, or a folder of files.

    Labels and groups are names: in a CSV they stay as they were written, so `01` and `1` are two. In an
    explanation 0.50 is 0.5, but codes such as `01` stay texts. A column of predictions that has fractions is
    numbers, unless the `outcome` says what predictions are.

    A single column of text in which every value is a rule's JSON form is read as rules; in words
    ("age ≤ 37 and sex = Male") where they are all about the `features`. Of an explanation's columns that a
    pattern takes, one that is called a bias, a base value or the like and is the same in every row is none of
    its features, and is left out.
    """
    asked = Roles((prediction,), explanation, features, by, weights, clusters, kind=outcome, id=id)
    file = Path(path)
    if is_parquet(path):
        return ParquetLog.open(file, asked)
    table = open_table(file)
    found = asked.among(table.names).without_base(table.names, asked.explanation, table)
    check_flat(table.cells.schema, found.features if len(found.explanation) == 1 else found.columns)
    rules = len(found.explanation) == 1 and _all_rules([table.texts(found.explanation[0])])
    log = attrs.evolve(found, rules=rules).log(table)
    if len(found.explanation) > 1:
        return log
    # features and their weights may stand in one cell
    explanations, said = vectors_without_base(log.explanations, "write lists of numbers")
    return attrs.evolve(log, explanations=explanations, roles=attrs.evolve(log.roles, said=said))


def _check_some(X: Any, nothing: bool) -> None:
    if X is None:
        raise InputError("a pool is read by its instances: name their columns with --features.")
    if nothing:
        raise InputError("no row of the log has an explanation: nothing can be checked.")


def _hold_rules(names: tuple[str, ...], table: ParquetTable) -> bool:
    one = table.using(names)
    return _all_rules(part.frame().iloc[:, 0] for piece in one.pieces for part in one.parts(piece))


def _is_one_text(names: tuple[str, ...], table: ParquetTable) -> bool:
    return len(names) == 1 and _is_text(table.schema.field(names[0]).type)


def _parts(table: ParquetTable) -> Iterator[pd.DataFrame]:
    return (part.frame() for piece in table.pieces for part in table.parts(piece))


def _rule_texts(roles: Roles, table: ParquetTable) -> tuple[dict[str, Rule] | None, dict[str, int]]:
    """Return the rules that are written in words, or what is to be said of those that are none."""
    times = Counter[str]()
    for part in _parts(table.using(roles.explanation)):
        times.update(part.iloc[:, 0].dropna().value_counts(sort=False).to_dict())
    if not any(map(is_like_a_rule, times)):
        return None, {}
    vocabulary = reduce(Vocabulary.united, map(Vocabulary.of, _parts(table.using(roles.features))))
    rules, why_not = rules_of(times, vocabulary)
    if not why_not:
        return rules, {}
    return None, {not_understood(why_not): sum(times[text] for text in why_not)}


def _is_float(kind: Any) -> bool:
    held = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_floating(held) or pa.types.is_decimal(held))


def _are_scores(part: pd.DataFrame) -> bool:
    """Whether a part of a table has probabilities; of what is missing the row is told when it is counted."""
    try:
        return are_probabilities(part.to_numpy(np.float64, na_value=np.nan))
    except (TypeError, ValueError):  # who encodes them says what is wrong
        return False


def _is_text(kind: Any) -> bool:
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _all_rules(columns: Any) -> bool:
    """Whether there are values, and all of them look like the JSON form of a rule."""
    some = False
    for column in columns:
        cells = column.dropna()
        if not all(isinstance(cell, str) and _RULE.match(cell) for cell in cells):
            return False
        some = some or len(cells) > 0
    return some


def _rules(column: pd.Series) -> Explanations:
    codes, texts = pd.factorize(column)
    rules = object_array([*map(Rule.from_json, texts), None])  # code −1 is the last, a missing one
    return Explanations.of(rules[codes], kind="rule", relation="in-scope")
