"""Draw perturbations of many rows in bounded memory, and compute the model's scores of them."""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.lime_weights.perturbed_columns import Column

Floats = NDArray[np.float64]

VALUES_PER_BATCH = 2**19  # numbers in a batch: 4 MB; a few arrays have this size


@attrs.frozen(eq=False)
class Neighbourhood:
    """Perturbations of rows, drawn column by column with the seed of each row.

    Every row gets `samples` perturbations. The first one is the row itself.

    Examples
    --------
    >>> from faithkit_feature_importance.lime_weights.perturbed_columns import CategoricalColumn
    >>> neighbourhood = Neighbourhood([CategoricalColumn.fit(np.array([0.0, 1.0]))], samples=4)
    >>> values, features = neighbourhood.draw(np.array([[1.0]]), seeds=[5])
    >>> values.tolist(), features.tolist()
    ([[[1.0, 0.0, 0.0, 1.0]]], [[[1.0, 0.0, 0.0, 1.0]]])
    """

    columns: Sequence[Column]
    samples: int

    @property
    def rows_per_batch(self) -> int:
        """The number of rows that are perturbed together."""
        return max(1, VALUES_PER_BATCH // (self.samples * len(self.columns)))

    def batches(self, n: int) -> Iterator[slice]:
        """Divide n rows into batches."""
        size = self.rows_per_batch
        return (slice(start, start + size) for start in range(0, n, size))

    def allocate_buffer(self, n: int) -> Floats:
        """Return memory for batches of n rows. To allocate it for each batch takes as long as to draw."""
        return np.empty((2, min(n, self.rows_per_batch) * len(self.columns) * self.samples))

    def draw(self, codes: Floats, seeds: Any, buffer: Floats | None = None) -> tuple[Floats, Floats]:
        """Perturb encoded rows (rows, columns), each with its seed. The result is stored in `buffer`.

        Returns
        -------
        values : (columns, rows, samples)
            The codes of the perturbed rows.
        features : (rows, columns, samples)
            The features for the linear model.
        """
        rows, columns = codes.shape
        buffer = self.allocate_buffer(rows) if buffer is None else buffer
        values, features = buffer[:, : codes.size * self.samples]
        values = values.reshape(columns, rows, self.samples)
        features = features.reshape(rows, columns, self.samples)
        for row, seed in enumerate(seeds):
            np.random.Generator(np.random.SFC64(int(seed))).random(out=features[row])
        for j, column in enumerate(self.columns):
            values[j], features[:, j] = column.draw(features[:, j], codes[:, j])
        return values, features


@attrs.frozen(eq=False)
class PerturbationScorer:
    """The model's scores of perturbed rows, which are given as codes and decoded for the model.

    The last bits of some models' scores depend on the other rows of a batch. Explanations do not: faithkit
    rounds vectors to fewer digits.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.array([[0.0], [1.0]])
    >>> tree = DecisionTreeClassifier().fit(X, ["no", "yes"])
    >>> values = np.array([[[0.0, 1.0], [1.0, 1.0]]])  # one column of two rows, two perturbations each
    >>> scorer = PerturbationScorer(faithkit.Predictor(tree), faithkit.plugin.Encoder(X))
    >>> scorer.scores(values, X)[0]  # of "no", and of "yes", for the first row's perturbations
    array([[1., 0.],
           [0., 1.]])
    """

    predictor: faithkit.Predictor
    encoder: faithkit.plugin.Encoder

    def scores(self, values: Floats, X: Any) -> Floats:
        """Return the scores of perturbations, (rows, classes, samples).

        Parameters
        ----------
        values : (columns, rows, samples)
            Their codes. The first perturbation of each row is the row itself.
        X : the rows
            A row with a category that the encoder does not know has no codes, so it is scored as it is.
        """
        is_unseen = self._has_unseen_category(values[:, :, 0])
        if not is_unseen.any():
            return self._decode_and_score(values)
        replaced = values.copy()
        replaced[:, is_unseen, 0] = replaced[:, is_unseen, 1]
        scores = self._decode_and_score(replaced)
        scores[is_unseen, :, 0] = self.predictor.scores(faithkit.plugin.take_rows(X, is_unseen))
        return scores

    def _has_unseen_category(self, codes: Floats) -> NDArray[np.bool_]:
        is_unseen = np.zeros(codes.shape[1], dtype=bool)
        for j, categories in self.encoder.categories.items():
            is_unseen |= codes[j] > len(categories)
        return is_unseen

    def _decode_and_score(self, values: Floats) -> Floats:
        columns, rows, samples = values.shape
        X = self.encoder.decode(values.reshape(columns, -1).T)
        return self.predictor.scores(X).reshape(rows, samples, -1).transpose(0, 2, 1)
