"""What a dataset promises: that it knows where its rows are, and gives the same ones, each with a label."""

from functools import lru_cache
from unittest import SkipTest

import numpy as np
import pandas as pd
from pandas.testing import assert_frame_equal

from faithkit.extension.entries import Entry
from faithkit.inputs.datasets import PLACES, Dataset, loaded
from faithkit.testing.checks import demand, needs
from faithkit.testing.kinds.component_checks import make
from faithkit.wording import listing


def check_place_is_known(entry: Entry) -> None:
    """Check that `place` says where the rows are, in one of the words that are known.

    `faithkit datasets` lists datasets by it, and nobody expects a listing to download anything.
    """
    found = make(entry).place()
    choice = listing(map(repr, PLACES), "or")
    demand(found in PLACES, entry.component.name, f"place() gave {found!r}", f"Expected {choice}")


def check_features_and_labels_are_loaded(entry: Entry) -> None:
    """Check that `load` gives a table, texts or an array of images or series, and a label for each row.

    A default model is trained on them, and options such as --columns and --by look for columns by name.
    """
    found = _loaded(entry)
    demand(len(found.y) > 0, entry.component.name, "it has no rows", "Give it some")
    if isinstance(found.X, pd.DataFrame):
        names = list(found.X.columns)
        unique = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
        mend = "Call every column by a text of its own"
        demand(unique, entry.component.name, "its columns have other names than texts, or share one", mend)


def check_loading_again_gives_the_same_rows(entry: Entry) -> None:
    """Check that the rows, their order and their labels are the same every time.

    The same question must give the same answer, and a result says no more of its data than a name.
    """
    needs(check_features_and_labels_are_loaded, entry)
    first, again = _loaded(entry), loaded(entry, make(entry))
    same = first.y.tolist() == again.y.tolist() and _equal(first.X, again.X)
    demand(same, entry.component.name, "it gave other rows or labels the second time", "Fix its seed")


@lru_cache(maxsize=1)  # the next check asks for the same rows
def _loaded(entry: Entry) -> Dataset:
    made = make(entry)
    if made.place() == PLACES[-1]:
        raise SkipTest(f"{entry.component.name} is not here: load it once, and check again.")
    return loaded(entry, made)


def _equal(X: object, other: object) -> bool:
    if isinstance(X, np.ndarray):
        return isinstance(other, np.ndarray) and np.array_equal(X, other, equal_nan=True)
    if not isinstance(X, pd.DataFrame):
        return other == X
    try:
        assert_frame_equal(X, other)
    except AssertionError:
        return False
    return True
