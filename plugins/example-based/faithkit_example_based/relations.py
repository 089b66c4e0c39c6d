"""Three relations of examples: `nearest`, `within` and `in-ball`.

An example applies to the instances whose nearest prototype it is, or to the instances within a distance of
it. A counterfactual applies to the instances that are nearer to the explained one than it is.
"""

import re
from numbers import Real
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.distance_search import find_nearest_rows, find_rows_within, find_rows_within_plain
from faithkit_example_based.distances import Distance, Floats
from faithkit_example_based.distinct_rows import distinct_rows, draw_rows, take_plain_rows
from faithkit_example_based.examples import (
    Metric,
    check_examples,
    draw_other_examples,
    example_rows,
    explained_rows,
    prototype_numbers,
    sample_coordinates,
)

QUANTILE = re.compile(r"q(0|1|[01]?\.\d+)")
TRUE_ENOUGH = 0.95  # of the examples are the nearest of their own row
MAX_ROWS = 2000  # of the background, from whose nearest distances a quantile is computed


class _ExampleRelation(faithkit.plugin.Relation):
    """A relation between examples and instances; its control takes the example of a random row."""

    instance_only = True

    def control(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations, seeds: NDArray[Any]
    ) -> faithkit.Explanations:
        """Take the example of a random row, with all that belongs to it."""
        return draw_other_examples(self.key(explanations), explanations, seeds)


class Nearest(_ExampleRelation):
    """The example is the instance's nearest prototype; k examples are its k nearest prototypes.

    It reads the prototypes and the distance that the explainer stored with the explanations.

    Parameters
    ----------
    distance : callable, optional
        The distance function of the explainer, if it has one. Explanations carry only distances with a
        name.

    Examples
    --------
    >>> from faithkit_example_based.nearest_neighbor import NearestNeighbor
    >>> line = np.array([[0.0], [10.0]])
    >>> X = np.array([[1.0], [2.0], [9.0]])
    >>> examples = NearestNeighbor().fit(None, line).explain(X, seeds=None)
    >>> Nearest().holds(faithkit.plugin.Sample(X, examples), examples)[0]
    array([ True,  True, False])
    """

    name = "nearest"
    phrase = "rows whose nearest prototype it is"

    def __init__(self, distance: Any = None) -> None:
        if distance is not None and not callable(distance):
            raise faithkit.errors.ParameterError(
                f"nearest: distance must be the explainer's function, got {distance!r}: leave it out, "
                "since explanations carry every distance that has a name."
            )
        self._metric = Metric("nearest", distance)

    def fit(self, background: Any, n: int) -> "Nearest":
        """Return self; this relation needs no fitting."""
        return self

    def key(self, explanations: faithkit.Explanations) -> NDArray[np.int64]:
        """Return the numbers of the prototypes."""
        check_examples("nearest", explanations)
        if "prototypes" not in explanations.shared or "distance" not in explanations.shared:
            raise faithkit.errors.InputError(
                "nearest needs the prototypes that an example was chosen from, and how they were measured "
                "(shared['prototypes'] and shared['distance'], as nearest-neighbor gives them): "
                "use within, which asks for neither."
            )
        return prototype_numbers(explanations)

    def holds(self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations) -> NDArray[np.bool_]:
        """Compare the explanation's prototypes with the nearest of every instance."""
        numbers, nearest_numbers = self.key(explanations), self._nearest_prototypes(sample, explanations)
        is_same = np.ones((len(numbers), len(nearest_numbers)), dtype=bool)
        for number, nearest_number in zip(numbers.T, nearest_numbers.T, strict=True):
            is_same &= number[:, None] == nearest_number[None, :]
        return is_same

    def objections(self, context: faithkit.plugin.ObjectionContext) -> list[faithkit.plugin.Objection]:
        """Object to examples that are not the nearest prototypes of their own rows."""
        sample = context.sample
        is_own = self.key(sample.explanations) == self._nearest_prototypes(sample, sample.explanations)
        is_false = ~is_own.all(axis=1) & ~sample.explanations.missing
        n, n_false = int((~sample.explanations.missing).sum()), int(is_false.sum())
        if not n_false:
            return []
        sentence = (
            f"{n_false:,} of {n:,} examples are not the nearest of their own row, such as that of row "
            f"{int(is_false.argmax())}"
        )
        is_lie = n_false > (1 - TRUE_ENOUGH) * n
        return [faithkit.plugin.Objection("own row", sentence, "not faithful" if is_lie else None)]

    def _nearest_prototypes(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations
    ) -> NDArray[np.int64]:
        prototypes, k = explanations.shared["prototypes"], self.key(explanations).shape[1]
        return sample.once(_find_nearest, self._metric.of(explanations), prototypes, k)


