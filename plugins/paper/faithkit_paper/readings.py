"""How a table is read: one choice, for all its cells, of everything that the paper leaves open."""

from typing import Any

import attrs
import numpy as np

import faithkit
from faithkit_paper.context import Context
from faithkit_paper.models import Trained
from faithkit_paper.questions import IsSecond, Numbered

DIGITS = 9
NARROW = 6  # columns, of which all coalitions are soon tried


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
        Of importances, the class that they are for: "second" of all classes, the same for all rows, or
        "predicted". Of counterfactuals, the class that they have where there are three or more: "second", or
        "runner-up". Empty for rules.
    fp : str
        How 1-FP and 2-FP cut: "floor", as it is printed, or "round".
    many : str
        The explainer where there are three classes or more, if it is another one.
    narrow : str
        The same for at most six columns: an algorithm that finds the same values sooner there.
    number : bool
        Whether importances are for the predicted class as a number (0, 1, …): what SHAP explains if it is
        given ``model.predict``.
    failed : str
        Rows for which no explanation was found: "alone", each with an explanation of its own, as faithkit has
        it, or "shared", as if they all had the same one (of codes only).
    """

    explainer: str
    table: str = "codes"
    target: str = ""
    fp: str = ""
    many: str = ""
    narrow: str = ""
    number: bool = False
    failed: str = "alone"

    def __str__(self) -> str:
        told = [f"`{self.explainer}`"]
        told += [f"`{self.many}` for three classes or more"] if self.many else []
        told += [f"the {self.target} class"] if self.target else []
        told += ["the predicted class as a number"] if self.number else []
        told += [f"FP by {self.fp}"] if self.fp else []
        told += ["rows without an explanation share one"] if self.failed == "shared" else []
        seen = "ordinal codes" if self.table == "codes" else "the table as published"
        return ", ".join([*told, f"on {seen}"])

    def explainer_of(self, part: Trained) -> str:
        """Return the explainer for a model, by its classes and columns."""
        if len(part.order) <= 2:
            return self.explainer
        narrow = self.narrow if part.train.shape[1] <= NARROW else ""
        return narrow or self.many or self.explainer

    @property
    def compares_importances(self) -> bool:
        """Whether explanations are importances, of all classes, of which one is chosen."""
        return "target=all" in self.explainer

    def discretizer(self, name: str) -> str:
        """Return a discretizer of the paper as it is read here.

        Examples
        --------
        >>> Reading("shap", fp="round").discretizer("1fp"), Reading("shap").discretizer("sign")
        ('1fp:how=round', 'sign')
        """
        return f"{name}:how={self.fp}" if self.fp and name.endswith("fp") else name


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
    spec = reading.explainer_of(part)
    to_second = len(part.order) > 2 and reading.target == "second" and not reading.compares_importances
    model = part.model
    if reading.number or to_second:
        model = (Numbered if reading.number else IsSecond)(part.in_order)
    # readings that differ in what they compare share their explanations
    result = context.once(
        (spec, reading.table, reading.number, to_second, trained.dataset, seed, joblib.hash(X)),
        lambda: context.evaluate(model, X, spec, background=background(context, part), seed=seed),
    )
    labels = np.asarray(part.model.predict(X))
    return Explained(labels, _compared(result.sample.explanations, reading, part, labels))


def seen(context: Context, trained: Trained, reading: Reading) -> Trained:
    """Return the model and its tables as a reading's explainer sees them; numbers are their own codes."""
    if reading.table == "published" and trained.has_categories:
        return trained
    return context.once(("coded", trained.dataset), trained.coded)


def background(context: Context, part: Trained) -> Any:
    """Return rows of the training part for explainers to learn from."""
    return context.sample(part.train, learnt(context), "background")


def learnt(context: Context) -> int:
    """Return how many rows explainers learn from at most."""
    return context.pick(tiny=100, quick=5_000, full=20_000)


def _compared(
    found: faithkit.Explanations, reading: Reading, part: Trained, labels: np.ndarray
) -> faithkit.Explanations:
    """Return the explanations as a reading compares them."""
    if reading.number:
        # sums of whole numbers over coalitions: rounding errors must not tell equal ones apart
        return faithkit.Explanations.vectors(np.round(found.values * (len(part.order) - 1), DIGITS))
    if found.kind == "vector":
        return faithkit.Explanations.vectors(_of_target(found.values, reading.target, part, labels))
    return sharing(found) if reading.failed == "shared" else found


def _of_target(values: np.ndarray, target: str, part: Trained, labels: np.ndarray) -> np.ndarray:
    """Return the importances for one class of those that stand side by side."""
    by_class = values.reshape(len(values), len(part.order), -1)
    if target == "second":
        return by_class[:, part.order[1]]
    return by_class[np.arange(len(values)), np.searchsorted(part.model.classes_, labels)]


def sharing(found: faithkit.Explanations) -> faithkit.Explanations:
    """Give all rows without an example the same one: missing everywhere, and so changed everywhere."""
    values = np.where(found.missing[:, None], np.nan, found.values)
    return faithkit.Explanations(kind=found.kind, values=values, instances=found.instances)
