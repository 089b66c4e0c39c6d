"""Deletion: how far scores move without a feature that explanations name, and without a random feature.

Deleted features get the values of background rows. Quantus and OpenXAI have such measures under the names
pixel flipping, region perturbation and prediction gap. Here every row is compared with itself: without each
of the features that its explanation names, and without each of as many random features.

A change has no sign, because explanations do not say which label their signs speak for. A feature is deleted
after random other ones, because a score near 1 hardly moves without one of several reasons for it.
"""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit

DEFAULT_K = 3  # deleted features, where there are at least six
BATCH = 20_000  # rows per call of the model

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Positions = NDArray[np.int64]


@attrs.frozen(kw_only=True, repr=False)
class DeletionResult(faithkit.plugin.Report):
    """The changes of scores without the named features, and without as many random features.

    Attributes
    ----------
    n : int
        The number of instances with an explanation.
    k, features : int
        The largest number of features that an explanation names, and the number of all features.
    replacements : int
        The number of times that a feature of an instance is replaced, each after random other features.
    is_number : bool
        Whether predictions are numbers. Then a change is that of the prediction, and otherwise that of the
        predicted label's score.
    named, random : float
        The mean change without a feature that explanations name, and without a random feature.
    difference, low, high : float
        `named` − `random`, with the interval of the paired differences.
    confidence : float
    """

    n: int
    k: int
    features: int
    replacements: int
    is_number: bool
    named: float
    random: float
    difference: float
    low: float
    high: float
    confidence: float

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)

    def line(self) -> str:
        """Return the text for `repr`."""
        return (
            f"of {self.n:,} instances: difference {self.difference:.3f} ({self.low:.3f} to {self.high:.3f})"
        )

    def sheet(self) -> faithkit.plugin.Sheet:
        """Return a table of the changes, and their meaning."""
        features = "the feature" if self.k == 1 else f"each of the {self.k} features"
        change = f"mean change of the {'prediction' if self.is_number else 'score'}"
        rows = [
            (f"{features} that explanations name", self.named, None),
            ("a random feature", self.random, None),
            ("difference", self.difference, (self.low, self.high)),
        ]
        return faithkit.plugin.Sheet.of(
            "Deletion of features",
            faithkit.plugin.Table.of(("deleted", change, f"{100 * self.confidence:g} % interval"), rows),
            self.sentence,
        )

    @property
    def sentence(self) -> str:
        """The conclusion in words."""
        if self.low > 0:
            return "The features that explanations name matter more to the model than random features."
        if self.high < 0:
            return "The features that explanations name matter less to the model than random features."
        return "It is not shown that the features that explanations name matter more than random features."


