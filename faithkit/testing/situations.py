"""The situations in which explainers are checked: small models of many kinds, each with rows to explain.

Situations are built once, from fixed seeds. Explainers receive copies of them.
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import concat_rows, take_rows
from faithkit.inputs.evaluation_inputs import EvaluationInputs
from faithkit.inputs.preparation import flat
from faithkit.inputs.rows import has_input_kind

EQUAL_ROWS = (1, 5)
"""The positions of two equal rows in the X of every situation."""

_BACKGROUND_ROWS = 60
_WORDS = ("fine", "dull", "plot", "cast", "long", "loud", "warm", "cold")


@cache
def kit_situation(name: str) -> EvaluationInputs:
    """Build a situation of the kit: a fitted model, six rows to explain and a background of sixty.

    Examples
    --------
    >>> mixed = kit_situation("mixed_frame")
    >>> mixed.X.dtypes.astype(str).tolist(), len(mixed.X), len(mixed.background)
    (['float64', 'int64', 'str', 'str'], 6, 60)
    """
    _, build = _SITUATIONS[name]
    return build()


_custom_situations: ContextVar[Mapping[str, EvaluationInputs] | None] = ContextVar("situations", default=None)


@contextmanager
def use_situations(situations: Mapping[str, EvaluationInputs] | None) -> Iterator[None]:
    """Check explainers in these situations instead of those of the kit."""
    token = _custom_situations.set(situations)
    try:
        yield
    finally:
        _custom_situations.reset(token)


def has_custom_situations() -> bool:
    """Return whether explainers are checked in other situations than those of the kit."""
    return _custom_situations.get() is not None


def situations_key() -> tuple[tuple[str, EvaluationInputs], ...] | None:
    """Return a hashable key of the current situations; None for those of the kit."""
    situations = _custom_situations.get()
    return None if situations is None else tuple(situations.items())


def situation_names(inputs: tuple[str, ...]) -> list[str]:
    """Return the names of the situations whose rows are of one of the kinds of input.

    Examples
    --------
    >>> situation_names(("text",))
    ['texts', 'texts_of_three_classes', 'texts_of_numbers']
    """
    situations = _custom_situations.get()
    if situations is not None:
        return [name for name, situation in situations.items() if has_input_kind(situation.X, inputs)]
    return [name for name, (kind, _) in _SITUATIONS.items() if kind in inputs]


def current_situation(name: str) -> EvaluationInputs:
    """Return one of the current situations: custom ones, or those of the kit."""
    situations = _custom_situations.get()
    return kit_situation(name) if situations is None else situations[name]


def deep_copy(value: Any) -> Any:
    """Return a deep copy, so that a component cannot change what other checks use."""
    return copy.deepcopy(value)


def first_column(X: Any) -> Any:
    """Return X with its first column only, or None for texts, which have no columns."""
    if isinstance(X, list):
        return None
    return X.iloc[:, :1] if isinstance(X, pd.DataFrame) else X[:, :1]


def situation_of(model: Any, rows: Any) -> EvaluationInputs:
    """Return the situation of a fitted model: a background of sixty rows and six rows to explain, two equal.

    Parameters
    ----------
    model : object
        As `Predictor` takes it.
    rows : array, DataFrame, sparse matrix or list of str
        65 rows that the model can predict.

    Examples
    --------
    >>> inputs = situation_of(lambda X: ["yes"] * len(X), np.arange(65.0).reshape(65, 1))
    >>> len(inputs.background), inputs.X.ravel().tolist()
    (60, [60.0, 61.0, 62.0, 63.0, 64.0, 61.0])
    """
    background, rest = (
        take_rows(rows, positions)
        for positions in (slice(0, _BACKGROUND_ROWS), slice(_BACKGROUND_ROWS, None))
    )
    X = concat_rows([rest, take_rows(rest, slice(EQUAL_ROWS[0], EQUAL_ROWS[0] + 1))])
    if isinstance(X, pd.DataFrame):
        X.index = X.index + 100  # index and position differ, as in a table that was filtered
    return EvaluationInputs(model, X, background)


def _fit_situation(model: Any, rows: Any, y: NDArray[Any]) -> EvaluationInputs:
    return situation_of(model.fit(take_rows(rows, slice(0, _BACKGROUND_ROWS)), y[:_BACKGROUND_ROWS]), rows)


def _numbers() -> NDArray[np.float64]:
    return np.random.default_rng(0).normal(size=(_BACKGROUND_ROWS + EQUAL_ROWS[1], 4)).round(2)


def _labels(score: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Cut a score into classes of about the same size. Two classes are words, three are numbers.

    With 0 classes, the score itself is the target.
    """
    if not n_classes:
        return score.astype(np.float64)
    ranks = np.argsort(np.argsort(score, kind="stable"), kind="stable")
    codes = ranks * n_classes // len(ranks)
    return np.array(["no", "yes"])[codes] if n_classes == 2 else codes


def _array(build_model: Callable[[], Any], n_classes: int) -> EvaluationInputs:
    X = _numbers()
    return _fit_situation(build_model(), X, _labels(X[:, 0] + X[:, 1] * X[:, 2], n_classes))


