"""Readings of a table: a choice for everything that the paper leaves open, the same for all cells."""

from typing import Any

import attrs
import numpy as np

import faithkit
from faithkit_paper.context import Context
from faithkit_paper.model_wrappers import ClassNumberModel, IsSecondClass, ReorderedClasses
from faithkit_paper.models import TrainedModel

DIGITS = 9
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
"""Classes of a fixed number. All datasets with three classes or more have seven."""


@attrs.frozen
class Reading:
    """Choices about the explanations of a table that the paper does not state.

    Attributes
    ----------
    explainer : str
        As `faithkit.evaluate` takes it. Importances use ``target=all``.
    table : str
        The input of the explainer: "codes" (ordinal codes for categories, all columns are numbers) or
        "published".
    target : str
        The class that importances explain: "second" (the same for all rows) or "predicted". For
        counterfactuals with three classes or more, their class: one of `ORDINALS` or "runner-up". Empty for
        rules.
    fp : str
        How 1-FP and 2-FP drop digits: "floor", as printed, "round", or "truncate" (towards zero).
    multiclass_explainer : str
        The explainer for three classes or more, if it differs.
    n_features : int, optional
        How many importances stay, the largest; the others are 0. By default all.
    explains_number : bool
        Whether importances explain the predicted class as a number (0, 1, …), as SHAP does for
        ``model.predict``.
    failed : str
        How rows without an explanation count: "alone", each different from all others, as in faithkit, or
        "shared", as if they had the same explanation (for codes only).
    """

    explainer: str
    table: str = "codes"
    target: str = ""
    fp: str = ""
    multiclass_explainer: str = ""
    n_features: int | None = None
    explains_number: bool = False
    failed: str = "alone"

    def __str__(self) -> str:
        choices = [f"`{self.explainer}`"]
        choices += (
            [f"`{self.multiclass_explainer}` for three classes or more"] if self.multiclass_explainer else []
        )
        choices += [f"the {self.target} class"] if self.target else []
        choices += ["the predicted class as a number"] if self.explains_number else []
        choices += [f"the {self.n_features} largest importances"] if self.n_features else []
        choices += [f"FP by {self.fp}"] if self.fp else []
        choices += ["rows without an explanation share one"] if self.failed == "shared" else []
        input_table = "ordinal codes" if self.table == "codes" else "the table as published"
        return ", ".join([*choices, f"on {input_table}"])

    def explainer_of(self, seen_model: TrainedModel) -> str:
        """Return the explainer for the number of classes of a model."""
        return (len(seen_model.order) > 2 and self.multiclass_explainer) or self.explainer

    @property
    def compares_importances(self) -> bool:
        """Whether explanations are importances for all classes, of which one class is compared."""
        return "target=all" in self.explainer

    @property
    def reads_trees(self) -> bool:
        """Whether the explainer reads the trees of the model. Others only call it."""
        return "algorithm=tree" in self.explainer

    def discretizer(self, name: str) -> Any:
        """Return a discretizer of the paper with the options of this reading.

        Examples
        --------
        >>> Reading("shap", fp="round").discretizer("1fp"), Reading("shap").discretizer("sign")
        ('1fp:how=round', 'sign')
        """
        if not self.fp or not name.endswith("fp"):
            return name
        return Truncate(int(name[0])) if self.fp == "truncate" else f"{name}:how={self.fp}"


@attrs.frozen
class Truncate:
    """Drop the decimals after the first `digits`, as a conversion to integers does.

    Examples
    --------
    >>> Truncate(1).discretize(faithkit.Explanations.vectors([[0.19, -0.19, -0.05]]))
    array([[ 1., -1.,  0.]])
    """

    digits: int

    def discretize(self, explanations: faithkit.Explanations) -> np.ndarray:
        """Return importances in units of the last digit."""
        # 0.29 · 100 is 28.999999999999996
        scaled = np.round(explanations.values * 10**self.digits, DIGITS)
        units: np.ndarray = np.trunc(scaled) + 0.0
        return units


@attrs.frozen(eq=False)
class ExplainedSample:
    """The explanations of a sample, and the predicted labels."""

    labels: np.ndarray
    explanations: faithkit.Explanations

    def score(self, discretizer: Any) -> Any:
        """Score the explanations under a discretization."""
        return faithkit.score(self.labels, self.explanations, discretizer=discretizer)

    def take(self, rows: np.ndarray) -> "ExplainedSample":
        """Return the labels and explanations of selected rows."""
        return ExplainedSample(self.labels[rows], self.explanations.take(rows))


