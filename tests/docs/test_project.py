"""The files at the top: short, true, and what they point to is there."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from looping import one_test

import faithkit

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())


def list_links(text):
    """Return what a page of Markdown links to in this project."""
    targets = re.findall(r"\]\(([^)]+)\)", text) + re.findall(r'src="([^"]+)"', text)
    return [link for link in targets if not link.startswith("https://")]


def test_the_readme_is_one_screen_with_the_first_picture_of_the_documentation():
    assert len(README.splitlines()) <= 60
    picture = ROOT / re.search(r'<img src="([^"]+)"', README)[1]
    assert picture.read_bytes()[1:4] == b"PNG"
    assert picture.stat().st_size < 150_000
    first_page = (ROOT / "docs" / "index.rst").read_text()
    assert f".. plot:: pictures/{picture.stem}.py" in first_page
    shown = re.search(r"\$ (faithkit attacks \S+)", first_page)[1]
    assert f"`{shown}` repeats the experiment" in README


def test_the_readme_has_two_commands_to_copy():
    commands = [line.strip() for line in README.splitlines() if line.startswith("    python -m pip install")]
    assert [command.rpartition(" && ")[2] for command in commands] == [
        "faithkit evaluate --explainer shap --discretize 1fp",
        "python -m pytest -n auto",
    ]


@one_test
@pytest.mark.parametrize("link", sorted({*list_links(README), *list_links(CONTRIBUTING)}))
def test_every_linked_file_exists(link):
    assert (ROOT / link).is_file()


def list_files():
    """Return the files that CONTRIBUTING.md names; those of plugins without their folder."""
    return re.findall(r"`([\w./-]+\.(?:py|rst|json|md|cff))`", CONTRIBUTING)


@one_test
@pytest.mark.parametrize("name", sorted(set(list_files())))
def test_a_file_that_contributing_names_is_there(name):
    places = [ROOT, ROOT / "faithkit", *(ROOT / "plugins").iterdir()]
    assert any((place / name).is_file() for place in places)


def test_contributing_sets_up_with_one_command_that_installs_every_distribution():
    command = next(line for line in CONTRIBUTING.splitlines() if line.startswith("    python -m pip install"))
    assert command.strip() == "python -m pip install -r requirements-dev.txt"
    projects = {path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("plugins/*/pyproject.toml")}
    requirements = (ROOT / "requirements-dev.txt").read_text().splitlines()
    assert {line.removeprefix("-e ") for line in requirements[1:]} == {".[dev]", *projects}


def test_releasing_names_every_distribution():
    releasing = " ".join(CONTRIBUTING.partition("## Releasing")[2].split())
    plugins = sorted(path.parent.name for path in ROOT.glob("plugins/*/pyproject.toml"))
    assert f"{', '.join(plugins[:-1])} and {plugins[-1]}." in releasing


def test_contributing_tells_how_to_add_each_kind_of_component():
    for kind in ("explainer", "relation", "discretizer", "estimator", "adapter", "loader", "dataset", "verb"):
        assert f"| {kind} |" in CONTRIBUTING


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == faithkit.__version__ == CITATION["version"]
    assert f"## {faithkit.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_citation_is_the_papers():
    assert CITATION["cff-version"] == "1.2.0"
    assert {"title", "message", "authors"} <= set(CITATION)
    paper = CITATION["preferred-citation"]
    assert paper["type"] == "conference-paper"
    assert paper["title"] in README
    assert [author["family-names"] for author in paper["authors"]] == ["Dasgupta", "Frost", "Moshkovitz"]
    assert paper["url"] in README
    assert (paper["year"], paper["volume"], paper["start"], paper["end"]) == (2022, 162, 4794, 4815)


def test_the_licence_is_bsd_with_three_clauses():
    licence = (ROOT / "LICENSE").read_text()
    assert licence.startswith("BSD 3-Clause License")
    assert "Neither the name" in licence
    for path in [ROOT, *(ROOT / "plugins").iterdir()]:
        assert (path / "LICENSE").read_text() == licence  # every wheel has to carry it
        project = tomllib.loads((path / "pyproject.toml").read_text())["project"]
        assert project["license"] == CITATION["license"] == "BSD-3-Clause"
