"""A log in memory, row by row: predictions, explanations and other columns; and the roles of its columns."""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.containers import take_rows
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, object_array
from faithkit.explanations.rules import Rule
from faithkit.inputs.files.column_patterns import match_name, match_names
from faithkit.inputs.files.column_roles import Table, check_texts
from faithkit.inputs.logs.rule_columns import as_rules, not_held
from faithkit.inputs.objects.explanation_forms import as_explanations
from faithkit.inputs.pools import PoolRows
from faithkit.inputs.predictions.outcome import LABELS
from faithkit.wording import few

_COLUMNS = ("predictions", "X", "groups", "weights", "clusters", "ids")  # beside the explanations


@attrs.frozen
class ColumnRoles:
    """The columns of a log by role; `rules` says that the explanations are rules in their JSON form.

    Where they are rules in words, `words` has the rule of each.

    Several columns of predictions are outputs, or the scores of labels; `kind` is what predictions are, where
    somebody said it. `id` names rows where some are shown: it is read for these only.

    Examples
    --------
    >>> ColumnRoles(("label",), ("phi_*",)).among(["label", "phi_age", "phi_sex"]).explanation
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
    text: str | None = None  # the column whose texts are the instances

    def among(self, names: list[str]) -> "ColumnRoles":
        """Find the columns that are asked for by name or pattern."""

        def find(name: str | None, option: str) -> str | None:
            return None if name is None else match_name(names, name, option)

        if self.kind == LABELS:
            for pattern in self.prediction:
                match_name(names, pattern, "--prediction")
        return ColumnRoles(
            tuple(match_names(names, self.prediction)),
            tuple(match_names(names, self.explanation)),
            tuple(match_names(names, self.features)) if self.features else (),
            find(self.by, "--by"),
            find(self.weights, "--weights"),
            find(self.clusters, "--clusters"),
            kind=self.kind,
            id=find(self.id, "--id"),
            text=find(self.text, "--text"),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on columns that are explanation and prediction at once."""
        both = [repr(name) for name in self.prediction if name in self.explanation]
        return (f"{few(both)} is read both as the prediction and as its explanation.",) if both else ()

    @property
    def columns(self) -> list[str]:
        """All columns that are needed."""
        others = [name for name in (self.by, self.weights, self.clusters) if name is not None]
        return list(dict.fromkeys([*self.prediction, *self.explanation, *self.features, *others]))

    @property
    def columns_and_id(self) -> list[str]:
        """All columns that are needed once rows are shown."""
        return list(dict.fromkeys([*self.columns, *([] if self.id is None else [self.id])]))

    def log(self, table: Table) -> "Log":
        """Read a table, or a part of one, in these roles; a row without any value has no explanation."""
        gaps = table.gaps  # known where this is a part
        logged = _sharing(table.frame(self.explanation, "explanation"))
        X: Any = table.frame(self.features) if self.features else None
        if self.text is not None:
            X = check_texts(table.texts(self.text), self.text)
        explanations = _rules(logged.iloc[:, 0]) if self.rules else as_explanations(logged)
        if gaps is not None and explanations.kind == "vector":  # all parts are compared alike
            is_rounded = explanations.values.dtype.kind == "f" and not gaps.wide.isdisjoint(logged)
            explanations = attrs.evolve(explanations, identity=logged if is_rounded else None)
        explained = attrs.evolve(explanations, instances=X)
        if self.words is not None:
            explained = as_rules(explained, self.words)
            explained = attrs.evolve(explained, remarks=not_held(explained, X) if gaps is None else None)
        groups = None if self.by is None else table.labels(self.by)
        clusters = None if self.clusters is None else table.labels(self.clusters)
        weights = None if self.weights is None else table.frame([self.weights])[self.weights]
        predictions = table.predictions(self.prediction, self.kind)
        ids = table.labels(self.id) if self.id in table.names else None
        return Log(predictions, explained, X, groups, weights, clusters, ids, self)


@attrs.frozen(eq=False)
class Log:
    """The rows of a log: predictions, explanations, and the columns that have other roles."""

    predictions: Any
    explanations: Explanations
    X: Any
    groups: Any
    weights: Any
    clusters: Any
    ids: Any
    roles: ColumnRoles

    @property
    def features(self) -> tuple[str, ...]:
        """The columns of the instances."""
        return tuple(self.X.columns) if isinstance(self.X, pd.DataFrame) else ()

    def take(self, rows: Any) -> "Log":
        """Return some of the rows."""
        columns = {name: take_rows(getattr(self, name), rows) for name in _COLUMNS}
        taken: dict[str, Any] = {
            name: column if column is None or isinstance(column, list) else column.reset_index(drop=True)
            for name, column in columns.items()
        }
        return attrs.evolve(self, explanations=self.explanations.take(rows), **taken)

    @classmethod
    def joined(cls, logs: "list[Log]") -> "Log":
        """Return the rows of several logs as those of one."""
        if len(logs) == 1:
            return logs[0]
        columns = {name: [getattr(log, name) for log in logs] for name in _COLUMNS}
        joined: dict[str, Any] = {
            name: None if parts[0] is None else pd.concat(parts, ignore_index=True)
            for name, parts in columns.items()
        }
        whole = Explanations.concat([log.explanations for log in logs])
        return attrs.evolve(logs[0], explanations=whole, **joined)

    def apart(self) -> "tuple[Log, PoolRows | None]":
        """Return the rows that have an explanation, and the others as a pool."""
        gone = self.explanations.missing
        check_some(self.X, bool(gone.all()))
        kept, rest = (self.take(np.flatnonzero(rows)) for rows in (~gone, gone))
        if not gone.any():
            return self, None
        pool = PoolRows.of(rest.X, rest.predictions)
        return kept, attrs.evolve(pool, weights=rest.weights, clusters=rest.clusters, ids=rest.ids)


def check_some(X: Any, nothing: bool) -> None:
    """Refuse a log of which nothing can be checked against a pool."""
    if X is None:
        raise InputError("a pool is read by its instances: name their columns with --features.")
    if nothing:
        raise InputError("no row of the log has an explanation: nothing can be checked.")


def _sharing(logged: pd.DataFrame) -> pd.DataFrame:
    """Let equal texts of a single column be one object: an object that many rows share is compared once."""
    column = logged.iloc[:, 0]
    if logged.shape[1] > 1 or not isinstance(column.dtype, pd.StringDtype):
        return logged
    codes, texts = pd.factorize(column)
    return pd.DataFrame({column.name: object_array([*texts, None])[codes]}, dtype=object)


def _rules(column: pd.Series) -> Explanations:
    codes, texts = pd.factorize(column)
    rules = object_array([*map(Rule.from_json, texts), None])  # code −1 is the last, a missing one
    return Explanations.of(rules[codes], kind="rule", relation="in-scope")
