"""Verbs of plugins: listed by name alone, imported when they are called; a name belongs to one distribution."""

import pytest
from consoles import run
from on_path import install

from faithkit.errors import PluginError
from faithkit.extension.registry import Registry

# its import leaves a file
MARKED = "open(__file__ + '.imported', 'a').write('x')\n"
PLUGIN = f"""
{MARKED}
import click
FAITHKIT_API = 1

@click.command()
def audit():
    \"\"\"Audit a log.\"\"\"
    click.echo(f"audited by {{__name__}}")

evaluate = audit
"""


def test_help_lists_a_verb_and_imports_no_plugin(site):
    install(site, "acme", PLUGIN, verbs=["audit"])
    result = run("--help")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "  audit      from acme\n" in result.stdout
    assert not (site / "acme.py.imported").exists()


def test_a_verb_is_imported_when_it_is_called_and_no_other_plugin_is(site):
    install(site, "acme", PLUGIN, verbs=["audit"])
    install(site, "bystander", MARKED)
    assert run("audit").stdout == "audited by acme\n"
    assert not (site / "bystander.py.imported").exists()


def test_a_verb_needs_no_plugin_beside_it(site):
    install(site, "acme", PLUGIN)
    (site / "acme-1.0.dist-info" / "entry_points.txt").write_text("[faithkit.commands]\naudit = acme:audit\n")
    assert run("audit").stdout == "audited by acme\n"
    assert "command audit" in run("check", "acme").stdout


def test_every_verb_shows_its_traceback_with_the_option_that_the_error_names(site):
    verb = PLUGIN.replace("click.echo(", "raise KeyError(")
    install(site, "acme", verb, verbs=["audit"])
    result = run("audit")
    line = "error: KeyError: 'audited by acme'. This was not expected; --debug shows the traceback.\n"
    assert (result.exit_code, result.stderr) == (1, line)
    debugged = run("audit", "--debug")
    assert debugged.exit_code == 1
    assert debugged.stderr.startswith("Traceback")
    assert debugged.stderr.endswith("KeyError: 'audited by acme'\n")


def test_of_two_verbs_of_one_name_the_first_distributions_is_run_with_a_warning(site, monkeypatch):
    for name in ("umbra", "acme"):
        install(site, name, PLUGIN, verbs=["audit"])
    line = (
        "umbra (audit): the command 'audit' is also provided by acme, whose command is used. "
        "FAITHKIT_DISABLE=acme leaves that one out"
    )
    result = run("audit")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "audited by acme\n", f"warning: {line}.\n")
    assert "  audit      from acme and umbra\n" in run("--help").stdout
    assert run("plugins").stdout.endswith(f"problems\n  {line}\n")
    monkeypatch.setenv("FAITHKIT_DISABLE", "acme")
    other = run("audit")
    assert (other.stdout, other.stderr) == ("audited by umbra\n", "")


def test_a_verb_of_the_kernel_cannot_be_replaced(site):
    install(site, "acme", PLUGIN, verbs=["evaluate"])
    assert "audited" not in run("evaluate", "--data", "no-such").stdout
    assert "from acme" not in run("--help").stdout
    (line,) = Registry().broken
    assert str(line) == (
        "acme (evaluate): the command 'evaluate' has a reserved name: 'evaluate' belongs to faithkit. "
        "Rename its entry point"
    )
    assert Registry().find("command", "evaluate").distribution == "faithkit"


def test_a_verb_that_cannot_be_imported_is_one_line(site):
    install(site, "acme", "import no_such_library", verbs=["audit"])
    result = run("audit")
    assert (result.exit_code, result.stdout) == (1, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: the command 'audit' of acme cannot be used: the factory 'acme:audit'")
    assert "No module named 'no_such_library'" in line


def test_an_entry_point_that_names_no_attribute_is_a_problem_of_its_plugin(site):
    install(site, "acme", PLUGIN)
    (site / "acme-1.0.dist-info" / "entry_points.txt").write_text("[faithkit.commands]\naudit = acme\n")
    (line,) = Registry().broken
    assert str(line).startswith(
        "acme (audit): cannot be used: the factory of component 'audit' must be an import string 'module:attribute'. Got 'acme'"
    )
    assert str(line).endswith("Correct its entry point in the group faithkit.commands")


def test_strict_mode_raises_for_a_clash_of_verbs(site, monkeypatch):
    for name in ("umbra", "acme"):
        install(site, name, PLUGIN, verbs=["audit"])
    monkeypatch.setenv("FAITHKIT_STRICT", "1")
    with pytest.raises(PluginError, match="the command 'audit' is also provided by acme"):
        Registry()
