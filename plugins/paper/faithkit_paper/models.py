"""The paper's models, trained on 66 % of the rows.

The search for hyper-parameters tries 240 combinations, by mean accuracy over three folds. A boosted model of
300 rounds contains those of fewer rounds, so each learning rate and depth is fitted once per fold.
"""

import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import attrs
import numpy as np

from faithkit_paper import boosters
from faithkit_paper.boosters import (
    HISTOGRAM_DATASETS,
    NAME,
    PARAMETER_TYPES,
    Codes,
    Parameters,
    build_booster,
)
from faithkit_paper.context import Context
from faithkit_paper.findings import Cell, Findings
from faithkit_paper.model_wrappers import ReorderedClasses
from faithkit_paper.tabulated import TabulatedModel

DATASETS = ("heart", "chess", "avila", "bank-marketing", "adult", "covtype")
TEST_SHARE = 0.33
CHESS_CLASSES = (
    "draw", "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
)  # fmt: skip
"""The classes of Chess as in its file, ordered by moves to the end and not alphabetically."""

LEARNING_RATES = tuple(2.0**exponent for exponent in range(-5, 3))
ROUNDS = (50, 100, 150, 200, 250, 300)
DEPTHS = (3, 4, 5, 6, 7)
FOLDS = 3


def search_parameters(context: Context, dataset: str, X: Any, y: np.ndarray) -> tuple[Parameters, float]:
    """Return the best hyper-parameters on these rows, and their mean accuracy."""
    from joblib import Parallel, delayed
    from sklearn.model_selection import StratifiedKFold

    rates, depths, rounds = context.pick(
        tiny=((0.25, 1.0), (3,), (5, 10)),
        quick=(LEARNING_RATES, DEPTHS, ROUNDS),
        full=(LEARNING_RATES, DEPTHS, ROUNDS),
    )
    codes, seed = Codes().fit(X).transform(X), context.seed_of("search", dataset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about classes with fewer rows than folds
        folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(codes, y))
    combinations = list(product(rates, depths))
    scores = Parallel(n_jobs=context.n_jobs)(
        delayed(_accuracies)(dataset, rate, depth, rounds, codes, y, fold, seed)
        for rate, depth in combinations
        for fold in folds
    )
    mean = np.array(scores).reshape(len(combinations), len(folds), len(rounds)).mean(axis=1)
    best, best_rounds = np.unravel_index(mean.argmax(), mean.shape)
    rate, depth = combinations[best]
    return Parameters(rate, rounds[best_rounds], depth), float(mean.max())


