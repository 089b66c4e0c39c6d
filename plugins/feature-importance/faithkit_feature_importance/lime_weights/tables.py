"""LIME for tables: lime's perturbations, kernel and ridge, for many rows at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.lime_weights.columns import Categories, Column, Intervals, Normals
from faithkit_feature_importance.lime_weights.library import LimePackage
from faithkit_feature_importance.lime_weights.neighbourhood import Neighbourhood
from faithkit_feature_importance.lime_weights.questions import Questions
from faithkit_feature_importance.lime_weights.weighted_ridge import kernel, weighted_ridge
from faithkit_feature_importance.targets import Target, check_target

Floats = NDArray[np.float64]
ENGINES = ("faithkit", "library")


class LimeExplainer:
    """LIME: the weights of a linear model fitted to the model's scores around the row (Ribeiro et al. 2016).

    The weights are those of the lime package with all features, in column order. Of a regressor it is what it
    predicts that the linear model is fitted to, and the weights have its unit.

    Parameters
    ----------
    samples : int
        How many rows the linear model is fitted to: the row itself, and perturbations of it.
    discretize_continuous : bool
        Whether the linear model sees numbers as "in the row's bin or not", or as numbers, standardised.
    discretizer : str
        Where numbers are cut: "quartile" or "decile".
    sample_around_instance : bool
        Whether numbers are drawn around the row's own or around the background's mean; they must not be
        discretized then.
    kernel_width : float, optional
        How far from the row perturbations still count; by default 0.75 · √(number of columns), as in lime.
    categorical_features : list, optional
        Columns of numbers that are categories, by name or position. Strings and booleans always are.
    target : str, optional
        Which class is explained: "positive" (the second of two), "predicted", or "all" side by side.
        By default positive for two classes, predicted for more. A regressor has none to choose.
    offset : bool
        Whether the linear model's intercept stands behind the weights, as part of the explanation.
    engine : str
        "faithkit" explains many rows at once; "library" calls the lime package row by row, with the same
        parameters and the row's own seed.

    Notes
    -----
    The engines draw different perturbations of the same distribution. The notes below are about "faithkit";
    "library" does as lime does, and refuses missing numbers, categories that the background does not have,
    and models that predict several numbers.

    Discretized, a missing number has a bin of its own. Otherwise no missing number is drawn, unless the row's
    own is missing: then the column's weight is that of being missing.

    A category that the background does not have is never drawn: the row is the only one that has it.

    Numbers are drawn as numbers: a column of integers gets fractions. Name it among `categorical_features`,
    or give it as strings, where that makes no sense to the model.

    A column that the model ignores gets a small weight of either sign, since perturbations are a sample. The
    discretizers `sign` and `fp` tell such weights apart; `fp` with `how=round` and `sign-of-top` do not.

    lime draws 0 for a bin that holds a single value; here it is that value.

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
        if engine not in ENGINES:
            raise faithkit.errors.ParameterError(
                f"lime: engine must be one of {', '.join(ENGINES)}, got {engine!r}."
            )
        if discretize_continuous and sample_around_instance:
            raise faithkit.errors.ParameterError(
                "lime: sample_around_instance has no effect on numbers that are discretized: "
                "say discretize_continuous=false too."
            )
        self.samples = samples
        self.discretize_continuous = discretize_continuous
        self.discretizer = discretizer
        self.sample_around_instance = sample_around_instance
        self.kernel_width = kernel_width
        self.categorical_features = _columns(categorical_features)
        self.target = check_target("lime", target)
        self.offset = offset
        self.engine = engine

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "LimeExplainer":
        """Learn how to perturb each column."""
        _check_table(background)
        predictor.scores(
            faithkit.plugin.take_rows(background, slice(0, 1))
        )  # no scores, another width: said here
        self.predictor_ = predictor
        self.target_ = Target.choose("lime", self.target, predictor, background)
        self.encoder_ = faithkit.plugin.Encoder(background)
        codes, categories = self._codes(background), self._categories()
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
        columns = [self._learn(codes[:, j], j in categories) for j in range(codes.shape[1])]
        self.neighbourhood_ = Neighbourhood(columns, self.samples)
        self.width_ = self.kernel_width or 0.75 * len(columns) ** 0.5
        self.questions_ = Questions(predictor, self.encoder_)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one vector per row, in column order."""
        _check_table(X)
        codes = self._codes(X)
        if self.engine == "library":
            values, offsets = self.package_.weights(codes, seeds)
        else:
            values, offsets = self._weights_in_blocks(X, codes, seeds)
        return self.target_.explanations(X, values, offsets, self.encoder_.names, offset=self.offset)

    def _weights_in_blocks(self, X: Any, codes: Floats, seeds: Any) -> tuple[Floats, Floats]:
        n_classes = len(self.target_.labels)
        values, offsets = np.empty((*codes.shape, n_classes)), np.empty((len(codes), n_classes))
        space = self.neighbourhood_.space(len(codes))
        for rows in self.neighbourhood_.blocks(len(codes)):
            perturbed, features = self.neighbourhood_.draw(codes[rows], seeds[rows], space)
            scores = self.questions_.scores(perturbed, faithkit.plugin.take_rows(X, rows))
            weights = self._weights(features)
            values[rows], offsets[rows] = weighted_ridge(features, scores, weights, overwrite=True)
            faithkit.plugin.rows_done(len(scores))
        return values, offsets

    def _codes(self, X: Any) -> Floats:
        codes = self.encoder_.encode(X, unseen="error" if self.engine == "library" else "keep")
        if np.isinf(codes).any():
            row, column = np.argwhere(np.isinf(codes))[0]
            raise faithkit.errors.InputError(
                f"lime: column {self.encoder_.names[column]!r} is infinite in row {row}, and no other row is "
                "near it: give a number, or a missing value."
            )
        return codes

    def _categories(self) -> set[int]:
        """Return the positions of the columns that are categories, by their type or by name."""
        names, found = self.encoder_.names, set(self.encoder_.categorical)
        for column in self.categorical_features:
            if isinstance(column, int) and 0 <= column < len(names):
                found.add(column)
            elif column in names:
                found.add(names.index(column))
            else:
                raise faithkit.errors.InputError(
                    f"lime: categorical_features has {column!r}, which is no column of the background: "
                    f"it has {', '.join(names[:8])}{', …' * (len(names) > 8)}."
                )
        return found

    def _learn(self, cells: Floats, is_category: bool) -> Column:
        if is_category:
            return Categories.learn(cells)
        if self.discretize_continuous or np.isnan(cells).all():
            return Intervals.learn(cells, self.discretizer)
        return Normals.learn(cells, self.sample_around_instance)

    def _weights(self, features: Floats) -> Floats:
        """Weigh perturbations by their distance from the row, in features."""
        squared = np.zeros((len(features), self.samples))
        for j in range(features.shape[1]):
            squared += (features[:, j] - features[:, j, :1]) ** 2
        return kernel(squared, self.width_)


def _check_table(X: Any) -> None:
    if isinstance(X, list):
        raise faithkit.errors.InputError(
            "lime explains tables, and was given a list of texts: use lime-text."
        )


def _columns(given: Any) -> list[str | int]:
    """Take one column or several, each by name or position."""
    one = given is None or isinstance(given, str | int | np.integer)
    found = ([] if given is None else [given]) if one else list(given)
    for column in found:
        if isinstance(column, bool) or not isinstance(column, str | int | np.integer):
            raise faithkit.errors.ParameterError(
                f"lime: categorical_features has {column!r}; expected names or positions of columns."
            )
    return [column if isinstance(column, str) else int(column) for column in found]


def check_samples(who: str, samples: Any) -> None:
    """Refuse a number of perturbations that is none."""
    faithkit.plugin.whole_number(samples, f"{who}: samples", least=2, error=faithkit.errors.ParameterError)


def check_kernel_width(who: str, width: Any) -> None:
    """Refuse a width of the kernel that is none."""
    if width is not None and (not isinstance(width, int | float) or not 0 < width < np.inf):
        raise faithkit.errors.ParameterError(f"{who}: kernel_width must be a number above 0, got {width!r}.")
