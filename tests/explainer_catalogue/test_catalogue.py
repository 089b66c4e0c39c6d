"""What the verdict says of a part of the catalogue, for two seeds, and what the committed table says of all.

The files beside this one run all entries for ten seeds.
"""

import csv
from collections import Counter

import numpy as np
import pytest
from explainer_catalogue.catalogue import (
    BY_OBJECTION,
    FAITHFUL,
    FEW_IN_SCOPE,
    FILE,
    HEADER,
    Runs,
    broken_rules,
    entries,
    run_entry,
)
from explainer_catalogue.entry import FAMILIES, HONEST, KINDS
from explainer_catalogue.truth import find_truth, named_columns

FORMS = {"model", "log with X", "log"}
FAST = [entry for entry in entries if entry.is_fast]


def _table():
    with FILE.open(encoding="utf-8") as file:
        return {row["entry"]: row for row in csv.DictReader(file)}


def _number(text):
    return np.nan if text == "–" else float(text)


def test_there_are_at_least_thirty_of_each_kind_in_all_families_and_forms():
    assert min(Counter(entry.kind for entry in entries).values()) >= 30
    for kind in KINDS:
        assert {entry.family for entry in entries if entry.kind == kind} == set(FAMILIES)
        assert {entry.form for entry in entries if entry.kind == kind} == FORMS
    assert all(300 <= entry.n <= 3000 for entry in entries)


def test_the_committed_table_shows_every_entry_and_its_ten_verdicts():
    table = _table()
    assert [*table] == [entry.name for entry in entries]
    for entry in entries:
        row = table[entry.name]
        assert [*row] == [*HEADER]
        assert (row["kind"], row["form"], row["rows"]) == (entry.kind, entry.form, str(entry.n))
        others = [int(part.rpartition(" ")[2]) for part in row["other verdicts"].split("; ") if part]
        assert int(row["faithful"]) + sum(others) == 10


def test_the_committed_table_breaks_no_rule():
    runs = []
    for entry, row in zip(entries, _table().values(), strict=True):
        verdicts = Counter({FAITHFUL: int(row["faithful"])})
        for part in filter(None, row["other verdicts"].split("; ")):
            name, _, count = part.rpartition(" ")
            verdicts[name] = int(count)
        runs.append(Runs(entry, *(_number(row[name]) for name in ("truth", "chance", "checked")), verdicts))
    assert broken_rules(runs) == []


def test_the_verdict_is_true_of_a_part_of_the_catalogue():
    table = _table()
    truths = {entry.name: _number(table[entry.name]["truth"]) for entry in FAST}
    assert broken_rules([run_entry(entry, range(2), truths[entry.name]) for entry in FAST]) == []


def test_rules_are_broken_by_what_they_forbid():
    honest, lying = (next(entry for entry in FAST if entry.kind == kind) for kind in (HONEST, "lying"))
    assert (
        broken_rules([Runs(honest, 0.95, 0.5, 1.0, Counter({FAITHFUL: 19, "better than its control": 1}))])
        == []
    )
    assert len(broken_rules([Runs(honest, 0.95, 0.5, 1.0, Counter({FAITHFUL: 9, "not faithful": 1}))])) == 1
    assert broken_rules([Runs(honest, 0.80, 0.5, 1.0, Counter({"not faithful": 10}))]) == []
    assert broken_rules([Runs(honest, 0.95, 0.5, 0.9, Counter({"better than its control": 10}))]) == []
    assert broken_rules([Runs(honest, 0.95, 0.5, 1.0, Counter({FEW_IN_SCOPE: 10}))]) == []
    assert len(broken_rules([Runs(honest, 0.80, 0.5, 1.0, Counter({BY_OBJECTION: 1}))])) == 1
    assert len(broken_rules([Runs(lying, 0.95, 0.5, 1.0, Counter({FAITHFUL: 1, "not faithful": 9}))])) == 1


def test_truths_are_those_that_can_be_reasoned():
    """Exact rules are always right; a rule that says nothing about a model of coins is right half the time."""
    by_name = {entry.name: entry for entry in entries}
    assert find_truth(by_name["rectangles-of-ten-zones"], 200) == (1.0, 1.0)
    assert find_truth(by_name["segments-of-coins"], 200)[0] == pytest.approx(0.5, abs=0.03)
    truth, held = find_truth(by_name["row-numbers"], 200)
    assert np.isnan(truth)
    assert held == 0


def test_named_columns_carry_80_percent_of_the_importances_and_are_at_most_five():
    assert named_columns(np.array([0.1, -0.7, 0.15, 0.05])).tolist() == [1, 2]
    assert named_columns(np.array([0.8, 0.2])).tolist() == [0]
    assert named_columns(np.ones(10)).tolist() == [0, 1, 2, 3, 4]
    assert named_columns(np.zeros(3)).tolist() == []
