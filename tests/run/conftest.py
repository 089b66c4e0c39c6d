"""Fixtures for all tests of runs: slow extras are switched off, unless a test is about them."""

import pytest


@pytest.fixture(autouse=True)
def no_diagnostic_runs_unasked(monkeypatch):
    """Run no diagnostic that a test does not name; files about diagnoses override this."""
    monkeypatch.setattr("faithkit.report.writing.add_needed", lambda report, reporters: report)


@pytest.fixture(autouse=True)
def _no_slow_extras(no_pictures, no_next_steps, few_control_draws, few_trees):
    """Give no advice, draw no pictures, few controls and few trees; files about one of these override it."""
