"""What tests of the command line share: readers read where a test asks for them, as they take longest."""

import pytest

from faithkit.run.reading import read_unasked as as_commands_do


@pytest.fixture(autouse=True)
def _nobody_reads_unasked(monkeypatch):
    """Let no reader read but where a test asks for one."""
    monkeypatch.setattr("faithkit.run.findings.read_unasked", lambda *about: False)


@pytest.fixture
def read_unasked(monkeypatch):
    """Read as commands do where nobody says anything about readers."""
    monkeypatch.setattr("faithkit.run.findings.read_unasked", as_commands_do)
