"""A stream of predictions that are numbers or scores: what agrees with the pool, and what raises an alarm."""

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


def numbers(n, seed, noise=0.5):
    """Return predictions around what their explanation says, and the explanations."""
    rng = np.random.default_rng(seed)
    why = rng.integers(0, 4, n)
    return why + noise * rng.normal(size=n), why


def several(n, seed, noise=0.5):
    one, why = numbers(n, seed, noise)
    return np.column_stack([one, why - numbers(n, seed + 1, noise)[0]]), why


def scores(n, seed, noise=0.5):
    one, why = numbers(n, seed, noise)
    likely = 1 / (1 + np.exp(-4 * (one - 1.5)))
    return np.column_stack([likely, 1 - likely]), why


KINDS = {
    "numbers": (numbers, "numbers", None),
    "several outputs": (several, "numbers", None),
    "a tolerance": (numbers, "numbers", 0.75),
    "scores": (scores, "scores", None),
}


def tallies(values, why, kind, within):
    agree = None if within is None else f"within:{within}"
    return Tallies.of(faithkit.plugin.count_rows(values, why, outcome=kind, agree=agree))


def brute_force(kind, within, row, why, pool, explanations):
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
    made, kind, within = KINDS[name]
    (pool, explanations), (batch, why) = made(300, seed=1), made(80, seed=5, noise=1.5)
    why[:7] = 9  # nobody has it
    counted = {}
    for (digest, prediction), count in tallies(pool, explanations, kind, within).cells.items():
        counted.setdefault(digest, {})[prediction] = count
    agreement = Agreement.with_pool(kind, within, counted)
    scored = Scores.of(tallies(batch, why, kind, within), counted, 0, agreement)
    rows, pool = batch.reshape(80, -1), pool.reshape(300, -1)
    expected = [brute_force(kind, within, *row, pool, explanations) for row in zip(rows, why, strict=True)]
    assert sorted(scored.values) == pytest.approx(sorted(expected), abs=1e-12)
    assert scored.unverified == 7


@one_test
@pytest.mark.parametrize("name", KINDS)
def test_an_alarm_is_raised_when_explanations_stop_telling_and_not_before(tmp_path, name):
    made, kind, within = KINDS[name]
    agree = None if within is None else f"within:{within}"
    monitor = Monitor.create(tmp_path / "state", *made(2000, 0), agree=agree)
    outcome = monitor.to_dict()["outcome"]
    assert (outcome["kind"], outcome["within"]) == (kind, within)
    for day in range(1, 3):
        monitor = monitor.add(*made(400, 10 * day), name=f"day {day}")
    assert monitor.alarm is None
    for day in range(3, 5):
        monitor = monitor.add(*made(400, 10 * day, noise=1.5), name=f"day {day}")
    assert (monitor.alarm["change"], monitor.alarm["since"]) == ("lower", "day 3")


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_stream_without_a_change_raises_no_alarm(name):
    """In at most 5 of 100 streams is promised; wild numbers, too, are only cut."""
    made, kind, within = KINDS[name]
    alarms = 0
    for seed in range(12):
        wild = np.random.default_rng(seed).standard_t(2, 5000)
        values, why = made(5000, 1000 * seed)
        values = values if kind == "scores" else values + wild.reshape(-1, *[1] * (values.ndim - 1))
        parts = [tallies(values[i : i + 500], why[i : i + 500], kind, within) for i in range(2000, 5000, 500)]
        reference = tallies(values[:2000], why[:2000], kind, within)
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
    y, z = np.round(numbers(50, 0)[0], 3), np.round(numbers(20, 1)[0], 3)
    found = []
    for pool, batch in [(y, z), (scale * y + shift, scale * z + shift)]:
        counted = {b"a": {repr(float(one)): 1 for one in pool}}
        cells = [(b"a", repr(float(one))) for one in batch]
        found.append(Agreement.with_pool("numbers", None, counted).shares(cells, counted))
    assert found[0] == pytest.approx(found[1], abs=1e-6)
    assert found[0].mean() > 0.1


