"""The numbers on the page of comparison are those that its scripts, compare_peers and compare_engines, compute."""

import csv
import importlib
import sys

import numpy as np
import pytest
from documented import DOCS, ROOT
from looping import one_test

import faithkit

pytestmark = pytest.mark.xdist_group("comparison")  # what its tests share is made once


@pytest.fixture(scope="module")
def import_script():
    sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))
    yield importlib.import_module
    sys.path.pop(0)


@pytest.fixture(scope="module")
def peers(import_script):
    return import_script("compare_peers")


@pytest.fixture(scope="module")
def data(peers):
    return peers.arrays()


def read_table(measure):
    with (DOCS / "comparison" / f"{measure}.csv").open() as file:
        return [row[1:] for row in csv.reader(file)][1:]


@one_test
@pytest.mark.parametrize("measure", ["consistency", "sufficiency"])
def test_the_lines_of_faithkit_are_what_the_script_computes(peers, data, measure):
    ours = getattr(peers, f"our_{measure}")(data)
    lines = [(setting, *cells) for by, setting, *cells in read_table(measure) if by == "faithkit"]
    assert lines == [(name, *peers.cells(result)) for name, result in ours.items()]


@one_test
@pytest.mark.parametrize("measure", ["consistency", "sufficiency"])
def test_the_lines_of_peers_are_what_the_script_computes(peers, data, measure):
    pytest.importorskip("quantus")
    pytest.importorskip("explainiverse")
    rows = getattr(peers, f"{measure}_rows")(data)
    assert read_table(measure) == [[by, setting, *peers.cells(result)] for by, setting, result in rows]


def read_value(measure, by, setting):
    return next(row[2] for row in read_table(measure) if row[:2] == [by, setting])


def test_where_the_page_says_that_numbers_agree_they_do():
    as_is = "abs=False, normalise=False, batch_size=n"
    assert read_value("consistency", "Quantus", as_is) == read_value(
        "consistency", "faithkit", "signs of the first five columns"
    )
    assert read_value("consistency", "Quantus", f"sign, {as_is}") == read_value(
        "consistency", "faithkit", "sign"
    )
    assert read_value("consistency", "Explainiverse", "top_k=3") == read_value(
        "consistency", "faithkit", "set of the top three"
    )
    assert read_value("sufficiency", "Quantus", as_is) == read_value(
        "sufficiency", "faithkit", "near-explanation, with the same distances"
    )


def test_the_text_repeats_the_numbers_that_it_explains(data):
    text = (DOCS / "comparison.rst").read_text()
    labels, phi = data.labels, data.phi
    assert f"{len(labels):,} handwritten digits" in text
    chance = faithkit.score(labels, phi).chance
    assert f"chance is {chance:.4f}" in text
    assert read_value("consistency", "Quantus", "batch_size=n") == f"{chance:.4f}"
    first = faithkit.score(labels, phi, discretizer=lambda e: np.sign(e.values[:, :5]))
    assert (
        f"is {first.consistency.checkable_counts.expected_estimates(np.array([64]))[0]:.3f}, by the exact formula"
        in " ".join(text.split())
    )
    sign = faithkit.score(labels, phi, discretizer="sign").consistency
    assert f"{1 - sign.verified:.0%}".replace("%", " %") in text
    assert f"{sign.value / sign.verified:.0%}".replace("%", " %") in text


@pytest.fixture(scope="module")
def engines(import_script):
    return import_script("compare_engines")


def test_the_table_of_engines_has_every_case_and_those_of_a_search_without_draws_agree(engines):
    with (DOCS / "comparison" / "engines.csv").open() as file:
        header, *lines = csv.reader(file)
    assert header == list(engines.HEADER)
    expected = [[*case, dataset] for case in engines.CASES for dataset in engines.datasets(case)]
    assert [line[:3] for line in lines] == expected
    assert [line[4:6] for line in lines if line[0] == "dice:method=kdtree"] == [["1.00", "1.00"]] * 3


@pytest.mark.slow  # the plugin's default tests compare the engines of DiCE as well
def test_the_script_computes_that_the_engines_of_a_search_without_draws_agree(engines):
    line = engines.line(("dice:method=kdtree", "delta-sign"), "iris", rows=5)
    assert line[4:6] == ("1.00", "1.00")
