"""dice-ml itself, called row by row: `dice:engine=library`."""

import contextlib
import io
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.dice_search.goals import ClassGoal, Goal, NumberGoal
from faithkit_example_based.dice_search.lockstep import OutOfCalls
from faithkit_example_based.dice_search.model import DiceModel, NumberModel
from faithkit_example_based.dice_search.table import CLOSE, DiceTable, Floats, name


class CountedModel:
    """The model in the form that dice-ml expects, with a limit on how often it may be asked."""

    def __init__(self, model: DiceModel | NumberModel, table: DiceTable, max_calls: int) -> None:
        self.model, self.table, self.calls_left = model, table, max_calls

    def predict_proba(self, frame: pd.DataFrame) -> Floats:
        """Return a probability per row and class."""
        if self.calls_left == 0:
            raise OutOfCalls
        self.calls_left -= 1
        return self.model.answers(self.table.read(frame))

    def predict(self, frame: pd.DataFrame) -> NDArray[Any]:
        """Return the number of each row's class, or the number that a regressor predicts."""
        answers = self.predict_proba(frame)
        return answers[:, 0] if isinstance(self.model, NumberModel) else answers.argmax(axis=1)


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
        How often dice-ml may ask the model about a row. A search that asks more often has no result.
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
            frame[[name(j) for j in table.columns]]
        )
        self.parameters = {
            "total_CFs": 1,
            "features_to_vary": [name(j) for j in table.columns if j in columns],
            "posthoc_sparsity_param": None if sparsity is None else CLOSE,
            "posthoc_sparsity_algorithm": sparsity or "binary",  # dice-ml reads it in any case
        }

    def candidates(self, rows: Floats, goals: Sequence[Goal], seeds: NDArray[np.uint32]) -> list[Floats]:
        """Return what dice-ml returns for each row, the sparser one first; perhaps none."""
        return [
            self._candidates(row, goal, seed)
            for row, goal, seed in zip(rows, goals, seeds.tolist(), strict=True)
        ]

    def _candidates(self, row: Floats, goal: Goal, seed: int) -> Floats:
        from raiutils.exceptions import UserConfigValidationException

        try:
            with faithkit.plugin.global_seed(seed), _silence():
                answer = self._explainer().generate_counterfactuals(
                    self.table.frame(row[None, :]), **self.parameters, **_target(goal)
                )
        except (OutOfCalls, UserConfigValidationException):  # the latter where dice-ml has no result
            return np.empty((0, len(row)))
        finally:
            faithkit.plugin.rows_done()
        (examples,) = answer.cf_examples_list
        frames = [f for f in (examples.final_cfs_df_sparse, examples.final_cfs_df) if f is not None]
        candidates = [self.table.read(frame)[0] for frame in frames]
        return np.stack([c for each in candidates for c in (self.table.restored(each, row), each)])

    def _explainer(self) -> Any:
        """Return a new explainer: a search leaves traces in it."""
        import dice_ml

        kind = "regressor" if isinstance(self.model, NumberModel) else "classifier"
        model = CountedModel(self.model, self.table, self.max_calls)
        interface = dice_ml.Model(model=model, backend="sklearn", model_type=kind)
        return dice_ml.Dice(self.background, interface, method=self.method)


def _target(goal: Goal) -> dict[str, Any]:
    if isinstance(goal, ClassGoal):
        return {"desired_class": goal.number}
    assert isinstance(goal, NumberGoal)
    assert goal.wanted.desired_range is not None
    return {"desired_range": list(goal.wanted.desired_range)}


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Drop dice-ml's progress bar, what it prints, and pandas' warnings about it."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(action="ignore"),
    ):
        yield
