"""The model's scores of rows that are given as codes."""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.shap_values.explained_output import Output

VALUES_PER_CALL = 2**22  # in one call of the model


@attrs.frozen
class CodedModel:
    """The scores of rows that are given as the codes of an Encoder.

    All categories that the background does not have share one code. So such values of an instance are passed
    separately, and put back into the decoded rows before the model scores them.

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
        self, codes: NDArray[np.float64], unseen_values: Mapping[int, Any] | None = None
    ) -> NDArray[np.float64]:
        """Return scores (n, classes). `unseen_values` maps columns to values with an unseen category."""
        rows_per_call = max(1, VALUES_PER_CALL // codes.shape[1])
        batches = [codes[start : start + rows_per_call] for start in range(0, len(codes), rows_per_call)]
        return np.concatenate(
            [self.output.scores(self._decode(batch, unseen_values or {})) for batch in batches]
        )

    def unseen_values(self, X: Any, codes: NDArray[np.float64]) -> list[dict[int, Any]]:
        """Return for every row the values with a category that the background does not have, by column."""
        values: list[dict[int, Any]] = [{} for _ in codes]
        for j, categories in self.encoder.categories.items():
            for i in np.flatnonzero(codes[:, j] == len(categories) + 1):
                values[i][j] = self._column(X, j)[i : i + 1]
        return values

    def _column(self, X: Any, j: int) -> Any:
        if not isinstance(X, pd.DataFrame):
            return X[:, j]
        names, name = [str(column) for column in X.columns], self.encoder.names[j]
        return X.iloc[:, names.index(name) if name in names else j]

    def _decode(self, codes: NDArray[np.float64], unseen_values: Mapping[int, Any]) -> Any:
        table = self.encoder.decode(codes)
        for j, value in unseen_values.items():
            is_unseen = codes[:, j] == len(self.encoder.categories[j]) + 1
            if isinstance(table, pd.DataFrame):
                column = table.iloc[:, j].astype(value.dtype)  # whose type has the category
                table.isetitem(j, column.mask(is_unseen, value.iloc[0]))
            else:
                table[is_unseen, j] = value
        return table
