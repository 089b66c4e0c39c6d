"""Names that moved: an old one is an error that says the new one, and nothing else changes."""

import pytest
from click.testing import CliRunner
from looping import one_test

import faithkit
from faithkit import renamed
from faithkit.cli import main


@pytest.fixture
def table(monkeypatch):
    monkeypatch.setattr(renamed, "OPTIONS", {"--colour": "--paint NAME"})
    names = {"faithkit.blue": "faithkit_paint.blue", "Report.paint": 'write("paint.png")'}
    monkeypatch.setattr(renamed, "NAMES", names)


@pytest.mark.usefixtures("table")
def test_an_old_option_names_the_new_one():
    outcome = CliRunner().invoke(main, ["evaluate", "--colour", "red"])
    assert outcome.exit_code == 2
    assert "Error: --colour is now --paint NAME." in outcome.output


@pytest.mark.usefixtures("table")
def test_an_old_name_names_the_new_one():
    with pytest.raises(AttributeError, match=r"^faithkit\.blue is now faithkit_paint\.blue$"):
        faithkit.blue  # noqa: B018
    result = faithkit.score(["yes", "no"], ["a", "a"])
    with pytest.raises(AttributeError, match=r'^Report\.paint is now write\("paint.png"\)$'):
        result.paint()


def test_what_never_was_gets_the_usual_error():
    with pytest.raises(AttributeError, match="faithkit"):
        faithkit.nonsense  # noqa: B018
    with pytest.raises(AttributeError, match="Evaluation has no attribute 'nonsense'"):
        faithkit.score(["yes", "no"], ["a", "a"]).nonsense  # noqa: B018
    assert CliRunner().invoke(main, ["evaluate", "--nonsense"]).exit_code == 2


@one_test
@pytest.mark.parametrize(
    ("option", "new"),
    [
        ("--reasons", "--as 'reason-codes:claims=FILE'"),
        ("--separator", "separator=;'"),
        ("--with", "a line of pandas or DuckDB before"),
    ],
)
def test_options_about_texts_name_what_replaces_them(option, new):
    outcome = CliRunner().invoke(main, ["score", "log.csv", option, "x"])
    assert outcome.exit_code == 2
    assert f"{option} is now " in outcome.output
    assert new in outcome.output


def test_a_class_names_what_replaces_its_method():
    with pytest.raises(AttributeError, match=r"^Rule\.from_text is now faithkit_logged_reasons\.parse_rule$"):
        faithkit.Rule.from_text  # noqa: B018
    with pytest.raises(AttributeError, match="type object 'Rule' has no attribute 'nonsense'"):
        faithkit.Rule.nonsense  # noqa: B018
