"""A table of discretizations, and how it is read: one choice for all its cells of what the paper leaves open.

Explanations are made once for each dataset and run, and scored under every discretization.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

import faithkit
from faithkit_paper.context import Context
from faithkit_paper.findings import Cell, Findings, cells_of_runs
from faithkit_paper.models import DATASETS, Trained, boosted
from faithkit_paper.orderings import orderings

MEASURES = ("consistency", "uniqueness")


@attrs.frozen
class Reading:
    """What the paper does not say about a table's explanations, decided.

    Attributes
    ----------
    explainer : str
        As `faithkit.evaluate` takes it. Importances are asked for with ``target=all``.
    table : str
        What the explainer sees: "codes" (categories are ordinal codes, all columns numbers) or "published".
    target : str
        The class whose importances are compared: "second" of the sorted classes, the same for all rows, or
        "predicted". Empty where explanations are no importances.
    fp : str
        How 1-FP and 2-FP cut: "floor", as it is printed, or "round".
    many : str
        The explainer where there are three classes or more, if it is another one.
    """

    explainer: str
    table: str = "codes"
    target: str = ""
    fp: str = "floor"
    many: str = ""

    def __str__(self) -> str:
        told = [f"`{self.explainer}`"]
        told += [f"`{self.many}` for three classes or more"] if self.many else []
        told += [f"the {self.target} class"] if self.target else []
        told += [f"FP by {self.fp}"] if self.target else []
        seen = "ordinal codes" if self.table == "codes" else "the table as published"
        return ", ".join([*told, f"on {seen}"])

    def discretizer(self, name: str) -> str:
        """Return a discretizer of the paper as it is read here.

        Examples
        --------
        >>> Reading("shap", fp="round").discretizer("1fp"), Reading("shap").discretizer("sign")
        ('1fp:how=round', 'sign')
        """
        return f"{name}:how={self.fp}" if name.endswith("fp") else name


@attrs.frozen(eq=False)
class Explained:
    """The explanations of a sample, and the model's labels."""

    labels: np.ndarray
    explanations: faithkit.Explanations

    def score(self, discretizer: str) -> Any:
        """Measure them under a discretization."""
        return faithkit.score(self.labels, self.explanations, discretizer=discretizer)

    def take(self, rows: np.ndarray) -> "Explained":
        """Return those of some rows."""
        return Explained(self.labels[rows], self.explanations.take(rows))


def explain(context: Context, trained: Trained, reading: Reading, X: Any, seed: int) -> Explained:
    """Explain rows of the test part, which are given as the reading's explainer sees them."""
    import joblib

    part = seen(context, trained, reading)
    spec = reading.many if reading.many and len(part.model.classes_) > 2 else reading.explainer
    # readings that differ in what they compare share their explanations
    result = context.once(
        (spec, reading.table, trained.dataset, seed, joblib.hash(X)),
        lambda: context.evaluate(part.model, X, spec, background=background(context, part), seed=seed),
    )
    predicted = np.asarray(part.model.predict(X))
    found = result.sample.explanations
    if reading.target:
        found = faithkit.Explanations.vectors(_of_target(found.values, reading, part.model, predicted))
    return Explained(predicted, found)


def seen(context: Context, trained: Trained, reading: Reading) -> Trained:
    """Return the model and its tables as a reading's explainer sees them."""
    if reading.table == "published":
        return trained
    return context.once(("coded", trained.dataset), trained.coded)


def background(context: Context, part: Trained) -> Any:
    """Return rows of the training part for explainers to learn from."""
    return context.sample(part.train, learnt(context), "background")


def learnt(context: Context) -> int:
    """Return how many rows explainers learn from at most."""
    return context.pick(tiny=100, quick=5_000, full=20_000)


def _of_target(values: np.ndarray, reading: Reading, model: Any, predicted: np.ndarray) -> np.ndarray:
    """Return the importances for one class of those that stand side by side."""
    by_class = values.reshape(len(values), len(model.classes_), -1)
    if reading.target == "second":
        return by_class[:, 1]
    return by_class[np.arange(len(values)), np.searchsorted(model.classes_, predicted)]


@attrs.frozen(eq=False)
class Table:
    """A table of the appendix: six datasets and some discretizations of one explainer.

    Attributes
    ----------
    name : str
        The experiment's.
    explainer : str
        As the cells name it.
    discretizers : sequence of str
    reading : Reading
        The candidate that is used; the table's module says how it was chosen.
    candidates : sequence of Reading
    rows : mapping
        By profile, how many rows of each dataset a run has; the name "" stands for all other datasets.
    quicker : str
        A parameter of the explainer that saves time in all profiles but "full".
    """

    name: str
    explainer: str
    discretizers: Sequence[str]
    reading: Reading
    candidates: Sequence[Reading]
    rows: Mapping[str, Mapping[str, int]]
    quicker: str = ""

    def run(self, context: Context) -> Findings:
        """Measure all datasets, and say whether the paper's claims about their order hold."""
        found = context.each(self.name, DATASETS, self.measured)
        return attrs.evolve(found, remarks=(*found.remarks, *orderings(found.cells), *self.said(context)))

    def said(self, context: Context) -> list[str]:
        """Say how the table was read."""
        return [
            f"Read as {self.affordable(context, self.reading)}.",
            f"That is one of {len(self.candidates)} readings, and the same for all cells; "
            f"`python -m faithkit_paper.closest {self.name}` compares them.",
            f"Explainers learn from up to {learnt(context):,} rows of the training part.",
        ]

    def measured(self, context: Context, dataset: str) -> Findings:
        """Measure one dataset under the table's reading."""
        trained, n = boosted(context, dataset), self.size(context, dataset)
        remark = f"{dataset}: {self.runs(context)} samples of {min(n, len(trained.test)):,} test rows."
        return trained.findings(self.cells(context, dataset, self.reading), remark)

    def cells(self, context: Context, dataset: str, reading: Reading) -> list[Cell]:
        """Return the cells of one dataset under a reading."""
        trained, n = boosted(context, dataset), self.size(context, dataset)
        part = seen(context, trained, reading)
        used = self.affordable(context, reading)
        runs = [
            explain(
                context,
                trained,
                used,
                context.sample(part.test, n, self.name, dataset, run),
                context.seed_of(self.name, run),
            )
            for run in range(self.runs(context))
        ]
        return [
            cell
            for name in self.discretizers_of(part)
            for cell in cells_of_runs(
                dataset,
                self.explainer,
                name,
                [run.score(reading.discretizer(name)) for run in runs],
                MEASURES,
            )
        ]

    def affordable(self, context: Context, reading: Reading) -> Reading:
        """Return the reading as the profile has time for it."""
        if context.profile == "full" or not self.quicker:
            return reading
        return attrs.evolve(reading, explainer=f"{reading.explainer},{self.quicker}")

    def discretizers_of(self, part: Trained) -> list[str]:
        """Return the discretizers that a dataset has columns enough for."""
        return [name for name in self.discretizers if name != "sign-of-top-5" or part.test.shape[1] >= TOP]

    def size(self, context: Context, dataset: str) -> int:
        """Return how many rows a run has."""
        rows = self.rows[context.profile]
        return rows.get(dataset, rows[""])

    def runs(self, context: Context) -> int:
        """Return how many runs there are."""
        return context.pick(tiny=2, quick=2, full=5)


TOP = 5
