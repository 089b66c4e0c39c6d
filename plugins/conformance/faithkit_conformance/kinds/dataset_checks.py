"""Checks of datasets: they know where their rows are, and always load the same rows with labels."""

from functools import lru_cache
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd

from faithkit.plugin import join_words
from faithkit_conformance.checks import require, skip_unless_passes
from faithkit_conformance.equality import are_equal
from faithkit_conformance.kinds.component_checks import create
from faithkit_conformance.kit import Candidate

PLACES = ("embedded", "here", "to be downloaded")
"""Where the rows of a dataset are: in the installation, in a file on this machine, or on a server."""


def check_place_is_known(candidate: Candidate) -> None:
    """Check that `place` returns one of the known words for where the rows are.

    `faithkit datasets` lists datasets by it, and a listing must not download anything.
    """
    place = create(candidate).place()
    choices = join_words(map(repr, PLACES), "or")
    require(place in PLACES, f"place() gave {place!r}", f"Expected {choices}")


def check_features_and_labels_are_loaded(candidate: Candidate) -> None:
    """Check that `load` returns a table, texts or an array of images or series, and a label for each row.

    A default model is trained on them, and options such as --columns and --by look for columns by name.
    """
    X, labels = _load_cached(candidate)
    is_texts = isinstance(X, list) and all(isinstance(text, str) for text in X)
    is_array = isinstance(X, np.ndarray) and X.ndim > 2
    form = f"an array of shape {X.shape}" if isinstance(X, np.ndarray) else f"a {type(X).__name__}"
    remedy = "Give a DataFrame, a list of texts, or an array of images or series"
    require(isinstance(X, pd.DataFrame) or is_texts or is_array, f"its rows are {form}", remedy)
    problem = f"it has {len(X)} rows and {len(labels)} labels; expected one for each row"
    require(len(X) == len(labels), problem, "Give every row its label")
    require(len(labels) > 0, "it has no rows", "Give it some")
    if isinstance(X, pd.DataFrame):
        names = list(X.columns)
        has_distinct_names = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
        problem = "its columns have other names than texts, or share one"
        require(has_distinct_names, problem, "Call every column by a text of its own")


def check_loading_again_gives_the_same_rows(candidate: Candidate) -> None:
    """Check that the rows, their order and their labels are the same every time.

    A result names its dataset only, so the name must always mean the same data.
    """
    skip_unless_passes(check_features_and_labels_are_loaded, candidate)
    (X, labels), (X_again, labels_again) = _load_cached(candidate), create(candidate).load()
    is_same = are_equal(np.asarray(labels), np.asarray(labels_again)) and are_equal(X, X_again)
    require(is_same, "it gave other rows or labels the second time", "Fix its seed")


@lru_cache(maxsize=1)  # the next check uses the same rows
def _load_cached(candidate: Candidate) -> tuple[Any, Any]:
    instance = create(candidate)
    if instance.place() == PLACES[-1]:
        raise SkipTest(f"{candidate.name} is not here: load it once, and check again.")
    pair: Any = instance.load()
    is_pair = isinstance(pair, tuple | list) and len(pair) == 2
    require(is_pair, "load() did not give a pair of rows and labels", "Return X, y")
    X, labels = pair
    return X, labels
