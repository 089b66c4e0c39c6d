"""The GitHub Action: its steps run as on a runner, and fail as the command does."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from consoles import LOG
from looping import one_test

ROOT = Path(__file__).parents[3]
ACTION = ROOT / ".github" / "actions" / "faithkit" / "action.yml"
DESCRIPTION = yaml.safe_load(ACTION.read_text())
STEPS = {step["name"]: step for step in DESCRIPTION["runs"]["steps"]}
GATE = "--fail-under consistency=0"
SCORE = {
    "command": "score",
    "arguments": "log.csv --prediction label --explanation 'wh*'",
    "gates": "--fail-under consistency=0",
}

WRITES_ARGUMENTS = """
if [ "$1" = gate ]; then printf "%s\\0" "$@" > gate; exit ${GATE_CODE:-0}; fi
printf "%s\\0" "$@" > arguments
echo "{}" > "${@: -1}"
exit ${CODE:-0}
"""

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are written for bash")


class Runner:
    """What a step sees of GitHub: files to write outputs and the summary to, and inputs in its environment."""

    def __init__(self, folder):
        self.folder = folder
        self.settings = {"RUNNER_TEMP": folder / "temp"}
        for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
            self.settings[name] = folder / name
            self.settings[name].touch()
        (folder / "temp").mkdir()
        (folder / "bin").mkdir()

    def install(self, name, text):
        """Write a program that is used before all others of its name."""
        (self.folder / "bin" / name).write_text(f"#!/bin/bash\n{text}\n")
        (self.folder / "bin" / name).chmod(0o755)

    def run(self, name, **inputs):
        """Run one step, as GitHub's documentation says that `shell: bash` does."""
        step, path = STEPS[name], os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"]])
        variables = {name: self.fill_in(text, inputs) for name, text in step["env"].items()}
        environment = {
            **os.environ,
            "PATH": path,
            **{name: str(value) for name, value in self.settings.items()},
        }
        (self.folder / "step.sh").write_text(step["run"])
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "step.sh"]
        settings = {"cwd": self.folder, "env": environment | variables, "capture_output": True, "text": True}
        return subprocess.run(command, **settings)

    def fill_in(self, text, inputs):
        values = {
            f"inputs.{name}": setting.get("default", "") for name, setting in DESCRIPTION["inputs"].items()
        }
        values |= {f"inputs.{name}": value for name, value in inputs.items()}
        values["github.action_path"] = str(ACTION.parent)
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: values[match[1]], text)

    @property
    def outputs(self):
        return dict(line.split("=", 1) for line in self.settings["GITHUB_OUTPUT"].read_text().splitlines())

    @property
    def summary(self):
        return self.settings["GITHUB_STEP_SUMMARY"].read_text()


def build_runner(folder):
    runner = Runner(folder)
    (folder / "log.csv").write_text(LOG)
    runner.install("faithkit", f'exec {sys.executable} -m faithkit "$@"')
    runner.install("python", f'exec {sys.executable} "$@"')
    return runner


@pytest.fixture
def runner(tmp_path):
    return build_runner(tmp_path)


def run_and_read_arguments(runner, **inputs):
    """Run the step with a command that only writes down its arguments; return them and those of the gate."""
    runner.install("faithkit", WRITES_ARGUMENTS)
    done = runner.run("Measure", **inputs)
    files = [runner.folder / name for name in ("arguments", "gate")]
    return done, *(file.read_text().split("\0")[:-1] if file.exists() else None for file in files)


# --- the command as it is --------------------------------------------------------------------------------


