"""What tests of the command line share: what takes longest runs where a test is about it."""

import pytest


@pytest.fixture(autouse=True)
def _no_diagnostic_runs_unasked(monkeypatch):
    """Let no diagnostic run that a test does not name."""
    monkeypatch.setattr("faithkit.report.writing.add_needed", lambda report, reporters: report)


@pytest.fixture(autouse=True)
def _no_slow_extras(no_pictures, no_next_steps, few_control_draws, few_trees):
    """Give no advice, draw no pictures, few controls and few trees; files about one of these override it."""
