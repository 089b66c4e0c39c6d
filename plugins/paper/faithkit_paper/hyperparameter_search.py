"""The search for hyper-parameters of the appendix: 240 combinations, by mean accuracy over three folds.

A boosted model of 300 rounds contains those of fewer rounds, so each learning rate and depth is fitted once
per fold.
"""

import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from faithkit_paper.boosters import Codes, Parameters, build_booster
from faithkit_paper.context import Context

LEARNING_RATES = tuple(2.0**exponent for exponent in range(-5, 3))
ROUNDS = (50, 100, 150, 200, 250, 300)
DEPTHS = (3, 4, 5, 6, 7)
FOLDS = 3


def search(context: Context, dataset: str, X: Any, y: np.ndarray) -> tuple[Parameters, float]:
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
