"""Tables of discretizations: six datasets, one explainer, and the same reading for all cells.

A reading is a choice for everything that the paper leaves open. Explanations are computed once for each
dataset, and scored under every discretization.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

import faithkit
from faithkit_paper.context import Context
from faithkit_paper.findings import Cell, Findings, cells_of_runs, check_orderings
from faithkit_paper.model_wrappers import ClassNumberModel, IsSecondClass, ReorderedClasses
from faithkit_paper.models import DATASETS, TrainedModel, train_model

DIGITS = 9
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
"""Classes of a fixed number. All datasets with three classes or more have seven."""
MEASURES = ("consistency", "uniqueness")
TOP = 5
RUNS = 5
PAPER_ROWS = {"chess": 2_750, "avila": 6_200, "bank-marketing": 7_000, "adult": 7_000}
"""How many rows the paper seems to have explained, where its numbers speak against the whole test part.

Six weights without ties have at most 192 signs of the top five and 64 signs. For LIME on Chess the paper
prints a uniqueness of 0.07 and 0.02: at most 192 / 0.065 = 2,953 rows and, if every sign occurs, at least
64 / 0.025 = 2,560. Ten weights have 1,024 signs, and Avila's 0.17 allows at most 1,024 / 0.165 = 6,206 rows.

On Bank marketing and Adult nothing rules out the whole test part, but the fewer rows, the more explanations
are unique. The numbers of most explainers come closest to the printed ones near 7,000 rows. On Covtype no
number suits all tables, so each has its own.
"""


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
        if self.multiclass_explainer not in ("", self.explainer):
            choices.append(f"`{self.multiclass_explainer}` for three classes or more")
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
    explainer = choose_explainer(reading, seen_model)
    # readings that differ only in the comparison share their explanations
    explanations: faithkit.Explanations = context.compute_once(
        (spec, reading.table, trained.dataset, seed, joblib.hash(model), joblib.hash(X)),
        lambda: (
            context.evaluate(
                model, X, explainer, background=background(context, seen_model), seed=seed
            ).rows.explanations
        ),
    )
    labels = np.asarray(seen_model.model.predict(X))
    return ExplainedSample(labels, _compared_explanations(explanations, reading, seen_model, labels))


def as_seen_by_explainer(context: Context, model: TrainedModel, reading: Reading) -> TrainedModel:
    """Return the model and its tables as the explainer of a reading receives them."""
    if not reading.reads_trees:
        model = context.compute_once(("tabulated", model.dataset), model.with_table)
    if reading.table == "published" and model.has_categories:
        return model
    # the trees of two classes are read by shap, which can explain their probability
    is_compiled = not (reading.reads_trees and len(model.order) == 2) and context.pick(
        tiny=False, quick=True, full=True
    )
    return context.compute_once(
        ("coded", model.dataset, reading.reads_trees),
        lambda: model.with_codes().compiled() if is_compiled else model.with_codes(),
    )


def choose_explainer(reading: Reading, seen_model: TrainedModel) -> Any:
    """Return the explainer of a reading; for SHAP of compiled trees, one that reads their leaves."""
    from faithkit_paper.compiled_trees import CompiledTrees

    spec = reading.explainer_of(seen_model)
    if not isinstance(seen_model.model, CompiledTrees):
        return spec
    reference = spec.partition("background=")[2].partition(",")[0]
    if reading.explains_number:
        from faithkit_paper.class_number_shap import ClassNumberShap

        return ClassNumberShap(reference)
    if reading.reads_trees:
        from faithkit_paper.raw_score_shap import RawScoreShap

        return RawScoreShap(reference)
    return spec


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


@attrs.frozen(eq=False)
class Table:
    """A table of the appendix.

    Attributes
    ----------
    name : str
        The name of the experiment.
    explainer : str
        The name of the explainer in cells.
    discretizers : sequence of str
    reading : Reading
        The selected candidate. The module of the table says how it was selected.
    candidates : sequence of Reading
    rows : mapping
        The number of explained rows by profile and dataset, by default all test rows. "" stands for all other
        datasets.
    compared_rows : mapping
        The number of rows on which candidates are compared, by dataset, by default all test rows.
    paper_rows : mapping
        How many rows the paper seems to have explained, by dataset.
    """

    name: str
    explainer: str
    discretizers: Sequence[str]
    reading: Reading
    candidates: Sequence[Reading]
    rows: Mapping[str, Mapping[str, int]]
    compared_rows: Mapping[str, int]
    paper_rows: Mapping[str, int] = PAPER_ROWS

    def run(self, context: Context) -> Findings:
        """Measure all datasets, and check the paper's claims about their order."""
        findings = context.measure_each(self.name, DATASETS, self.measure_dataset)
        return attrs.evolve(
            findings,
            remarks=(*findings.remarks, *check_orderings(findings.cells), *self.describe_reading()),
        )

    def describe_reading(self) -> list[str]:
        """Return remarks on the reading of the table."""
        return [
            f"Read as {self.reading}.",
            f"That is one of {len(self.candidates)} readings, and the same for all cells; "
            f"`python -m faithkit_paper.closest_reading {self.name}` compares them.",
            "Intervals are those of the estimate: 1.96 standard errors to each side.",
        ]

    def measure_dataset(self, context: Context, dataset: str) -> Findings:
        """Measure one dataset under the table's reading."""
        model = train_model(context, dataset)
        cells = self.measure_cells(context, dataset, self.reading)
        n, test = self.n_explained(context, model), len(model.test)
        explained_rows = f"all {test:,} test rows" if n == test else f"{n:,} of {test:,} test rows"
        measured_rows = f"{cells[0].runs} samples of {cells[0].n:,} were" if cells[0].runs > 1 else "all were"
        return model.findings(
            cells, f"{dataset}: {explained_rows} were explained, of which {measured_rows} measured."
        )

    def measure_cells(self, context: Context, dataset: str, reading: Reading) -> list[Cell]:
        """Measure the cells of one dataset under a reading."""
        model = train_model(context, dataset)
        runs = self.draw_samples(context, model, reading)
        return [
            cell
            for name in self.discretizers_of(as_seen_by_explainer(context, model, reading))
            for cell in cells_of_runs(
                dataset,
                self.explainer,
                name,
                [run.score(reading.discretizer(name)) for run in runs],
                MEASURES,
            )
        ]

    def draw_samples(self, context: Context, model: TrainedModel, reading: Reading) -> list[ExplainedSample]:
        """Explain test rows, and draw samples of the paper's size from them if that is smaller."""
        names, n = (self.name, model.dataset), self.n_explained(context, model)
        X = as_seen_by_explainer(context, model, reading).test[:n]  # the split is in random order
        explanations = explain(context, model, reading, X, context.seed)
        size = self.paper_rows.get(model.dataset, n)
        if size >= n:
            return [explanations]
        return [explanations.take(context.rng(*names, run).permutation(n)[:size]) for run in range(RUNS)]

    def discretizers_of(self, model: TrainedModel) -> list[str]:
        """Return the discretizers for which a dataset has enough columns."""
        return [name for name in self.discretizers if name != "sign-of-top-5" or model.test.shape[1] >= TOP]

    def n_explained(self, context: Context, model: TrainedModel) -> int:
        """Return the number of explained rows."""
        max_rows = self.max_rows(context, model.dataset)
        return len(model.test) if max_rows is None else min(max_rows, len(model.test))

    def max_rows(self, context: Context, dataset: str) -> int | None:
        """Return how many rows are explained at most; None for all."""
        rows = self.rows[context.profile]
        return rows.get(dataset, rows.get(""))
