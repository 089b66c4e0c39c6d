"""A row may take only so long: in Python and in C, in this process and in others, and for however short a limit."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from faithkit_executors import time_limits
from faithkit_executors.processes import Processes
from faithkit_executors.store import Stored
from faithkit_executors.time_limits import RowTimeout, run_with_time_limit
from slow_runs import Slow, X, evaluated, missing, parity

import faithkit

pytestmark = pytest.mark.slow  # every case is a process, or waits for one

TROUBLE = [3, 10, 17, 24, 31, 38]  # every seventh row


@pytest.mark.parametrize("workers", [1, 2])
def test_a_row_may_take_only_so_long_even_if_it_swallows_exceptions(workers):
    executor = Processes(workers, timeout=0.2)
    result = evaluated(explainer=Slow(trouble="hang"), on_error="record", executor=executor)
    assert result.why_unexplained == {"time limit of 0.2 s": 6}
    assert missing(result) == TROUBLE


@pytest.fixture
def plugins_are_found_anew():
    faithkit.plugin.registry.cache_clear()  # it may be older than the slow plugin on the path
    yield
    faithkit.plugin.registry.cache_clear()


@pytest.mark.usefixtures("plugins_are_found_anew")
def test_a_row_that_takes_too_long_stops_the_run_and_is_named():
    with pytest.raises(
        faithkit.errors.ExplainerError, match=r"slow.* failed on row 3: time limit of 0\.2 s\. With on_err"
    ):
        evaluated(explainer="slow:trouble=hang", executor="processes:timeout=0.2")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_loop_in_C_is_ended_together_with_its_process(workers, tmp_path, log):
    executor = Stored(tmp_path, Processes(workers, timeout=0.3))
    options = {"explainer": Slow(trouble="spin"), "executor": executor}
    result = evaluated(X[:16], on_error="record", **options)
    assert result.why_unexplained == {"time limit of 0.3 s": 2}
    assert missing(result) == [3, 10]
    explained = len(log())
    again = evaluated(X[:16], on_error="record", **options)
    assert again.to_dict() == result.to_dict()
    assert len(log()) == explained
    with pytest.raises(
        faithkit.errors.ExplainerError, match=r"failed on row \d+: time limit of 0\.3 s\. With on_error"
    ):
        evaluated(X[:16], **options)


@pytest.mark.parametrize("seconds", [1e-9, 1e-7, 1e-6])
def test_a_limit_that_nobody_can_keep_leaves_every_row_unexplained(seconds):
    result = faithkit.evaluate(parity, X, explainer=Slow(), on_error="record", executor=Processes(1, seconds))
    assert result.why_unexplained == {f"time limit of {seconds:g} s": 40}


@pytest.mark.parametrize("seconds", [3600, 1e10, 1e300, sys.float_info.max])
def test_a_limit_of_ages_changes_nothing(seconds):
    assert evaluated(executor=Processes(1, seconds)).to_dict() == evaluated().to_dict()


def test_what_cannot_travel_is_limited_here_by_the_alarm_alone_and_a_warning_says_so():
    lock = threading.Lock()

    def explain(X):
        with lock:
            while X[0, 0] == 3:
                pass
            return [0]

    with pytest.warns(
        faithkit.errors.FaithkitWarning, match=r"runs in this process, where a time limit ends no code in C"
    ):
        result = faithkit.evaluate(
            parity, X[:6], explainer=explain, on_error="record", executor=Processes(1, 0.2)
        )
    assert missing(result) == [3]


def test_a_limit_works_from_any_thread():
    results = []
    thread = threading.Thread(
        target=lambda: results.append(evaluated(X[:4], executor=Processes(1, timeout=60)))
    )
    thread.start()
    thread.join()
    assert results[0].unexplained == 0


# --- the alarm --------------------------------------------------------------------------------------------


def run_or_be_late(seconds, steps):
    try:
        return run_with_time_limit(seconds, lambda: sum(x * x for x in range(steps)))
    except RowTimeout:
        return "late"


@pytest.mark.parametrize("seconds", [1e-9, 1e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4])
def test_an_alarm_rings_in_the_work_or_not_at_all(seconds):
    for number in range(2000):
        steps = number % 100
        assert run_or_be_late(seconds, steps) in ("late", sum(x * x for x in range(steps)))
    time.sleep(0.3)  # an alarm that was left on would ring now


def test_the_work_is_late_if_it_ended_too_late_even_if_no_alarm_was_heard():
    with pytest.raises(RowTimeout):
        run_with_time_limit(0.05, signal_proof)


def signal_proof():
    before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    time.sleep(0.2)
    signal.signal(signal.SIGALRM, before)


def test_what_the_work_raises_is_raised_and_no_alarm_is_left():
    with pytest.raises(ZeroDivisionError):
        run_with_time_limit(0.05, lambda: 1 / 0)
    time.sleep(0.2)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_handler_of_another_alarm_is_put_back():
    def handler(*_):
        raise AssertionError

    before = signal.signal(signal.SIGALRM, handler)
    try:
        assert run_with_time_limit(5.0, lambda: 3) == 3
        assert signal.getsignal(signal.SIGALRM) is handler
    finally:
        signal.signal(signal.SIGALRM, before)


def test_an_alarm_that_comes_after_the_work_is_harmless():
    code = (
        "import os, signal, time; from faithkit_executors.time_limits import run_with_time_limit; run_with_time_limit(9, int);"
        "os.kill(os.getpid(), signal.SIGALRM); time.sleep(0.1); print('alive')"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "alive\n"


# --- the last resort --------------------------------------------------------------------------------------

WORK = {
    "a loop in C": "sum(iter(int, 1))",
    "a library that waits": "import threading; threading.Lock().acquire(); threading.Event().wait()",
    "a handler of all": "\nwhile True:\n    try:\n        import time; time.sleep(9)\n    except BaseException:\n        pass",
}


@pytest.mark.parametrize("work", WORK)
def test_work_that_ignores_its_limit_ends_the_process_and_says_so(tmp_path, work):
    file = tmp_path / "overdue"
    code = f"""
from faithkit_executors import time_limits
time_limits.GRACE = 0.1
time_limits.run_with_time_limit(0.1, lambda: exec({WORK[work]!r}), {str(file)!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    if "waits" not in work:  # an alarm interrupts that, and it is late in the usual way
        assert (done.stderr, file.read_text() != "") == ("", True)


def test_work_that_keeps_its_limit_leaves_no_trace(tmp_path):
    assert run_with_time_limit(60, lambda: 3, str(tmp_path / "overdue")) == 3
    assert (tmp_path / "overdue").read_text() == ""


def test_limits_are_within_what_timers_take():
    assert time_limits.LONGEST > 365 * 24 * 3600
    assert np.isfinite(time_limits.LONGEST)
