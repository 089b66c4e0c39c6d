"""One sound dataset, and heirs of it with one fault each."""

import itertools

import pandas as pd


class Sound:
    """Three persons."""

    def load(self):
        return pd.DataFrame({"age": [30, 40, 50], "sex": ["f", "m", "f"]}), ["yes", "no", "no"]

    def place(self):
        return "embedded"


class HasNoPlace(Sound):
    """On a disk that only its author has."""

    def place(self):
        return "/home/me"


class ForgetsALabel(Sound):
    """One label less than there are rows."""

    def load(self):
        X, y = super().load()
        return X, y[1:]


class IsEmpty(Sound):
    """A table without rows."""

    def load(self):
        X, _ = super().load()
        return X[:0], []


class NumbersItsColumns(Sound):
    """Columns are called 0 and 1."""

    def load(self):
        X, y = super().load()
        return X.set_axis([0, 1], axis=1), y


class Shuffles(Sound):
    """Another order each time."""

    turns = itertools.count()

    def load(self):
        X, y = super().load()
        order = [0, 1, 2] if next(self.turns) % 2 else [2, 1, 0]
        return X.iloc[order], [y[i] for i in order]
