"""The paper's models, trained on 66 % of the rows."""

from typing import Any

import attrs
import numpy as np

from faithkit_paper.boosters import BY_HISTOGRAM, KINDS, NAME, Codes, Parameters, booster
from faithkit_paper.context import Context
from faithkit_paper.findings import Cell, Findings
from faithkit_paper.questions import InOrder
from faithkit_paper.search import search

DATASETS = ("heart", "chess", "avila", "bank-marketing", "adult", "covtype")
TEST_SHARE = 0.33
DEPTHS = (
    "draw", "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
)  # fmt: skip
"""The classes of Chess as its file has them, by moves to the end; the alphabet would shuffle them."""


@attrs.frozen(eq=False)
class Trained:
    """A fitted model, the rows it learnt from, and rows it has never seen.

    Attributes
    ----------
    dataset : str
    model : object with predict and predict_proba
    train, test : DataFrame or array
        What the model takes; `train` is the explainers' background.
    y_test : ndarray
    accuracy : float
        On all of `test`.
    parameters : Parameters
    remark : str
        What the model is, and on how many rows it learnt.
    order : tuple of int
        The places of the model's classes in the order that they are counted in: sorted, but for Chess.
    """

    dataset: str
    model: Any
    train: Any
    test: Any
    y_test: np.ndarray
    accuracy: float
    parameters: Parameters
    remark: str
    order: tuple[int, ...]

    @property
    def in_order(self) -> Any:
        """The model, with its classes numbered in order."""
        return self.model if self.order == tuple(sorted(self.order)) else InOrder(self.model, self.order)

    @property
    def has_categories(self) -> bool:
        """Whether any column holds categories."""
        return len(self.model.steps[0][1].encoder_.categorical) > 0

    def coded(self) -> "Trained":
        """Return the same model without its first step, and the rows as the numbers it sees."""
        codes, booster = (step for _, step in self.model.steps)
        return attrs.evolve(
            self, model=booster, train=codes.transform(self.train), test=codes.transform(self.test)
        )

    def findings(self, cells: Any = (), *remarks: str) -> Findings:
        """Return findings that begin with the model: its accuracy, and what it is."""
        accuracy = Cell(self.dataset, NAME, "", "accuracy", self.accuracy, n=len(self.test))
        return Findings((accuracy, *cells), (self.remark, *remarks))


def boosted(context: Context, dataset: str) -> Trained:
    """Train the paper's model of a dataset, once; it takes the table as it is published."""
    return context.once(("boosted", dataset), lambda: _boosted(context, dataset))


def _boosted(context: Context, dataset: str) -> Trained:
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline

    data = context.dataset(dataset)
    train, test, y_train, y_test = train_test_split(
        data.X, data.y, test_size=TEST_SHARE, random_state=context.seed_of("split", dataset)
    )
    most = context.pick(tiny=200, quick=20_000, full=100_000)
    train, y_train = _thinned(context, "training", train, y_train, most)
    test, y_test = _thinned(context, "testing", test, y_test, most)
    order = order_of(np.unique(y_train))
    if dataset in BY_HISTOGRAM:
        y_train, y_test = _numbered(y_train, y_test)
    parameters = (
        _searched(context, dataset, train, y_train) if context.search else Parameters.printed(dataset)
    )
    rounds = context.pick(tiny=min(30, parameters.n_estimators), quick=None, full=None)
    if rounds is not None:  # explainers ask the model so often that seconds do not suffice for more
        parameters = attrs.evolve(parameters, n_estimators=rounds)
    seed = context.seed_of("booster", dataset)
    model = make_pipeline(Codes(), booster(dataset, parameters, len(np.unique(y_train)), seed))
    context.tell(f"training on {dataset}: {len(train):,} rows")
    model.fit(train, y_train)
    accuracy = float(np.mean(model.predict(test) == y_test))
    remark = _remark(dataset, model, parameters, len(train), len(test))
    return Trained(dataset, model, train, test, y_test, accuracy, parameters, remark, order)


def order_of(classes: np.ndarray) -> tuple[int, ...]:
    """Return the places of sorted classes in the order that they are counted in.

    Examples
    --------
    >>> order_of(np.array(["A", "B"])), order_of(np.array(["draw", "eight", "one", "zero"]))
    ((0, 1), (0, 3, 2, 1))
    """
    known = classes.tolist()
    counted = sorted(known, key=DEPTHS.index) if set(known) <= set(DEPTHS) else known
    return tuple(known.index(label) for label in counted)


def _searched(context: Context, dataset: str, X: Any, y: np.ndarray) -> Parameters:
    """Look for hyper-parameters as the paper did, on as many rows as there is time for."""
    X, y = _thinned(context, "searching", X, y, context.pick(tiny=100, quick=2_000, full=20_000))

    def found() -> Findings:
        parameters, accuracy = search(context, dataset, X, y)
        given = {**attrs.asdict(parameters), "accuracy in the search": accuracy}
        return Findings(tuple(Cell(dataset, NAME, "", name, value) for name, value in given.items()))

    cells = {cell.measure: cell.ours for cell in context.kept("search", dataset, found).cells}
    return Parameters(*(kind(cells[name]) for name, kind in KINDS.items()))


def _numbered(y_train: np.ndarray, y_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the sorted labels, as XGBoost wants them; −1 for those it never learns."""
    classes, numbers = np.unique(y_train, return_inverse=True)
    place = np.searchsorted(classes, y_test).clip(max=len(classes) - 1)
    return numbers, np.where(classes[place] == y_test, place, -1)


def _thinned(context: Context, part: str, X: Any, y: Any, most: int | None) -> tuple[Any, Any]:
    """Keep at most so many rows, drawn at random."""
    if most is None or most >= len(y):
        return X, y
    rows = context.rng("rows for", part).permutation(len(y))[:most]
    return X.iloc[rows], y[rows]


def _remark(dataset: str, model: Any, parameters: Parameters, n_train: int, n_test: int) -> str:
    kind = type(model.steps[-1][1]).__name__
    told = ", ".join(f"{name}={value:g}" for name, value in attrs.asdict(parameters).items())
    return f"{dataset}: {kind}({told}), {n_train:,} rows for training, {n_test:,} for testing."
