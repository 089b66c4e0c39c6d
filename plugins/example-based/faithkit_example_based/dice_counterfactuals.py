"""Adapt the output of dice-ml: for each row a table of counterfactuals, or none."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import faithkit
from faithkit_example_based.dice_search.explainer import NOT_FOUND

WHO = "dice-counterfactuals"
_TRUTH = {"True": True, "False": False}


class DiceCounterfactuals:
    """Adapter of dice-ml's counterfactuals: the first of each row, in the same form as those of `dice`.

    Notes
    -----
    Where dice-ml made counterfactuals sparser, these are taken, as dice-ml itself shows them. A row for which
    it found none has no explanation, with the remark "no counterfactual found". Whether the model gives a
    counterfactual another label is not asked again.

    dice-ml turns numbers that it was told are categories into texts: in the columns in which X has numbers
    they are numbers again.

    Examples
    --------
    >>> value, context = DiceCounterfactuals().example()
    >>> explanations = DiceCounterfactuals().explanations(value, context)
    >>> explanations.values
       age    job
    0   40   cook
    1   33  clerk
    >>> explanations.remarked
    array([None, 'no counterfactual found'], dtype=object)
    """

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return two rows, of which one has a counterfactual."""
        from dice_ml.counterfactual_explanations import CounterfactualExplanations
        from dice_ml.diverse_counterfactuals import CounterfactualExamples
        from dice_ml.utils.serialize import DummyDataInterface

        rows = pd.DataFrame({"age": [31, 33], "job": ["cook", "clerk"], "label": [0, 0]})
        first_row = pd.DataFrame({"age": [40, 45], "job": ["cook", "cook"], "label": [1, 1]})
        examples = [
            CounterfactualExamples(DummyDataInterface("label"), counterfactuals, rows.iloc[[row]])
            for row, counterfactuals in enumerate((first_row, None))
        ]
        return CounterfactualExplanations(examples), faithkit.plugin.RowContext(n=2)

    def explanations(self, value: Any, context: faithkit.plugin.RowContext) -> faithkit.Explanations:
        """Return, for each row, a row with another label."""
        results = value if isinstance(value, Sequence) else [value]
        cases = [case for result in results for case in _cases(result)]
        if not cases:
            raise faithkit.errors.InputError(f"{WHO}: the result is of no rows: give one that has some.")
        counterfactuals = [_first_counterfactual(case) for case in cases]
        instances = [case.test_instance_df.iloc[:1] for case in cases]
        is_missing = np.array([rows is None for rows in counterfactuals])
        # a missing row needs some value in its place; nobody reads it
        rows = [
            instance if counterfactual is None else counterfactual
            for counterfactual, instance in zip(counterfactuals, instances, strict=True)
        ]
        outcomes = {str(case.data_interface.outcome_name) for case in cases}
        return faithkit.Explanations(
            kind="example",
            values=_convert_like(_join_rows(rows, outcomes), context.X),
            instances=_join_rows(instances, outcomes) if context.X is None else None,
            missing=is_missing,
            remarks=np.array([NOT_FOUND if missing else None for missing in is_missing], dtype=object),
            relation="in-ball",
        )


def _cases(value: Any) -> list[Any]:
    return list(value.cf_examples_list) if hasattr(value, "cf_examples_list") else [value]


def _first_counterfactual(case: Any) -> pd.DataFrame | None:
    """Return the first counterfactual of a row, in its sparse form if there is one."""
    rows = case.final_cfs_df if case.final_cfs_df_sparse is None else case.final_cfs_df_sparse
    return None if rows is None or len(rows) == 0 else rows.iloc[:1]


def _join_rows(rows: list[pd.DataFrame], outcomes: set[str]) -> pd.DataFrame:
    """Join tables of one row each, without the column of predictions."""
    columns = set(rows[0].columns)
    for number, row in enumerate(rows):
        if set(row.columns) != columns:
            raise faithkit.errors.InputError(
                f"{WHO}: row {number} has the columns {', '.join(map(str, row.columns))}, and row 0 has "
                f"{', '.join(map(str, rows[0].columns))}: give results about one table."
            )
    table = pd.concat(rows, ignore_index=True)
    return table[[name for name in rows[0].columns if str(name) not in outcomes]].infer_objects()


def _convert_like(rows: pd.DataFrame, X: Any) -> Any:
    """Return rows in the columns of X, with numbers where X has numbers."""
    if X is None:
        return rows
    frame_of_X = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X).infer_objects()
    if not isinstance(X, pd.DataFrame) and rows.shape[1] == frame_of_X.shape[1]:
        frame_of_X = frame_of_X.set_axis(rows.columns, axis="columns")  # an array's columns have no names
    if set(rows.columns) != set(frame_of_X.columns) or rows.shape[1] != frame_of_X.shape[1]:
        raise faithkit.errors.InputError(
            f"{WHO}: the counterfactuals have the columns {', '.join(map(str, rows.columns))}, and X has "
            f"{', '.join(map(str, frame_of_X.columns))}: give X with the columns that dice-ml was given."
        )
    frame = pd.DataFrame({name: _convert_values(rows[name], frame_of_X[name]) for name in frame_of_X.columns})
    return frame if isinstance(X, pd.DataFrame) else frame.to_numpy(dtype=np.asarray(X).dtype)


def _convert_values(values: pd.Series, like: pd.Series) -> pd.Series:
    """Convert values to the dtype of a column of X, if that changes no value."""
    if pd.api.types.is_bool_dtype(like.dtype):
        parsed = values.map(lambda value: _TRUTH.get(value, value))
        return parsed.astype(bool) if parsed.isin([False, True]).all() else values
    if not pd.api.types.is_numeric_dtype(like.dtype):
        return values
    numbers = pd.to_numeric(values, errors="coerce")
    if (numbers.isna() & values.notna()).any():
        return values
    is_whole = numbers.notna().all() and (numbers % 1 == 0).all()
    fits = is_whole if pd.api.types.is_integer_dtype(like.dtype) else numbers.dtype.kind == "f"
    return numbers.astype(like.dtype) if fits else numbers
