"""The page of lies shows what the command computes, and what peers_on_lies computes for measures that perturb."""

import csv
import functools
import importlib.util
import re

import pytest
from click.testing import CliRunner
from documented import DOCS, ROOT
from faithkit_attacks.attack_catalogue import ATTACKS, select_attacks
from faithkit_attacks.attack_table import format_text, table_rows
from faithkit_attacks.measuring import (
    EXPOSING_VERDICTS,
    MEASURES,
    AttackResult,
    Measurement,
    SideResult,
    evaluate_side,
    exposes_lie,
    is_not_above,
    measure_attack,
)
from faithkit_attacks.scenarios import adult_scenario, applicants_scenario
from looping import one_test

import faithkit
from faithkit.cli import main
from faithkit.inputs.datasets import dataset_place

PAGE = (DOCS / "attacks.rst").read_text()
QUICK = "same-for-all"
LONG = (
    *("parrot", "label-codes", "encoder", "flatterer", "cut-rules", "false-rules", "repeated-cases"),
    *("random-signs", "inverted-signs", "topic-word", "out-of-reach"),
    *("scaffold-lime", "scaffold-shap", "scaffold-anchors", "cherry-picker"),
)
NUMBER = re.compile(r"−?\d\.\d+")
ROW, FEW_ROWS = 0.021, 0.06  # by which numbers may differ: one row of 400, and some rows of 100


