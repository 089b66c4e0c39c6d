"""The situations in which explainers are checked: small models of many kinds, each with rows to explain.

Situations are built once, from fixed seeds. Explainers receive copies, so that they cannot change what other
checks use.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.plugin import concat_rows, take_rows
from faithkit_conformance.components import has_input_kind
from faithkit_conformance.kit import Candidate, Situation

EQUAL_ROWS = (1, 5)
"""The positions of two equal rows in the X of every situation."""

_BACKGROUND_ROWS = 60
_ALL_ROWS = _BACKGROUND_ROWS + EQUAL_ROWS[1]  # the last of the six explained rows repeats the second
_WORDS = ("fine", "dull", "plot", "cast", "long", "loud", "warm", "cold")


@cache
def kit_situation(name: str) -> Situation:
    """Build a situation of the kit: a fitted model, six rows to explain and a background of sixty.

    Examples
    --------
    >>> mixed = kit_situation("mixed_frame")
    >>> mixed.X.dtypes.astype(str).tolist(), len(mixed.X), len(mixed.background)
    (['float64', 'int64', 'str', 'str'], 6, 60)
    """
    from sklearn.pipeline import make_pipeline

    _, build_rows, model_name, n_classes = _SITUATIONS[name]
    rows, score, preparation = build_rows()
    model = _build_model(model_name)
    if preparation is not None:
        model = make_pipeline(preparation, model)
    target = _labels(score, n_classes)[:_BACKGROUND_ROWS]
    return situation_of(model.fit(take_rows(rows, slice(0, _BACKGROUND_ROWS)), target), rows)


def situation_names(candidate: Candidate) -> list[str]:
    """Return the names of the situations whose rows are of one of the explainer's kinds of input."""
    inputs, custom = candidate.component.inputs, candidate.kit.situations
    if custom:
        return [name for name, situation in custom.items() if has_input_kind(situation.X, inputs)]
    return [name for name, (kind, *_) in _SITUATIONS.items() if kind in inputs]


def get_situation(candidate: Candidate, name: str) -> Situation:
    """Return a situation of the candidate's plugin, or of the kit."""
    custom = candidate.kit.situations
    return custom[name] if custom else kit_situation(name)


def situation_of(model: Any, rows: Any) -> Situation:
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
    return Situation(model, X, background)


_Rows = tuple[Any, NDArray[np.float64], Any]
"""Rows, a score that the model learns, and the first step of a pipeline, or None."""


def _numbers() -> NDArray[np.float64]:
    return np.random.default_rng(0).normal(size=(_ALL_ROWS, 4)).round(2)


def _array() -> _Rows:
    X = _numbers()
    return X, X[:, 0] + X[:, 1] * X[:, 2], None


def _frame() -> _Rows:
    X = _numbers()
    return pd.DataFrame(X, columns=["age", "hours", "gain", "loss"]), X[:, 0] - X[:, 3], None


def _mixed_frame() -> _Rows:
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "age": _numbers()[:, 0],
            "children": rng.integers(0, 4, _ALL_ROWS),
            "job": pd.Series(rng.choice(["clerk", "smith", "cook"], _ALL_ROWS), dtype="str"),
            "town": pd.Series(rng.choice(["Bonn", "Ulm"], _ALL_ROWS), dtype="str"),
        }
    )
    table.loc[table.index % 7 == 3, "age"] = np.nan
    table.loc[table.index % 9 == 7, "job"] = None
    words = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder(handle_unknown="ignore")
    )
    preparation = make_column_transformer(
        (SimpleImputer(), ["age", "children"]), (words, ["job", "town"]), sparse_threshold=0
    )
    score = table["children"] + (table["job"] == "clerk") + table["age"].fillna(0) / 10
    return table, score.to_numpy(), preparation


def _texts() -> _Rows:
    from sklearn.feature_extraction.text import CountVectorizer

    rng = np.random.default_rng(2)
    texts = [" ".join(rng.choice(_WORDS, 5)) for _ in range(_ALL_ROWS)]
    score = [text.count("fine") + text.count("warm") - text.count("dull") for text in texts]
    return texts, np.array(score), CountVectorizer()