def _find_nearest(
    sample: faithkit.plugin.Sample, distance: Distance, prototypes: Any, k: int
) -> NDArray[np.int64]:
    x = sample_coordinates("nearest", distance, sample)
    return find_nearest_rows(distance, x, distance.coordinates(prototypes), k)


@attrs.frozen(eq=False)
class Balls:
    """One ball for each explanation; a missing explanation has none, and holds for no instance.

    Parameters
    ----------
    distance : Distance
    centres : (m,) coordinates
    radius : (m,) float
    is_open : bool
        Whether the balls exclude the points at exactly the radius.
    missing : (n_explanations,) bool
        Which explanations are missing; the others are the m balls, in order.
    """

    distance: Distance
    centres: NDArray[Any]
    radius: Floats
    is_open: bool
    missing: NDArray[np.bool_]

    def holds(self, x: NDArray[Any]) -> NDArray[np.bool_]:
        """Return the matrix of explanations and instances, computed with the plain formula."""
        return self._fill_missing(
            find_rows_within_plain(self.distance, self.centres, self.radius, x, self.is_open)
        )

    def packed(self, x: NDArray[Any]) -> NDArray[np.uint64]:
        """Return packed bits; measure only pairs that a float32 screen leaves undecided."""
        return self._fill_missing(find_rows_within(self.distance, self.centres, self.radius, x, self.is_open))

    def _fill_missing(self, matrix: NDArray[Any]) -> NDArray[Any]:
        if not self.missing.any():
            return matrix
        filled = np.zeros((len(self.missing), matrix.shape[1]), dtype=matrix.dtype)
        filled[~self.missing] = matrix
        return filled


class _BallRelation(_ExampleRelation):
    """A relation that holds inside balls: an explanation applies to the instances in each of its balls."""

    _metric: Metric

    def holds(self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations) -> NDArray[np.bool_]:
        """Compute every distance with the plain formula."""
        balls, x = self._prepare(sample, explanations)
        return np.logical_and.reduce([ball.holds(x) for ball in balls])

    def packed(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations
    ) -> NDArray[np.uint64]:
        """Compute only the distances that a float32 screen leaves undecided."""
        balls, x = self._prepare(sample, explanations)
        return np.bitwise_and.reduce([ball.packed(x) for ball in balls])

    def _prepare(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations
    ) -> tuple[list[Balls], NDArray[Any]]:
        """Return the balls, one for each example of an explanation, and the coordinates of the instances."""
        raise NotImplementedError


class Within(_BallRelation):
    """The instance lies within the distance `tau` of the example; of k examples, of each of them.

    It is not reflexive: an example need not lie within `tau` of the instance that it explains.

    Parameters
    ----------
    tau : float or str
        The largest distance at which an example still applies: a number, or a quantile such as q0.5, which
        is the distance within which half of the background's rows have a prototype other than themselves
        (any other row, where explanations have no prototypes). At most 2,000 rows are used for a quantile.
    distance : str or callable, optional
        euclidean, standardized, manhattan, gower, or a function of two rows. By default that of the
        explainer; where explanations carry none, gower for a background with categories or missing values,
        else standardized.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> prototypes = faithkit.Explanations(kind="example", values=np.array([[0.5], [0.5], [0.5]]))
    >>> near = Within(tau=0.5, distance="euclidean").fit(X, 3)
    >>> near.holds(faithkit.plugin.Sample(X, prototypes), prototypes)[0]
    array([ True,  True, False])
    """

    name = "within"
    phrase = "rows near the example"

    def __init__(self, tau: float | str, distance: Any = None) -> None:
        is_number = isinstance(tau, Real) and not isinstance(tau, bool) and 0 <= tau < np.inf
        is_quantile = isinstance(tau, str) and QUANTILE.fullmatch(tau) and float(tau[1:]) <= 1
        if not is_number and not is_quantile:
            raise faithkit.errors.ParameterError(
                "within: tau must be a finite number of at least 0, or a quantile of nearest distances from "
                f"q0 to q1, such as q0.5; got {tau!r}."
            )
        self.tau = tau
        self._metric = Metric("within", distance)
        self._quantile: tuple[Distance, float] | None = None

    def fit(self, background: Any, n: int) -> "Within":
        """Store the background, for the distance and for quantiles."""
        self._metric.fit(background)
        self._quantile = None
        return self

    def key(self, explanations: faithkit.Explanations) -> Any:
        """Return the examples: rows, or the numbers of prototypes."""
        check_examples("within", explanations)
        return explanations.values

    def _prepare(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations
    ) -> tuple[list[Balls], NDArray[Any]]:
        """Return the balls around each of the k examples, and the instances' coordinates."""
        present = explanations.take(~explanations.missing)
        self.key(present)
        distance = self._metric.of(explanations)
        x = sample_coordinates("within", distance, sample)
        tau = np.full(len(present), self._radius(distance, present.shared.get("prototypes")))
        if "prototypes" in present.shared:
            prototypes = distance.coordinates(present.shared["prototypes"])
            centres = [prototypes[numbers] for numbers in prototype_numbers(present).T]
        else:
            centres = [distance.coordinates(present.values)]
        return [Balls(distance, centre, tau, False, explanations.missing) for centre in centres], x

    def __str__(self) -> str:
        return f"within:tau={self.tau}{self._metric.to_parameter(',')}"

    def _radius(self, distance: Distance, prototypes: Any) -> float:
        if not isinstance(self.tau, str):
            return float(self.tau)
        if self._quantile is None or self._quantile[0] is not distance:
            if self._metric.background is None:
                raise faithkit.errors.InputError(
                    f"within: tau={self.tau} is a quantile over a background, and there is none: "
                    "fit the relation on one first, or give tau as a number."
                )
            distances = nearest_distances(distance, self._metric.background, prototypes)
            tau = float(np.quantile(distances, float(self.tau[1:]), method="inverted_cdf"))
            self._quantile = distance, tau
        return self._quantile[1]


