"""`faithkit check` on installed plugins: what was checked, what failed, and how to mend it."""

import json
import re

import pytest
from click.testing import CliRunner
from consoles import console, environment

from faithkit.cli import main
from faithkit.testing import checks_for

PLUGIN = '''
import faithkit

FAITHKIT_API = 1


@faithkit.plugin.hookimpl
def faithkit_estimators():
    yield faithkit.plugin.Component(name="fair", factory="{module}:Fair", summary="Scores everybody alike.")


class Fair:
    """Score everybody alike."""

    def scores(self, tally):
        import numpy as np

        return np.full(tally.owners.shape, {score})
'''


@pytest.fixture
def installed(tmp_path):
    """Put a plugin on the path as pip would, and return a way to check it in a process of its own."""

    def install(module, score, *options):
        (tmp_path / f"{module}.py").write_text(PLUGIN.format(module=module, score=score))
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[faithkit]\nmain = {module}\n")
        return console("check", module, *options, env=environment(tmp_path))

    return install


def test_a_sound_plugin_passes(installed):
    result = installed("fair_plugin", 0.5)
    assert result.returncode == 0, result.stdout
    assert "all passed" in result.stdout.splitlines()[-1]


def test_a_faulty_plugin_fails_with_exit_code_3_and_the_way_to_mend_it(installed):
    result = installed("odd_plugin", 7.0)
    assert result.returncode == 3, result.stdout
    text = " ".join(result.stdout.split())
    assert "failed scores_are_shares fair" in text
    assert "Why: They are averaged over all owners" in text
    assert re.search(r" \d+ failed, \d+ not tried \(-v says why\)\.$", result.stdout.rstrip())
    assert "Traceback" not in result.stderr


def test_the_traceback_of_what_failed_is_shown_when_asked_for(installed):
    result = installed("odd_plugin", 7.0, "--debug")
    assert result.returncode == 3
    assert "fair-scores_are_shares\nTraceback" in result.stderr


def test_one_component_alone_can_be_checked_and_told_as_json():
    result = CliRunner().invoke(main, ["check", "faithkit", "--component", "majority", "--json"])
    assert result.exit_code == 0
    (found,) = json.loads(result.stdout)["components"]
    assert (found["kind"], found["name"], found["failed"]) == ("estimator", "majority", {})
    assert len(found["passed"]) == 11
    assert "scores_are_shares" in found["passed"]


def test_every_check_is_named_when_asked_for():
    result = CliRunner().invoke(main, ["check", "faithkit", "--component", "same-explanation", "-v"])
    lines = [line.split() for line in result.stdout.splitlines() if line.startswith("  ")]
    checks = [check.name for check in checks_for("faithkit") if check.component == "same-explanation"]
    assert [name for mark, name in (line[:2] for line in lines) if mark in ("passed", "skipped")] == checks


def test_what_is_not_there_is_said():
    result = CliRunner().invoke(main, ["check", "faithkit", "--component", "majorty"])
    assert result.exit_code == 1
    assert "Did you mean 'majority'?" in result.stderr
    assert CliRunner().invoke(main, ["check", "nobodys-plugin"]).exit_code == 1


def test_a_distribution_without_an_entry_point_is_told_how_to_declare_one():
    result = CliRunner().invoke(main, ["check", "click"])
    assert result.exit_code == 1
    assert result.stderr == (
        "error: click is installed, and declares no plugin. Add to its pyproject.toml "
        '[project.entry-points.faithkit] with a line such as main = "its_module", and install it again.\n'
    )
