"""The list of wrong edits fits the code: an edit that no longer applies would guard nothing."""

import ast
from collections import Counter

import pytest
from looping import one_test
from mutants.draw import WINGS, Source, draws_from
from mutants.edits import ROOT, Edit, MutatedCopy, read_edits

EDITS = read_edits()


def test_every_edit_applies_at_one_place_and_leaves_valid_code():
    for edit in EDITS:
        ast.parse(edit.wrong_text((ROOT / edit.file).read_text(encoding="utf-8")))
        assert edit.search != edit.replace


def test_every_edit_names_tests_that_exist():
    for edit in EDITS:
        assert edit.tests, edit.why
        for test in edit.tests:
            file, _, function = test.partition("::")
            assert f"def {function}" in (ROOT / file).read_text(encoding="utf-8"), test


def test_half_of_the_edits_are_drawn_from_every_wing_and_none_is_listed_twice():
    assert 2 * sum(edit.is_drawn for edit in EDITS) >= len(EDITS) >= 120
    for wing in WINGS:
        assert any(edit.file.startswith(wing) and edit.is_drawn for edit in EDITS), wing
    assert max(Counter((edit.file, edit.search, edit.replace) for edit in EDITS).values()) == 1


def test_an_edit_is_made_in_the_copy_and_taken_back(tmp_path):
    code = tmp_path / "code.py"
    code.write_text("n = 1\nm = 12\n", encoding="utf-8")
    edit = Edit("code.py", "n = 1\n", "n = 2\n", "off by one", (), is_drawn=False)
    with MutatedCopy(edit, tmp_path):
        assert code.read_text(encoding="utf-8") == "n = 2\nm = 12\n"
    assert code.read_text(encoding="utf-8") == "n = 1\nm = 12\n"


@one_test
@pytest.mark.parametrize(("text", "times"), [("n = 3\n", 0), ("n = 1\nn = 1\n", 2)])
def test_an_edit_that_no_longer_applies_is_refused(text, times):
    edit = Edit("code.py", "n = 1", "n = 2", "off by one", (), is_drawn=False)
    with pytest.raises(ValueError, match=f"occurs {times} times, expected once"):
        edit.wrong_text(text)


def test_every_comparison_operation_number_condition_and_returned_value_may_be_drawn(monkeypatch, tmp_path):
    monkeypatch.setattr("mutants.draw.ROOT", tmp_path)
    code = tmp_path / "code.py"
    code.write_text('def f(a: 1, b) -> 2:\n    """3."""\n    if not (a) < b or a:\n        return a + 4\n')
    lines = {(draw.kind, draw.replace) for draw in draws_from(Source(code))}
    assert lines == {
        ("condition", "if not (not (a) < b or a):"),
        ("and, or", "if not (a) < b and a:"),
        ("not", "if (a) < b or a:"),
        ("comparison", "if not (a) <= b or a:"),
        ("returned value", "return None"),
        ("operation", "return a - 4"),
        ("constant", "return a + 5"),
    }