def explain(context: Context, trained: TrainedModel, reading: Reading, X: Any, seed: int) -> ExplainedSample:
    """Explain test rows, which must be encoded as the reading says."""
    import joblib

    seen_model = as_seen_by_explainer(context, trained, reading)
    spec = reading.explainer_of(seen_model)
    model = explained_model(seen_model, reading)
    # readings that differ only in the comparison share their explanations
    result = context.compute_once(
        (spec, reading.table, trained.dataset, seed, joblib.hash(model), joblib.hash(X)),
        lambda: context.evaluate(model, X, spec, background=background(context, seen_model), seed=seed),
    )
    labels = np.asarray(seen_model.model.predict(X))
    return ExplainedSample(
        labels, _compared_explanations(result.rows.explanations, reading, seen_model, labels)
    )


def as_seen_by_explainer(context: Context, model: TrainedModel, reading: Reading) -> TrainedModel:
    """Return the model and its tables as the explainer of a reading receives them."""
    if not reading.reads_trees:
        model = context.compute_once(("tabulated", model.dataset), model.with_table)
    if reading.table == "published" and model.has_categories:
        return model
    return context.compute_once(("coded", model.dataset, reading.reads_trees), model.with_codes)


def explained_model(seen_model: TrainedModel, reading: Reading) -> Any:
    """Return what the explainer of a reading explains: the model, the number of its class, or one class."""
    if reading.explains_number:
        return ClassNumberModel(seen_model.in_order)
    if len(seen_model.order) == 2 or reading.target not in ORDINALS or reading.compares_importances:
        return seen_model.model
    number = ORDINALS.index(reading.target)
    if number == 1:
        return IsSecondClass(seen_model.in_order)
    order = list(seen_model.order)
    order.insert(1, order.pop(number))
    return IsSecondClass(ReorderedClasses(seen_model.model, tuple(order)))


def background(context: Context, seen_model: TrainedModel) -> Any:
    """Return training rows as the background of explainers."""
    return context.sample(seen_model.train, context.pick(tiny=100, quick=5_000, full=None), "background")


def _compared_explanations(
    explanations: faithkit.Explanations, reading: Reading, seen_model: TrainedModel, labels: np.ndarray
) -> faithkit.Explanations:
    """Return the explanations in the form that a reading compares."""
    if reading.explains_number:
        # sums of integers over coalitions: rounding errors must not separate equal values
        return faithkit.Explanations.vectors(
            np.round(explanations.values * (len(seen_model.order) - 1), DIGITS)
        )
    if explanations.kind == "vector":
        importances = _importances_of_class(explanations.values, reading.target, seen_model, labels)
        return faithkit.Explanations.vectors(keep_largest(importances, reading.n_features))
    return share_missing(explanations) if reading.failed == "shared" else explanations


def _importances_of_class(
    values: np.ndarray, target: str, seen_model: TrainedModel, labels: np.ndarray
) -> np.ndarray:
    """Select the importances of one class from those of all classes, which are side by side."""
    by_class = values.reshape(len(values), len(seen_model.order), -1)
    if target == "second":
        return by_class[:, seen_model.order[1]]
    return by_class[np.arange(len(values)), np.searchsorted(seen_model.model.classes_, labels)]


def keep_largest(importances: np.ndarray, count: int | None) -> np.ndarray:
    """Set all but the largest importances of each row to 0, as lime does by default for all but ten.

    Examples
    --------
    >>> keep_largest(np.array([[0.1, -0.3, 0.2]]), 2)
    array([[ 0. , -0.3,  0.2]])
    """
    if count is None or count >= importances.shape[1]:
        return importances
    position_by_size = np.argsort(np.argsort(-np.abs(importances), axis=1, kind="stable"), axis=1)
    return np.where(position_by_size < count, importances, 0.0)


def share_missing(explanations: faithkit.Explanations) -> faithkit.Explanations:
    """Give all rows without an example the same one, in which all values are missing."""
    values = np.where(explanations.missing[:, None], np.nan, explanations.values)
    return faithkit.Explanations(kind=explanations.kind, values=values, instances=explanations.instances)