def _sparse() -> _Rows:
    from scipy.sparse import csr_matrix

    X = _numbers() * (np.random.default_rng(3).random((_ALL_ROWS, 4)) < 0.5)
    return csr_matrix(X), X[:, 0] + X[:, 1], None


def _arrays(*shape: int) -> _Rows:
    from sklearn.preprocessing import FunctionTransformer

    rows = np.random.default_rng(4).normal(size=(_ALL_ROWS, *shape)).round(2)
    score = _flatten(rows[:, :3]).sum(axis=1) - _flatten(rows[:, -2:]).sum(axis=1)
    return rows, score, FunctionTransformer(_flatten)


def _flatten(rows: NDArray[Any]) -> NDArray[Any]:
    return rows.reshape(len(rows), -1)


def _labels(score: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Cut a score into classes of about the same size. Two classes are words, three are numbers.

    With 0 classes, the score itself is the target.
    """
    if not n_classes:
        return score.astype(np.float64)
    ranks = np.argsort(np.argsort(score, kind="stable"), kind="stable")
    codes = ranks * n_classes // len(ranks)
    return np.array(["no", "yes"])[codes] if n_classes == 2 else codes


def _build_model(name: str) -> Any:
    from sklearn import ensemble, linear_model, tree

    small = {"n_estimators": 5, "max_depth": 2, "random_state": 0}
    models = {
        "tree": tree.DecisionTreeClassifier(max_depth=3, random_state=0),
        "forest": ensemble.RandomForestClassifier(n_estimators=5, max_depth=3, random_state=0),
        "boosting": ensemble.GradientBoostingClassifier(**small),
        "linear": linear_model.LogisticRegression(max_iter=1000),
        "regression tree": tree.DecisionTreeRegressor(max_depth=3, random_state=0),
        "boosted regression": ensemble.GradientBoostingRegressor(**small),
        "ridge": linear_model.Ridge(),
    }
    return models[name]


_SITUATIONS: dict[str, tuple[str, Callable[[], _Rows], str, int]] = {
    "array": ("table", _array, "tree", 2),
    "array_of_three_classes": ("table", _array, "tree", 3),
    "frame": ("table", _frame, "boosting", 2),
    "frame_of_three_classes": ("table", _frame, "forest", 3),
    "linear_model": ("table", _array, "linear", 2),
    "linear_model_of_three_classes": ("table", _array, "linear", 3),
    "mixed_frame": ("table", _mixed_frame, "boosting", 2),
    "mixed_frame_of_three_classes": ("table", _mixed_frame, "tree", 3),
    "array_of_numbers": ("table", _array, "regression tree", 0),
    "linear_model_of_numbers": ("table", _array, "ridge", 0),
    "mixed_frame_of_numbers": ("table", _mixed_frame, "boosted regression", 0),
    "texts": ("text", _texts, "linear", 2),
    "texts_of_three_classes": ("text", _texts, "linear", 3),
    "texts_of_numbers": ("text", _texts, "ridge", 0),
    "sparse": ("sparse", _sparse, "linear", 2),
    "sparse_of_three_classes": ("sparse", _sparse, "linear", 3),
    "sparse_of_numbers": ("sparse", _sparse, "ridge", 0),
    "images": ("image", partial(_arrays, 6, 6), "linear", 2),
    "color_images_of_three_classes": ("image", partial(_arrays, 6, 4, 3), "linear", 3),
    "images_of_numbers": ("image", partial(_arrays, 6, 6, 1), "ridge", 0),
    "series": ("series", partial(_arrays, 12, 1), "linear", 2),
    "series_of_three_classes": ("series", partial(_arrays, 12, 2), "linear", 3),
    "series_of_numbers": ("series", partial(_arrays, 12, 1), "ridge", 0),
}
"""The kind of the rows, the function that builds them, the model and the number of classes; 0 for numbers."""
