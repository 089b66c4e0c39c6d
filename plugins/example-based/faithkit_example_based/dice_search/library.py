"""The engine `dice:engine=library`, which calls dice-ml row by row."""

import contextlib
import io
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.dice_search.dice_table import CLOSE_QUANTILE, DiceTable, Floats, column_name
from faithkit_example_based.dice_search.goals import ClassGoal, DiceModel, Goal, NumberGoal, NumberModel
from faithkit_example_based.dice_search.lockstep import OutOfCalls


class CountedModel:
    """The model in the form that dice-ml expects, with a limited number of calls."""

    def __init__(self, model: DiceModel | NumberModel, table: DiceTable, max_calls: int) -> None:
        self.model, self.table, self.calls_left = model, table, max_calls

    def predict_proba(self, frame: pd.DataFrame) -> Floats:
        """Return a probability per row and class."""
        if self.calls_left == 0:
            raise OutOfCalls
        self.calls_left -= 1
        return self.model.predict_codes(self.table.decode_frame(frame))

    def predict(self, frame: pd.DataFrame) -> NDArray[Any]:
        """Return the class index of each row, or the number that a regressor predicts."""
        probabilities = self.predict_proba(frame)
        return probabilities[:, 0] if isinstance(self.model, NumberModel) else probabilities.argmax(axis=1)


class LibrarySearches:
    """dice-ml's searches, prepared for a table and a model.

    Parameters
    ----------
    table : DiceTable
    columns : list of int
        The columns that may change.
    model : DiceModel or NumberModel
    method : str
        "random", "genetic" or "kdtree".
    sparsity : str or None
        "binary", "linear" or None.
    max_calls : int
        The largest number of model calls per row. A search that needs more calls has no result.
    """

    def __init__(
        self,
        table: DiceTable,
        columns: list[int],
        model: DiceModel | NumberModel,
        method: str,
        sparsity: str | None,
        max_calls: int,
    ) -> None:
        from faithkit_example_based.dice_search.background import OUTCOME, Background

        self.table, self.model, self.method, self.max_calls = table, model, method, max_calls
        self.background = Background(table)
        frame = self.background.data_df
        frame[OUTCOME] = CountedModel(model, table, max_calls).predict(
            frame[[column_name(j) for j in table.columns]]
        )
        self.parameters = {
            "total_CFs": 1,
            "features_to_vary": [column_name(j) for j in table.columns if j in columns],
            "posthoc_sparsity_param": None if sparsity is None else CLOSE_QUANTILE,
            "posthoc_sparsity_algorithm": sparsity or "binary",  # dice-ml reads it in any case
        }

    def candidates(self, rows: Floats, goals: Sequence[Goal], seeds: NDArray[np.uint32]) -> list[Floats]:
        """Return dice-ml's counterfactuals of each row, sparsest first; a row may have none."""
        return [
            self._candidates(row, goal, seed)
            for row, goal, seed in zip(rows, goals, seeds.tolist(), strict=True)
        ]

    def _candidates(self, row: Floats, goal: Goal, seed: int) -> Floats:
        from raiutils.exceptions import UserConfigValidationException

        try:
            with faithkit.plugin.seed_global_generators(seed), _silence_output():
                result = self._explainer().generate_counterfactuals(
                    self.table.frame(row[None, :]), **self.parameters, **_to_dice_target(goal)
                )
        except (OutOfCalls, UserConfigValidationException):  # dice-ml raises the latter if it has no result
            return np.empty((0, len(row)))
        finally:
            faithkit.plugin.report_progress()
        (examples,) = result.cf_examples_list
        frames = [
            frame for frame in (examples.final_cfs_df_sparse, examples.final_cfs_df) if frame is not None
        ]
        return self.table.with_restored([self.table.decode_frame(frame)[0] for frame in frames], row)

    def _explainer(self) -> Any:
        """Return a new explainer, because a search changes its state."""
        import dice_ml

        kind = "regressor" if isinstance(self.model, NumberModel) else "classifier"
        model = CountedModel(self.model, self.table, self.max_calls)
        interface = dice_ml.Model(model=model, backend="sklearn", model_type=kind)
        return dice_ml.Dice(self.background, interface, method=self.method)


def _to_dice_target(goal: Goal) -> dict[str, Any]:
    if isinstance(goal, ClassGoal):
        return {"desired_class": goal.class_index}
    assert isinstance(goal, NumberGoal)
    assert goal.target.desired_range is not None
    return {"desired_range": list(goal.target.desired_range)}


@contextlib.contextmanager
def _silence_output() -> Iterator[None]:
    """Suppress dice-ml's progress bar and output, and the pandas warnings that it causes."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(action="ignore"),
    ):
        yield
