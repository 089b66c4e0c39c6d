"""Export the rows of a result, with predictions and explanations, as a log that `score` reads."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy.sparse import issparse

from faithkit.arrays.containers import as_table
from faithkit.arrays.grouping import group
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.rules import Rule
from faithkit.files import write_atomically
from faithkit.inputs.objects.adapters import is_missing
from faithkit.inputs.predictions.labels import Labels
from faithkit.inputs.rows import column_names
from faithkit.run.populations.in_memory import InMemory

Columns = dict[str, Any]


def export_rows(population: InMemory) -> pd.DataFrame:
    """Return one row per instance: its id, its columns, its prediction and its explanation.

    Explanations are the original ones. Rows with the same number in the column "group" have equal
    explanations after discretizing. If an instance has a column of the same name, ours ends with "_".
    """
    instances = _instance_columns(population)

    def name(base: str) -> str:
        while any(column.startswith(base) for column in instances):  # a pattern must match ours alone
            base += "_"
        return base

    explanations, design = population.original_explanations, population.explained_design
    columns = instances | _prediction_columns(name("prediction"), population.encoded_labels)
    columns |= _explanation_columns(name("explanation"), explanations, population.sample.X)
    columns[name("group")] = _group_numbers(population.sample.explanations)
    if design is not None and design.is_weighted:
        columns[name("weight")] = design.weights
    if design is not None and design.is_clustered:
        columns[name("cluster")] = design.unit
    if explanations.block is not None:
        columns[name("block")] = explanations.block
    return pd.DataFrame(columns)


def _instance_columns(population: InMemory) -> Columns:
    metadata = population.metadata
    X = population.sample.X if metadata.table is None else metadata.table
    columns: Columns = {}
    if isinstance(X, list):
        columns = {"text": X}
    elif isinstance(X, pd.DataFrame):
        columns = {str(name): column.array for name, column in X.items()}
    elif X is not None:
        dense = X.toarray() if issparse(X) else X.reshape(len(X), -1)
        columns = dict(zip(column_names(X), dense.T, strict=True))
    if metadata.ids is not None and metadata.ids.column not in columns:
        columns = {metadata.ids.column: metadata.ids.values[: len(population.sample)], **columns}
    return columns


def _prediction_columns(name: str, labels: Labels) -> Columns:
    """Return a column of labels or numbers, or one for each output."""
    if isinstance(labels.values, np.ndarray) and labels.values.ndim == 2:
        return {f"{name}_{output}": column for output, column in enumerate(labels.values[labels.codes].T)}
    return {name: [labels.classes[code] for code in labels.codes]}


def _explanation_columns(name: str, explanations: Explanations, X: Any) -> Columns:
    """Return a column for each feature of a vector or an example, or one of texts and JSON."""
    values, missing = explanations.values, explanations.missing
    if isinstance(values, np.ndarray) and values.ndim == 1:
        present = values[~missing]
        texts = np.full(len(values), None, dtype=object)
        texts[~missing] = (
            _rules_in_json(present, X) if explanations.kind == "rule" else list(map(_text, present))
        )
        return {name: texts}
    frame = values if isinstance(values, pd.DataFrame) else as_table(np.asarray(values))
    parts = explanations.shared.get("names") or frame.columns
    if missing.any():
        frame = frame.astype(object)
        frame.iloc[missing] = None
    return {f"{name}_{part}": frame.iloc[:, j].array for j, part in enumerate(parts)}


def _rules_in_json(rules: NDArray[Any], X: Any) -> list[str]:
    """Return rules in the form that `score` reads without a plugin."""
    distinct = {rule: rule for rule in rules}
    if isinstance(X, np.ndarray):
        names = column_names(X)
        distinct = {rule: _rename_columns(rule, names) for rule in distinct}
    texts = {rule: json.dumps(named.to_json(), ensure_ascii=False) for rule, named in distinct.items()}
    return [texts[rule] for rule in rules]


def _rename_columns(rule: Rule, names: list[str]) -> Rule:
    """Return a rule about the columns of an array with their names in the log."""
    predicates: tuple[Any, ...] = rule.predicates  # each has a column: the instances are no texts
    return Rule(attrs.evolve(predicate, column=names[predicate.column]) for predicate in predicates)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _group_numbers(explanations: Explanations) -> "pd.Series[Any]":
    """Return a number for each distinct explanation, in order of appearance; none where it is missing."""
    codes = pd.Series(group(explanations.identities, explanations.missing).codes, dtype="Int64")
    return codes.mask(explanations.missing)


# -- files --


def write_log(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a table to a file, whose ending names the format."""
    write_atomically(path, WRITERS[check_ending(path)](frame))


def check_ending(path: str | Path) -> str:
    """Return the ending of a file name, or raise an error if it names no format."""
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise InputError(
            f"cannot export to {Path(path).name}, because its ending names no format: use .csv, .jsonl or "
            ".parquet."
        )
    return ending


def _to_parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    columns = {str(name): _as_arrow(column) for name, column in frame.items()}
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def _as_arrow(column: "pd.Series[Any]") -> pa.Array:
    """Return a column as Arrow's, as texts if it has values of several types or of one that Arrow lacks."""
    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    try:
        return pa.Array.from_pandas(column)
    except (pa.ArrowException, TypeError):
        return pa.array([None if is_missing(value) else str(value) for value in column], pa.string())


def _to_json_lines(frame: pd.DataFrame) -> str:
    records = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return "".join(json.dumps(record, ensure_ascii=False, default=_json_value) + "\n" for record in records)


def _json_value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


WRITERS: dict[str, Callable[[pd.DataFrame], str | bytes]] = {
    ".csv": lambda frame: frame.to_csv(index=False),
    ".jsonl": _to_json_lines,
    ".parquet": _to_parquet,
}