def _frame(build_model: Callable[[], Any], n_classes: int) -> EvaluationInputs:
    X = _numbers()
    table = pd.DataFrame(X, columns=["age", "hours", "gain", "loss"])
    return _fit_situation(build_model(), table, _labels(X[:, 0] - X[:, 3], n_classes))


def _mixed_table() -> pd.DataFrame:
    rng, X = np.random.default_rng(1), _numbers()
    n = len(X)
    table = pd.DataFrame(
        {
            "age": X[:, 0],
            "children": rng.integers(0, 4, n),
            "job": pd.Series(rng.choice(["clerk", "smith", "cook"], n), dtype="str"),
            "town": pd.Series(rng.choice(["Bonn", "Ulm"], n), dtype="str"),
        }
    )
    table.loc[table.index % 7 == 3, "age"] = np.nan
    table.loc[table.index % 9 == 7, "job"] = None
    return table


def _mixed_frame(build_model: Callable[[], Any], n_classes: int) -> EvaluationInputs:
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    table = _mixed_table()
    words = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder(handle_unknown="ignore")
    )
    prepare = make_column_transformer(
        (SimpleImputer(), ["age", "children"]), (words, ["job", "town"]), sparse_threshold=0
    )
    score = table["children"] + (table["job"] == "clerk") + table["age"].fillna(0) / 10
    return _fit_situation(make_pipeline(prepare, build_model()), table, _labels(score.to_numpy(), n_classes))


def _texts(build_model: Callable[[], Any], n_classes: int) -> EvaluationInputs:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(2)
    texts = [" ".join(rng.choice(_WORDS, 5)) for _ in range(_BACKGROUND_ROWS + EQUAL_ROWS[1])]
    score = np.array([text.count("fine") + text.count("warm") - text.count("dull") for text in texts])
    return _fit_situation(make_pipeline(CountVectorizer(), build_model()), texts, _labels(score, n_classes))


def _sparse(build_model: Callable[[], Any], n_classes: int) -> EvaluationInputs:
    from scipy.sparse import csr_matrix

    X = _numbers() * (np.random.default_rng(3).random((_BACKGROUND_ROWS + EQUAL_ROWS[1], 4)) < 0.5)
    return _fit_situation(build_model(), csr_matrix(X), _labels(X[:, 0] + X[:, 1], n_classes))


def _arrays(shape: tuple[int, ...], build_model: Callable[[], Any], n_classes: int) -> EvaluationInputs:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    rows = np.random.default_rng(4).normal(size=(_BACKGROUND_ROWS + EQUAL_ROWS[1], *shape)).round(2)
    score = flat(rows[:, :3]).sum(axis=1) - flat(rows[:, -2:]).sum(axis=1)
    return _fit_situation(
        make_pipeline(FunctionTransformer(flat), build_model()), rows, _labels(score, n_classes)
    )


def _tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=3, random_state=0)


def _boosting() -> Any:
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=0)


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=5, max_depth=3, random_state=0)


def _linear() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _regression_tree() -> Any:
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_depth=3, random_state=0)


def _boosted_regression() -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(n_estimators=5, max_depth=2, random_state=0)


def _ridge() -> Any:
    from sklearn.linear_model import Ridge

    return Ridge()


_SITUATIONS: dict[str, tuple[str, Callable[[], EvaluationInputs]]] = {
    "array": ("table", partial(_array, _tree, 2)),
    "array_of_three_classes": ("table", partial(_array, _tree, 3)),
    "frame": ("table", partial(_frame, _boosting, 2)),
    "frame_of_three_classes": ("table", partial(_frame, _forest, 3)),
    "linear_model": ("table", partial(_array, _linear, 2)),
    "linear_model_of_three_classes": ("table", partial(_array, _linear, 3)),
    "mixed_frame": ("table", partial(_mixed_frame, _boosting, 2)),
    "mixed_frame_of_three_classes": ("table", partial(_mixed_frame, _tree, 3)),
    "array_of_numbers": ("table", partial(_array, _regression_tree, 0)),
    "linear_model_of_numbers": ("table", partial(_array, _ridge, 0)),
    "mixed_frame_of_numbers": ("table", partial(_mixed_frame, _boosted_regression, 0)),
    "texts": ("text", partial(_texts, _linear, 2)),
    "texts_of_three_classes": ("text", partial(_texts, _linear, 3)),
    "texts_of_numbers": ("text", partial(_texts, _ridge, 0)),
    "sparse": ("sparse", partial(_sparse, _linear, 2)),
    "sparse_of_three_classes": ("sparse", partial(_sparse, _linear, 3)),
    "sparse_of_numbers": ("sparse", partial(_sparse, _ridge, 0)),
    "images": ("image", partial(_arrays, (6, 6), _linear, 2)),
    "color_images_of_three_classes": ("image", partial(_arrays, (6, 4, 3), _linear, 3)),
    "images_of_numbers": ("image", partial(_arrays, (6, 6, 1), _ridge, 0)),
    "series": ("series", partial(_arrays, (12, 1), _linear, 2)),
    "series_of_three_classes": ("series", partial(_arrays, (12, 2), _linear, 3)),
    "series_of_numbers": ("series", partial(_arrays, (12, 1), _ridge, 0)),
}
