"""A stream of predictions that are numbers or scores: which rows agree with the pool, and what raises an alarm."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from faithkit_monitor import Monitor
from faithkit_monitor.scoring import Agreement, Scores, split_reference
from faithkit_monitor.sequence import ChangeDetector, Sequence
from faithkit_monitor.tallies import Tallies
from looping import one_test

import faithkit
from faithkit.cli import main
from faithkit.errors import InputError


def draw_numbers(n, seed, noise=0.5):
    """Return predictions around what their explanation says, and the explanations."""
    rng = np.random.default_rng(seed)
    why = rng.integers(0, 4, n)
    return why + noise * rng.normal(size=n), why


def draw_pairs(n, seed, noise=0.5):
    predictions, why = draw_numbers(n, seed, noise)
    return np.column_stack([predictions, why - draw_numbers(n, seed + 1, noise)[0]]), why


def draw_scores(n, seed, noise=0.5):
    predictions, why = draw_numbers(n, seed, noise)
    likely = 1 / (1 + np.exp(-4 * (predictions - 1.5)))
    return np.column_stack([likely, 1 - likely]), why


KINDS = {
    "numbers": (draw_numbers, "numbers", None),
    "several outputs": (draw_pairs, "numbers", None),
    "a tolerance": (draw_numbers, "numbers", 0.75),
    "scores": (draw_scores, "scores", None),
}


def count_cells(values, why, kind, within):
    agree = None if within is None else f"within:{within}"
    return Tallies.of(faithkit.plugin.count_rows(values, why, outcome=kind, agree=agree))


def score_by_brute_force(kind, within, row, why, pool, explanations):
    """Compare a row with every row of the pool that has its explanation."""
    alike = pool[explanations == why]
    if not len(alike):
        return 0.0
    apart = ((alike - row) ** 2).sum(axis=1)
    if within is not None:
        return np.mean(np.sqrt(apart) <= within)
    unit = pool.var(axis=0, ddof=1).sum() if kind == "numbers" else 1.0
    return max(0.0, 1 - apart.mean() / 2 / unit)


@one_test
@pytest.mark.parametrize("name", KINDS)
def test_a_row_agrees_with_the_pools_rows_as_a_double_loop_says(name):
    draw, kind, within = KINDS[name]
    (pool, explanations), (batch, why) = draw(300, seed=1), draw(80, seed=5, noise=1.5)
    why[:7] = 9  # nobody has it
    counts = {}
    for (digest, prediction), count in count_cells(pool, explanations, kind, within).cells.items():
        counts.setdefault(digest, {})[prediction] = count
    agreement = Agreement.with_pool(kind, within, counts)
    scores = Scores.of(count_cells(batch, why, kind, within), counts, 0, agreement)
    rows, pool = batch.reshape(80, -1), pool.reshape(300, -1)
    expected = [
        score_by_brute_force(kind, within, *row, pool, explanations) for row in zip(rows, why, strict=True)
    ]
    assert sorted(scores.values) == pytest.approx(sorted(expected), abs=1e-12)
    assert scores.unverified == 7


@one_test
@pytest.mark.parametrize("name", KINDS)
def test_an_alarm_is_raised_when_explanations_stop_telling_and_not_before(tmp_path, name):
    draw, kind, within = KINDS[name]
    agree = None if within is None else f"within:{within}"
    monitor = Monitor.create(tmp_path / "state", *draw(800, 0), agree=agree)
    outcome = monitor.to_dict()["outcome"]
    assert (outcome["kind"], outcome["within"]) == (kind, within)
    for day in range(1, 3):
        monitor = monitor.add(*draw(200, 10 * day), name=f"day {day}")
    assert monitor.alarm is None
    for day in range(3, 5):
        monitor = monitor.add(*draw(200, 10 * day, noise=1.5), name=f"day {day}")
    assert (monitor.alarm["change"], monitor.alarm["since"]) == ("lower", "day 3")


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_stream_without_a_change_raises_no_alarm(name):
    """In at most 5 of 100 streams is promised; wild numbers are only cut."""
    draw, kind, within = KINDS[name]
    alarms = 0
    for seed in range(12):
        wild = np.random.default_rng(seed).standard_t(2, 5000)
        values, why = draw(5000, 1000 * seed)
        values = values if kind == "scores" else values + wild.reshape(-1, *[1] * (values.ndim - 1))
        parts = [
            count_cells(values[i : i + 500], why[i : i + 500], kind, within) for i in range(2000, 5000, 500)
        ]
        reference = count_cells(values[:2000], why[:2000], kind, within)
        pool, agreement, calibration = split_reference(reference, seed, {"kind": kind, "within": within})
        expected = Sequence(0.025).after(calibration.values)
        watch = ChangeDetector.new(0.025)
        for part in parts:
            watch = watch.after(Scores.of(part, pool, int(part.fingerprint(), 16), agreement).values)
        alarms += watch.alarm(expected) is not None
    assert alarms <= 1


@one_test
@pytest.mark.parametrize(("scale", "shift"), [(1024.0, 0.0), (1e-3, 0.0), (1.0, 1e9), (1e200, 0.0)])
def test_numbers_that_are_shifted_and_scaled_agree_as_before(scale, shift):
    y, z = np.round(draw_numbers(50, 0)[0], 3), np.round(draw_numbers(20, 1)[0], 3)
    shares = []
    for pool, batch in [(y, z), (scale * y + shift, scale * z + shift)]:
        counts = {b"a": {repr(float(number)): 1 for number in pool}}
        cells = [(b"a", repr(float(number))) for number in batch]
        shares.append(Agreement.with_pool("numbers", None, counts).shares(cells, counts))
    assert shares[0] == pytest.approx(shares[1], abs=1e-6)
    assert shares[0].mean() > 0.1


@one_test
@pytest.mark.parametrize("agree", [None, "within:1"])
def test_a_number_out_of_all_bounds_agrees_with_nobody_and_disturbs_nobody(tmp_path, agree):
    monitor = Monitor.create(tmp_path / "state", *draw_numbers(500, 0), agree=agree)
    y, why = draw_numbers(100, 1)
    usual = monitor.add(y[1:], why[1:], name="usual").looks[0]
    y[0] = 1e300
    wild = monitor.add(y, why, name="wild").looks[1]
    assert 100 * wild.agreement == pytest.approx(99 * usual.agreement)


def test_a_batch_may_have_one_prediction_and_a_reference_may_not(tmp_path):
    y, why = draw_numbers(400, 0)
    monitor = Monitor.create(tmp_path / "state", y, why)
    assert monitor.add([1.0], [1], name="a row").looks[0].agreement > 0.9
    with pytest.raises(
        InputError, match=r"^there is nothing to watch: the pool has no prediction but 1\.5\."
    ):
        Monitor.create(tmp_path / "other", np.full(400, 1.5), why)
    assert not (tmp_path / "other").exists()


def test_a_state_of_labels_takes_no_numbers_unless_they_were_called_labels(tmp_path):
    y, why = draw_numbers(400, 0)
    monitor = Monitor.create(tmp_path / "state", y > 1, why)
    with pytest.raises(
        InputError, match="the predictions of day are numbers, and those of the reference are labels"
    ):
        monitor.add(y, why, name="day")
    named = Monitor.create(tmp_path / "named", np.round(y, 1), why, outcome="labels")
    assert named.add(np.round(y[1:], 1), why[1:], name="day").looks[0].n == 399


def test_a_state_with_words_for_numbers_is_refused_in_one_line(tmp_path):
    y, why = draw_numbers(400, 0)
    Monitor.create(tmp_path / "state", y, why)
    with sqlite3.connect(tmp_path / "state") as state:
        state.execute("UPDATE pool SET prediction = 'x' || prediction")
    with pytest.raises(InputError, match="failed with JSONDecodeError"):
        Monitor.open(tmp_path / "state").add(y[1:], why[1:], name="day")


@one_test
@pytest.mark.parametrize(
    ("name", "value"), [("unit", "0"), ("unit", "NaN"), ("unit", '"far"'), ("outcome", '{"sort": "numbers"}')]
)
def test_a_state_that_says_odd_things_of_predictions_is_refused(tmp_path, name, value):
    Monitor.create(tmp_path / "state", *draw_numbers(400, 0))
    with sqlite3.connect(tmp_path / "state") as state:
        state.execute("UPDATE settings SET value = ? WHERE name = ?", (value, name))
    with pytest.raises(InputError, match=r"^reading the state"):
        Monitor.open(tmp_path / "state")


def run(*words):
    done = CliRunner().invoke(main, ["monitor", "m.state", *words])
    assert not done.exception or isinstance(done.exception, SystemExit), done.exception
    return done


ROLES = ["--prediction", "price", "--explanation", "why"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write_logs(suffix):
    """Write a reference and two days, of which one has whole numbers only."""
    for name, (y, why) in {
        "ref": draw_numbers(1000, 0),
        "1": draw_numbers(200, 1),
        "2": draw_numbers(200, 2),
    }.items():
        frame = pd.DataFrame({"price": np.round(y) if name == "2" else y, "why": why})
        if suffix == "csv":
            frame.to_csv(f"{name}.csv", index=False)
        else:
            frame.to_parquet(f"{name}.parquet", index=False)


@one_test
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_log_of_numbers_is_watched_and_whole_ones_are_numbers_there(tmp_path, monkeypatch, suffix):
    monkeypatch.chdir(tmp_path)
    write_logs(suffix)
    done = run(f"1.{suffix}", f"2.{suffix}", "--reference", f"ref.{suffix}", *ROLES)
    assert (done.exit_code, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert "over the variance of the pool's predictions, and never below 0; 0 where the pool" in text
    assert "less or more than expected" in text


def test_the_outcome_is_settled_with_the_state():
    write_logs("csv")
    for words in ([], ["--outcome", "numbers"]):
        assert run("--reference", "ref.csv", *ROLES, *words).exit_code == 0
    refused = run("--reference", "ref.csv", *ROLES, "--agree", "within:1")
    assert "was made with the outcome 'numbers', and not with 'numbers, within 1'" in refused.stderr


def test_a_tolerance_is_settled_with_the_state():
    write_logs("csv")
    done = run("1.csv", "--reference", "ref.csv", *ROLES, "--agree", "within:0.5")
    assert "whose prediction is within 0.5 of its own" in " ".join(done.stdout.split())
    assert run("2.csv").exit_code == 0
    assert [look.agreement > 0.3 for look in Monitor.open("m.state").looks] == [True, True]


def test_numbers_at_exactly_the_tolerance_agree_despite_rounding():
    pool = {b"a": {"0.8": 1, "0.3": 1}}  # 0.7 + 0.1 is less than 0.8 in floats
    shares = Agreement("numbers", within=0.1).shares([(b"a", "0.7"), (b"a", "0.4"), (b"a", "0.69")], pool)
    assert shares.tolist() == [0.5, 0.5, 0.0]
    assert faithkit.score([0.7, 0.8], ["a", "a"], agree="within:0.1").consistency.value == 1.0
