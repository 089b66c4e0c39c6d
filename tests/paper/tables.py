"""Small tables for the experiments: rows of the real data where they are here, else stand-ins like them."""

import os
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd

import faithkit

ROWS = 700

ADULT_WORDS = {
    "workclass": ["Private", "State-gov", "Self-emp-inc"],
    "education": ["HS-grad", "Bachelors", "Masters"],
    "marital-status": ["Married-civ-spouse", "Never-married", "Divorced"],
    "occupation": ["Farming-fishing", "Sales", "Exec-managerial"],
    "relationship": ["Husband", "Wife", "Not-in-family"],
    "race": ["White", "Black"],
    "sex": ["Male", "Female"],
    "native-country": ["United-States", "Mexico"],
}
ADULT_NUMBERS = {
    "age": (17, 90),
    "fnlwgt": (20_000, 400_000),
    "education-num": (1, 16),
    "capital-gain": (0, 2),
    "capital-loss": (0, 2),
    "hours-per-week": (20, 60),
}
ADULT_ORDER = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
]  # fmt: skip


@cache
def load(name):
    """Return an object with X and y, like `faithkit.load_dataset`, of a few hundred rows."""
    if os.environ.get("FAITHKIT_DATA"):
        return _draw_rows(faithkit.load_dataset(name))
    return SimpleNamespace(name=name, **_MADE_UP[name]())


def _draw_rows(data):
    rows = np.random.default_rng(0).permutation(len(data.y))[:ROWS]
    return SimpleNamespace(name=data.name, X=faithkit.plugin.take_rows(data.X, rows), y=data.y[rows])


def _numbers(columns, classes):
    """Normal columns; the label is the quantile of a noisy sum of the first two."""
    rng = np.random.default_rng(columns)
    X = pd.DataFrame(rng.normal(size=(ROWS, columns)), columns=[f"x{j}" for j in range(columns)])
    score = X["x0"] + X["x1"] + rng.normal(scale=0.3, size=ROWS)
    y = pd.qcut(score, classes, labels=[f"class {k}" for k in range(classes)])
    return {"X": X, "y": y.astype(str).to_numpy(object)}


def _adult():
    rng = np.random.default_rng(5)
    columns = {name: rng.choice(words, ROWS) for name, words in ADULT_WORDS.items()}
    columns |= {name: rng.integers(*ends, ROWS) for name, ends in ADULT_NUMBERS.items()}
    X = pd.DataFrame(columns)[ADULT_ORDER]
    X.loc[rng.choice(ROWS, 20, replace=False), "workclass"] = None
    rich = X["education-num"] + 3 * (X["capital-gain"] > 0) + rng.normal(scale=1.5, size=ROWS) > 12
    return {"X": X, "y": np.where(rich, ">50K", "<=50K").astype(object)}


def _chess():
    rng = np.random.default_rng(6)
    pieces = ("white-king", "white-rook", "black-king")
    columns = {f"{piece}-file": rng.choice(list("abcdefgh"), ROWS) for piece in pieces}
    columns |= {f"{piece}-rank": rng.integers(1, 9, ROWS) for piece in pieces}
    X = pd.DataFrame(columns)
    depth = (X["white-king-rank"] + X["white-rook-rank"]) // 4
    return {"X": X, "y": depth.map(["zero", "one", "two", "three", "draw"].__getitem__).to_numpy(object)}


def _heart():
    data = _numbers(13, 2)
    data["X"].iloc[::50, 11] = np.nan
    return {"X": data["X"][:303], "y": data["y"][:303]}


def _rt_polarity():
    rng = np.random.default_rng(7)
    words = {label: [f"{word}{i}" for i in range(25)] for label, word in (("pos", "fine"), ("neg", "dull"))}
    plain = ["the", "a", "film", *(f"word{i}" for i in range(60))]
    y = rng.choice(["neg", "pos"], ROWS).astype(object)
    texts = [[*rng.choice(plain, 5), *rng.choice(words[label], 2), *rng.choice(plain, 2)] for label in y]
    return {"X": [" ".join(rng.permutation(text)) for text in texts], "y": y}


_MADE_UP = {
    "adult": _adult,
    "avila": lambda: _numbers(10, 4),
    "bank-marketing": _adult,
    "chess": _chess,
    "covtype": lambda: _numbers(12, 3),
    "heart": _heart,
    "rt-polarity": _rt_polarity,
}
