"""Load datasets by name: embedded ones, and those of plugins."""

from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.containers import Rows
from faithkit.errors import ContractError, PluginError
from faithkit.extension.creation import build
from faithkit.extension.registry import Entry, registry
from faithkit.third_party import guard
from faithkit.wording import join_words

PLACES = ("embedded", "here", "to be downloaded")
"""Where the rows of a dataset are: in the installation, in a file on this machine, or on a server."""


@attrs.frozen(eq=False)
class Dataset:
    """A table of features, the target of each row, and a summary of one line.

    The target is a label or a number (float64).
    """

    name: str
    X: Rows
    y: np.ndarray
    summary: str


def dataset_names() -> list[str]:
    """Return the names of all datasets.

    Examples
    --------
    >>> dataset_names()
    [..., 'breast-cancer', ..., 'digits', ..., 'iris', 'loans', ..., 'wine']
    """
    return list(registry().names("dataset"))


def dataset_place(name: str) -> str:
    """Return the location of a dataset: "embedded", "here" (in a file), or "to be downloaded".

    Examples
    --------
    >>> dataset_place("iris")
    'embedded'
    """
    entry = registry().find("dataset", name)
    with guard(str(entry), error=PluginError):
        place = str(build(entry, {}).place())
    if place not in PLACES:
        choices = join_words(map(repr, PLACES), "or")
        raise ContractError(f"{entry} is at {place!r:.80}: expected {choices}. Fix its place().")
    return place


def dataset_summary(name: str) -> str:
    """Return the summary of a dataset, without loading it.

    Examples
    --------
    >>> dataset_summary("iris")
    '150 irises, 4 measurements of a flower; three species'
    """
    return registry().find("dataset", name).component.summary


def load_dataset(name: str) -> Dataset:
    """Load a dataset by its name: features in a DataFrame, texts or an array; targets as strings or floats.

    Examples
    --------
    >>> iris = load_dataset("iris")
    >>> iris.X.shape, iris.y[0]
    ((150, 4), 'setosa')
    """
    entry = registry().find("dataset", name)
    return attrs.evolve(load_from(entry, build(entry, {})), name=name)


def load_from(entry: Entry, source: Any) -> Dataset:
    """Load a plugin's dataset, and check it: a table, texts or an array, with a label or number per row."""
    with guard(str(entry), "Its load() should return the features and the labels.", PluginError):
        X, y = source.load()
        labels = _as_target(y)
    is_texts = isinstance(X, list) and all(isinstance(text, str) for text in X)
    is_array = isinstance(X, np.ndarray) and X.ndim > 2
    if not isinstance(X, pd.DataFrame) and not is_texts and not is_array:
        is_flat = isinstance(X, np.ndarray)
        description = f"an array of shape {X.shape}" if is_flat else f"of type {type(X).__name__}"
        raise ContractError(
            f"{entry} is {description}: expected a DataFrame, a list of texts, or an array of images or "
            "series."
        )
    if len(X) != len(labels):
        raise ContractError(f"{entry} has {len(X)} rows and {len(labels)} labels: expected one for each row.")
    return Dataset(entry.component.name, X, labels, entry.component.summary)


def _as_target(y: Any) -> np.ndarray:
    """Return floats as float64, and all other values as texts."""
    if pd.api.types.is_float_dtype(getattr(y, "dtype", None)):
        return np.asarray(y, dtype=np.float64)
    return np.array([str(label) for label in y], dtype=object)
