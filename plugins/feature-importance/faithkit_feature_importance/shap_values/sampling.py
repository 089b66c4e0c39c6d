"""SHAP values of any model: it is only asked for scores of rows mixed from an instance and the reference."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.coalitions import Regression
from faithkit_feature_importance.shap_values.coded_model import CodedModel
from faithkit_feature_importance.shap_values.mixtures import Mixtures

Floats = NDArray[np.float64]
ENUMERATED = 9  # columns; to try their 510 coalitions costs about twice what permutations would
PERMUTATIONS = 20  # each is walked forwards and backwards


@attrs.frozen
class KernelShap:
    """Shapley values by weighted least squares over coalitions of columns (Lundberg and Lee 2017).

    Where up to 11 columns differ from the reference rows all coalitions are tried, which is exact; where more
    do, about 2,048 of them, the same for all rows: the seeds are not used. There is no regularisation, which
    would leave out all but ten columns.

    Examples
    --------
    >>> import faithkit
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from faithkit_feature_importance.shap_values.outputs import Output
    >>> X = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]])
    >>> predictor = faithkit.Predictor(GaussianNB().fit(X, [0, 1, 1]))
    >>> model = CodedModel(Output.choose("probability", predictor, X), faithkit.plugin.Encoder(X))
    >>> values = KernelShap(model, X).values(X, seeds=[1, 2, 3], unseen=[{}, {}, {}])
    >>> values.shape, bool(np.allclose(values.sum(axis=1) + model.scores(X).mean(axis=0), model.scores(X)))
    ((3, 2, 2), True)
    """

    name = "kernel"
    title = "Kernel SHAP"
    model: CodedModel
    reference: Floats

    def values(self, codes: Floats, seeds: Sequence[int], unseen: Sequence[Mapping[int, Any]]) -> Floats:
        """Return SHAP values (rows, columns, classes)."""
        regression = cache(Regression.on)
        return Mixtures(self.model, self.reference).values(codes, unseen, lambda row, n: regression(n))


@attrs.frozen
class PermutationShap:
    """Shapley values as the mean gain of a column over random orders in which columns become the instance's.

    It is exact where no more than two columns interact. With the same seed it gives what shap's
    PermutationExplainer gives; but the walks of many rows are asked for in one call of the model, nothing is
    compiled, and the global generator is not used.

    Examples
    --------
    >>> import faithkit
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from faithkit_feature_importance.shap_values.outputs import Output
    >>> X = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]])
    >>> predictor = faithkit.Predictor(GaussianNB().fit(X, [0, 1, 1]))
    >>> model = CodedModel(Output.choose("probability", predictor, X), faithkit.plugin.Encoder(X))
    >>> rows = {"codes": X, "seeds": [1, 2, 3], "unseen": [{}, {}, {}]}
    >>> bool(np.allclose(PermutationShap(model, X).values(**rows), KernelShap(model, X).values(**rows)))
    True
    """

    name = "permutation"
    title = "Permutation SHAP"
    model: CodedModel
    reference: Floats

    def values(self, codes: Floats, seeds: Sequence[int], unseen: Sequence[Mapping[int, Any]]) -> Floats:
        """Return SHAP values (rows, columns, classes)."""
        return Mixtures(self.model, self.reference).values(
            codes, unseen, lambda row, n: Walks.drawn(n, int(seeds[row]))
        )


@attrs.frozen(eq=False)
class Walks:
    """Orders in which players join, each walked from nobody to all.

    Examples
    --------
    >>> walks = Walks(np.array([[1, 0]]))
    >>> walks.coalitions.astype(int).tolist()
    [[0, 0], [0, 1], [1, 1]]
    >>> walks.values(np.array([[0.0], [4.0], [10.0]])).ravel().tolist()
    [6.0, 4.0]
    """

    orders: NDArray[np.int64]

    @classmethod
    def drawn(cls, players: int, seed: int) -> "Walks":
        """Draw random orders of the players, each followed by its reverse."""
        random, shuffled = np.random.RandomState(seed % 2**32), np.arange(players)
        orders = []
        for _ in range(PERMUTATIONS):
            random.shuffle(shuffled)
            orders += [shuffled.copy(), shuffled[::-1].copy()]
        return cls(np.array(orders))

    @property
    def coalitions(self) -> NDArray[np.bool_]:
        """Who has joined after each step of each walk: (walks · (steps + 1), players)."""
        n, players = self.orders.shape
        turn = np.argsort(self.orders, axis=1)
        joined = turn[:, None, :] < np.arange(players + 1)[:, None]
        return joined.reshape(n * (players + 1), players)

    def values(self, worth: Floats) -> Floats:
        """Return each player's mean gain, (players, classes), given the worth of each step's coalition."""
        n, players = self.orders.shape
        gains = np.diff(worth.reshape(n, players + 1, -1), axis=1)
        found = np.zeros((players, worth.shape[1]))
        np.add.at(found, self.orders, gains)
        return found / n
