"""Logs of numbers: sorted or as they come, each once or as often as it occurs, no number of a result changes."""

from itertools import cycle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from looping import one_test
from nearly import assert_nearly
from pages import json_of

from faithkit.inputs.files import parquet
from faithkit.inputs.logs.log_files import open_log
from faithkit.measure import heavy_tails
from faithkit.measure.agreement import squares
from faithkit.measure.counting import owners
from faithkit.run.populations import log_passes as passes
from faithkit.run.populations.log_scoring import score_log

N = 60
RNG = np.random.default_rng(0)
KIND = RNG.integers(0, 12, N)
WORDS = np.array([f"word {kind}" for kind in range(2 * N)], dtype=object)
NOISE = RNG.normal(size=N)

CASES = {  # predictions, and which explanation each row has; −1 for none
    "nearly all different": (KIND / 4 + NOISE, KIND),
    "few values": (np.round(KIND / 4 + NOISE, 0) + 0.5, KIND),
    "far from 0": (1e9 + np.round(NOISE, 3), KIND),
    "the explanation names the number": (KIND + 0.5, KIND),
    "one number among the explained": (np.where(KIND < 3, NOISE, 0.5), np.where(KIND < 3, -1, KIND)),
    "some are alone": (KIND / 4 + NOISE, np.where(NOISE > 1, 12 + np.arange(N), KIND)),
    "all but pairs are alone": (np.round(NOISE, 1) + 0.01, np.arange(N) // 2 * (np.arange(N) % 3 > 0)),
    "nobody shares": (NOISE, np.arange(N)),
}

# whether the numbers of each piece, in turn, are left as they come
SOME_SORTED = [True, False, False]
ALL_OR_NONE = [[False], [True]]


@pytest.fixture(autouse=True)
def rows_in_memory_are_not_searched(monkeypatch):
    """A log that is read in pieces is searched neither for repeated rows nor for an order."""
    monkeypatch.setattr(
        "faithkit.run.populations.in_memory.InMemory.with_cases", lambda population: population
    )
    monkeypatch.setattr("faithkit.run.judgement._warn_of_order", lambda population, counts: None)


@pytest.fixture
def write_log(tmp_path, monkeypatch):
    """Write the rows of a case to disk, in pieces of a few."""
    monkeypatch.setattr(parquet, "VALUES_PER_BATCH", 200)
    monkeypatch.setattr("faithkit.inputs.logs.log_files.warn_about_long_format", lambda table, log: None)

    def write(case):
        y, kind = CASES[case]
        words = np.where(kind < 0, None, WORDS[kind])
        table = pa.table({"y": y, "word": words, "phi_a": kind % 5 / 2, "phi_b": kind // 5 * 1.0})
        pq.write_table(table, tmp_path / "log.parquet", row_group_size=19)
        return str(tmp_path / "log.parquet")

    return write


@one_test
@pytest.mark.parametrize("case", CASES)
def test_pieces_give_the_same_however_they_are_held(write_log, case, monkeypatch):
    place = list(CASES).index(case)
    estimator, explanation = [("leave-one-out", "phi_*"), ("verified-only", "word")][place % 2]  # in turn
    opened = open_log(write_log(case), "y", (explanation,))
    whole = json_of(score_log(opened.read(), contradictions=3, estimator=estimator))
    for is_left in (SOME_SORTED, ALL_OR_NONE[place // 2 % 2]):
        pattern = cycle(is_left)
        monkeypatch.setattr(passes, "_hardly_repeat", lambda numbers, pattern=pattern: next(pattern))
        assert_nearly(json_of(score_log(opened, contradictions=3, estimator=estimator)), whole, str(is_left))


@one_test
@pytest.mark.parametrize("case", ["few values", "some are alone"])
def test_blocks_of_any_size_give_the_same(write_log, case, monkeypatch):
    opened = open_log(write_log(case), "y", ("phi_*",))
    whole = json_of(score_log(opened))
    for module in (heavy_tails, owners, squares):
        monkeypatch.setattr(module, "BATCH_SIZE", 7)
    assert_nearly(json_of(score_log(opened)), whole)


@one_test
@pytest.mark.parametrize("case", ["nearly all different", "few values", "far from 0"])
def test_the_measure_is_the_share_of_the_variance_between_explanations(write_log, case):
    y, kind = CASES[case]
    groups = [y[kind == number] for number in np.unique(kind)]
    left = sum(len(group) * group.var(ddof=1) for group in groups)
    consistency = score_log(open_log(write_log(case), "y", ("word",))).result.consistency
    assert consistency.value == pytest.approx(1 - left / N / y.var(ddof=1), abs=1e-9)


@one_test
@pytest.mark.parametrize(
    ("values", "expected"), [(NOISE, True), (np.round(NOISE), False), (NOISE[:, None], False)]
)
def test_numbers_are_left_as_they_come_where_hardly_any_occurs_twice(values, expected):
    assert passes._hardly_repeat(values) is expected


def test_scores_that_add_up_to_1_but_for_rounding_are_found_again_in_a_second_pass(tmp_path, monkeypatch):
    monkeypatch.setattr("faithkit.run.populations.log_scoring.MAX_ROWS", 0)
    is_old = np.arange(N) % 2 > 0
    scores = np.where(is_old[:, None], [0.33, 0.33, 0.33], [0.1, 0.8, 0.1])
    scores[::3] = [0.2, 0.5, 0.3]
    columns = {f"p_{name}": scores[:, j] for j, name in enumerate("abc")}
    rules = np.where(is_old, "age > 40", "age <= 40")
    table = pa.table(columns | {"age": np.where(is_old, 50, 30), "rule": rules})
    pq.write_table(table, tmp_path / "log.parquet", row_group_size=7)
    opened = open_log(str(tmp_path / "log.parquet"), "p_*", ("rule",), ("age",), outcome="scores")
    in_pieces, whole = (score_log(log, control_draws=0) for log in (opened, opened.read()))
    assert whole.result.sufficiency.value > 0
    assert_nearly(json_of(in_pieces), json_of(whole))
