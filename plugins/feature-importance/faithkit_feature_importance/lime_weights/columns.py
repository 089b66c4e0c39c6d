"""How LIME perturbs a column, and what its linear model sees of it; bins are those of lime's discretizers.

lime draws truncated normals one bin at a time, which takes most of its time. Here a single uniform number
gives both the bin and the place in it, for the perturbations of many rows at once.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LEAST_RANK = 2.0**-54  # a uniform number can be 0, and no normal is infinite
Drawn = tuple[Floats, Floats]  # values for the model and features for the linear model, (rows, samples) each


@attrs.frozen(eq=False)
class Categories:
    """Categories, drawn as often as the background has them; the feature is 1 for the instance's own.

    Examples
    --------
    >>> column = Categories.learn(np.array([1.0, 0.0, 1.0, 1.0]))
    >>> values, features = column.draw(np.array([[0.9, 0.1, 0.3]]), np.array([5.0]))
    >>> values.tolist(), features.tolist()  # a category never seen is equal to itself only
    ([[5.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]])
    """

    values: Floats
    cells: NDArray[np.unsignedinteger]  # the background's, as positions in `values`

    @classmethod
    def learn(cls, cells: Floats) -> "Categories":
        """Count the background's categories."""
        values, place = np.unique(cells, return_inverse=True)
        return cls(values, _compact(place))

    def draw(self, uniform: Floats, instances: Floats) -> Drawn:
        """Perturb the instances; the first perturbation of each is the instance itself."""
        cell = (uniform * len(self.cells)).astype(np.intp)
        values = self.values.take(self.cells.take(cell))
        values[:, 0] = instances
        same = values == instances[:, None]
        if np.isnan(instances).any():
            same |= np.isnan(values) & np.isnan(instances)[:, None]
        return values, same.astype(np.float64)


@attrs.frozen(eq=False)
class Intervals:
    """Numbers in bins: a truncated normal in each; the feature is 1 for the bin of the instance.

    A missing number has a bin of its own, the last, drawn as often as the background has missing numbers.

    Examples
    --------
    >>> column = Intervals.learn(np.array([1.0, 2.0, 3.0, np.nan]), "quartile")
    >>> column.cuts.tolist(), column.bins.tolist()
    ([1.5, 2.0, 2.5], [0, 1, 3, 4])
    """

    cuts: Floats
    bins: NDArray[np.unsignedinteger]  # the background's
    mean: Floats  # of every bin, as all that follows; NaN for missing numbers
    std: Floats
    least: Floats
    most: Floats
    start: Floats  # the normal's distribution function at `least`
    mass: Floats  # and what it gains up to `most`

    @classmethod
    def learn(cls, cells: Floats, discretizer: str) -> "Intervals":
        """Cut the background's numbers as lime does."""
        from scipy.special import ndtr

        # sorted, since sums in another order differ in the last bit
        numbers = np.sort(cells[~np.isnan(cells)])
        cuts, *learnt = _lime_bins(numbers, discretizer) if len(numbers) else _no_bins()
        mean, std, least, most = (np.append(part, np.nan) for part in learnt)
        start, stop = ndtr((least - mean) / std), ndtr((most - mean) / std)
        return cls(cuts, _compact(_place(cells, cuts)), mean, std, least, most, start, stop - start)

    def draw(self, uniform: Floats, instances: Floats) -> Drawn:
        """Perturb the instances; the first perturbation of each is the instance itself."""
        from scipy.special import ndtri

        place = uniform * len(self.bins)
        cell = place.astype(np.intp)
        bins = self.bins.take(cell).astype(np.intp)  # by take, which is four times as fast as indexing
        mass = self.mass.take(bins)
        rank = self.start.take(bins) + (place - cell) * mass  # what is left of `uniform` is uniform, too
        normal = ndtri(rank, where=mass > 0, out=np.zeros_like(rank))  # else a bin of a single value
        values = self.mean.take(bins) + self.std.take(bins) * normal
        np.clip(values, self.least.take(bins), self.most.take(bins), out=values)
        features = (bins == _place(instances, self.cuts)[:, None]).astype(np.float64)
        values[:, 0], features[:, 0] = instances, 1.0
        return values, features


@attrs.frozen(eq=False)
class Normals:
    """Numbers as they are: a normal around the mean or the instance; the feature is the standardised number.

    Where the instance's number is missing the feature is 1 for missing numbers, which are drawn as often as
    the background has them. Otherwise no missing number is drawn.

    Examples
    --------
    >>> column = Normals.learn(np.array([1.0, 3.0, np.nan]), around=True)
    >>> values, features = column.draw(np.array([[0.5, 0.5, 0.975]]), np.array([7.0]))
    >>> values.round(2).tolist(), features.round(2).tolist()
    ([[7.0, 7.0, 8.96]], [[5.0, 5.0, 6.96]])
    """

    mean: float
    scale: float
    missing: float  # share in the background
    around: bool

    @classmethod
    def learn(cls, cells: Floats, around: bool) -> "Normals":
        """Learn mean and scale as lime does; the scale of a constant column is 1."""
        from sklearn.preprocessing import StandardScaler

        numbers = np.sort(cells[~np.isnan(cells)])
        scaler = StandardScaler().fit(numbers[:, None])
        return cls(float(scaler.mean_[0]), float(scaler.scale_[0]), 1 - len(numbers) / len(cells), around)

    def draw(self, uniform: Floats, instances: Floats) -> Drawn:
        """Perturb the instances; the first perturbation of each is the instance itself."""
        from scipy.special import ndtri

        gone = np.isnan(instances)
        numbers = (uniform[gone] - self.missing) / (1 - self.missing)  # below 0: a missing number
        rank = uniform.copy()
        rank[gone] = np.where(numbers < 0, np.nan, numbers)
        center = instances if self.around else np.full(len(instances), self.mean)
        values = ndtri(np.maximum(rank, LEAST_RANK)) * self.scale + np.where(gone, self.mean, center)[:, None]
        values[:, 0] = instances
        features = (values - self.mean) / self.scale
        features[gone] = np.isnan(values[gone])
        return values, features


Column = Categories | Intervals | Normals


def _compact(places: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
    """Return the background's categories or bins such that one at random has the background's frequencies.

    Sorted, so that the background's order does not matter, and small, so that the processor keeps them near.
    """
    return np.sort(places).astype(np.min_scalar_type(int(places.max())))


def _place(values: Floats, cuts: Floats) -> NDArray[np.int64]:
    """Return the bin of each value: how many cuts lie below it; missing values are the last bin."""
    return np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values))


def _lime_bins(numbers: Floats, discretizer: str) -> list[Any]:
    """Return lime's cuts, and the mean, standard deviation, least and most of its bins."""
    from lime import discretize

    kinds = {"quartile": discretize.QuartileDiscretizer, "decile": discretize.DecileDiscretizer}
    learnt = kinds[discretizer](numbers[:, None], [], ["column"])
    parts = [learnt.means[0], learnt.stds[0], learnt.mins[0], learnt.maxs[0]]
    return [np.array(learnt.mins[0][1:]), *map(np.array, parts)]


def _no_bins() -> list[Any]:
    """Return one bin that is never drawn: the background has missing numbers only."""
    return [np.empty(0), *(np.array([value]) for value in (0.0, 1.0, 0.0, 0.0))]
