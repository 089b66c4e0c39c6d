"""The model as it is asked about rows that nobody has seen: mixtures of an instance and reference rows."""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.shap_values.outputs import Output

CELLS = 2**22  # that the model is asked about at a time


@attrs.frozen
class CodedModel:
    """The scores of rows that are given as an Encoder's codes.

    A code cannot say which category it was that the background does not have; so such a cell of an instance
    comes beside the codes, and goes back into the rows that the model sees.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]])
    >>> predictor = faithkit.Predictor(GaussianNB().fit(X, [0, 1, 1]))
    >>> model = CodedModel(Output.choose("probability", predictor, X), faithkit.plugin.Encoder(X))
    >>> bool((model.scores(X) == predictor.scores(X)).all())
    True
    """

    output: Output
    encoder: faithkit.plugin.Encoder

    def scores(
        self, codes: NDArray[np.float64], unseen: Mapping[int, Any] | None = None
    ) -> NDArray[np.float64]:
        """Return scores (n, classes); `unseen` has the cell of each column whose code says "never seen"."""
        rows = max(1, CELLS // codes.shape[1])
        parts = [codes[start : start + rows] for start in range(0, len(codes), rows)]
        return np.concatenate([self.output.scores(self._table(part, unseen or {})) for part in parts])

    def unseen(self, X: Any, codes: NDArray[np.float64]) -> list[dict[int, Any]]:
        """Return for every row the cells that hold a category which the background does not have."""
        cells: list[dict[int, Any]] = [{} for _ in codes]
        for j, categories in self.encoder.categories.items():
            for i in np.flatnonzero(codes[:, j] == len(categories) + 1):
                cells[i][j] = self._column(X, j)[i : i + 1]
        return cells

    def _column(self, X: Any, j: int) -> Any:
        if not isinstance(X, pd.DataFrame):
            return X[:, j]
        names, name = [str(column) for column in X.columns], self.encoder.names[j]
        return X.iloc[:, names.index(name) if name in names else j]

    def _table(self, codes: NDArray[np.float64], unseen: Mapping[int, Any]) -> Any:
        table = self.encoder.decode(codes)
        for j, cell in unseen.items():
            here = codes[:, j] == len(self.encoder.categories[j]) + 1
            if isinstance(table, pd.DataFrame):
                column = table.iloc[:, j].astype(cell.dtype)  # which knows the category
                table.isetitem(j, column.mask(here, cell.iloc[0]))
            else:
                table[here, j] = cell
        return table
