"""Datasets by name; some come with the installation, so that a first run needs neither file nor network."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.inputs.loans import loans
from faithkit.inputs.published import PUBLISHED
from faithkit.wording import suggest


@attrs.frozen(eq=False)
class Dataset:
    """A table of features, the label of each row, and one line that says what it is about."""

    name: str
    X: Any
    y: np.ndarray
    summary: str


def dataset_names() -> list[str]:
    """Return the names that `load_dataset` knows.

    Examples
    --------
    >>> dataset_names()
    ['breast-cancer', 'digits', 'iris', 'loans', 'wine', 'adult', 'avila', 'bank-marketing', 'chess', ...]
    """
    return [*sorted(_TABLE), *PUBLISHED]


def dataset_place(name: str) -> str:
    """Return where a dataset is: "embedded", "here" (in a file), or "to be downloaded".

    Examples
    --------
    >>> dataset_place("iris")
    'embedded'
    """
    if name in _TABLE:
        return "embedded"
    return "here" if PUBLISHED[name].found() else "to be downloaded"


def dataset_summary(name: str) -> str:
    """Return what a dataset is about, without loading it.

    Examples
    --------
    >>> dataset_summary("iris")
    '150 irises, 4 measurements of a flower; three species'
    """
    return _entry(name)[0]


def load_dataset(name: str) -> Dataset:
    """Return a dataset by its name, features as a DataFrame or a list of texts, and labels as strings.

    Examples
    --------
    >>> iris = load_dataset("iris")
    >>> iris.X.shape, iris.y[0]
    ((150, 4), 'setosa')
    """
    summary, load = _entry(name)
    X, y = load()
    return Dataset(name, X, y, summary)


def _entry(name: str) -> tuple[str, Callable[[], tuple[Any, np.ndarray]]]:
    if name in PUBLISHED:
        return PUBLISHED[name].summary, PUBLISHED[name].load
    if name not in _TABLE:
        raise InputError(f"There is no dataset {name!r}. {suggest(name, dataset_names())}")
    return _TABLE[name]


def _breast_cancer() -> tuple[Any, np.ndarray]:
    from sklearn.datasets import load_breast_cancer

    return _named(load_breast_cancer())


def _wine() -> tuple[Any, np.ndarray]:
    from sklearn.datasets import load_wine

    return _named(load_wine())


def _iris() -> tuple[Any, np.ndarray]:
    from sklearn.datasets import load_iris

    return _named(load_iris())


def _digits() -> tuple[Any, np.ndarray]:
    from sklearn.datasets import load_digits

    return _named(load_digits())


def _named(bunch: Any) -> tuple[Any, np.ndarray]:
    X = pd.DataFrame(bunch.data, columns=[str(name) for name in bunch.feature_names])
    labels = np.array([str(label) for label in bunch.target_names], dtype=object)
    return X, labels[bunch.target]


_TABLE: dict[str, tuple[str, Callable[[], tuple[Any, np.ndarray]]]] = {
    "breast-cancer": (
        "569 tumours, 30 measurements of their cell nuclei; malignant or benign",
        _breast_cancer,
    ),
    "digits": ("1,797 handwritten digits, 64 pixels; the digit", _digits),
    "iris": ("150 irises, 4 measurements of a flower; three species", _iris),
    "loans": ("2,000 made-up applications for a loan; granted by a known rule", loans),
    "wine": ("178 wines, 13 chemical measurements; three growers", _wine),
}
