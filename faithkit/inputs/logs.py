"""Logs of predictions and explanations: what an audit has when the model is out of reach."""

from typing import Any

import attrs

from faithkit.inputs.tables import match_names, read_table, select_columns
from faithkit.measure.explanations import Explanations, as_explanations
from faithkit.measure.rules import Rule


@attrs.frozen(eq=False)
class Log:
    """Predictions, explanations and, where the log has them and they were asked for, instances and groups."""

    predictions: Any
    explanations: Explanations
    X: Any
    groups: Any = None


def read_log(
    path: str,
    prediction: str,
    explanation: tuple[str, ...],
    features: tuple[str, ...] = (),
    by: str | None = None,
) -> Log:
    """Read a log from CSV or Parquet; `by` names a column of subgroups.

    A single column of text in which every value is a rule's JSON form is read as rules.
    """
    frame = read_table(path)
    (label,) = match_names(list(frame.columns), (prediction,))
    logged = select_columns(frame, explanation)
    empty = logged.isna().all(axis=1).to_numpy()
    X = select_columns(frame, features) if features else None
    explanations = _rules(logged) or as_explanations(logged)
    explained = attrs.evolve(explanations, missing=explanations.missing | empty, instances=X)
    groups = None if by is None else frame[match_names(list(frame.columns), (by,))[0]]
    return Log(frame[label], explained, X, groups)


def _rules(logged: Any) -> Explanations | None:
    if logged.shape[1] != 1:
        return None
    cells = logged.iloc[:, 0].dropna()
    if cells.empty or not all(isinstance(cell, str) and cell.startswith("[") for cell in cells):
        return None
    column = logged.iloc[:, 0].to_numpy(dtype=object, na_value=None)
    known = {text: Rule.from_json(text) for text in set(cells)}
    return Explanations.of([known.get(text) for text in column], kind="rule", relation="in-scope")
