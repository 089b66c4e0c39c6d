"""SHAP values of any model: it is only asked for the scores of rows mixed from an instance and the reference.

shap's own explainers take cells that are nearly equal for equal, so that a date in seconds or a very small
number loses its importance. Here equal means equal.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.shap_values.coded_model import CodedModel

Floats = NDArray[np.float64]
ENUMERATED = 9  # columns; to try their 510 coalitions costs about twice what permutations would
PERMUTATIONS = 20  # each is walked forwards and backwards
CELLS = 2**24  # of the rows that are mixed at a time
DECIMALS = 12  # what lies beyond is noise of the sums, and would tell equal explanations apart


@attrs.frozen
class KernelShap:
    """Shapley values by weighted least squares over coalitions of columns, with shap's KernelExplainer.

    Where up to 11 columns differ from the reference rows all coalitions are tried, which is exact; where more
    do, about 2,048 of them. There is no regularisation, which would leave out all but ten columns.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from faithkit_feature_importance.shap_values.outputs import Output
    >>> X = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]])
    >>> predictor = faithkit.Predictor(GaussianNB().fit(X, [0, 1, 1]))
    >>> model = CodedModel(Output.choose("probability", predictor, X), faithkit.Encoder(X))
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
        asked = _Asked(self.model)
        kernel, found = _kernel(asked, self.reference), []
        for row, seed, cells in zip(codes, seeds, unseen, strict=True):
            asked.unseen = cells
            with faithkit.global_seed(int(seed)):  # the package draws from the global generator
                found.append(kernel.shap_values(row, l1_reg=False, silent=True))
        return np.round(found, DECIMALS)


def _kernel(asked: "_Asked", reference: Floats) -> Any:
    import shap

    log = logging.getLogger("shap")
    level = log.level
    log.setLevel(logging.ERROR)  # it advises against many reference rows, with every batch anew
    try:
        kernel = shap.KernelExplainer(asked, reference)
    finally:
        log.setLevel(level)
    kernel.not_equal = lambda row, reference: int(_differ(reference, row).any())
    return kernel


class _Asked:
    """The function that shap explains: the scores of codes, beside the unseen cells of the row at hand."""

    def __init__(self, model: CodedModel) -> None:
        self.model = model
        self.unseen: Mapping[int, Any] = {}

    def __call__(self, codes: Floats) -> Floats:
        return self.model.scores(codes, self.unseen)


@attrs.frozen
class PermutationShap:
    """Shapley values as the mean gain of a column over random orders in which columns become the instance's.

    It is exact where no more than two columns interact. With the same seed it gives what shap's
    PermutationExplainer gives; but all walks are asked for in one call of the model, nothing is compiled, and
    the global generator is not used.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from faithkit_feature_importance.shap_values.outputs import Output
    >>> X = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]])
    >>> predictor = faithkit.Predictor(GaussianNB().fit(X, [0, 1, 1]))
    >>> model = CodedModel(Output.choose("probability", predictor, X), faithkit.Encoder(X))
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
        start = self.model.scores(self.reference)
        found = [
            self._row(row, int(seed), cells, start)
            for row, seed, cells in zip(codes, seeds, unseen, strict=True)
        ]
        return np.round(found, DECIMALS)

    def _row(self, row: Floats, seed: int, unseen: Mapping[int, Any], start: Floats) -> Floats:
        differ = _differ(self.reference, row)
        orders = _orders(np.flatnonzero(differ.any(axis=0)), seed)
        values = np.zeros((len(row), start.shape[1]))
        at_once = max(1, CELLS // max(1, orders.shape[1] * self.reference.size))
        for first in range(0, len(orders), at_once):
            walks = orders[first : first + at_once]
            np.add.at(values, walks, self._gains(row, walks, differ, unseen, start))
        return values / len(orders)

    def _gains(
        self, row: Floats, walks: NDArray[np.int64], differ: NDArray[np.bool_], unseen: Any, start: Floats
    ) -> Floats:
        """Return by how much the mean score changes at each step of each walk: (walks, steps, classes)."""
        changed = differ.T[walks]  # (walks, steps, reference rows)
        walk, step, other = np.nonzero(changed)
        mixed = np.where(_own(walks, len(row))[walk, step], row, self.reference[other])
        scores = np.concatenate([start, self.model.scores(mixed, unseen)]) if len(mixed) else start
        # a row that a step does not change has the score that it had before, at first the reference row's
        latest = np.zeros((len(walks), walks.shape[1] + 1, len(start)), dtype=np.int64)
        latest[:, 0] = np.arange(len(start))
        latest[:, 1:][changed] = len(start) + np.arange(len(mixed))
        worth = scores[np.maximum.accumulate(latest, axis=1)].mean(axis=2)
        return np.diff(worth, axis=1)


def _orders(columns: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Return random orders of the columns, each followed by its reverse."""
    random, shuffled = np.random.RandomState(seed % 2**32), columns.copy()
    orders = []
    for _ in range(PERMUTATIONS):
        random.shuffle(shuffled)
        orders += [shuffled.copy(), shuffled[::-1].copy()]
    return np.array(orders)


def _own(walks: NDArray[np.int64], d: int) -> NDArray[np.bool_]:
    """Return which columns are the instance's after each step: (walks, steps, columns)."""
    steps = np.arange(walks.shape[1])
    taken = np.full((len(walks), d), len(steps))
    np.put_along_axis(taken, walks, steps[None, :], axis=1)
    return taken[:, None, :] <= steps[:, None]


def _differ(reference: Floats, row: Floats) -> NDArray[np.bool_]:
    return (reference != row) & ~(np.isnan(reference) & np.isnan(row))
