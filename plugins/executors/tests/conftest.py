"""A fixture for tests of explaining: a log of the rows that the slow plugin's explainer explained."""

import pytest


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Return a function that lists the rows explained so far, in this process and in workers."""
    path = tmp_path / "log"
    path.touch()
    monkeypatch.setenv("SLOW_LOG", str(path))
    return lambda: [int(line.split()[-1]) for line in path.read_text().splitlines()]
