"""Checks of datasets: they know where their rows are, and always load the same rows with labels."""

from functools import lru_cache
from unittest import SkipTest

import pandas as pd

from faithkit.inputs.datasets import PLACES, Dataset, load_from
from faithkit.wording import join_words
from faithkit_conformance.checks import require, skip_unless_passes
from faithkit_conformance.equality import are_equal
from faithkit_conformance.kinds.component_checks import create
from faithkit_conformance.kit import Candidate


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
    dataset = _load_cached(candidate)
    require(len(dataset.y) > 0, "it has no rows", "Give it some")
    if isinstance(dataset.X, pd.DataFrame):
        names = list(dataset.X.columns)
        has_distinct_names = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
        problem = "its columns have other names than texts, or share one"
        require(has_distinct_names, problem, "Call every column by a text of its own")


def check_loading_again_gives_the_same_rows(candidate: Candidate) -> None:
    """Check that the rows, their order and their labels are the same every time.

    A result names its dataset only, so the name must always mean the same data.
    """
    skip_unless_passes(check_features_and_labels_are_loaded, candidate)
    first, second = _load_cached(candidate), load_from(candidate.entry, create(candidate))
    is_same = first.y.tolist() == second.y.tolist() and are_equal(first.X, second.X)
    require(is_same, "it gave other rows or labels the second time", "Fix its seed")


@lru_cache(maxsize=1)  # the next check uses the same rows
def _load_cached(candidate: Candidate) -> Dataset:
    instance = create(candidate)
    if instance.place() == PLACES[-1]:
        raise SkipTest(f"{candidate.name} is not here: load it once, and check again.")
    return load_from(candidate.entry, instance)