@one_test
@pytest.mark.parametrize("agree", [None, "within:1"])
def test_a_number_out_of_all_bounds_agrees_with_nobody_and_disturbs_nobody(tmp_path, agree):
    monitor = Monitor.create(tmp_path / "state", *numbers(500, 0), agree=agree)
    y, why = numbers(100, 1)
    usual = monitor.add(y[1:], why[1:], name="usual").looks[0]
    y[0] = 1e300
    found = monitor.add(y, why, name="wild").looks[1]
    assert 100 * found.agreement == pytest.approx(99 * usual.agreement)


def test_a_batch_may_have_one_prediction_and_a_reference_may_not(tmp_path):
    y, why = numbers(400, 0)
    monitor = Monitor.create(tmp_path / "state", y, why)
    assert monitor.add([1.0], [1], name="a row").looks[0].agreement > 0.9
    with pytest.raises(
        InputError, match=r"^there is nothing to watch: the pool has no prediction but 1\.5\."
    ):
        Monitor.create(tmp_path / "other", np.full(400, 1.5), why)
    assert not (tmp_path / "other").exists()


def test_a_state_of_labels_takes_no_numbers_unless_they_were_called_labels(tmp_path):
    y, why = numbers(400, 0)
    monitor = Monitor.create(tmp_path / "state", y > 1, why)
    with pytest.raises(
        InputError, match="the predictions of day are numbers, and those of the reference are labels"
    ):
        monitor.add(y, why, name="day")
    named = Monitor.create(tmp_path / "named", np.round(y, 1), why, outcome="labels")
    assert named.add(np.round(y[1:], 1), why[1:], name="day").looks[0].n == 399


def test_a_state_with_words_for_numbers_is_refused_in_one_line(tmp_path):
    y, why = numbers(400, 0)
    Monitor.create(tmp_path / "state", y, why)
    with sqlite3.connect(tmp_path / "state") as state:
        state.execute("UPDATE pool SET prediction = 'x' || prediction")
    with pytest.raises(InputError, match="failed with JSONDecodeError"):
        Monitor.open(tmp_path / "state").add(y[1:], why[1:], name="day")


@one_test
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("unit", "0"),
        ("unit", "NaN"),
        ("unit", '"far"'),
        ("outcome", '{"sort": "numbers"}'),
    ],
)
def test_a_state_that_says_odd_things_of_predictions_is_refused(tmp_path, name, value):
    Monitor.create(tmp_path / "state", *numbers(400, 0))
    with sqlite3.connect(tmp_path / "state") as state:
        state.execute("UPDATE settings SET value = ? WHERE name = ?", (value, name))
    with pytest.raises(InputError, match=r"^reading the state"):
        Monitor.open(tmp_path / "state")


def run(*words):
    done = CliRunner().invoke(main, ["monitor", "m.state", *words])
    assert not done.exception or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.fixture(params=["csv", "parquet"])
def written(request, tmp_path, monkeypatch):
    """Write a reference and two days, of which one has whole numbers only; return the ends of their names."""
    monkeypatch.chdir(tmp_path)
    for name, (y, why) in {"ref": numbers(1000, 0), "1": numbers(200, 1), "2": numbers(200, 2)}.items():
        frame = pd.DataFrame({"price": np.round(y) if name == "2" else y, "why": why})
        frame.to_csv(f"{name}.csv", index=False)
        frame.to_parquet(f"{name}.parquet", index=False)
    return request.param


ROLES = ["--prediction", "price", "--explanation", "why"]


def test_a_log_of_numbers_is_watched_and_whole_ones_are_numbers_there(written):
    done = run(f"1.{written}", f"2.{written}", "--reference", f"ref.{written}", *ROLES)
    assert (done.exit_code, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert "over the variance of the pool's predictions, and never below 0; 0 where the pool" in text
    assert "less or more than expected" in text
    again = ["--reference", f"ref.{written}", *ROLES]
    assert run(*again, "--outcome", "numbers").exit_code == 0
    refused = run(*again, "--agree", "within:1")
    assert "was made with the outcome 'numbers', and not with 'numbers, within 1'" in refused.stderr


@pytest.mark.parametrize("written", ["csv"], indirect=True)
def test_a_tolerance_is_settled_with_the_state(written):
    done = run(f"1.{written}", "--reference", f"ref.{written}", *ROLES, "--agree", "within:0.5")
    assert "whose prediction is within 0.5 of its own" in " ".join(done.stdout.split())
    assert run(f"2.{written}").exit_code == 0
    assert [look.agreement > 0.3 for look in Monitor.open("m.state").looks] == [True, True]
