"""What tests of inputs share: what takes longest runs where a test is about it."""

import pytest


@pytest.fixture(autouse=True)
def _no_slow_extras(no_pictures, no_next_steps, few_control_draws, monkeypatch):
    """Give no advice, draw no pictures and few controls, and let no diagnostic run that a test does not name."""
    monkeypatch.setattr("faithkit.report.writing.add_needed", lambda report, reporters: report)
