"""Progress of a run: how far it is, and how long it will take."""

import logging
import sys
import types
import warnings
from unittest import TestCase

import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit.run.explaining.executors import resolve_executor
from faithkit.run.explaining.progress import (
    Display,
    Progress,
    describe_forecast,
    report_progress,
    track_progress,
)

X = np.arange(12.0)[:, None]


class RecordingDisplay(Display):
    """A display that remembers what it showed."""

    def __init__(self):
        self.shown, self.texts = [], []

    def show(self, done):
        self.shown.append(done)

    def write(self, text):
        self.texts.append(text)


class Keeping:
    """An executor that keeps what is finished."""

    kept_in = "a safe place"

    def run(self, job, chunks):
        raise NotImplementedError


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


HERE = resolve_executor("here", 1)


def start_run(total=1000, done=0, executor=HERE):
    display, clock = RecordingDisplay(), Clock()
    return Progress("slow", executor, display, total, done, clock), display, clock


def test_rows_of_the_chunk_at_hand_move_the_bar():
    progress, display, _ = start_run(done=10)
    for rows in (0, 1, 2):
        progress.advance(rows)
    progress.finish_chunk(8)
    progress.advance(1)
    assert display.shown == [10, 11, 13, 18, 19]


def test_rows_of_an_earlier_run_count_as_done_and_not_for_the_forecast():
    progress, display, clock = start_run()
    progress.skip(500)
    progress.skip(100)
    progress.advance(0)
    clock.now = 6.0
    progress.skip(100)  # whenever they arrive
    progress.finish_chunk(10)
    assert display.shown == [600, 710]
    assert display.texts[0].startswith("slow: 290 rows more take about 3 min (600 ms a row)")


def test_rows_told_twice_never_lead_beyond_the_end():
    progress, display, _ = start_run(total=3)
    progress.advance(5)
    progress.finish_chunk(3)
    assert display.shown == [3, 3]


def test_a_long_run_is_forecast_once_after_the_first_chunk():
    progress, display, clock = start_run()
    progress.advance(0)
    clock.now = 6.0
    progress.finish_chunk(10)
    clock.now = 60.0
    progress.finish_chunk(10)
    (text,) = display.texts
    assert text.startswith("slow: 990 rows more take about 10 min (600 ms a row)")


@one_test
@pytest.mark.parametrize("rows", [10, 100])
def test_a_warning_of_fit_is_shown_once_and_before_the_first_row_is_explained(rows):
    explained = []

    class Warns:
        learns = False

        def fit(self, predictor, background):
            warnings.warn("this takes long", faithkit.errors.FaithkitWarning, stacklevel=1)
            return self

        def explain(self, X, seeds):
            explained.append(len(X))
            return faithkit.Explanations.of(X[:, 0].tolist())

    def show(message, *_):
        shown.append((str(message), list(explained)))

    shown = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        faithkit.evaluate(lambda X: X[:, 0] > 5, np.arange(float(rows))[:, None], explainer=Warns())
    assert [shown_after for text, shown_after in shown if text == "this takes long"] == [[]]


def test_time_to_fit_is_not_taken_for_time_to_explain():
    progress, display, clock = start_run()
    clock.now = 500.0
    progress.advance(0)
    clock.now = 506.0
    progress.finish_chunk(500)
    assert not display.texts  # six seconds more


def test_what_workers_did_before_the_first_answer_is_not_counted():
    progress, display, clock = start_run(executor=resolve_executor("threads", 1))
    clock.now = 500.0
    progress.finish_chunk(10)
    clock.now = 510.0
    progress.finish_chunk(10)
    assert display.texts[0].startswith("slow: 980 rows more take about 16 min (1 s a row).")


