"""Overview of explanations for reports: the loss of each, its text, and its rows."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from faithkit.inputs.predictions.outcome import LABELS
from faithkit.measure.counting.cells import mark_run_starts
from faithkit.measure.counting.count import Count
from faithkit.measure.counting.owners import Counts
from faithkit.measure.explanation_losses import ExplanationTotals, Instances, Overview
from faithkit.report.formats import format_predictions
from faithkit.run.components.setup import Setup
from faithkit.run.instances.contradictions import scope_text
from faithkit.run.instances.readable_rows import format_explanation
from faithkit.run.populations.population import Population
from faithkit.run.populations.row_metadata import RowIds

MAX_SHOWN = 250  # worst explanations in words, and as many of the largest
MAX_PREDICTIONS = 3  # of an explanation
MAX_ROWS = 3  # of a prediction


def summarise_explanations(population: Population, setup: Setup, count: Count, measure: str) -> Overview:
    """Return the totals of all explanations, with the rows of the worst and the largest."""
    count = count.with_sorted_labels
    totals = ExplanationTotals.of(count)
    explanations, ids = totals.select(MAX_SHOWN), population.ids
    return Overview(
        measure,
        totals,
        explanations,
        _explanation_texts(count, totals.position[explanations], setup),
        list(_instances(population, setup, count, totals, explanations)),
        None if ids is None else ids.column,
    )


def tabulate_explanations(setup: Setup, count: Count) -> pd.DataFrame:
    """Return one row per distinct explanation, worst first."""
    totals = ExplanationTotals.of(count)
    order = totals.worst_first
    texts = _explanation_texts(count, totals.position[order], setup)
    names = ("rows", "share", *(() if totals.scope is None else ("scope",)), "agreement", "loss")
    return pd.DataFrame({"explanation": texts} | {name: getattr(totals, name)[order] for name in names})


def _explanation_texts(count: Count, positions: Counts, setup: Setup) -> list[str]:
    explanations, discretizer = count.explanations, setup.discretizer.instance
    return [
        format_explanation(explanations, position, discretizer)
        + scope_text(count.relation, explanations.take([position]))
        for position in positions.tolist()
    ]


def _instances(
    population: Population, setup: Setup, row_count: Count, totals: ExplanationTotals, explanations: Counts
) -> Iterator[list[Instances]]:
    """Yield the rows of each selected explanation, by prediction."""
    explanation, label, row, count = row_count.owned_rows()
    position = np.full(len(totals.rows), -1)
    position[explanations] = np.arange(len(explanations))
    explanation = position[totals.code[explanation]]
    is_selected = explanation >= 0
    columns = [values[is_selected] for values in (explanation, label, row, count)]
    order = np.lexsort((columns[2], columns[1], columns[0]))
    explanation, label, row, count = (values[order] for values in columns)
    bounds = np.searchsorted(explanation, np.arange(len(explanations) + 1)).tolist()
    row_groups = _by_label if setup.outcome.kind == LABELS else _in_one_group
    predictions, ids = population.labels, population.ids
    for start, stop in pairwise(bounds):
        yield row_groups(predictions, ids, label[start:stop], row[start:stop], count[start:stop])


def _by_label(
    predictions: list[Any], ids: RowIds | None, label: Counts, row: Counts, count: Counts
) -> list[Instances]:
    """Return the rows of the most frequent predictions, and the number of other rows."""
    start = np.flatnonzero(mark_run_starts(label))
    n_rows, stop = np.add.reduceat(count, start), np.append(start[1:], len(label))
    frequent = np.argsort(-n_rows, kind="stable")
    groups = [
        Instances(
            str(predictions[label[start[run]]]),
            int(n_rows[run]),
            _row_names(ids, row[start[run] : stop[run]]),
        )
        for run in frequent[:MAX_PREDICTIONS].tolist()
    ]
    rare = frequent[MAX_PREDICTIONS:]
    return [*groups, Instances(None, int(n_rows[rare].sum()), ())] if len(rare) else groups


def _in_one_group(
    predictions: list[Any], ids: RowIds | None, label: Counts, row: Counts, count: Counts
) -> list[Instances]:
    """Return all rows, with the range of their predictions if these are single numbers."""
    ends = predictions[label[0]], predictions[label[-1]]
    text = "different scores"
    if isinstance(ends[0], float):
        text = " to ".join(dict.fromkeys(format_predictions(*ends)))
    return [Instances(text, int(count.sum()), _row_names(ids, np.sort(row)))]


def _row_names(ids: RowIds | None, rows: Counts) -> tuple[str, ...]:
    """Return the first rows by their ids, or by their numbers."""
    first = rows[:MAX_ROWS].tolist()
    if ids is None:
        return tuple(map(str, first))
    names = [ids.name(row) for row in first]
    return tuple(
        f"row {row}" if name is None else str(name.value) for row, name in zip(first, names, strict=True)
    )