@pytest.fixture(scope="module")
def printed():
    with (DOCS / "attacks" / "measured.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    return {lie[0]: [lie, twin] for lie, twin in zip(rows[::2], rows[1::2], strict=True)}


def split_numbers(cell):
    """Return a cell without its numbers, and these."""
    return NUMBER.sub("#", cell), [float(number.replace("−", "-")) for number in NUMBER.findall(cell)]


def check_printed(computed_rows, printed_rows, tolerance=ROW):
    """Compare what machines agree on: all words, and numbers but for a row or a few."""
    for computed_row, printed_row in zip(computed_rows, printed_rows, strict=True):
        for computed, shown in zip(computed_row, printed_row, strict=True):
            assert split_numbers(computed)[0] == split_numbers(shown)[0]
            assert split_numbers(computed)[1] == pytest.approx(split_numbers(shown)[1], abs=tolerance)


def test_the_command_writes_what_the_page_shows(tmp_path, printed):
    file = tmp_path / "lies.csv"
    done = CliRunner().invoke(main, ["attacks", QUICK, "--out", str(file)])
    assert done.exit_code == 0, done.output
    assert "same-for-all: " in done.stdout
    header, *rows = csv.reader(file.open())
    assert header == ["attack", "verdict", "caught by", "explains", *MEASURES]
    assert [row[0] for row in rows] == ["same-for-all", "its honest twin"]
    check_printed(rows, printed[QUICK])


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_the_page_shows_what_is_measured(name, printed):
    (attack,) = select_attacks((name,))
    # anchors draw rows, and compare sums of them: machines give some rows another rule
    tolerance = ROW if attack.rows is None else FEW_ROWS
    check_printed(table_rows(measure_attack(attack, applicants_scenario(400))), printed[name], tolerance)


def test_the_page_has_every_attack_and_names_what_nothing_catches(printed):
    assert set(printed) == {attack.name for attack in ATTACKS}
    missed = {name for name, (lie, _) in printed.items() if lie[2] == "nothing"}
    # three lies are sufficient: they say too much, show the best of two truths, or ask for the impossible
    assert missed == {"scaffold-anchors", "scaffold-shap", "label-codes", "cherry-picker", "out-of-reach"}
    assert all(measure in PAGE for measure in MEASURES)


def test_no_lie_that_something_catches_is_called_faithful(printed):
    faithful = {name for name, (lie, _) in printed.items() if lie[1] == "faithful"}
    assert faithful == {"scaffold-anchors", "scaffold-shap", "out-of-reach", "cherry-picker"}
    twins = {name: twin[1] for name, (_, twin) in printed.items()}
    assert {name for name, verdict in twins.items() if verdict != "faithful"} == {"repeated-cases"}


@pytest.mark.slow
@pytest.mark.skipif(dataset_place("adult") == "to be downloaded", reason="adult is not here")
def test_what_the_page_says_of_adult_is_true():
    sentence = r"Of (\d+) people .* for (\d+), .* Sufficiency is (\S+), chance (\S+), and"
    n, blamed, value, chance = map(float, re.search(sentence, " ".join(PAGE.split())).groups())
    (attack,) = select_attacks(("scaffold-lime",))
    result = evaluate_side(attack.lie, attack, adult_scenario(int(n)))
    first = result.rows.X.columns[abs(result.rows.explanations.values).argmax(axis=1)]
    assert (first == "coin").sum() == pytest.approx(blamed, abs=4)
    assert result.sufficiency.value == pytest.approx(value, abs=0.02)
    assert result.chance == pytest.approx(chance, abs=0.02)


@pytest.mark.examples
def test_the_readmes_lie_is_not_faithful_by_the_defaults():
    for page in ((ROOT / "README.md").read_text(), (DOCS / "index.rst").read_text()):
        story = " ".join(page.partition("refuses women")[2].partition("attacks scaffold-lime")[0].split())
        (command,) = re.findall(r"faithkit (evaluate .* --explainer \w+)", story)
        said = re.findall(r'"(.+?)"', story)
        assert "Verdict: not faithful: sufficiency is below 0.8." in said
        answer = " ".join(answer_once(command).split())
        assert [sentence for sentence in said if sentence not in answer] == []


@functools.cache
def answer_once(command):
    done = CliRunner().invoke(main, command.split())
    assert done.exit_code == 0, done.output
    return done.stdout


INTERVALS = [
    (Measurement(0.5, 0.4, 0.6), Measurement(0.9, 0.7, 1.0), True),
    (Measurement(0.5, 0.4, 0.7), Measurement(0.9, 0.7, 1.0), False),
    (Measurement(0.92, 0.9, 0.942), Measurement(0.96, 0.945, 1.0), False),  # printed as 0.95 and 0.94
    (Measurement(0.9, 0.8, 1.0), Measurement(0.5, 0.4, 0.6), False),  # that the lie looks better is no catch
    (Measurement(0.0, 0.0, 1.0, unchecked=True), Measurement(0.9, 0.8, 1.0), False),  # the verdict says that
    (Measurement(), Measurement(0.9, 0.8, 1.0), False),
    (Measurement(0.5, 0.4, 0.6), Measurement(), False),
    (Measurement(1.0), Measurement(0.1), False),  # no intervals
]


@one_test
@pytest.mark.parametrize(("lie", "twin", "caught"), INTERVALS)
def test_a_measure_catches_a_lie_where_its_interval_is_the_worse_one(lie, twin, caught):
    assert exposes_lie(lie, twin) is caught


def test_a_control_catches_a_lie_that_is_not_above_it_as_its_twin_is():
    above, unclear = Measurement(0.2, 0.1, 0.3), Measurement(0.2, -0.1, 0.5)
    assert is_not_above(unclear, above)
    assert not is_not_above(above, unclear)
    assert not is_not_above(Measurement(0.05, 0.01, 0.09), above)  # worse, and above its control all the same
    assert not is_not_above(unclear, unclear)
    assert not is_not_above(Measurement(), above)


NOTHING = dict.fromkeys(MEASURES, Measurement())
FAITHFUL = SideResult(verdict="faithful", warnings=("repeats",), measurements=NOTHING)
LIES = [
    ({"verdict": "faithful"}, []),
    ({"verdict": "faithful", "warnings": ("scopes",)}, []),  # nobody is warned of the lie
    ({"verdict": "not faithful", "objections": ("own row",)}, ["own row"]),
    ({"verdict": "better than its control", "warnings": ("repeats", "order")}, ["order"]),
    ({"verdict": "nothing was tested"}, ["verdict"]),
    ({"verdict": "explanations determine the prediction"}, []),
    ({"verdict": "explanations name the prediction", "warnings": ("repeats",)}, ["verdict"]),
]


@one_test
@pytest.mark.parametrize(("lie", "caught_by"), LIES)
def test_what_the_twin_has_as_well_catches_nothing_and_the_verdict_counts_where_nothing_else_does(
    lie, caught_by
):
    (attack,) = select_attacks((QUICK,))
    result = AttackResult(attack, SideResult(measurements=NOTHING, **lie), FAITHFUL)
    assert result.caught_by == caught_by
    assert f"caught by: {', '.join(caught_by) or 'nothing'}" in format_text(result)
    assert [row[:3] for row in table_rows(result)] == [
        [QUICK, lie["verdict"], ", ".join(caught_by) or "nothing"],
        ["its honest twin", "faithful", ""],
    ]


def test_verdicts_that_expose_are_verdicts():
    assert set(EXPOSING_VERDICTS) < set(faithkit.results.VERDICTS)


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


def test_the_command_lists_attacks_writes_to_stdout_and_refuses_others(monkeypatch):
    sizes = []

    def measure_nothing(attack, scenario, *_):
        sizes.append(len(scenario.X))
        return AttackResult(attack, FAITHFUL, FAITHFUL)

    monkeypatch.setattr("faithkit_attacks.measuring.measure_attack", measure_nothing)
    assert CliRunner().invoke(main, ["attacks", "--list"]).stdout.startswith("scaffold-lime ")
    done = CliRunner().invoke(main, ["attacks", "parot"])
    assert done.exit_code == 1
    assert "there is no attack 'parot': choose among scaffold-lime, " in done.stderr
    piped = CliRunner().invoke(main, ["attacks", "parrot", "--out", "-", "--samples", "50"])
    assert sizes == [50]
    assert [line.split(",")[0] for line in piped.stdout.splitlines()] == [
        "attack",
        "parrot",
        "its honest twin",
    ]
    lost = CliRunner().invoke(main, ["attacks", "parrot", "--out", "nowhere/at/all.csv"])
    assert lost.exit_code == 1
    assert "cannot write nowhere/at/all.csv: No such file" in lost.stderr
    for option, value in (("--samples", "1"), ("--seed", "-1"), ("--data", "iris")):
        wrong = CliRunner().invoke(main, ["attacks", "parrot", option, value])
        assert wrong.exit_code == 2
        assert option in wrong.stderr


def test_what_is_not_installed_is_left_out_with_the_command_that_installs_it(monkeypatch):
    def find_nothing_else(kind, name):
        if name in ("anchors", "reader"):
            raise faithkit.errors.UnknownComponentError(f"{name} is not here. In its folder: pip install it")

    monkeypatch.setattr(faithkit.plugin.registry(), "find", find_nothing_else)
    monkeypatch.setattr(
        "faithkit_attacks.measuring.measure_attack",
        lambda attack, *_: AttackResult(attack, FAITHFUL, FAITHFUL),
    )
    done = CliRunner().invoke(main, ["attacks", "scaffold", "--out", "-", "--samples", "2"])
    assert done.exit_code == 0
    assert [line.partition(",")[0] for line in done.stdout.splitlines()[1::2]] == [
        "scaffold-lime",
        "scaffold-shap",
    ]
    assert done.stderr.splitlines() == [
        "scaffold-anchors was not measured: anchors is not here. In its folder: pip install it",
        "reader was not measured: reader is not here. In its folder: pip install it",
    ]
    alone = CliRunner().invoke(main, ["attacks", "scaffold-anchors"])
    assert alone.exit_code == 1
    assert "anchors is not here. In its folder: pip install it" in alone.stderr


def test_without_the_reader_everything_else_is_measured(monkeypatch):
    find = faithkit.plugin.registry().find

    def find_no_reader(kind, name):
        if name == "reader":
            raise faithkit.errors.UnknownComponentError("not here")
        return find(kind, name)

    monkeypatch.setattr(faithkit.plugin.registry(), "find", find_no_reader)
    result = measure_attack(select_attacks((QUICK,))[0], applicants_scenario(100))
    assert result.lie.measurements["reader"] == Measurement()
    assert result.caught_by == ["consistency", "sufficiency", "above control"]


@one_test
@pytest.mark.parametrize("name", ["honest", "biased", "liar"])
def test_the_banks_models_are_found_by_the_command_line(name):
    model = faithkit.load_model(f"faithkit_attacks:{name}")
    assert model.predict(applicants_scenario(3).X).tolist()[0] in ("no", "yes")


# measures that perturb


def read_peers():
    with (DOCS / "attacks" / "peers.csv").open() as file:
        return {row["measure"]: row for row in csv.DictReader(file)}


def read_interval(cell):
    return tuple(float(part) for part in cell.replace("[", "").replace("]", "").replace(",", "").split())


SIDES = ("honest model", "lie", "truth about the liar")


@pytest.fixture(scope="module")
def script():
    file = ROOT / "tests" / "benchmarks" / "peers_on_lies.py"
    spec = importlib.util.spec_from_file_location("peers_on_lies", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_numbers_of_peers_are_those_of_the_script(script):
    names = {"sufficiency"}
    if importlib.util.find_spec("quantus") and importlib.util.find_spec("captum"):
        names = set(script.MEASURES)
    peers, cases = read_peers(), script.cases()
    for name in names:
        library, _, measure = script.MEASURES[name]
        assert peers[name]["by"] == library
        for side, case in zip(SIDES, cases, strict=True):
            expected = read_interval(script._cell(script._summary(measure(case))))
            assert read_interval(peers[name][side]) == pytest.approx(expected, abs=0.05)


def test_the_page_shows_every_peer_and_says_what_its_intervals_say(script):
    assert list(read_peers()) == list(script.MEASURES)
    for name, row in read_peers().items():
        intervals = [read_interval(row[side]) for side in SIDES]
        assert script._verdict(intervals, script.MEASURES[name][1]) == row["says"]