@pytest.mark.slow
def test_gates_that_are_kept_pass_and_the_reports_are_there(runner):
    done = runner.run("Measure", **SCORE)
    assert done.returncode == 0, done.stderr
    assert runner.outputs["exit-code"] == "0"
    reports = {path.name for path in Path(runner.outputs["reports"]).iterdir()}
    assert reports == {"report.html", "result.json", "junit.xml", "report.txt", "gates.txt", "messages.txt"}
    assert "consistency  0.500" in done.stdout
    assert "gates passed: 1 of 1" in done.stdout
    assert runner.summary.startswith("## Explanations: All gates pass\n\n    ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "code", "title", "message"),
    [
        (
            "--fail-under consistency=0.9",
            3,
            "A gate fails",
            "failed: consistency may be as low as 0.000, below",
        ),
        (
            "--fail-under sufficiency=0.9",
            1,
            "The gates could not be checked",
            "error: --fail-under sufficiency=0.9 cannot",
        ),
    ],
)
def test_the_step_ends_as_the_command_does_and_the_summary_says_why(runner, option, code, title, message):
    arguments = "log.csv --prediction label --explanation why"
    done = runner.run("Measure", command="score", arguments=arguments, gates=option)
    assert done.returncode == code
    assert runner.outputs["exit-code"] == str(code)
    assert message in done.stdout
    assert runner.summary.startswith(f"## Explanations: {title}\n\n    {message}")
    assert "    consistency  0.500" in runner.summary
    assert (Path(runner.outputs["reports"]) / "junit.xml").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "gates", "message"),
    [
        ("log.csv --prediction label --explanation why", "", "No gate was given"),
        ("log.csv --prediction label --explanation why", "--help", "No gate was given"),
        ("--help", "--fail-under consistency=0", "Nothing was measured"),
        ("log.csv --help", "--fail-under consistency=0.9", "Nothing was measured"),
    ],
)
def test_the_step_does_not_pass_where_nothing_was_judged(runner, arguments, gates, message):
    done = runner.run("Measure", command="score", arguments=arguments, gates=gates)
    assert done.returncode == 1
    assert runner.outputs["exit-code"] == "1"
    assert message in done.stderr
    assert runner.summary.startswith(f"## Explanations: {message}")


@pytest.mark.slow
def test_a_log_that_cannot_be_read_is_an_error_in_the_report_of_the_gates(runner):
    done = runner.run(
        "Measure", command="score", arguments="none.csv --prediction a --explanation b", gates=GATE
    )
    assert done.returncode == 1
    assert runner.summary.startswith("## Explanations: It could not be measured")
    assert '<error message="there is no file' in (Path(runner.outputs["reports"]) / "junit.xml").read_text()


# --- what the step makes of its inputs -------------------------------------------------------------------


def test_words_are_split_as_a_shell_does_and_nothing_is_filled_in(runner):
    words = "--data 'my data.csv' --explanation 'phi_*' *.csv $HOME \"$(touch hacked)\" `touch hacked` a;b\n--seed 1"
    done, arguments, gates = run_and_read_arguments(runner, arguments=words, gates=f"{GATE} 'a b' $HOME")
    assert arguments[:-4] == [
        *("evaluate", "--data", "my data.csv", "--explanation", "phi_*", "*.csv", "$HOME", "$(touch hacked)"),
        *("`touch", "hacked`", "a;b", "--seed", "1"),
    ]
    assert arguments[-4::2] == ["--out", "--out"]
    assert gates[:2] + gates[2:-2] == ["gate", arguments[-1], *GATE.split(), "a b", "$HOME"]
    assert gates[-2] == "--junit"
    assert not (runner.folder / "hacked").exists()
    assert (done.returncode, runner.outputs["exit-code"]) == (1, "1")  # the gate wrote no report


@one_test
@pytest.mark.parametrize(
    "inputs",
    [
        {"arguments": "--data 'half a quote"},
        {"arguments": "", "gates": "--fail-under 'half a quote"},
        {"command": "plugins", "arguments": ""},
        {"command": "", "arguments": ""},
        {"command": "evaluate; true", "arguments": ""},
    ],
    ids=str,
)
def test_what_is_not_understood_does_not_pass(tmp_path, inputs):
    done, *arguments = run_and_read_arguments(build_runner(tmp_path), **{"gates": GATE, **inputs})
    assert done.returncode != 0
    assert arguments == [None, None]


WRITES_REPORTS = """
if [ "$1" = gate ]; then echo "<testsuite/>" > "${@: -1}"; exit ${GATE_CODE:-0}; fi
echo "{}" > "${@: -1}"
exit ${CODE:-0}
"""


