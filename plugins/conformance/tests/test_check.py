"""`faithkit check` on installed plugins: what was checked, what failed, and how to mend it."""

import json
import re

import pytest
from consoles import run
from faithkit_conformance import checks_for
from faithkit_conformance.checks import Remark
from faithkit_conformance.kinds import estimator_checks, plugin_checks

from faithkit.extension.registry import registry

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
def check_plugin(tmp_path, monkeypatch):
    """Put a plugin on the path as pip would, and return a way to check it."""
    monkeypatch.syspath_prepend(tmp_path)

    def check(module, score, *options):
        (tmp_path / f"{module}.py").write_text(PLUGIN.format(module=module, score=score))
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[faithkit]\nmain = {module}\n")
        return run("check", module, *options)

    registry.cache_clear()
    yield check
    registry.cache_clear()


@pytest.fixture
def no_process(monkeypatch):
    """Start no process that lists a plugin: a sound plugin is checked in that way, too."""
    monkeypatch.setattr(plugin_checks, "_libraries_loaded_by_listing", lambda *_: [])


def test_a_sound_plugin_passes(check_plugin):
    result = check_plugin("fair_plugin", 0.5)
    assert result.exit_code == 0, result.stdout
    assert "all passed" in result.stdout.splitlines()[-1]


@pytest.mark.usefixtures("no_process")
def test_a_faulty_plugin_fails_with_exit_code_3_and_the_way_to_mend_it(check_plugin):
    result = check_plugin("odd_plugin", 7.0)
    assert result.exit_code == 3, result.stdout
    text = " ".join(result.stdout.split())
    assert "failed scores_are_shares fair" in text
    assert "Why: They are averaged over all owners" in text
    assert re.search(r" \d+ failed, \d+ not tried \(-v says why\)\.$", result.stdout.rstrip())
    assert "Traceback" not in result.stderr


@pytest.mark.usefixtures("no_process")
def test_the_traceback_of_what_failed_is_shown_when_asked_for(check_plugin):
    result = check_plugin("odd_plugin", 7.0, "--debug")
    assert result.exit_code == 3
    assert "fair-scores_are_shares\nTraceback" in result.stderr


def test_one_component_alone_can_be_checked_and_told_as_json():
    result = run("check", "faithkit", "--component", "majority", "--json")
    assert result.exit_code == 0
    (component,) = json.loads(result.stdout)["components"]
    assert (component["kind"], component["name"], component["failed"]) == ("estimator", "majority", {})
    assert {"can_be_created", "scores_are_shares"} < set(component["passed"])


def test_a_remark_is_printed_below_its_component_and_is_no_failure(monkeypatch):
    def check_tally_is_left_alone(candidate):
        raise Remark("a row takes 0.5 s.")

    check_tally_is_left_alone.__module__ = estimator_checks.__name__
    monkeypatch.setattr(estimator_checks, "check_tally_is_left_alone", check_tally_is_left_alone)
    result = run("check", "faithkit", "--component", "majority")
    assert result.exit_code == 0
    first, *remark, last = result.stdout.splitlines()
    assert first.startswith("estimator majority  1")
    assert remark == ["  remark   tally_is_left_alone", "           majority: a row takes 0.5 s."]
    assert "checks, all passed" in last
    (component,) = json.loads(run("check", "faithkit", "--component", "majority", "--json").stdout)[
        "components"
    ]
    assert component["remarks"] == {"tally_is_left_alone": "majority: a row takes 0.5 s."}


def test_every_check_is_named_when_asked_for():
    result = run("check", "faithkit", "--component", "original", "-v")
    lines = [line.split() for line in result.stdout.splitlines() if line.startswith("  ")]
    checks = [check.name for check in checks_for("faithkit") if check.component == "original"]
    assert [name for mark, name in (line[:2] for line in lines) if mark in ("passed", "skipped")] == checks


def test_what_is_not_there_is_said():
    result = run("check", "faithkit", "--component", "majorty")
    assert result.exit_code == 1
    assert "Did you mean 'majority'?" in result.stderr
    assert run("check", "nobodys-plugin").exit_code == 1


def test_a_distribution_without_an_entry_point_is_told_how_to_declare_one():
    result = run("check", "click")
    assert result.exit_code == 1
    assert result.stderr == (
        "error: click is installed, and declares no plugin. Add to its pyproject.toml "
        '[project.entry-points.faithkit] with a line such as main = "its_module", and install it again.\n'
    )
