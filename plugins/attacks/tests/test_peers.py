"""What the page of lies says of measures that perturb is what its script, peers_on_lies, computes."""

import csv
import importlib.util

import pytest
from documented import DOCS, ROOT

SCRIPT = ROOT / "tests" / "benchmarks" / "peers_on_lies.py"


def printed():
    with (DOCS / "attacks" / "peers.csv").open() as file:
        return {row["measure"]: row for row in csv.DictReader(file)}


def numbers(cell):
    return [float(part) for part in cell.replace("[", "").replace("]", "").replace(",", "").split()]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("peers_on_lies", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_shows_every_measure(script):
    assert list(printed()) == list(script.MEASURES)


@pytest.mark.slow
def test_lines_are_true(script):
    asked = {"same-top-features:k=1,bins=2"}
    if importlib.util.find_spec("quantus") and importlib.util.find_spec("captum"):
        asked = set(script.MEASURES)
    told, cases = printed(), script.cases()
    for name in asked:
        library, _, measure = script.MEASURES[name]
        assert told[name]["by"] == library
        for column, case in zip(("honest model", "lie", "truth about the liar"), cases, strict=True):
            result = numbers(script._cell(script._summary(measure(case))))
            assert numbers(told[name][column]) == pytest.approx(result, abs=0.05)


def test_what_is_said_in_words_is_what_the_intervals_say(script):
    for name, row in printed().items():
        intervals = [
            tuple(numbers(row[column])) for column in ("honest model", "lie", "truth about the liar")
        ]
        assert script._verdict(intervals, script.MEASURES[name][1]) == row["says"]
