"""`OutOfReach`: gives counterfactuals that nobody can act on."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_attacks.explainers.named_columns import check_table

NAME = "out-of-reach"
MAX_CHOICES = 64  # values to try; if the background has more, evenly spaced ones


class OutOfReach:
    """The nearest counterfactual that changes only columns that the person cannot change.

    "If you were a man, the loan would be granted." This is true of the model, and of no use. A row has no
    explanation if none of these changes alters the prediction.

    Parameters
    ----------
    columns : list of str or int, optional
        The columns to change, by name or position; by default the first. They are set to combinations of
        values that occur in the background.

    Notes
    -----
    Useful counterfactuals change what the person can change: Ustun, Spangher, Liu: Actionable recourse in
    linear classification (FAT* 2019).

    Examples
    --------
    >>> X = pd.DataFrame({"sex": ["man", "woman"], "income": [30, 40]})
    >>> model = faithkit.Predictor(lambda X: (X["sex"] == "man").to_numpy())
    >>> OutOfReach(["sex"]).fit(model, X).explain(X, seeds=None).values
         sex  income
    0  woman      30
    1    man      40
    """

    rows_per_chunk = 256

    def __init__(self, columns: Sequence[str | int] | None = None) -> None:
        if columns is not None and (isinstance(columns, str) or not list(columns)):
            raise faithkit.errors.ParameterError(
                f"{NAME}: columns must be a list of names or positions, such as ['sex'], got {columns!r}."
            )
        self.columns = None if columns is None else list(columns)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "OutOfReach":
        """Collect the values that the columns can take."""
        check_table(NAME, background)
        predictor.predict(faithkit.plugin.take_rows(background, slice(0, 1)))
        self.predictor_, self.encoder_ = predictor, faithkit.plugin.Encoder(background)
        self.column_positions_ = [self._position(column) for column in self.columns or [0]]
        codes = self.encoder_.encode(background)[:, self.column_positions_]
        complete_rows = np.flatnonzero(~np.isnan(codes).any(axis=1))
        if not len(complete_rows):
            raise faithkit.errors.InputError(
                f"{NAME}: {self._column_names()} is missing in all rows: name another column."
            )
        distinct, first = np.unique(codes[complete_rows], axis=0, return_index=True)
        choices = np.unique(np.linspace(0, len(distinct) - 1, MAX_CHOICES).round().astype(int))
        self.choices_ = faithkit.plugin.take_rows(background, complete_rows[first[choices]])
        self.choice_codes_ = distinct[choices]
        value_range = np.ptp(distinct, axis=0)
        self.scale_ = np.where(value_range > 0, value_range, 1.0)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return for each row the nearest change that alters its prediction."""
        check_table(NAME, X)
        codes = self.encoder_.encode(X, unseen="keep")[:, self.column_positions_]
        nearest, is_found = (
            self._search(X, codes) if len(codes) else (np.zeros(0, dtype=int), np.zeros(0, dtype=bool))
        )
        remark = f"no other {self._column_names()} changes the prediction"
        return faithkit.Explanations(
            kind="example",
            values=self._with_choices(X, nearest),
            instances=X,
            missing=~is_found,
            remarks=np.array(
                [None if has_explanation else remark for has_explanation in is_found], dtype=object
            ),
            shared={"names": self.encoder_.names},
            relation="in-ball",
        )

    def _position(self, column: str | int) -> int:
        names = self.encoder_.names
        if isinstance(column, str) and column in names:
            return names.index(column)
        if isinstance(column, int) and 0 <= column < len(names):
            return column
        raise faithkit.errors.InputError(
            f"{NAME}: there is no column {column!r}; the table has {', '.join(names[:8])}"
            f"{' and others' if len(names) > 8 else ''}."
        )

    def _column_names(self) -> str:
        return ", ".join(self.encoder_.names[j] for j in self.column_positions_)

    def _search(self, X: Any, codes: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        n_rows, n_choices = len(codes), len(self.choice_codes_)
        repeated = faithkit.plugin.take_rows(X, np.repeat(np.arange(n_rows), n_choices))
        variants = self._with_choices(repeated, np.tile(np.arange(n_choices), n_rows))
        predictions = self.predictor_.predict(X)
        is_altered = self.predictor_.predict(variants).reshape(n_rows, n_choices) != predictions[:, None]
        nearest = np.where(is_altered, self._distances(codes), np.inf).argmin(axis=1)
        return nearest, is_altered.any(axis=1)

    def _distances(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the distance of each row from each choice: 0 or 1 for a category, scaled for a number."""
        differences = np.abs(codes[:, None] - self.choice_codes_) / self.scale_
        is_category = [j in self.encoder_.categories for j in self.column_positions_]
        differences = np.where(
            is_category, differences > 0, np.where(np.isnan(differences), 1.0, differences)
        )
        return np.asarray(differences.sum(axis=2))

    def _with_choices(self, X: Any, choice: NDArray[np.intp]) -> Any:
        """Return the rows with the columns set to the chosen values."""
        if not isinstance(X, pd.DataFrame):
            changed = X.astype(np.result_type(X, self.choices_))  # has room for the values of both
            changed[:, self.column_positions_] = self.choices_[choice][:, self.column_positions_]
            return changed
        changed = X.copy()
        for j in self.column_positions_:
            values = self.choices_.iloc[:, j].take(choice).set_axis(changed.index)
            changed[self.choices_.columns[j]] = values
        return changed