@one_test
@pytest.mark.parametrize(
    ("measured", "judged", "code", "title"),
    [
        (0, 0, 0, "All gates pass"),
        (0, 3, 3, "A gate fails"),
        (0, 1, 1, "The gates could not be checked"),
        (0, 137, 137, "The gates could not be checked"),
        (1, 0, 1, "It could not be measured"),
        (137, 0, 137, "It could not be measured"),
        (137, 3, 137, "It could not be measured"),
    ],
)
def test_the_step_passes_only_if_both_commands_do(tmp_path, measured, judged, code, title):
    runner = build_runner(tmp_path)
    runner.settings |= {"CODE": measured, "GATE_CODE": judged}
    runner.install("faithkit", WRITES_REPORTS)
    done = runner.run("Measure", arguments="", gates=GATE)
    assert (done.returncode, runner.outputs["exit-code"]) == (code, str(code))
    assert runner.summary.startswith(f"## Explanations: {title}")
    reports = {path.name for path in Path(runner.outputs["reports"]).iterdir()}
    assert ("result.json" in reports) == (measured == 0)  # a gate never sees the result of a run that died


def test_no_module_of_the_repository_is_imported(runner):
    for name in ("shlex", "secrets", "xml", "os"):
        (runner.folder / f"{name}.py").write_text("open('hacked', 'w').close()")
    _, arguments, _ = run_and_read_arguments(runner, arguments="--explainer tree", gates=GATE)
    assert arguments[:3] == ["evaluate", "--explainer", "tree"]
    assert not (runner.folder / "hacked").exists()


def test_a_command_that_is_not_there_does_not_pass(runner):
    runner.install("faithkit", "exec a-program-that-nobody-has")
    assert runner.run("Measure", arguments="", gates=GATE).returncode == 127


def test_what_a_report_says_is_neither_a_command_to_the_runner_nor_markdown(runner):
    runner.install("faithkit", "echo '::error::no'; echo '# Title' >&2")
    done = runner.run("Measure", arguments="", gates=GATE)
    begin, *lines, end = done.stdout.splitlines()
    assert begin == f"::stop-commands::{end.strip(':')}"
    assert sorted(lines) == ["# Title", "# Title", "::error::no", "::error::no"]
    assert set(runner.summary.splitlines()[2:]) == {"    # Title", "    ::error::no"}


def test_the_plugins_are_those_of_the_actions_own_version(runner):
    runner.install("python", 'printf "%s\\n" "$@" > pip')
    done = runner.run("Install faithkit", plugins="scoped-rules paper", requirements="xgboost>=2 *.whl")
    assert done.returncode == 0, done.stderr
    words = (runner.folder / "pip").read_text().splitlines()
    names = ("html", "integrations", "scoped-rules", "paper")
    projects = [str(ROOT), *(str(ROOT / "plugins" / name) for name in names)]
    assert words == ["-I", "-m", "pip", "install", *projects, "xgboost>=2", "*.whl"]


def test_the_plugins_that_are_installed_unasked_exist():
    for name in DESCRIPTION["inputs"]["plugins"]["default"].split():
        assert (ROOT / "plugins" / name / "pyproject.toml").is_file()


# --- its description -------------------------------------------------------------------------------------


def test_reports_are_kept_whatever_became_of_the_measurement():
    step = STEPS["Keep the reports"]
    assert step["if"] == "always() && steps.measure.outputs.reports != ''"
    assert step["uses"].startswith("actions/upload-artifact@v")


def test_no_input_is_pasted_into_a_script():
    assert not [name for name, step in STEPS.items() if "${{" in step.get("run", "")]


def test_all_that_is_used_is_declared_and_all_that_is_declared_is_used():
    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", ACTION.read_text()))
    assert used == set(DESCRIPTION["inputs"])
    assert all(
        setting["description"]
        for setting in (*DESCRIPTION["inputs"].values(), *DESCRIPTION["outputs"].values())
    )
    outputs = set(re.findall(r'echo "([\w-]+)=', STEPS["Measure"]["run"]))
    assert outputs == set(DESCRIPTION["outputs"])
