"""The table of attacks by measures: what the command computes is what the page shows."""

import csv
import re

import pytest
from click.testing import CliRunner
from documented import DOCS
from faithkit_attacks.attack_catalogue import select_attacks
from faithkit_attacks.attack_table import table_rows
from faithkit_attacks.measuring import MEASURES, Measurement, evaluate_side, exposes_lie, measure_attack
from faithkit_attacks.scenarios import adult_scenario, applicants_scenario
from looping import one_test

import faithkit
from faithkit.cli import main
from faithkit.inputs.datasets import dataset_place

PAGE = (DOCS / "attacks.rst").read_text()
QUICK = ("encoder",)
LONG = (
    "parrot",
    "same-for-all",
    "flatterer",
    "out-of-reach",
    "scaffold-lime",
    "scaffold-shap",
    "scaffold-anchors",
    "cherry-picker",
)
NUMBER = re.compile(r"−?\d\.\d+")


@pytest.fixture(scope="module")
def scenario():
    return applicants_scenario(400)


@pytest.fixture(scope="module")
def printed():
    with (DOCS / "attacks" / "measured.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    return {lie[0]: [lie, twin] for lie, twin in zip(rows[::2], rows[1::2], strict=True)}


def words(cell):
    """Return a cell without its numbers, and these: machines may differ in one row of 400."""
    return NUMBER.sub("#", cell), [float(number.replace("−", "-")) for number in NUMBER.findall(cell)]


def is_as_printed(name, scenario, printed):
    (attack,) = select_attacks((name,))
    for computed_row, printed_row in zip(
        table_rows(measure_attack(attack, scenario)), printed[name], strict=True
    ):
        for computed, shown in zip(computed_row, printed_row, strict=True):
            assert words(computed)[0] == words(shown)[0]
            assert words(computed)[1] == pytest.approx(words(shown)[1], abs=0.021)


@one_test
@pytest.mark.parametrize("name", QUICK)
def test_the_page_shows_what_is_measured(name, scenario, printed):
    is_as_printed(name, scenario, printed)


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_the_page_shows_what_is_measured_at_length(name, scenario, printed):
    is_as_printed(name, scenario, printed)


def test_the_page_has_every_attack_and_names_what_nothing_catches(printed):
    assert set(printed) == {*QUICK, *LONG}
    missed = {name for name, (lie, _) in printed.items() if lie[1] == "nothing"}
    assert missed == {"scaffold-anchors", "parrot", "out-of-reach"}
    assert all(measure in PAGE for measure in MEASURES)


def test_consistency_or_sufficiency_catches_every_lie_that_is_caught(printed):
    caught = [set(lie[1].split(", ")) for lie, _ in printed.values() if lie[1] != "nothing"]
    assert len(caught) == 6
    assert all(measures & {"consistency", "sufficiency"} for measures in caught)


@pytest.mark.slow
@pytest.mark.skipif(dataset_place("adult") == "to be downloaded", reason="adult is not here")
def test_what_the_page_says_of_adult_is_true():
    told = r"Of (\d+) people .* for (\d+), .* Sufficiency is (\S+), chance (\S+), and"
    n, blamed, value, chance = map(float, re.search(told, " ".join(PAGE.split())).groups())
    (attack,) = select_attacks(("scaffold-lime",))
    result = evaluate_side(attack.lie, attack, adult_scenario(int(n)))
    first = result.rows.X.columns[abs(result.rows.explanations.values).argmax(axis=1)]
    assert (first == "coin").sum() == pytest.approx(blamed, abs=4)
    assert result.sufficiency.value == pytest.approx(value, abs=0.02)
    assert result.chance == pytest.approx(chance, abs=0.02)


INTERVALS = [
    (Measurement(0.5, 0.4, 0.6), Measurement(0.9, 0.7, 1.0), True),
    (Measurement(0.5, 0.4, 0.7), Measurement(0.9, 0.7, 1.0), False),
    (Measurement(0.9, 0.8, 1.0), Measurement(0.5, 0.4, 0.6), False),  # that the lie looks better is no catch
    (Measurement(0.0, 0.0, 1.0, unchecked=True), Measurement(0.9, 0.8, 1.0), True),
    (Measurement(0.0, 0.0, 1.0, unchecked=True), Measurement(0.0, 0.0, 1.0, unchecked=True), False),
    (Measurement(), Measurement(0.9, 0.8, 1.0), False),
    (Measurement(0.5, 0.4, 0.6), Measurement(), False),
    (Measurement(1.0), Measurement(0.1), False),  # no intervals
]


@one_test
@pytest.mark.parametrize(("lie", "twin", "caught"), INTERVALS)
def test_a_measure_catches_a_lie_where_its_interval_is_the_worse_one(lie, twin, caught):
    assert exposes_lie(lie, twin) is caught


@one_test
@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (Measurement(0.995, 0.9951, 0.9949), "1.00 [0.99, 1.00]"),
        (Measurement(0.49999999999, 0.5, 0.5), "0.50 [0.50, 0.50]"),
        (
            Measurement(0.5, 0.49999999999999, 0.50000000000001),
            "0.50 [0.50, 0.50]",
        ),  # the last bits say nothing
        (Measurement(-0.001, -0.004, 0.001), "0.00 [−0.01, 0.01]"),
        (Measurement(0.0025), "0.003"),
        (Measurement(0.0, 0.0, 1.0, unchecked=True), "nothing to check"),
        (Measurement(), "–"),
    ],
)
def test_ends_are_rounded_outwards_and_hang_on_no_last_bit(cell, text):
    assert str(cell) == text


def test_the_command_writes_the_table(tmp_path):
    file = tmp_path / "lies.csv"
    done = CliRunner().invoke(main, ["attacks", "parrot", "--samples", "50", "--csv", str(file)])
    assert done.exit_code == 0, done.output
    assert "parrot: the prediction as its own explanation" in done.stdout
    header, lie, twin = list(csv.reader(file.open()))
    assert header == ["attack", "caught by", "explains", *MEASURES]
    assert (lie[0], twin[0], lie[1]) == ("parrot", "its honest twin", "nothing")
    piped = CliRunner().invoke(main, ["attacks", "parrot", "--samples", "50", "--csv", "-"])
    assert piped.stdout == file.read_text()


def test_the_command_lists_attacks_and_refuses_others():
    assert CliRunner().invoke(main, ["attacks", "--list"]).stdout.startswith("scaffold-lime ")
    done = CliRunner().invoke(main, ["attacks", "parot"])
    assert done.exit_code == 1
    assert "there is no attack 'parot': choose among scaffold-lime, " in done.stderr
    lost = CliRunner().invoke(main, ["attacks", "parrot", "--samples", "20", "--csv", "nowhere/at/all.csv"])
    assert lost.exit_code == 1
    assert "cannot write nowhere/at/all.csv: No such file" in lost.stderr
    for option, value in (("--samples", "1"), ("--seed", "-1"), ("--data", "iris")):
        wrong = CliRunner().invoke(main, ["attacks", "parrot", option, value])
        assert wrong.exit_code == 2
        assert option in wrong.stderr


@one_test
@pytest.mark.parametrize("name", ["honest", "biased", "liar"])
def test_the_banks_models_are_found_by_the_command_line(name):
    model = faithkit.load_model(f"faithkit_attacks:{name}")
    assert model.predict(applicants_scenario(3).X).tolist()[0] in ("no", "yes")
