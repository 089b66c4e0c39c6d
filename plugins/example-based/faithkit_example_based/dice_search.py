"""A search for a counterfactual of one row, with the row's own seed and a limit on what it may ask."""

import contextlib
import copy
import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.dice_model import DiceModel, OutOfCalls
from faithkit_example_based.dice_table import CLOSE, DiceTable, Floats, name

LINEAR_STEPS = 10_000  # per column: dice-ml's default


class Search:
    """One of DiCE's searches, prepared for a table and a model.

    Parameters
    ----------
    table : DiceTable
    model : DiceModel
    classes : array
        The class of each row of the table.
    method : str
        "random", "genetic" or "kdtree".
    columns : list of int
        The positions of the columns that may change.
    sparsity : str or None
        "binary", "linear" or None.
    max_calls : int
        How often the model may be asked about a row.
    """

    def __init__(
        self,
        table: DiceTable,
        model: DiceModel,
        classes: NDArray[np.int64],
        method: str,
        columns: list[int],
        sparsity: str | None,
        max_calls: int,
    ) -> None:
        from faithkit_example_based.dice_methods import prepared

        self.table, self.model, self.sparsity, self.max_calls = table, model, sparsity, max_calls
        self.columns = [name(j) for j in table.columns if j in columns]
        self.method = prepared(method, table, model, classes)

    def candidates(self, row: Floats, target: int, seed: int) -> list[Floats]:
        """Return what DiCE takes for a counterfactual of a row, the most like it first; perhaps nothing."""
        query = self.table.frame(row[None, :])
        dice = copy.copy(self.method)  # a search leaves traces, which the next row must not see
        self.model.calls_left = self.max_calls
        with faithkit.global_seed(seed), warnings.catch_warnings():  # dice-ml has no other generator
            warnings.simplefilter("ignore")
            found = self._found(dice, query, target)
            sparser = None if found is None or self.sparsity is None else self._sparser(dice, found, query)
        rows = [self.table.read(frame)[0] for frame in (sparser, found) if frame is not None]
        return [other for each in rows for other in (self.table.restored(each, row), each)]

    def _found(self, dice: Any, query: pd.DataFrame, target: int) -> pd.DataFrame | None:
        try:
            found: pd.DataFrame | None = dice.find(query, target, self.columns)
        except OutOfCalls:
            return None
        return None if found is None or found.empty else found

    def _sparser(self, dice: Any, found: pd.DataFrame, query: pd.DataFrame) -> pd.DataFrame:
        sparser = found.copy()
        with contextlib.suppress(OutOfCalls):  # the frame is changed in place, so what was reached is kept
            dice.do_posthoc_sparsity_enhancement(sparser, query, CLOSE, self.sparsity, LINEAR_STEPS)
        return sparser
