"""Datasets by name: those that come with the installation, and those that other plugins offer."""

from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import ContractError, PluginError
from faithkit.extension.registry import Entry, registry
from faithkit.foreign import foreign
from faithkit.wording import listing

PLACES = ("embedded", "here", "to be downloaded")
"""Where the rows of a dataset are: in the installation, in a file on this machine, or elsewhere."""


@attrs.frozen(eq=False)
class Dataset:
    """A table of features, what is to be predicted of each row, and one line that says what it is about.

    That is a label, or a number (float64).
    """

    name: str
    X: Any
    y: np.ndarray
    summary: str


def dataset_names() -> list[str]:
    """Return the names that `load_dataset` knows.

    Examples
    --------
    >>> dataset_names()
    [..., 'breast-cancer', ..., 'digits', ..., 'iris', 'loans', ..., 'wine']
    """
    return list(registry().names("dataset"))


def dataset_place(name: str) -> str:
    """Return where a dataset is: "embedded", "here" (in a file), or "to be downloaded".

    Examples
    --------
    >>> dataset_place("iris")
    'embedded'
    """
    who = str(registry().find("dataset", name))
    with foreign(who, error=PluginError):
        found = str(registry().create("dataset", name).place())
    if found not in PLACES:
        choice = listing(map(repr, PLACES), "or")
        raise ContractError(f"{who} is at {found!r:.80}: expected {choice}. Mend its place().")
    return found


def dataset_summary(name: str) -> str:
    """Return what a dataset is about, without loading it.

    Examples
    --------
    >>> dataset_summary("iris")
    '150 irises, 4 measurements of a flower; three species'
    """
    return registry().find("dataset", name).component.summary


def load_dataset(name: str) -> Dataset:
    """Return a dataset by its name: a DataFrame, texts or an array of images; labels as strings or floats.

    Examples
    --------
    >>> iris = load_dataset("iris")
    >>> iris.X.shape, iris.y[0]
    ((150, 4), 'setosa')
    """
    entry = registry().find("dataset", name)
    return attrs.evolve(loaded(entry, registry().create("dataset", name)), name=name)


def loaded(entry: Entry, source: Any) -> Dataset:
    """Return what a plugin's dataset loads: a table, texts or an array, with a label or number per row."""
    who = str(entry)
    with foreign(who, "Its load() should return the features and the labels.", PluginError):
        X, y = source.load()
        labels = _target(y)
    is_texts = isinstance(X, list) and all(isinstance(text, str) for text in X)
    is_array = isinstance(X, np.ndarray) and X.ndim > 2
    if not isinstance(X, pd.DataFrame) and not is_texts and not is_array:
        given = f"an array of shape {X.shape}" if isinstance(X, np.ndarray) else f"of type {type(X).__name__}"
        raise ContractError(
            f"{who} is {given}: expected a DataFrame, a list of texts, or an array of images or series."
        )
    if len(X) != len(labels):
        raise ContractError(f"{who} has {len(X)} rows and {len(labels)} labels: expected one for each row.")
    return Dataset(entry.component.name, X, labels, entry.component.summary)


def _target(y: Any) -> np.ndarray:
    """Return floats as they are, whole or not, and all else as texts."""
    if pd.api.types.is_float_dtype(getattr(y, "dtype", None)):
        return np.asarray(y, dtype=np.float64)
    return np.array([str(label) for label in y], dtype=object)
