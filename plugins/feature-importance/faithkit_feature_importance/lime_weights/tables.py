"""The explainer `lime`: LIME for tables, for many rows at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.lime_weights.library import LimePackage, check_engine
from faithkit_feature_importance.lime_weights.perturbations import (
    BinnedColumn,
    CategoricalColumn,
    Column,
    Neighbourhood,
    NormalColumn,
    PerturbationScorer,
)
from faithkit_feature_importance.lime_weights.weighted_ridge import kernel_weights, weighted_ridge
from faithkit_feature_importance.targets import Target, check_target

Floats = NDArray[np.float64]


class LimeExplainer:
    """LIME: the weights of a linear model fitted to the model's scores around the row (Ribeiro et al. 2016).

    The weights are those of the lime package with all features, in column order. For a regressor, the linear
    model is fitted to the predictions, and the weights have their unit.

    Parameters
    ----------
    samples : int
        The number of rows that the linear model is fitted to: the row itself and its perturbations.
    discretize_continuous : bool
        Whether the features of the linear model say "in the row's bin or not", or are standardised numbers.
    discretizer : str
        The cuts of numeric columns: "quartile" or "decile".
    sample_around_instance : bool
        Whether numbers are drawn around the row or around the mean of the background. Needs
        `discretize_continuous=False`.
    kernel_width : float, optional
        The kernel width: up to which distance perturbations count. By default 0.75 · √(number of columns).
    categorical_features : list, optional
        Numeric columns that hold categories, by name or position. Strings and booleans are always categories.
    target : str, optional
        The explained class: "positive" (the second of two), "predicted", or "all" side by side.
        By default positive for two classes, predicted for more. Not for regressors.
    offset : bool
        Whether to append the intercept of the linear model to the weights, as part of the explanation.
    engine : str
        "faithkit" explains many rows at once. "library" calls the lime package row by row, with the same
        parameters and the seed of each row.

    Notes
    -----
    The engines draw different perturbations of the same distribution. The notes below are about "faithkit".
    "library" behaves as lime does, and rejects missing numbers, categories that the background does not have,
    and models that predict several numbers.

    With discretized numbers, missing numbers have their own bin. Otherwise missing numbers are drawn only if
    the number of the row is missing; the weight of the column is then that of being missing.

    A category that the background does not have is never drawn: only the row itself has it.

    Numbers are drawn as real numbers, so a column of integers gets fractions. If the model cannot use
    fractions, list the column in `categorical_features`, or give it as strings.

    A column that the model ignores gets a small weight of either sign, since perturbations are a sample. The
    discretizers `sign` and `fp` keep such differences; `fp` with `how=round` and `sign-of-top` remove them.

    For a bin with a single value, lime draws 0. This explainer draws the value.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = LogisticRegression().fit(X, X[:, 0] > 0)
    >>> lime = LimeExplainer(discretize_continuous=False).fit(faithkit.Predictor(model), X)
    >>> weights = lime.explain(X[:1], seeds=[7]).values
    >>> [round(weight, 1) for weight in np.abs(weights[0]).tolist()]
    [0.5, 0.0, 0.0]
    """

    outcomes = ("labels", "numbers")
    rows_per_chunk = 32

    def __init__(
        self,
        samples: int = 5000,
        discretize_continuous: bool = True,
        discretizer: str = "quartile",
        sample_around_instance: bool = False,
        kernel_width: float | None = None,
        categorical_features: Sequence[str | int] | None = None,
        target: str | None = None,
        offset: bool = False,
        engine: str = "faithkit",
    ) -> None:
        check_samples("lime", samples)
        check_kernel_width("lime", kernel_width)
        for name, flag in (
            ("discretize_continuous", discretize_continuous),
            ("sample_around_instance", sample_around_instance),
            ("offset", offset),
        ):
            if not isinstance(flag, bool):
                raise faithkit.errors.ParameterError(f"lime: {name} must be true or false, got {flag!r}.")
        if discretizer not in ("quartile", "decile"):
            raise faithkit.errors.ParameterError(
                f"lime: discretizer must be 'quartile' or 'decile', got {discretizer!r}."
            )
        if discretize_continuous and sample_around_instance:
            raise faithkit.errors.ParameterError(
                "lime: sample_around_instance has no effect on numbers that are discretized: "
                "set discretize_continuous=false as well."
            )
        self.samples = samples
        self.discretize_continuous = discretize_continuous
        self.discretizer = discretizer
        self.sample_around_instance = sample_around_instance
        self.kernel_width = kernel_width
        self.categorical_features = _parse_columns(categorical_features)
        self.target = check_target("lime", target)
        self.offset = offset
        self.engine = check_engine("lime", engine)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "LimeExplainer":
        """Learn from the background how to perturb each column."""
        _check_table(background)
        # raises an error with advice if the model has no scores, or expects other columns
        predictor.scores(faithkit.plugin.take_rows(background, slice(0, 1)))
        self.predictor_ = predictor
        self.target_ = Target.choose("lime", self.target, predictor, background)
        self.encoder_ = faithkit.plugin.Encoder(background)
        codes, categories = self._encode(background), self._categorical_columns()
        if self.engine == "library":
            self.package_ = LimePackage.fit(
                predictor,
                self.encoder_,
                codes,
                self.samples,
                len(self.target_.labels),
                categorical_features=sorted(categories),
                discretize_continuous=self.discretize_continuous,
                discretizer=self.discretizer,
                sample_around_instance=self.sample_around_instance,
                kernel_width=self.kernel_width,
            )
            return self
        columns = [self._fit_column(codes[:, j], j in categories) for j in range(codes.shape[1])]
        self.neighbourhood_ = Neighbourhood(columns, self.samples)
        self.width_ = self.kernel_width or 0.75 * len(columns) ** 0.5
        self.scorer_ = PerturbationScorer(predictor, self.encoder_)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one vector per row, in column order."""
        _check_table(X)
        codes = self._encode(X)
        if self.engine == "library":
            values, offsets = self.package_.weights(codes, seeds)
        else:
            values, offsets = self._weights_in_batches(X, codes, seeds)
        shared = {} if self.discretize_continuous else {"slopes": True}
        return self.target_.explanations(
            X, values, offsets, self.encoder_.names, offset=self.offset, **shared
        )

    def _weights_in_batches(self, X: Any, codes: Floats, seeds: Any) -> tuple[Floats, Floats]:
        n_classes = len(self.target_.labels)
        values, offsets = np.empty((*codes.shape, n_classes)), np.empty((len(codes), n_classes))
        buffer = self.neighbourhood_.allocate_buffer(len(codes))
        for rows in self.neighbourhood_.batches(len(codes)):
            perturbed, features = self.neighbourhood_.draw(codes[rows], seeds[rows], buffer)
            scores = self.scorer_.scores(perturbed, faithkit.plugin.take_rows(X, rows))
            weights = self._perturbation_weights(features)
            values[rows], offsets[rows] = weighted_ridge(features, scores, weights, overwrite=True)
            faithkit.plugin.report_progress(len(scores))
        return values, offsets

    def _encode(self, X: Any) -> Floats:
        codes = self.encoder_.encode(X, unseen="error" if self.engine == "library" else "keep")
        if np.isinf(codes).any():
            row, column = np.argwhere(np.isinf(codes))[0]
            raise faithkit.errors.InputError(
                f"lime: column {self.encoder_.names[column]!r} is infinite in row {row}, and no other row is "
                "near it: give a number, or a missing value."
            )
        return codes

    def _categorical_columns(self) -> set[int]:
        """Return the positions of categorical columns, by type or by `categorical_features`."""
        names, positions = self.encoder_.names, set(self.encoder_.categorical)
        for column in self.categorical_features:
            if isinstance(column, int) and 0 <= column < len(names):
                positions.add(column)
            elif column in names:
                positions.add(names.index(column))
            else:
                raise faithkit.errors.InputError(
                    f"lime: categorical_features has {column!r}, which is no column of the background: "
                    f"it has {', '.join(names[:8])}{', …' * (len(names) > 8)}."
                )
        return positions

    def _fit_column(self, values: Floats, is_category: bool) -> Column:
        if is_category:
            return CategoricalColumn.fit(values)
        if self.discretize_continuous or np.isnan(values).all():
            return BinnedColumn.fit(values, self.discretizer)
        return NormalColumn.fit(values, self.sample_around_instance)

    def _perturbation_weights(self, features: Floats) -> Floats:
        """Return the weights of perturbations by their distance from the row, in features."""
        squared_distances = np.zeros((len(features), self.samples))
        for j in range(features.shape[1]):
            squared_distances += (features[:, j] - features[:, j, :1]) ** 2
        return kernel_weights(squared_distances, self.width_)


def _check_table(X: Any) -> None:
    if isinstance(X, list):
        raise faithkit.errors.InputError(
            "lime explains tables, and was given a list of texts: use lime-text."
        )


def _parse_columns(columns: Any) -> list[str | int]:
    """Return the parameter `categorical_features` as a list of names and positions."""
    if columns is None:
        return []
    column_list = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
    for column in column_list:
        if isinstance(column, bool) or not isinstance(column, str | int | np.integer):
            raise faithkit.errors.ParameterError(
                f"lime: categorical_features has {column!r}; expected names or positions of columns."
            )
    return [column if isinstance(column, str) else int(column) for column in column_list]


def check_samples(component: str, samples: Any) -> None:
    """Raise an error unless the parameter `samples` is an integer of at least 2."""
    faithkit.plugin.check_integer(
        samples, f"{component}: samples", minimum=2, error=faithkit.errors.ParameterError
    )


def check_kernel_width(component: str, width: Any) -> None:
    """Raise an error unless the parameter `kernel_width` is None or a positive number."""
    if width is not None and (not isinstance(width, int | float) or not 0 < width < np.inf):
        raise faithkit.errors.ParameterError(
            f"{component}: kernel_width must be a number above 0, got {width!r}."
        )
