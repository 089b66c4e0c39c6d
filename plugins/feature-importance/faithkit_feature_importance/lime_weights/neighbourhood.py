"""The perturbations of many rows at once, each row's drawn with its own seed, in bounded memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.lime_weights.columns import Column

Floats = NDArray[np.float64]

BLOCK_CELLS = 2**19  # numbers drawn at a time: 4 MB, and a few arrays of this size


@attrs.frozen(eq=False)
class Neighbourhood:
    """How rows are perturbed: column by column, `samples` times; the first time the row is left as it is.

    Examples
    --------
    >>> from faithkit_feature_importance.lime_weights.columns import Categories
    >>> around = Neighbourhood([Categories.learn(np.array([0.0, 1.0]))], samples=4)
    >>> values, features = around.draw(np.array([[1.0]]), seeds=[5])
    >>> values.tolist(), features.tolist()
    ([[[1.0, 0.0, 0.0, 1.0]]], [[[1.0, 0.0, 0.0, 1.0]]])
    """

    columns: Sequence[Column]
    samples: int

    @property
    def rows_per_block(self) -> int:
        """How many rows are perturbed at a time."""
        return max(1, BLOCK_CELLS // (self.samples * len(self.columns)))

    def blocks(self, n: int) -> Iterator[slice]:
        """Divide n rows into blocks."""
        size = self.rows_per_block
        return (slice(start, start + size) for start in range(0, n, size))

    def space(self, n: int) -> Floats:
        """Return memory for any block of n rows: to get it anew for each takes as long as to draw."""
        return np.empty((2, min(n, self.rows_per_block) * len(self.columns) * self.samples))

    def draw(self, codes: Floats, seeds: Any, space: Floats | None = None) -> tuple[Floats, Floats]:
        """Perturb encoded rows, (rows, columns), each with its seed; `space` is used for the result.

        Returns
        -------
        values : (columns, rows, samples)
            The codes that the model is asked about.
        features : (rows, columns, samples)
            What the linear model sees of them.
        """
        rows, columns = codes.shape
        space = self.space(rows) if space is None else space
        values, features = space[:, : codes.size * self.samples]
        values = values.reshape(columns, rows, self.samples)
        features = features.reshape(rows, columns, self.samples)
        for row, seed in enumerate(seeds):
            np.random.Generator(np.random.SFC64(int(seed))).random(out=features[row])
        for j, column in enumerate(self.columns):
            values[j], features[:, j] = column.draw(features[:, j], codes[:, j])
        return values, features