@one_test
@pytest.mark.parametrize(
    ("executor", "parts", "absent_parts"),
    [
        (
            "here",
            ["n_jobs=4 (CLI: --n-jobs 4) takes about 4 min.", "The executor stored:folder=DIR keeps"],
            [],
        ),
        ("threads:workers=2", ["The executor stored:folder=DIR keeps"], ["n_jobs="]),
        (Keeping(), [], ["n_jobs=", "stored"]),
    ],
)
def test_what_would_be_faster_is_said(monkeypatch, executor, parts, absent_parts):
    monkeypatch.setattr("faithkit.run.explaining.progress.count_cores", lambda: 4)
    forecast = describe_forecast("slow", 1000, 1.0, resolve_executor(executor, 1))
    assert "60 rows (CLI: --samples) take a minute." in forecast
    assert all(part in forecast for part in parts)
    assert not any(part in forecast for part in absent_parts)


def test_no_sample_is_advised_that_says_nothing():
    assert "--samples" not in describe_forecast("slow", 1000, 10.0, HERE)


def test_an_explainer_tells_which_rows_are_done(monkeypatch):
    display = RecordingDisplay()
    monkeypatch.setattr("faithkit.run.explaining.progress.Display", lambda: display)

    class Slow:
        rows_per_chunk, learns = 6, False

        def fit(self, predictor, background):
            return self

        def explain(self, X, seeds):
            for _ in X:
                faithkit.plugin.report_progress()
            return faithkit.Explanations.of(X[:, 0].tolist())

    faithkit.evaluate(lambda X: X[:, 0] > 5, X, explainer=Slow())
    assert display.shown == [0, *range(1, 7), 6, 6, *range(7, 13), 12]


def test_outside_a_run_nobody_listens():
    with track_progress("slow", HERE, 2, is_shown=False):
        pass
    report_progress()


def test_without_a_terminal_the_forecast_is_logged():
    watch = TestCase().assertLogs("faithkit", logging.INFO)
    with watch as logs, track_progress("slow", HERE, 1000) as progress:
        progress.clock = Clock()
        progress.advance(0)
        progress.clock.now = 80.0
        progress.finish_chunk(4)
    assert logs.records[0].getMessage().startswith("slow: 996 rows more take about 6 h")


def test_in_a_terminal_a_bar_moves_and_goes_away(monkeypatch):
    pytest.importorskip("pty")
    import os
    import pty
    import select

    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "200")
        with track_progress("a [b] slow one", HERE, 1000) as progress:
            progress.skip(400)
            progress.display.bar.refresh()
            progress.advance(100)
            progress.display.write("it takes [long]")
            progress.display.bar.refresh()
        terminal.flush()
        shown = ""
        while select.select([master], [], [], 0.05)[0]:  # a terminal gives a part at a time
            shown += os.read(master, 100_000).decode()
    os.close(master)
    assert "fitting a [b] slow one" in shown
    assert "500/1000" in shown
    assert "it takes [long]" in shown


@pytest.fixture
def notebook(monkeypatch):
    """A stand-in for IPython in a notebook; returns what its output shows, by place."""
    shown = []

    class Handle:
        def __init__(self, place):
            self.place = place

        def update(self, bundle, raw):
            assert raw
            shown[self.place] = bundle

    def display(bundle, raw, display_id=False):
        assert raw
        shown.append(bundle)
        return Handle(len(shown) - 1) if display_id else None

    shell = type("Shell", (type("ZMQInteractiveShell", (), {}),), {})()
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    return shown


def test_in_a_notebook_a_line_changes_and_goes_away(notebook):
    with track_progress("slow", HERE, 2000) as progress:
        assert notebook == [{"text/plain": "fitting slow …"}]
        progress.advance(1000)
        assert notebook[0]["text/plain"].startswith("explaining: 1,000 of 2,000 rows, ")
        progress.display.write("it takes long")
    assert notebook == [{"text/html": "", "text/plain": ""}, {"text/plain": "it takes long"}]


def test_where_a_notebook_captures_its_output_no_line_is_kept(notebook):
    shell = sys.modules["IPython"].get_ipython()
    shell.display_pub = type("CapturingDisplayPublisher", (), {})()
    with track_progress("slow", HERE, 2000) as progress:
        progress.advance(1000)
    assert notebook == []


def test_no_progress_is_shown_where_it_is_switched_off(notebook):
    with track_progress("slow", HERE, 2000, is_shown=False) as progress:
        progress.advance(1000)
    assert notebook == []
