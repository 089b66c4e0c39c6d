"""Default models: train one by its name, if the user gives no model."""

from typing import Any

import numpy as np
import pandas as pd

from faithkit.arrays.containers import n_rows, take_rows
from faithkit.errors import InputError
from faithkit.inputs.predictions.outcome import LABELS, NUMBERS, SCORES, Outcome
from faithkit.inputs.rows import Rows, check_X
from faithkit.wording import describe, suggest

DEFAULTS = ("gradient-boosting", "random-forest", "logistic", "linear", "tree", "knn")
_COUNTERPART = {"logistic": "linear", "linear": "logistic"}  # the same model for the other outcome
_TRAIN_SHARE = 0.66  # as in the paper


def default_model(
    name: str = "gradient-boosting", X: Rows = None, seed: int = 0, outcome: str = LABELS
) -> Any:
    """Return an unfitted scikit-learn classifier or regressor for rows like those of X.

    For numbers without missing values this is the bare estimator, so that explainers can look inside it. For
    tables with categories or missing values it is a Pipeline that encodes and imputes them. For texts it is a
    Pipeline that counts their words.

    Parameters
    ----------
    name : {"gradient-boosting", "random-forest", "logistic", "linear", "tree", "knn"}
        The model; "logistic" is for labels, and "linear" for numbers.
    X : array, DataFrame, sparse matrix or list of str, optional
        The rows that decide which preparation the model needs; by default none.
    seed : int
        The model's random state.
    outcome : str
        What the model predicts: "labels" (and their scores) or "numbers".

    Examples
    --------
    >>> default_model("tree")
    DecisionTreeClassifier(max_depth=5, random_state=0)
    >>> default_model("tree", outcome="numbers")
    DecisionTreeRegressor(max_depth=5, random_state=0)
    >>> default_model("tree", pd.DataFrame({"job": ["clerk", None]})).steps[-1]
    ('model', DecisionTreeClassifier(max_depth=5, random_state=0))
    """
    from faithkit.inputs.models.preparation import add_preparation, is_plain

    if name not in DEFAULTS:
        raise InputError(f"there is no default model {name!r}. {suggest(name, DEFAULTS)}")
    models = (
        _regressors(seed % 2**32)
        if outcome == NUMBERS
        else _classifiers(seed % 2**32, plain=X is None or is_plain(X))
    )
    if name not in models:
        raise InputError(
            f"the default model {name!r} does not predict {outcome}, which the target needs: take "
            f"{_COUNTERPART[name]!r}, or say what the target is (--outcome)."
        )
    if X is None:
        return models[name]
    return add_preparation(models[name], X, one_hot=name in ("logistic", "linear", "knn"))


def train_default(
    name: str, X: Rows, y: Any, seed: int = 0, outcome: str | None = None
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Train a default model on 66 % of the rows; return it, its training rows, and the other rows.

    The model is a regressor if the `outcome` is "numbers", or if it is None and y has fractions. The split is
    stratified by y if every class has enough rows. Both lists of rows keep X's order.

    Examples
    --------
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> model, train, test = train_default("tree", X, ["a", "a", "a", "b", "b", "b"])
    >>> len(train), len(test), model.predict([[0.0, 1.0]]).tolist()
    (4, 2, ['a'])
    """
    X = check_X(X)
    kind = Outcome.of(outcome, None, y).kind
    if kind == SCORES and Outcome.of(None, None, y).kind != LABELS:
        raise InputError(
            "the target is a number, and models give scores of labels only: leave the outcome out."
        )
    target = _check_target(y, n_rows(X), kind)
    train, test = _split(target, seed % 2**32)
    model = default_model(name, X, seed, kind)
    try:
        model.fit(take_rows(X, train), target[train])
    except Exception as error:
        raise InputError(
            f"the default model {name!r} cannot be trained on this table ({describe(error)}). "
            "Check the target and the columns, or give a model of your own."
        ) from error
    return model, train, test


def _classifiers(seed: int, plain: bool) -> dict[str, Any]:
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    # A plain table is not scaled, so that coefficients belong to its own columns; there lbfgs takes minutes.
    # A vocabulary has thousands of columns; there Newton takes gigabytes.
    solver = {"solver": "newton-cholesky"} if plain else {"max_iter": 2000}
    return {
        "gradient-boosting": GradientBoostingClassifier(random_state=seed),
        "random-forest": RandomForestClassifier(random_state=seed),
        "logistic": LogisticRegression(**solver),
        "tree": DecisionTreeClassifier(max_depth=5, random_state=seed),
        "knn": KNeighborsClassifier(),
    }


def _regressors(seed: int) -> dict[str, Any]:
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
    from sklearn.linear_model import LinearRegression
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.tree import DecisionTreeRegressor

    return {
        "gradient-boosting": GradientBoostingRegressor(random_state=seed),
        "random-forest": RandomForestRegressor(random_state=seed),
        "linear": LinearRegression(),
        "tree": DecisionTreeRegressor(max_depth=5, random_state=seed),
        "knn": KNeighborsRegressor(),
    }


def _check_target(y: Any, n: int, kind: str) -> np.ndarray:
    """Return the target as an array, one value per row, with at least two distinct values."""
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise InputError(f"the target has shape {labels.shape}; expected ({n},), one label per row of X.")
    n_missing = int(pd.isna(labels).sum())
    if n_missing:
        raise InputError(
            f"the target is missing in {n_missing} of {n} rows. Drop those rows, or name the label."
        )
    if len(pd.unique(labels)) < 2:
        raise InputError(f"the target is {labels.tolist()[0]!r} in every row; expected at least two classes.")
    return _as_numbers(labels) if kind == NUMBERS else labels


def _as_numbers(target: np.ndarray) -> np.ndarray:
    try:
        numbers = target.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"the target has other values than numbers, such as {target.tolist()[0]!r}: leave --outcome "
            "numbers out, or name another column with --target."
        ) from None
    if not np.isfinite(numbers).all():
        raise InputError(f"the target is infinite in row {int(np.isinf(numbers).argmax())}: drop such rows.")
    return numbers


def _split(labels: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.model_selection import train_test_split

    n = len(labels)
    n_train = round(_TRAIN_SHARE * n)
    class_sizes = pd.Series(labels).value_counts()
    can_stratify = class_sizes.min() >= 2 and len(class_sizes) <= min(n_train, n - n_train)
    stratify = labels if can_stratify else None
    train, test = train_test_split(np.arange(n), train_size=n_train, random_state=seed, stratify=stratify)
    return np.sort(train), np.sort(test)
