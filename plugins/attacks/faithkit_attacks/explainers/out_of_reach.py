"""The explainer that advises the impossible."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_attacks.explainers.rows import check_table

WHO = "out-of-reach"
CHOICES = 64  # of values that are tried; of more, these lie evenly among them


class OutOfReach:
    """The nearest counterfactual that differs only in what the person cannot change.

    "If you were a man, the loan would be granted." It is true of the model, and of no use to anybody. Where
    no such change changes the prediction, a row has no explanation.

    Parameters
    ----------
    columns : list of str or int, optional
        The columns that are changed, by name or position; by default the first. Their values are those that
        rows of the background have together.

    Notes
    -----
    What helps is a change that is open to the person: Ustun, Spangher, Liu: Actionable recourse in linear
    classification (FAT* 2019).

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
                f"{WHO}: columns must be a list of names or positions, such as ['sex'], got {columns!r}."
            )
        self.columns = None if columns is None else list(columns)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "OutOfReach":
        """Collect what the columns can be."""
        check_table(WHO, background)
        predictor.predict(faithkit.plugin.take_rows(background, slice(0, 1)))
        self.predictor_, self.encoder_ = predictor, faithkit.plugin.Encoder(background)
        self.places_ = [self._place(column) for column in self.columns or [0]]
        codes = self.encoder_.encode(background)[:, self.places_]
        whole = np.flatnonzero(~np.isnan(codes).any(axis=1))
        if not len(whole):
            raise faithkit.errors.InputError(
                f"{WHO}: {self._names()} is missing in all rows: name another column."
            )
        distinct, first = np.unique(codes[whole], axis=0, return_index=True)
        kept = np.unique(np.linspace(0, len(distinct) - 1, CHOICES).round().astype(int))
        self.choices_, self.codes_ = faithkit.plugin.take_rows(background, whole[first[kept]]), distinct[kept]
        spread = np.ptp(distinct, axis=0)
        self.scale_ = np.where(spread > 0, spread, 1.0)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return for each row the nearest of these changes that changes its prediction."""
        check_table(WHO, X)
        codes = self.encoder_.encode(X, unseen="keep")[:, self.places_]
        best, found = (
            self._search(X, codes) if len(codes) else (np.zeros(0, dtype=int), np.zeros(0, dtype=bool))
        )
        remark = f"no other {self._names()} changes the prediction"
        return faithkit.Explanations(
            kind="example",
            values=self._with(X, best),
            instances=X,
            missing=~found,
            remarks=np.array([None if one else remark for one in found], dtype=object),
            shared={"names": self.encoder_.names},
            relation="in-ball",
        )

    def _place(self, column: str | int) -> int:
        names = self.encoder_.names
        if isinstance(column, str) and column in names:
            return names.index(column)
        if isinstance(column, int) and 0 <= column < len(names):
            return column
        raise faithkit.errors.InputError(
            f"{WHO}: there is no column {column!r}; the table has {', '.join(names[:8])}"
            f"{' and others' if len(names) > 8 else ''}."
        )

    def _names(self) -> str:
        return ", ".join(self.encoder_.names[j] for j in self.places_)

    def _search(self, X: Any, codes: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        n, m = len(codes), len(self.codes_)
        asked = self._with(faithkit.plugin.take_rows(X, np.repeat(np.arange(n), m)), np.tile(np.arange(m), n))
        own = self.predictor_.predict(X)
        other = self.predictor_.predict(asked).reshape(n, m) != own[:, None]
        far = self._distance(codes)
        best = np.where(other, far, np.inf).argmin(axis=1)
        return best, other.any(axis=1)

    def _distance(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far each row is from each choice: a category is another or not, numbers are scaled."""
        apart = np.abs(codes[:, None] - self.codes_) / self.scale_
        kinds = [j in self.encoder_.categories for j in self.places_]
        apart = np.where(kinds, apart > 0, np.where(np.isnan(apart), 1.0, apart))
        return np.asarray(apart.sum(axis=2))

    def _with(self, X: Any, choice: NDArray[np.intp]) -> Any:
        """Return the rows with the chosen values in the columns that are changed."""
        changed = X.copy()
        for j in self.places_:
            if isinstance(changed, pd.DataFrame):
                cells = self.choices_.iloc[:, j].take(choice).set_axis(changed.index)
                changed[self.choices_.columns[j]] = cells
            else:
                changed[:, j] = self.choices_[choice, j]
        return changed
