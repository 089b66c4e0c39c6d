"""Which columns of a log are what, and how a table is read in these roles."""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.inputs.files.column_patterns import match_name, match_names
from faithkit.inputs.files.column_roles import Table
from faithkit.inputs.logs.log import Log
from faithkit.inputs.logs.rules import as_rules, not_held
from faithkit.inputs.objects.forms import as_explanations
from faithkit.inputs.predictions.outcome import LABELS
from faithkit.measure.explanations import Explanations, object_array
from faithkit.measure.rules import Rule
from faithkit.wording import few


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
    text: str | None = None  # the column whose texts are the instances

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
            text=one(self.text, "--text"),
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

    def log(self, table: Table, piece: bool = False) -> Log:
        """Read a table, or a piece of one, in these roles; a row without any value has no explanation."""
        logged = _sharing(table.frame(self.explanation, "explanation"))
        X: Any = table.frame(self.features) if self.features else None
        if self.text is not None:
            X = _texts(table.texts(self.text), self.text)
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


def _texts(cells: Any, name: str) -> list[str]:
    if cells.isna().any():
        row = int(cells.isna().to_numpy().argmax())
        raise InputError(f"row {row} has no text in {name!r}: drop such rows, or fill them.")
    return [str(cell) for cell in cells]


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


def _rules(column: pd.Series) -> Explanations:
    codes, texts = pd.factorize(column)
    rules = object_array([*map(Rule.from_json, texts), None])  # code −1 is the last, a missing one
    return Explanations.of(rules[codes], kind="rule", relation="in-scope")
