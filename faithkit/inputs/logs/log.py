"""A log in memory: predictions, their explanations, and what else was asked for, row by row."""

from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.inputs.pools import PoolRows
from faithkit.measure.containers import take_rows
from faithkit.measure.explanations import Explanations

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
    roles: Any

    @property
    def features(self) -> tuple[str, ...]:
        """The columns of the instances."""
        return tuple(self.X.columns) if isinstance(self.X, pd.DataFrame) else ()

    def take(self, rows: Any) -> "Log":
        """Return some of the rows."""
        columns = {name: take_rows(getattr(self, name), rows) for name in BESIDE}
        taken: dict[str, Any] = {
            name: one if one is None or isinstance(one, list) else one.reset_index(drop=True)
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
