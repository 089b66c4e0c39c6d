"""What tests of runs share: diagnostics run where a test names them, as they take longest."""

import pytest


@pytest.fixture(autouse=True)
def no_diagnostic_runs_unasked(monkeypatch):
    """Let no diagnostic run that a test does not name; files about diagnoses override this."""
    monkeypatch.setattr("faithkit.run.evaluation_report.automatic_diagnostics", lambda result: ())
