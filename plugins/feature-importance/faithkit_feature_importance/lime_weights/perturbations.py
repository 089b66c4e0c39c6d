"""Draw perturbations of many rows in bounded memory, and compute the model's scores of them."""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]
MIN_QUANTILE = 2.0**-54  # a uniform number can be 0, whose normal quantile would be infinite
Perturbed = tuple[Floats, Floats]  # values for the model, features for the linear model: (rows, samples)
VALUES_PER_BATCH = 2**19  # numbers in a batch: 4 MB; a few arrays have this size


@attrs.frozen(eq=False)
class CategoricalColumn:
    """A column of categories, drawn with the frequencies of the background.

    The feature is 1 if the category is that of the instance.

    Examples
    --------
    >>> column = CategoricalColumn.fit(np.array([1.0, 0.0, 1.0, 1.0]))
    >>> values, features = column.draw(np.array([[0.9, 0.1, 0.3]]), np.array([5.0]))
    >>> values.tolist(), features.tolist()  # an unseen category equals only itself
    ([[5.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]])
    """

    values: Floats
    positions: NDArray[np.unsignedinteger]  # in `values`, of each value of the background

    @classmethod
    def fit(cls, column: Floats) -> "CategoricalColumn":
        """Collect the categories of the background."""
        values, positions = np.unique(column, return_inverse=True)
        return cls(values, _sort_compactly(positions))

    def draw(self, uniform: Floats, instances: Floats) -> Perturbed:
        """Perturb the instances. The first perturbation of each is the instance itself."""
        draws = (uniform * len(self.positions)).astype(np.intp)
        values = self.values.take(self.positions.take(draws))
        values[:, 0] = instances
        is_same = values == instances[:, None]
        if np.isnan(instances).any():
            is_same |= np.isnan(values) & np.isnan(instances)[:, None]
        return values, is_same.astype(np.float64)


@attrs.frozen(eq=False)
class BinnedColumn:
    """A column of numbers in bins, drawn from a truncated normal in each bin.

    The feature is 1 if the number lies in the bin of the instance. Missing numbers have the last bin, drawn
    as often as the background has missing numbers.

    Examples
    --------
    >>> column = BinnedColumn.fit(np.array([1.0, 2.0, 3.0, np.nan]), "quartile")
    >>> column.cuts.tolist(), column.bins.tolist()
    ([1.5, 2.0, 2.5], [0, 1, 3, 4])
    """

    cuts: Floats
    bins: NDArray[np.unsignedinteger]  # the bin of each value of the background
    mean: Floats  # of every bin, as all that follows; NaN for missing numbers
    std: Floats
    minimum: Floats
    maximum: Floats
    cdf_start: Floats  # the normal distribution function at `minimum`
    cdf_mass: Floats  # its increase up to `maximum`

    @classmethod
    def fit(cls, values: Floats, discretizer: str) -> "BinnedColumn":
        """Cut the numbers of the background as lime does."""
        from scipy.special import ndtr

        # sorted, since the last bits of a sum depend on the order
        numbers = np.sort(values[~np.isnan(values)])
        cuts, *bin_statistics = _fit_lime_bins(numbers, discretizer) if len(numbers) else _never_drawn_bin()
        mean, std, minimum, maximum = (np.append(statistic, np.nan) for statistic in bin_statistics)
        cdf_start, cdf_stop = ndtr((minimum - mean) / std), ndtr((maximum - mean) / std)
        return cls(
            cuts,
            _sort_compactly(_find_bins(values, cuts)),
            mean,
            std,
            minimum,
            maximum,
            cdf_start,
            cdf_stop - cdf_start,
        )

    def draw(self, uniform: Floats, instances: Floats) -> Perturbed:
        """Perturb the instances. The first perturbation of each is the instance itself."""
        from scipy.special import ndtri

        scaled = uniform * len(self.bins)
        draws = scaled.astype(np.intp)
        bins = self.bins.take(draws).astype(np.intp)  # `take` is four times as fast as indexing
        mass = self.cdf_mass.take(bins)
        quantiles = self.cdf_start.take(bins) + (scaled - draws) * mass  # the fraction of `scaled` is uniform
        # a bin with a single value has no mass
        normals = ndtri(quantiles, where=mass > 0, out=np.zeros_like(quantiles))
        values = self.mean.take(bins) + self.std.take(bins) * normals
        np.clip(values, self.minimum.take(bins), self.maximum.take(bins), out=values)
        features = (bins == _find_bins(instances, self.cuts)[:, None]).astype(np.float64)
        values[:, 0], features[:, 0] = instances, 1.0
        return values, features