def _accuracies(
    dataset: str,
    rate: float,
    depth: int,
    rounds: tuple[int, ...],
    X: Any,
    y: np.ndarray,
    fold: Any,
    seed: int,
) -> list[float]:
    """Return the accuracy on a fold after each number of rounds; 0 if fitting fails at a large rate."""
    train_rows, test_rows = fold
    classes, numbers = np.unique(y[train_rows], return_inverse=True)
    model = build_booster(dataset, Parameters(rate, max(rounds), depth), len(classes), seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model.fit(X[train_rows], numbers)
            predictions = list(_predictions(model, X[test_rows], rounds))
        except (ValueError, FloatingPointError, OverflowError):
            return [0.0] * len(rounds)
    return [float(np.mean(classes[predicted] == y[test_rows])) for predicted in predictions]


def _predictions(model: Any, X: Any, rounds: tuple[int, ...]) -> Iterator[np.ndarray]:
    """Yield the predictions after each number of rounds."""
    if hasattr(model, "staged_predict"):
        yield from (
            labels for n_rounds, labels in enumerate(model.staged_predict(X), start=1) if n_rounds in rounds
        )
    else:
        yield from (model.predict(X, iteration_range=(0, n_rounds)) for n_rounds in rounds)


@attrs.frozen(eq=False)
class TrainedModel:
    """A fitted model, its training rows and its test rows.

    Attributes
    ----------
    dataset : str
    model : object with predict and predict_proba
    train, test : DataFrame or array
        Rows as the model takes them. `train` is the background of explainers.
    y_test : ndarray
    accuracy : float
        On all of `test`.
    parameters : Parameters
    remark : str
        The model in words, with its number of training rows.
    order : tuple of int
        The positions of the model's classes in their natural order: sorted, except for Chess.
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
        """The model with its classes numbered in their natural order."""
        return (
            self.model
            if self.order == tuple(sorted(self.order))
            else ReorderedClasses(self.model, self.order)
        )

    @property
    def has_categories(self) -> bool:
        """Whether any column holds categories."""
        return len(self.model.steps[0][1].encoder_.categorical) > 0

    def with_codes(self) -> "TrainedModel":
        """Return the model without its encoding step, and the rows as the codes that it receives."""
        codes, booster = (step for _, step in self.model.steps)
        return attrs.evolve(
            self, model=booster, train=codes.transform(self.train), test=codes.transform(self.test)
        )

    def with_table(self) -> "TrainedModel":
        """Return the model of Chess as a lookup table, which is faster; other models unchanged."""
        from sklearn.pipeline import make_pipeline

        codes, booster = (step for _, step in self.model.steps)
        if self.dataset != "chess":  # 65,536 cells, all of which are board positions
            return self
        return attrs.evolve(self, model=make_pipeline(codes, TabulatedModel(booster).fit()))

    def compiled(self) -> "TrainedModel":
        """Return trees that predict many coded rows fast. The table of Chess is fast already."""
        from faithkit_paper.compiled_trees import CompiledTrees

        is_table = isinstance(self.model, TabulatedModel)
        return self if is_table else attrs.evolve(self, model=CompiledTrees(self.model))

    def findings(self, cells: Any = (), *remarks: str) -> Findings:
        """Return findings that start with the accuracy and the description of the model."""
        accuracy = Cell(self.dataset, NAME, "", "accuracy", self.accuracy, n=len(self.test))
        return Findings((accuracy, *cells), (self.remark, *remarks))


def train_model(context: Context, dataset: str) -> TrainedModel:
    """Train the paper's model of a dataset, once, on the table as published."""
    return context.compute_once(("boosted", dataset), lambda: _train_model(context, dataset))


def _train_model(context: Context, dataset: str) -> TrainedModel:
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline

    data = context.dataset(dataset)
    train, test, y_train, y_test = train_test_split(
        data.X, data.y, test_size=TEST_SHARE, random_state=context.seed_of("split", dataset)
    )
    max_rows = context.pick(tiny=200, quick=20_000, full=None)
    train, y_train = _draw_rows(context, "training", train, y_train, max_rows)
    test, y_test = _draw_rows(context, "testing", test, y_test, max_rows)
    order = order_of(np.unique(y_train))
    if dataset in HISTOGRAM_DATASETS:
        y_train, y_test = _number_labels(y_train, y_test)
    parameters = (
        _search_parameters(context, dataset, train, y_train)
        if context.search
        else Parameters.from_paper(dataset)
    )
    rounds = context.pick(tiny=min(30, parameters.n_estimators), quick=None, full=None)
    if rounds is not None:  # more rounds would make explanations too slow for this profile
        parameters = attrs.evolve(parameters, n_estimators=rounds)

    def fit() -> Any:
        seed, n_classes = context.seed_of("booster", dataset), len(np.unique(y_train))
        context.log(f"training on {dataset}: {len(train):,} rows")
        return make_pipeline(Codes(), build_booster(dataset, parameters, n_classes, seed)).fit(train, y_train)

    model = context.load_or_fit(f"model {parameters}", dataset, boosters.__file__, fit)
    accuracy = float(np.mean(model.predict(test) == y_test))
    remark = _remark(dataset, model, parameters, len(train), len(test))
    return TrainedModel(dataset, model, train, test, y_test, accuracy, parameters, remark, order)


def order_of(classes: np.ndarray) -> tuple[int, ...]:
    """Return the positions of sorted classes in their natural order.

    Examples
    --------
    >>> order_of(np.array(["A", "B"])), order_of(np.array(["draw", "eight", "one", "zero"]))
    ((0, 1), (0, 3, 2, 1))
    """
    names = classes.tolist()
    ordered = sorted(names, key=CHESS_CLASSES.index) if set(names) <= set(CHESS_CLASSES) else names
    return tuple(names.index(name) for name in ordered)


def _search_parameters(context: Context, dataset: str, X: Any, y: np.ndarray) -> Parameters:
    """Search for hyper-parameters as in the paper, on a number of rows that fits the profile."""
    X, y = _draw_rows(context, "searching", X, y, context.pick(tiny=100, quick=2_000, full=20_000))

    def run_search() -> Findings:
        parameters, accuracy = search_parameters(context, dataset, X, y)
        numbers = {**attrs.asdict(parameters), "accuracy in the search": accuracy}
        return Findings(tuple(Cell(dataset, NAME, "", name, value) for name, value in numbers.items()))

    cells = {cell.measure: cell.ours for cell in context.load_or_compute("search", dataset, run_search).cells}
    return Parameters(*(convert(cells[name]) for name, convert in PARAMETER_TYPES.items()))


def _number_labels(y_train: np.ndarray, y_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return labels as the numbers that XGBoost needs, with −1 for labels that are not in training."""
    classes, numbers = np.unique(y_train, return_inverse=True)
    position = np.searchsorted(classes, y_test).clip(max=len(classes) - 1)
    return numbers, np.where(classes[position] == y_test, position, -1)


def _draw_rows(context: Context, purpose: str, X: Any, y: Any, max_rows: int | None) -> tuple[Any, Any]:
    """Draw at most `max_rows` rows at random."""
    if max_rows is None or max_rows >= len(y):
        return X, y
    rows = context.rng("rows for", purpose).permutation(len(y))[:max_rows]
    return X.iloc[rows], y[rows]


def _remark(dataset: str, model: Any, parameters: Parameters, n_train: int, n_test: int) -> str:
    model_type = type(model.steps[-1][1]).__name__
    settings = ", ".join(f"{name}={value:g}" for name, value in attrs.asdict(parameters).items())
    return f"{dataset}: {model_type}({settings}), {n_train:,} rows for training, {n_test:,} for testing."
