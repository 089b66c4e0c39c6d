"""What tests of explaining share: a log of the rows that the slow plugin's explainer worked on."""

import pytest


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Which rows were worked on, in this process and in workers."""
    path = tmp_path / "log"
    path.touch()
    monkeypatch.setenv("SLOW_LOG", str(path))
    return lambda: [int(line.split()[-1]) for line in path.read_text().splitlines()]