@attrs.frozen(eq=False)
class NormalColumn:
    """A column of numbers without bins, drawn from a normal around the mean or the instance.

    The feature is the standardised number. If the number of the instance is missing, the feature is 1 for
    missing numbers, which are drawn as often as the background has them. Otherwise no missing number is
    drawn.

    Examples
    --------
    >>> column = NormalColumn.fit(np.array([1.0, 3.0, np.nan]), around_instance=True)
    >>> values, features = column.draw(np.array([[0.5, 0.5, 0.975]]), np.array([7.0]))
    >>> values.round(2).tolist(), features.round(2).tolist()
    ([[7.0, 7.0, 8.96]], [[5.0, 5.0, 6.96]])
    """

    mean: float
    scale: float
    missing_share: float  # in the background
    around_instance: bool

    @classmethod
    def fit(cls, values: Floats, around_instance: bool) -> "NormalColumn":
        """Compute mean and scale as lime does. The scale of a constant column is 1."""
        from sklearn.preprocessing import StandardScaler

        numbers = np.sort(values[~np.isnan(values)])
        scaler = StandardScaler().fit(numbers[:, None])
        return cls(
            float(scaler.mean_[0]), float(scaler.scale_[0]), 1 - len(numbers) / len(values), around_instance
        )

    def draw(self, uniform: Floats, instances: Floats) -> Perturbed:
        """Perturb the instances. The first perturbation of each is the instance itself."""
        from scipy.special import ndtri

        is_missing = np.isnan(instances)
        # negative for missing numbers
        numbers = (uniform[is_missing] - self.missing_share) / (1 - self.missing_share)
        quantiles = uniform.copy()
        quantiles[is_missing] = np.where(numbers < 0, np.nan, numbers)
        centers = instances if self.around_instance else np.full(len(instances), self.mean)
        values = (
            ndtri(np.maximum(quantiles, MIN_QUANTILE)) * self.scale
            + np.where(is_missing, self.mean, centers)[:, None]
        )
        values[:, 0] = instances
        features = (values - self.mean) / self.scale
        features[is_missing] = np.isnan(values[is_missing])
        return values, features


Column = CategoricalColumn | BinnedColumn | NormalColumn


def _sort_compactly(codes: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
    """Return categories or bins of the background, sorted, in the smallest type that holds them.

    A random entry has the frequencies of the background. They are sorted so that the order of the background
    does not matter, and small so that they stay in the processor's cache.
    """
    return np.sort(codes).astype(np.min_scalar_type(int(codes.max())))


def _find_bins(values: Floats, cuts: Floats) -> NDArray[np.int64]:
    """Return the bin of each value: the number of cuts below it. Missing values have the last bin."""
    return np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values))


def _fit_lime_bins(numbers: Floats, discretizer: str) -> list[Any]:
    """Return the cuts of lime, and the mean, standard deviation, minimum and maximum of its bins."""
    from lime import discretize

    discretizers = {"quartile": discretize.QuartileDiscretizer, "decile": discretize.DecileDiscretizer}
    fitted = discretizers[discretizer](numbers[:, None], [], ["column"])
    statistics = [fitted.means[0], fitted.stds[0], fitted.mins[0], fitted.maxs[0]]
    return [np.array(fitted.mins[0][1:]), *map(np.array, statistics)]


def _never_drawn_bin() -> list[Any]:
    """Return a bin that is never drawn, for a background of missing numbers."""
    return [np.empty(0), *(np.array([value]) for value in (0.0, 1.0, 0.0, 0.0))]


@attrs.frozen(eq=False)
class Neighbourhood:
    """Perturbations of rows, drawn column by column with the seed of each row.

    Every row gets `samples` perturbations. The first one is the row itself.

    Examples
    --------
    >>> from faithkit_feature_importance.lime_weights.perturbations import CategoricalColumn
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
        """Allocate memory once for all batches of n rows; allocation takes as long as drawing."""
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
