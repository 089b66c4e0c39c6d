"""Small problems whose answers are numbers, models of them, and an explainer's word on their rows."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeRegressor

import faithkit

N = 240
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4)).round(2)
Y = 3 * X[:, 0] + X[:, 1] * X[:, 2] + 2 * (X[:, 3] > 0)
BACKGROUND, ROWS = X[:200], X[200:]
FRAME = pd.DataFrame(
    {
        "age": np.where(np.arange(N) % 9 == 4, np.nan, X[:, 0]),
        "hours": X[:, 1],
        "children": RNG.integers(0, 4, N),
        "town": RNG.choice(["Bonn", "Ulm", "Jena"], N),
    }
)
PAY = 2 * FRAME["age"].fillna(0) + FRAME["children"] * FRAME["hours"] + 3 * (FRAME["town"] == "Ulm")
WORDS = ("fine", "dull", "plot", "cast", "long", "loud")
TEXTS = [" ".join(RNG.choice(WORDS, 4)) for _ in range(60)]
PICTURES = RNG.normal(size=(60, 4, 4)).round(2)
STARS = np.array([2.0 * text.count("fine") - 1.5 * text.count("dull") + 0.5 for text in TEXTS])


def function(X):
    return 3 * X[:, 0] + X[:, 1] * X[:, 2]


def brightness(images):
    return images[:, :2].sum(axis=(1, 2))


def behind_a_pipeline(model):
    prepare = make_column_transformer(
        (SimpleImputer(), ["age", "hours", "children"]), (OneHotEncoder(), ["town"]), sparse_threshold=0
    )
    return make_pipeline(prepare, model).fit(FRAME[:200], PAY[:200])


LEARNERS = {
    "linear": LinearRegression,
    "tree": lambda: DecisionTreeRegressor(max_depth=4),
    "forest": lambda: RandomForestRegressor(4, max_depth=4, random_state=0),
    "extra trees": lambda: ExtraTreesRegressor(4, max_depth=4, random_state=0),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=4, learning_rate=0.4, random_state=0),
    "histograms": lambda: HistGradientBoostingRegressor(max_iter=4, learning_rate=0.4, random_state=0),
    "xgboost": lambda: pytest.importorskip("xgboost").XGBRegressor(n_estimators=4, max_depth=3, n_jobs=1),
    "lightgbm": lambda: pytest.importorskip("lightgbm").LGBMRegressor(
        n_estimators=4, learning_rate=0.4, n_jobs=1, verbose=-1
    ),
}


class WhenUsed(Mapping):
    """A dictionary that makes each value at its first use, once."""

    def __init__(self, makers):
        self.makers, self.values_by_name = makers, {}

    def __getitem__(self, name):
        if name not in self.values_by_name:
            self.values_by_name[name] = self.makers[name]()
        return self.values_by_name[name]

    def __iter__(self):
        return iter(self.makers)

    def __len__(self):
        return len(self.makers)


def fit(name):
    return LEARNERS[name]().fit(BACKGROUND, Y[:200])


MODELS = WhenUsed({name: partial(fit, name) for name in LEARNERS} | {"function": lambda: function})
REVIEWS = make_pipeline(CountVectorizer(), Ridge()).fit(TEXTS, STARS)
TWO_NUMBERS = LinearRegression().fit(BACKGROUND, np.column_stack([Y[:200], 1e6 * X[:200, 3]]))

# situations: which model, which rows, what to learn from
ARRAYS = {f"array, {name}": lambda name=name: (MODELS[name], ROWS, BACKGROUND) for name in MODELS}
FRAMES = {
    f"frame, {name}": lambda name=name: (behind_a_pipeline(LEARNERS[name]()), FRAME[200:], FRAME[:200])
    for name in ("linear", "boosting")
}
TEXT = {"texts, linear": lambda: (REVIEWS, TEXTS[40:], TEXTS[:40])}
IMAGES = {"images, function": lambda: (brightness, PICTURES[40:], PICTURES[:40])}
SITUATIONS = WhenUsed(ARRAYS | FRAMES | TEXT | IMAGES)


def create_explainer(spec):
    name, _, settings = spec.partition(":")
    params = dict(part.split("=", 1) for part in settings.split(";")) if settings else {}
    values = {key: eval(value, {"true": True, "false": False}) for key, value in params.items()}
    return faithkit.plugin.registry().create("explainer", name, values)


def explained(spec, model, rows, background):
    fitted = create_explainer(spec).fit(faithkit.Predictor(model, background=background), background)
    return fitted.explain(rows, faithkit.plugin.row_seeds(rows, 0))


def covered(rules, rows):
    """Which rows each rule covers, (rules, rows)."""
    sample = faithkit.plugin.Sample(rows, faithkit.Explanations.of([0] * faithkit.plugin.n_rows(rows)))
    bits = faithkit.plugin.scope_bits(rules, sample).view(np.uint8)
    return np.unpackbits(bits, axis=1)[:, : faithkit.plugin.n_rows(rows)].astype(bool)
