"""A log in memory: predictions, explanations and other columns of each row, and the roles of its columns."""

import re
from collections.abc import Iterable
from itertools import chain
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa

from faithkit.arrays.containers import take_rows
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, object_array
from faithkit.explanations.rules import Rule
from faithkit.inputs.date_texts import with_dates
from faithkit.inputs.files.column_patterns import find_wildcards, match_name, match_names
from faithkit.inputs.files.table import Table, check_texts
from faithkit.inputs.objects.explanation_forms import as_explanations
from faithkit.inputs.objects.text_adapters import NO_ADAPTER, TextAdapter, TextReading
from faithkit.inputs.pairing import pair_columns
from faithkit.inputs.pools import PoolRows
from faithkit.inputs.predictions.labels import find_missing_labels
from faithkit.inputs.predictions.outcome import LABELS, Outcome
from faithkit.inputs.rows import Rows
from faithkit.wording import join_few

# all but the explanations
_ROW_FIELDS = ("predictions", "X", "groups", "weights", "clusters", "blocks", "ids")
_JSON_RULE = re.compile(r"\[\s*[\]{]")  # the start of a rule in JSON


@attrs.frozen
class ColumnRoles:
    """The columns of a log by role.

    `has_json_rules` says that the explanations are rules in JSON. `adapter` is the adapter of texts that the
    user named, or "none"; `reading` is what an adapter made of the distinct texts. Several prediction columns
    are several outputs, or the scores of the labels. `kind` is the declared outcome, if any. The `id` column
    is read only for rows that are displayed. `wildcards` are the patterns that chose several explanation
    columns or features.

    Examples
    --------
    >>> ColumnRoles(("label",), ("phi_*",)).resolve(["label", "phi_age", "phi_sex"]).explanation
    ('phi_age', 'phi_sex')
    """

    prediction: tuple[str, ...]
    explanation: tuple[str, ...]
    features: tuple[str, ...] = ()
    by: str | None = None
    weights: str | None = None
    clusters: str | None = None
    blocks: str | None = None
    has_json_rules: bool = False
    kind: str | None = None
    adapter: str | None = None
    reading: TextReading | None = None
    id: str | None = None
    text: str | None = None  # the column whose texts are the instances
    has_date_texts: bool = False  # whether dates among the features are written as texts, as in CSV
    wildcards: tuple[str, ...] = ()

    def resolve(self, names: list[str]) -> "ColumnRoles":
        """Replace patterns by the column names that they match."""
        if self.kind == LABELS:
            for pattern in self.prediction:
                match_name(names, pattern, "--prediction")
        matches: dict[str, Any] = {}
        for role in ("prediction", "explanation", "features"):
            patterns = getattr(self, role)
            matches[role] = tuple(match_names(names, patterns)) if patterns else ()
        for role in ("by", "weights", "clusters", "blocks", "id", "text"):
            pattern = getattr(self, role)
            matches[role] = None if pattern is None else match_name(names, pattern, f"--{role}")
        wildcards = [find_wildcards(names, patterns) for patterns in (self.explanation, self.features)]
        return attrs.evolve(self, **matches, wildcards=tuple(chain.from_iterable(wildcards)))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about columns that are both explanation and prediction."""
        shared = [repr(name) for name in self.prediction if name in self.explanation]
        return (
            (f"{join_few(shared)} is read both as the prediction and as its explanation.",) if shared else ()
        )

    @property
    def columns(self) -> list[str]:
        """All columns that measuring needs."""
        optional = filter(None, (self.by, self.weights, self.clusters, self.blocks))
        return list(dict.fromkeys([*self.prediction, *self.explanation, *self.features, *optional]))

    @property
    def columns_and_id(self) -> list[str]:
        """All columns that measuring and displaying rows need."""
        return list(dict.fromkeys([*self.columns, *([] if self.id is None else [self.id])]))

    def read_log(self, table: Table) -> "Log":
        """Read a table, or a part of one, in these roles; a row without any value has no explanation."""
        X: Rows = table.frame(self.features) if self.features else None
        if self.has_date_texts:
            X = with_dates(X, model=None)
        if self.text is not None:
            X = check_texts(table.texts(self.text), self.text)
        return Log(
            predictions=table.predictions(self.prediction, self.kind),
            explanations=self._read_explanations(table, X),
            X=X,
            groups=_read_labels(table, self.by),
            weights=None if self.weights is None else table.frame([self.weights])[self.weights],
            clusters=_read_labels(table, self.clusters),
            blocks=_read_labels(table, self.blocks),
            ids=_read_labels(table, self.id),
            roles=self,
        )

    def _read_explanations(self, table: Table, X: Rows) -> Explanations:
        missing_values = table.missing_values  # set if this is a part of a table
        frame = _share_texts(table.frame(self.explanation, "explanation"))
        explanations = _parse_json_rules(frame.iloc[:, 0]) if self.has_json_rules else as_explanations(frame)
        if missing_values is not None and explanations.kind == "vector":  # compare all parts in the same way
            is_float = explanations.values.dtype.kind == "f"
            is_rounded = is_float and not missing_values.wide.isdisjoint(frame)
            explanations = attrs.evolve(explanations, identity=frame if is_rounded else None)
        if pa.types.is_map(table.values.schema.field(self.explanation[0]).type):  # its keys have no order
            explanations = attrs.evolve(explanations, shared={**explanations.shared, "features": None})
        explanations = pair_columns(attrs.evolve(explanations, instances=X), X, self.wildcards)
        if self.reading is not None:
            explanations = self.reading.apply(explanations)
        return explanations


def _read_labels(table: Table, name: str | None) -> pd.Series | None:
    """Return a column as labels; None if the table, or the part that was read, does not have it."""
    return table.labels(name) if name in table.names else None


@attrs.frozen(eq=False)
class Log:
    """The rows of a log: predictions, explanations, and the columns with other roles."""

    predictions: pd.Series | pd.DataFrame
    explanations: Explanations
    X: Rows
    groups: pd.Series | None
    weights: pd.Series | None
    clusters: pd.Series | None
    blocks: pd.Series | None
    ids: pd.Series | None
    roles: ColumnRoles
    text_adapter: TextAdapter | None = None  # what has read the explanations

    @property
    def adapter(self) -> str | None:
        """The adapter that has still to read the explanations; None if their texts choose one."""
        return self.roles.adapter if self.text_adapter is None else NO_ADAPTER

    def take(self, rows: Any) -> "Log":
        """Return a log of the selected rows."""
        columns = {name: take_rows(getattr(self, name), rows) for name in _ROW_FIELDS}
        selected: dict[str, Any] = {
            name: column if column is None or isinstance(column, list) else column.reset_index(drop=True)
            for name, column in columns.items()
        }
        return attrs.evolve(self, explanations=self.explanations.take(rows), **selected)

    def leave_out_missing_labels(self) -> "tuple[Log, int]":
        """Return the log without the rows that have no label, and how many these are.

        Rows without an id get their number in the log as id.
        """
        kind = self.roles.kind or Outcome.of(None, None, self.predictions).kind
        is_missing = find_missing_labels(self.predictions) if kind == LABELS else np.zeros(0, dtype=bool)
        if not is_missing.any() or is_missing.all():
            return self, 0
        numbers = pd.Series(np.arange(len(is_missing)), name="log row")
        log = attrs.evolve(self, ids=numbers) if self.ids is None else self
        return log.take(np.flatnonzero(~is_missing)), int(is_missing.sum())

    def split_pool(self) -> "tuple[Log, PoolRows | None]":
        """Return the rows with an explanation as a log, and the rows without one as a pool.

        A remark says that a row had an explanation that could not be read: the row stays, and counts. Rows
        without an id get their number in the log as id, because the two parts count their rows anew.
        """
        is_unexplained = self.explanations.missing
        if self.X is None:
            raise InputError("a pool is read by its instances: name their columns with --features.")
        if is_unexplained.all():
            raise InputError("no row of the log has an explanation: nothing can be checked.")
        if self.explanations.remarks is not None:
            is_unexplained = is_unexplained & pd.isna(self.explanations.remarks)
        if not is_unexplained.any():
            return self, None
        numbers = pd.Series(np.arange(len(is_unexplained)), name="log row")
        log = attrs.evolve(self, ids=numbers) if self.ids is None else self
        explained_log, unexplained_log = (
            log.take(np.flatnonzero(rows)) for rows in (~is_unexplained, is_unexplained)
        )
        metadata = {role: getattr(unexplained_log, role) for role in ("weights", "clusters", "blocks", "ids")}
        return explained_log, PoolRows.of(unexplained_log.X, unexplained_log.predictions, **metadata)


def _share_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Let equal texts of a single column share one object, because a shared object is compared once."""
    column = frame.iloc[:, 0]
    if frame.shape[1] > 1 or not isinstance(column.dtype, pd.StringDtype):
        return frame
    codes, texts = pd.factorize(column)
    return pd.DataFrame({column.name: object_array([*texts, None])[codes]}, dtype=object)


def are_json_rules(columns: Iterable["pd.Series[Any]"]) -> bool:
    """Return whether columns have values, and all of them look like rules in JSON."""
    has_values = False
    for column in columns:
        values = column.dropna()
        if not all(isinstance(value, str) and _JSON_RULE.match(value) for value in values):
            return False
        has_values = has_values or len(values) > 0
    return has_values


def _parse_json_rules(column: pd.Series) -> Explanations:
    codes, texts = pd.factorize(column)
    rules = object_array([*map(Rule.from_json, texts), None])  # code −1 selects the last item: no rule
    return Explanations.of(rules[codes], kind="rule", relation="in-scope")
