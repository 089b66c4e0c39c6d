"""Checks of datasets: they know where their rows are, and always load the same rows with labels."""

from functools import lru_cache
from unittest import SkipTest

import numpy as np
import pandas as pd
from pandas.testing import assert_frame_equal

from faithkit.extension.entries import Entry
from faithkit.inputs.datasets import PLACES, Dataset, load_from
from faithkit.testing.checks import require, skip_unless_passes
from faithkit.testing.kinds.component_checks import create
from faithkit.wording import join_words


def check_place_is_known(entry: Entry) -> None:
    """Check that `place` returns one of the known words for where the rows are.

    `faithkit datasets` lists datasets by it, and a listing must not download anything.
    """
    place = create(entry).place()
    choices = join_words(map(repr, PLACES), "or")
    require(place in PLACES, entry.component.name, f"place() gave {place!r}", f"Expected {choices}")


def check_features_and_labels_are_loaded(entry: Entry) -> None:
    """Check that `load` returns a table, texts or an array of images or series, and a label for each row.

    A default model is trained on them, and options such as --columns and --by look for columns by name.
    """
    dataset = _load_cached(entry)
    require(len(dataset.y) > 0, entry.component.name, "it has no rows", "Give it some")
    if isinstance(dataset.X, pd.DataFrame):
        names = list(dataset.X.columns)
        has_distinct_names = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
        remedy = "Call every column by a text of its own"
        require(
            has_distinct_names,
            entry.component.name,
            "its columns have other names than texts, or share one",
            remedy,
        )


def check_loading_again_gives_the_same_rows(entry: Entry) -> None:
    """Check that the rows, their order and their labels are the same every time.

    A result names its dataset only, so the name must always mean the same data.
    """
    skip_unless_passes(check_features_and_labels_are_loaded, entry)
    first, second = _load_cached(entry), load_from(entry, create(entry))
    is_same = first.y.tolist() == second.y.tolist() and _are_equal(first.X, second.X)
    require(is_same, entry.component.name, "it gave other rows or labels the second time", "Fix its seed")


@lru_cache(maxsize=1)  # the next check uses the same rows
def _load_cached(entry: Entry) -> Dataset:
    instance = create(entry)
    if instance.place() == PLACES[-1]:
        raise SkipTest(f"{entry.component.name} is not here: load it once, and check again.")
    return load_from(entry, instance)


def _are_equal(X: object, other: object) -> bool:
    if isinstance(X, np.ndarray):
        return isinstance(other, np.ndarray) and np.array_equal(X, other, equal_nan=True)
    if not isinstance(X, pd.DataFrame):
        return other == X
    try:
        assert_frame_equal(X, other)
    except AssertionError:
        return False
    return True
