"""Kernel SHAP and Permutation SHAP: values of any model, from scores of mixed rows."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.coalitions import CoalitionRegression
from faithkit_feature_importance.shap_values.coded_model import CodedModel
from faithkit_feature_importance.shap_values.mixtures import Mixtures

Floats = NDArray[np.float64]
MAX_ENUMERATED_COLUMNS = 9  # their 510 coalitions cost about twice as much as permutations
PERMUTATIONS = 20  # each is used forwards and backwards


@attrs.frozen
class KernelShap:
    """Shapley values by weighted least squares over coalitions of columns (Lundberg and Lee 2017).

    If up to 11 columns differ from the reference rows, all coalitions are evaluated, and the values are
    exact. Otherwise about 2,048 coalitions are evaluated, the same for all rows. The seeds are not used.
    There is no regularisation, since it would drop all but ten columns.

    Examples
    --------
    >>> import faithkit
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from faithkit_feature_importance.shap_values.explained_output import Output
    >>> X = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]])
    >>> predictor = faithkit.Predictor(GaussianNB().fit(X, [0, 1, 1]))
    >>> model = CodedModel(Output.choose("probability", predictor, X), faithkit.plugin.Encoder(X))
    >>> values = KernelShap(model, X).values(X, seeds=[1, 2, 3], unseen_values=[{}, {}, {}])
    >>> values.shape, bool(np.allclose(values.sum(axis=1) + model.scores(X).mean(axis=0), model.scores(X)))
    ((3, 2, 2), True)
    """

    name = "kernel"
    title = "Kernel SHAP"
    model: CodedModel
    reference: Floats

    def values(
        self, codes: Floats, seeds: Sequence[int], unseen_values: Sequence[Mapping[int, Any]]
    ) -> Floats:
        """Return SHAP values (rows, columns, classes)."""
        build_regression = cache(CoalitionRegression.for_players)
        return Mixtures(self.model, self.reference).values(
            codes, unseen_values, lambda row, n: build_regression(n)
        )


@attrs.frozen
class PermutationShap:
    """Shapley values as the mean gain of a column over random orders of the columns.

    The values are exact if no more than two columns interact. With the same seed, they equal those of shap's
    PermutationExplainer. Unlike shap, one call of the model scores the mixtures of many rows, nothing is
    compiled, and the global random generator is not used.

    Examples
    --------
    >>> import faithkit
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from faithkit_feature_importance.shap_values.explained_output import Output
    >>> X = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]])
    >>> predictor = faithkit.Predictor(GaussianNB().fit(X, [0, 1, 1]))
    >>> model = CodedModel(Output.choose("probability", predictor, X), faithkit.plugin.Encoder(X))
    >>> rows = {"codes": X, "seeds": [1, 2, 3], "unseen_values": [{}, {}, {}]}
    >>> bool(np.allclose(PermutationShap(model, X).values(**rows), KernelShap(model, X).values(**rows)))
    True
    """

    name = "permutation"
    title = "Permutation SHAP"
    model: CodedModel
    reference: Floats

    def values(
        self, codes: Floats, seeds: Sequence[int], unseen_values: Sequence[Mapping[int, Any]]
    ) -> Floats:
        """Return SHAP values (rows, columns, classes)."""
        return Mixtures(self.model, self.reference).values(
            codes, unseen_values, lambda row, n: PermutationWalks.draw(n, int(seeds[row]))
        )


@attrs.frozen(eq=False)
class PermutationWalks:
    """Orders in which players join, each from the empty coalition to the full one.

    Examples
    --------
    >>> walks = PermutationWalks(np.array([[1, 0]]))
    >>> walks.coalitions.astype(int).tolist()
    [[0, 0], [0, 1], [1, 1]]
    >>> walks.values(np.array([[0.0], [4.0], [10.0]])).ravel().tolist()
    [6.0, 4.0]
    """

    orders: NDArray[np.int64]

    @classmethod
    def draw(cls, n_players: int, seed: int) -> "PermutationWalks":
        """Draw random orders of the players, each followed by its reverse."""
        rng, shuffled = np.random.RandomState(seed % 2**32), np.arange(n_players)
        orders = []
        for _ in range(PERMUTATIONS):
            rng.shuffle(shuffled)
            orders += [shuffled.copy(), shuffled[::-1].copy()]
        return cls(np.array(orders))

    @property
    def coalitions(self) -> NDArray[np.bool_]:
        """The players that have joined after each step of each walk: (walks · (steps + 1), players)."""
        n, n_players = self.orders.shape
        positions = np.argsort(self.orders, axis=1)
        joined = positions[:, None, :] < np.arange(n_players + 1)[:, None]
        return joined.reshape(n * (n_players + 1), n_players)

    def values(self, worth: Floats) -> Floats:
        """Return the mean gain of each player, (players, classes), from the worth of each coalition."""
        n, n_players = self.orders.shape
        gains = np.diff(worth.reshape(n, n_players + 1, -1), axis=1)
        total_gains = np.zeros((n_players, worth.shape[1]))
        np.add.at(total_gains, self.orders, gains)
        return total_gains / n
