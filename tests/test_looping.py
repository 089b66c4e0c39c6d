"""A loop over cases hides none: every case runs, and each failure is named."""

import re
import types
from contextlib import contextmanager

import pytest
from doctests import run_examples
from looping import one_test


class Recorder:
    """In place of pytest's subtests: keep the names of cases that fail."""

    def __init__(self):
        self.failed = []

    @contextmanager
    def test(self, name):
        with pytest.raises(AssertionError):
            yield
        self.failed.append(name)


def test_every_case_of_every_table_runs_and_failures_are_named():
    @one_test
    @pytest.mark.filterwarnings("ignore")
    @pytest.mark.parametrize(("a", "b"), [(1, 2), (3, 3)], ids=["apart", "equal"])
    @pytest.mark.parametrize("c", [0, 1])
    def differ(a, b, c, fixture):
        cases.append((a, b, c))
        assert a != b or c
        assert fixture == "shared"

    recorder, cases = Recorder(), []
    differ(subtests=recorder, fixture="shared")
    assert cases == [(1, 2, 0), (3, 3, 0), (1, 2, 1), (3, 3, 1)]
    assert recorder.failed == ["0-equal"]
    assert [mark.name for mark in differ.pytestmark] == ["filterwarnings"]


def test_every_case_has_a_folder_and_patches_of_its_own(tmp_path, monkeypatch):
    @one_test
    @pytest.mark.parametrize("number", [1, 2])
    def test(number, tmp_path, monkeypatch):
        assert not hasattr(Recorder, "number")
        assert not list(tmp_path.iterdir())
        monkeypatch.setattr(Recorder, "number", number, raising=False)
        (tmp_path / "file").touch()
        numbers.append(number)

    recorder, numbers = Recorder(), []
    test(subtests=recorder, tmp_path=tmp_path, monkeypatch=monkeypatch)
    assert (numbers, recorder.failed) == ([1, 2], [])
    assert not hasattr(Recorder, "number")


def test_every_example_that_fails_is_shown_and_none_that_passes():
    module = types.ModuleType("wrong", ">>> 1 + 1\n2\n>>> 1 + 2\n4\n>>> 1 / 0\n5\n")
    examples = [re.search("^Failed example:\n    (.*)$", text, re.M)[1] for text in run_examples(module)]
    assert examples == ["1 + 2", "1 / 0"]
