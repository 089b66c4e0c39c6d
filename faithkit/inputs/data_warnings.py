"""Warn about data that users may misread; nothing is dropped or changed."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from faithkit.arrays.grouping import group
from faithkit.errors import warn
from faithkit.explanations.explanations import Explanations
from faithkit.inputs.files.arrow_types import is_text, value_type
from faithkit.inputs.files.table import Table
from faithkit.inputs.logs.log import Log
from faithkit.wording import join_words

FIRST_ROWS = 10_000  # the rows of a log that are checked
_MIN_CASES, _MIN_ROWS_PER_CASE = 10, 3
_MAX_CODES = 100  # more whole numbers are seldom codes of classes
_NUMBER = re.compile(r"\s*[+-]?[0-9]*([.,][0-9]+)?\s*(%?)\s*")
_BASE_WORDS = r"bias|base|baseline|intercept|expected|base_?values?|expected_?values?"
_BASE_VALUE = re.compile(rf"(?:^|[^a-z])(?:{_BASE_WORDS})(?:[^a-z]|$)")


def warn_about_numbers(labels: Sequence[Any]) -> None:
    """Warn about labels that may be numbers: texts with a fraction or percent sign, or many whole numbers."""
    matches = [_NUMBER.fullmatch(label) if isinstance(label, str) else None for label in labels]
    # the pattern also matches an empty text, which has no fraction
    fractions = [match[0] for match in matches if match and (match[2] or (match[1] or "").strip(".,0"))]
    if all(matches) and fractions:
        warn(
            f"predictions such as {fractions[0]!r} are texts, and are taken for labels: if they are numbers, "
            "write them as numbers, with a decimal point and without a percent sign."
        )
    elif len(labels) > _MAX_CODES and all(isinstance(label, int | float) for label in labels):
        warn(
            f"predictions are {len(labels):,} different whole numbers, and are taken for labels: if they are "
            "amounts, set outcome='numbers' (CLI: --outcome numbers)."
        )


def warn_about_base_values(explanations: Explanations) -> None:
    """Warn about importances that are named like a base value and have the same value in every row."""
    names, values = explanations.shared.get("names") or (), explanations.values
    if explanations.kind != "vector" or values.ndim != 2 or not 1 < len(names) == values.shape[1]:
        return
    base_names = []
    for name, column in zip(names, values[~explanations.missing].T, strict=True):
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        if _BASE_VALUE.search(words) and len(pd.unique(column[~np.isnan(column)])) == 1:
            base_names.append(name)
    if base_names and len(base_names) < len(names):
        warn(
            f"{join_words(map(repr, base_names))} may be a base value and no feature: it is the same in "
            f"every row. If so, leave it out (CLI: --explanation '…,!{base_names[0]}')."
        )


def warn_about_texts_among_numbers(explanations: Explanations) -> None:
    """Warn about a column of importances that is not read as numbers, because of a few texts in it."""
    if explanations.kind != "value":
        return
    for name, column in _first_rows(explanations):
        present = column.dropna()
        numbers = pd.to_numeric(present, errors="coerce")
        texts = present[numbers.isna()]
        # whole numbers may be codes
        if 0 < len(texts) < len(present) / 2 and (numbers.dropna() % 1 != 0).any():
            warn(
                f"{name} has texts among its numbers, such as {texts.iloc[0]!r}: the explanations are not "
                "taken for importances. If they are importances, leave missing ones empty."
            )
            return


def _first_rows(explanations: Explanations) -> Iterable[tuple[str, pd.Series]]:
    """Return the first values of each column, with the name of the column as messages write it.

    Of a single column, whose values may be any objects, texts and fractions are returned.
    """
    values, names = explanations.values[:FIRST_ROWS], explanations.shared.get("names")
    if isinstance(values, pd.DataFrame):
        return ((repr(name), column) for name, column in values.items())
    readable = [value for value in values.tolist() if isinstance(value, str | float)]
    return [(repr(names[0]) if names else "the column of explanations", pd.Series(readable, dtype=object))]


def warn_about_long_format(table: Table, log: Log) -> None:
    """Warn if a column without a role has cases with one label and several explanations each."""
    roles, n = log.roles, len(table)
    if len(roles.prediction) > 1 or n < _MIN_CASES * _MIN_ROWS_PER_CASE:
        return
    labels = pd.factorize(pd.Series(log.predictions))[0]
    explanations = group(log.explanations.identities, log.explanations.missing).codes
    for name, values in zip(table.names, table.values.columns, strict=True):
        arrow_type = value_type(values.type)
        if name in roles.columns or not (pa.types.is_integer(arrow_type) or is_text(arrow_type)):
            continue
        codes = pc.fill_null(values.cast(arrow_type).combine_chunks().dictionary_encode().indices, -1)
        cases = codes.to_numpy(zero_copy_only=False)
        rows = pd.DataFrame({"case": cases, "label": labels, "explanation": explanations})
        n_cases = rows["case"].nunique()
        has_one_label = len(rows[["case", "label"]].drop_duplicates()) == n_cases
        has_many_explanations = not rows[["case", "explanation"]].duplicated().any()
        is_plausible = _MIN_CASES <= n_cases <= n / _MIN_ROWS_PER_CASE
        if is_plausible and has_one_label and has_many_explanations:
            verb = "has" if n < FIRST_ROWS else "begins with"
            warn(
                f"the log {verb} {n:,} rows and {n_cases:,} values of {name!r}, each with one prediction and "
                "several explanations: it seems to have a row for each part of an explanation. Give one row "
                f"for each instance; in pandas: log.groupby([{name!r}, {roles.prediction[0]!r}])"
                f"[{roles.explanation[0]!r}].agg(' '.join). If rows are cases of their own, write --clusters "
                f"{name}."
            )
            return
