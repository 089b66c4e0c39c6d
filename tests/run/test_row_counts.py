"""Counts of rows by explanation and prediction, in memory and in files."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from looping import one_test

import faithkit
from faithkit.errors import InputError

RNG = np.random.default_rng(0)
LOG = pd.DataFrame({"label": RNG.choice(["no", "yes"], 500), "phi": RNG.integers(-2, 3, 500) / 2})
EXPECTED = Counter(zip(LOG["phi"].tolist(), LOG["label"], strict=True))


def count_pairs(counts):
    values = np.asarray(counts.explanations.values, dtype=float).ravel()
    names = [
        (values[i], counts.predictions[j]) for i, j in zip(counts.explanation, counts.prediction, strict=True)
    ]
    assert len(set(names)) == len(names)
    return Counter(dict(zip(names, counts.count.tolist(), strict=True)))


def test_rows_in_memory_are_counted_as_a_loop_counts_them():
    assert count_pairs(faithkit.plugin.count_rows(LOG["label"], LOG[["phi"]])) == EXPECTED


@one_test
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_of_files_are_counted_as_a_loop_counts_them(tmp_path, kind):
    folder = tmp_path / kind
    folder.mkdir()
    for number, part in enumerate((LOG[:300], LOG[300:])):
        path = folder / f"{number}.{kind}"
        part.to_csv(path, index=False) if kind == "csv" else part.to_parquet(path)
    counts = faithkit.plugin.count_log(str(folder), prediction="label", explanation=("phi",))
    assert count_pairs(counts) == EXPECTED


def test_a_discretizer_makes_explanations_equal():
    counts = faithkit.plugin.count_rows(LOG["label"], LOG[["phi"]], discretizer="sign")
    assert (len(counts.explanations), counts.discretizer, counts.count.sum()) == (3, "sign", 500)


@one_test
@pytest.mark.parametrize(
    ("values", "options", "kind", "within"),
    [
        (LOG["label"], {}, "labels", None),
        (LOG["phi"], {}, "numbers", None),
        (LOG["phi"], {"agree": "within:0.5"}, "numbers", 0.5),
        (LOG["phi"], {"outcome": "labels"}, "labels", None),
    ],
)
def test_the_counts_say_what_predictions_are(values, options, kind, within):
    outcome = faithkit.plugin.count_rows(values, LOG[["phi"]], **options).outcome
    assert (outcome["kind"], outcome["within"]) == (kind, within)


@one_test
@pytest.mark.parametrize(
    ("discretizer", "message"),
    [
        ("quantile", "learns from explanations, so counts of two samples could not be compared"),
        ("os:system", "looked up among installed components only"),
        (str, "the discretizer is a type; expected the name of an installed one"),
    ],
)
def test_a_discretizer_that_is_not_the_same_everywhere_is_refused(discretizer, message):
    with pytest.raises(InputError, match=message):
        faithkit.plugin.count_rows(LOG["label"], LOG[["phi"]], discretizer=discretizer)