class Deletion:
    """A diagnostic that replaces named features by those of background rows, and measures how scores change.

    An explanation names the features of its `k` largest values that are not 0, whatever their signs. Each is
    replaced after random other features, as in the definition of Shapley values, and the mean change counts
    without its sign. For comparison, as many random features are replaced by those of the same background
    rows. The diagnostic needs the model, rows of a table, and one value per column.

    Parameters
    ----------
    k : int, optional
        The number of named features; by default 3, or half of fewer than six features.
    replacements : int
        The number of times that a feature is replaced, each time by another background row, as far as there
        are enough, and after random other features.
    seed : int, optional
        The seed of the random features and background rows; by default that of the result.

    Examples
    --------
    >>> import faithkit
    >>> X, background = np.array([[3.0, 1.0, 0.0], [0.0, 1.0, 2.0]]), np.zeros((1, 3))
    >>> model = faithkit.Predictor(lambda X: X[:, 0] + X[:, 1] / 2, outcome="numbers")
    >>> result = faithkit.evaluate(model, X, lambda X: X * [1, 0.5, 0], background=background)
    >>> report = result.diagnose(Deletion(k=1))
    >>> report.named  # the mean of 3 and 0.5
    1.75
    """

    def __init__(self, k: int | None = None, replacements: int = 20, seed: int | None = None) -> None:
        self.k = None if k is None else _count(k, "k")
        self.replacements = _count(replacements, "replacements")
        self.seed = None if seed is None else faithkit.plugin.check_integer(seed, "deletion: seed")

    def diagnose(self, result: faithkit.Evaluation) -> DeletionResult:
        """Score every row with the model, with and without the replaced features."""
        predictor, rows = result.rows.predictor, result.rows
        if not predictor.has_scores:
            raise faithkit.errors.InputError(
                "deletion needs a model with scores, such as predict_proba, and this model has none: use a "
                "model that has them."
            )
        background, values = rows.background, _values(rows, rows.background)
        size = self._size(values.shape[1])
        seed = result.setup.seed if self.seed is None else self.seed
        changes = np.full((2, len(values)), np.nan)
        explained_rows = np.flatnonzero(~rows.explanations.missing)
        order = np.argsort(faithkit.plugin.row_seeds(background, seed), kind="stable")
        plan = _Plan(
            rows.X,
            faithkit.plugin.take_rows(background, order),
            *_find_named_features(values, size),
            values.shape[1],
            self.replacements,
        )
        seeds, step = faithkit.plugin.row_seeds(rows.X, seed), max(1, BATCH // plan.n_replacements)
        for start in range(0, len(explained_rows), step):
            batch = explained_rows[start : start + step]
            changes[:, batch] = _score_changes(predictor, plan, batch, seeds[batch])
        return _report(result, changes, size, plan.n_replacements, predictor.is_regressor)

    def _size(self, features: int) -> int:
        size = min(DEFAULT_K, (features + 1) // 2) if self.k is None else self.k
        if size >= features:
            raise faithkit.errors.InputError(
                f"deletion: k is {size}, and there are {features} features, so that there is nothing to "
                "compare with: choose a smaller k."
            )
        return size


@attrs.frozen(eq=False)
class _Plan:
    """The rows, their features by importance, and the background rows in an order of their content.

    `is_named` says which of a row's features its explanation names.
    """

    X: Any
    background: Any
    features: Positions
    is_named: Mask
    width: int
    replacements: int

    @property
    def n_replacements(self) -> int:
        n = faithkit.plugin.n_rows(self.background)
        return self.replacements - self.replacements % min(n, self.replacements)  # each row equally often

    def draw(self, row: int, seed: int) -> tuple[Positions, Positions, Positions]:
        """Draw background rows, for each of them the ranks of features in a random order, and features."""
        rng = np.random.default_rng(int(seed))
        replacements = np.resize(
            rng.permutation(faithkit.plugin.n_rows(self.background)), self.n_replacements
        )
        ranks = rng.permuted(np.tile(np.arange(self.width), (self.n_replacements, 1)), axis=1)
        return replacements, ranks, rng.permutation(self.width)[: self.features.shape[1]]


def _score_changes(predictor: faithkit.Predictor, plan: _Plan, rows: Positions, seeds: Any) -> Floats:
    """Return the changes of the rows' scores without a named feature, and without a random feature."""
    draws = [plan.draw(row, seed) for row, seed in zip(rows, seeds, strict=True)]
    replacements, ranks = (np.concatenate(parts) for parts in list(zip(*draws, strict=True))[:2])
    repeated = np.repeat(rows, plan.n_replacements)
    outputs = _predicted_outputs(predictor, faithkit.plugin.take_rows(plan.X, rows))

    def mean_scores(mask: Mask) -> Floats:
        scores = predictor.scores(_replace_features(plan, repeated, replacements, mask))
        means = np.asarray(scores, dtype=np.float64).reshape(len(rows), plan.n_replacements, -1).mean(axis=1)
        return means[np.arange(len(rows)), outputs]

    def change(feature: Positions) -> Floats:
        rank = np.take_along_axis(ranks, np.repeat(feature, plan.n_replacements)[:, np.newaxis], axis=1)
        return np.abs(mean_scores(ranks <= rank) - mean_scores(ranks < rank))

    is_named = plan.is_named[rows]
    return np.array(
        [
            (np.transpose([change(feature) for feature in features.T]) * is_named).sum(axis=1)
            / np.maximum(1, is_named.sum(axis=1))
            for features in (plan.features[rows], np.array([features for *_, features in draws]))
        ]
    )


def _predicted_outputs(predictor: faithkit.Predictor, X: Any) -> NDArray[np.int64]:
    """Return the score column of each row's prediction."""
    labels = predictor.predict(X)
    if not predictor.is_regressor:
        return predictor.columns_of(labels)
    if labels.ndim > 1:
        raise faithkit.errors.InputError(
            f"deletion takes one number per row, and the model predicts {labels.shape[1]}: evaluate each "
            "output by itself."
        )
    return np.zeros(len(labels), dtype=np.int64)


def _replace_features(
    plan: _Plan, rows: NDArray[np.int64], replacements: NDArray[np.int64], mask: Mask
) -> Any:
    """Return rows whose masked features have the values of background rows."""
    old, new = (
        faithkit.plugin.take_rows(plan.X, rows),
        faithkit.plugin.take_rows(plan.background, replacements),
    )
    if not isinstance(old, pd.DataFrame):
        return np.where(mask, new, old)
    old, new = old.reset_index(drop=True), new.reset_index(drop=True)
    columns = {name: _replace_values(old[name], new[name], mask[:, j]) for j, name in enumerate(old.columns)}
    return pd.DataFrame(columns)


def _replace_values(old: pd.Series, new: pd.Series, mask: NDArray[np.bool_]) -> pd.Series:
    """Replace masked values of a column; categories that only the background has are added."""
    if isinstance(old.dtype, pd.CategoricalDtype):
        categories = old.cat.categories
        added = [value for value in new.dropna().unique() if value not in categories]
        old, new = old.cat.add_categories(added), new.astype(object)
    return old.where(~mask, new)


def _values(rows: faithkit.plugin.ExplainedRows, background: Any) -> Floats:
    """Return one value per row and column of X, in the order of its columns."""
    X, explanations = rows.X, rows.explanations
    is_table = isinstance(X, pd.DataFrame) or (isinstance(X, np.ndarray) and X.ndim == 2)
    if not is_table or type(background) is not type(X):
        raise faithkit.errors.InputError(
            "deletion takes the rows of a table and a background of the same kind."
        )
    if explanations.kind != "vector":
        raise faithkit.errors.InputError(
            f"deletion reads additive values, one per feature, and the explanations are of kind "
            f"{explanations.kind!r}: use an explainer such as shap."
        )
    values = np.asarray(explanations.values, dtype=np.float64)
    names = [str(name) for name in explanations.shared.get("names", ())]
    columns = [str(name) for name in X.columns] if isinstance(X, pd.DataFrame) else []
    if columns and sorted(columns) == sorted(names):
        values = values[:, [names.index(name) for name in columns]]
    elif values.shape[1] != X.shape[1]:
        raise faithkit.errors.InputError(
            f"deletion needs one value per column, and explanations have {values.shape[1]} values where X "
            f"has {X.shape[1]} columns: explain the columns of X."
        )
    return values


def _find_named_features(values: Floats, size: int) -> tuple[Positions, Mask]:
    """Return the features of each row's largest values, and which of these values are not 0."""
    sizes = np.abs(np.nan_to_num(values))
    features = np.argsort(-sizes, axis=1, kind="stable")[:, :size]
    return features, np.take_along_axis(sizes, features, axis=1) > 0


def _report(
    result: faithkit.Evaluation, changes: Floats, size: int, replacements: int, is_number: bool
) -> DeletionResult:
    change_without_named, change_without_random, difference = (
        _mean(result, values) for values in (*changes, changes[0] - changes[1])
    )
    if difference.value is None or difference.low is None or difference.high is None:
        raise faithkit.errors.InputError("deletion: no row has an explanation: explain some.")
    return DeletionResult(
        n=difference.n,
        k=size,
        features=result.rows.explanations.values.shape[1],
        replacements=replacements,
        is_number=is_number,
        named=float(change_without_named.value or 0.0),
        random=float(change_without_random.value or 0.0),
        difference=difference.value,
        low=difference.low,
        high=difference.high,
        confidence=result.confidence,
    )


def _mean(result: faithkit.Evaluation, values: Floats) -> faithkit.plugin.Mean:
    """Return the mean of changes with its interval; changes without bounds are scaled by the largest."""
    scale = max(1.0, float(np.nanmax(np.abs(values), initial=0.0)))
    mean = result.mean(values / scale, minimum=-1.0)
    value, se, low, high = (
        None if number is None else scale * number for number in (mean.value, mean.se, mean.low, mean.high)
    )
    return faithkit.plugin.Mean(value, se, low, high, mean.n)


def _count(value: Any, name: str) -> int:
    return faithkit.plugin.check_integer(
        value, f"deletion: {name}", minimum=1, error=faithkit.errors.ParameterError
    )