def nearest_distances(distance: Distance, background: Any, prototypes: Any = None) -> NDArray[np.float64]:
    """Return the distance of background rows to their nearest prototype other than themselves.

    Examples
    --------
    >>> from faithkit_example_based.distances import learn_distance
    >>> line = np.array([[0.0], [1.0], [5.0]])
    >>> np.sort(nearest_distances(learn_distance("euclidean", line), line))
    array([1., 1., 4.])
    """
    rows, _ = distinct_rows(background)
    prototypes = rows if prototypes is None else prototypes
    sample = take_plain_rows(rows, draw_rows(rows, MAX_ROWS, seed=0))
    x, p = distance.coordinates(sample), distance.coordinates(prototypes)
    numbers = find_nearest_rows(distance, x, p, min(2, len(p)))
    distances = distance.between(x[:, None], p[numbers])
    encoder = faithkit.plugin.Encoder(background)
    codes = encoder.encode(sample)[:, None]
    prototype_codes = encoder.encode(prototypes, unseen="keep")[numbers]
    is_same = (codes == prototype_codes) | (np.isnan(codes) & np.isnan(prototype_codes))
    smallest = np.where(is_same.all(axis=2), np.inf, distances).min(axis=1)
    if np.isinf(smallest).all():
        raise faithkit.errors.InputError(
            "within: a quantile of nearest distances needs two distinct rows, got one."
        )
    return smallest[np.isfinite(smallest)]


class InBall(_BallRelation):
    """The instance lies in the open ball around the explained one that reaches to its counterfactual.

    A counterfactual x′ of x says that every point nearer to x than x′ has x's label.

    Parameters
    ----------
    distance : str or callable, optional
        euclidean, standardized, manhattan, gower, or a function of two rows. By default that of the
        explainer; where explanations carry none, gower for a background with categories or missing values,
        else standardized.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> examples = faithkit.Explanations(kind="example", values=X[[2, 2, 0]], instances=X)
    >>> InBall(distance="euclidean").fit(X, 3).holds(faithkit.plugin.Sample(X, examples), examples)
    array([[ True,  True, False],
           [False,  True, False],
           [False,  True,  True]])
    """

    name = "in-ball"
    phrase = "rows that are nearer than the counterfactual"

    def __init__(self, distance: Any = None) -> None:
        self._metric = Metric("in-ball", distance)

    def fit(self, background: Any, n: int) -> "InBall":
        """Store the background, for explanations that carry no distance."""
        self._metric.fit(background)
        return self

    def key(self, explanations: faithkit.Explanations) -> Any:
        """Return the explained instances and their counterfactuals, side by side."""
        return explained_rows("in-ball", explanations), example_rows("in-ball", explanations)

    def __str__(self) -> str:
        return f"in-ball{self._metric.to_parameter(':')}"

    def _prepare(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations
    ) -> tuple[list[Balls], NDArray[Any]]:
        """Return the balls around the explained instances, and the coordinates of the instances."""
        instances, counterfactuals = self.key(explanations.take(~explanations.missing))
        distance = self._metric.of(explanations)
        centres, ends = distance.coordinates(instances), distance.coordinates(counterfactuals)
        x = sample_coordinates("in-ball", distance, sample)
        return [Balls(distance, centres, distance.between(centres, ends), True, explanations.missing)], x
