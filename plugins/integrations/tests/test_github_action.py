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
SCORE = {
    "command": "score",
    "arguments": "log.csv --prediction label --explanation 'wh*' --fail-under consistency=0",
}

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
    """Run the step with a command that only writes down its arguments, and return them with the step."""
    runner.install("faithkit", 'printf "%s\\0" "$@" > arguments; exit ${CODE:-0}')
    done = runner.run("Measure", **inputs)
    file = runner.folder / "arguments"
    return done, file.read_text().split("\0")[:-1] if file.exists() else None


# --- the command as it is --------------------------------------------------------------------------------


@pytest.mark.slow
def test_limits_that_are_kept_pass_and_the_reports_are_there(runner):
    done = runner.run("Measure", **SCORE)
    assert done.returncode == 0, done.stderr
    assert runner.outputs["exit-code"] == "0"
    reports = {path.name for path in Path(runner.outputs["reports"]).iterdir()}
    assert reports == {"report.html", "result.json", "junit.xml", "report.txt", "messages.txt"}
    assert "consistency  0.500" in done.stdout
    assert runner.summary.startswith("## Explanations: The limits are kept\n\n    ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "code", "title", "message"),
    [
        (
            "--fail-under consistency=0.9",
            3,
            "A limit is missed",
            "failed: consistency may be as low as 0.000, below",
        ),
        (
            "--fail-under sufficiency=0.9",
            1,
            "It could not be measured",
            "error: --fail-under sufficiency=0.9 cannot",
        ),
    ],
)
def test_the_step_ends_as_the_command_does_and_the_summary_says_why(runner, option, code, title, message):
    arguments = "log.csv --prediction label --explanation why"
    done = runner.run("Measure", command="score", arguments=f"{arguments} {option}")
    assert done.returncode == code
    assert runner.outputs["exit-code"] == str(code)
    assert message in done.stdout
    assert runner.summary.startswith(f"## Explanations: {title}\n\n    {message}")
    assert "    consistency  0.500" in runner.summary
    assert (Path(runner.outputs["reports"]) / "junit.xml").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("log.csv --prediction label --explanation why", "No limit was given"),
        ("--help", "Nothing was measured"),
        ("log.csv --help --fail-under consistency=0.9", "Nothing was measured"),
    ],
)
def test_the_step_does_not_pass_where_nothing_was_judged(runner, arguments, message):
    done = runner.run("Measure", command="score", arguments=arguments)
    assert done.returncode == 1
    assert runner.outputs["exit-code"] == "1"
    assert message in done.stderr
    assert runner.summary.startswith(f"## Explanations: {message}")


# --- what the step makes of its inputs -------------------------------------------------------------------


def test_words_are_split_as_a_shell_does_and_nothing_is_filled_in(runner):
    words = "--data 'my data.csv' --explanation 'phi_*' *.csv $HOME \"$(touch hacked)\" `touch hacked` a;b\n--seed 1"
    done, arguments = run_and_read_arguments(runner, arguments=words)
    assert arguments[:-6] == [
        *("evaluate", "--data", "my data.csv", "--explanation", "phi_*", "*.csv", "$HOME", "$(touch hacked)"),
        *("`touch", "hacked`", "a;b", "--seed", "1"),
    ]
    assert arguments[-6::2] == ["--out", "--out", "--junit"]
    assert not (runner.folder / "hacked").exists()
    assert (done.returncode, runner.outputs["exit-code"]) == (1, "1")  # the command wrote no result


@one_test
@pytest.mark.parametrize(
    "inputs",
    [
        {"arguments": "--data 'half a quote"},
        {"command": "plugins", "arguments": ""},
        {"command": "", "arguments": ""},
        {"command": "evaluate; true", "arguments": ""},
    ],
    ids=str,
)
def test_what_is_not_understood_does_not_pass(tmp_path, inputs):
    done, arguments = run_and_read_arguments(build_runner(tmp_path), **inputs)
    assert done.returncode != 0
    assert arguments is None


MEASURED, JUDGED, SKIPPED = "<testcase/>", "<testcase/>", "<testcase><skipped/></testcase>"


@one_test
@pytest.mark.parametrize(
    ("cases", "code", "title"),
    [(MEASURED + JUDGED, 0, "The limits are kept"), (MEASURED + SKIPPED, 1, "No limit was given")],
)
def test_a_step_passes_where_a_limit_was_judged(tmp_path, cases, code, title):
    runner = build_runner(tmp_path)
    program = f'echo "{{}}" > "${{@: -3:1}}"; echo "<testsuite>{cases}</testsuite>" > "${{@: -1}}"'
    runner.install("faithkit", program)
    done = runner.run("Measure", arguments="")
    assert (done.returncode, runner.outputs["exit-code"]) == (code, str(code))
    assert runner.summary.startswith(f"## Explanations: {title}")


def test_no_module_of_the_repository_is_imported(runner):
    for name in ("shlex", "secrets", "xml", "os"):
        (runner.folder / f"{name}.py").write_text("open('hacked', 'w').close()")
    _, arguments = run_and_read_arguments(runner, arguments="--explainer tree")
    assert arguments[:3] == ["evaluate", "--explainer", "tree"]
    assert not (runner.folder / "hacked").exists()


def test_a_command_that_is_not_there_does_not_pass(runner):
    runner.install("faithkit", "exec a-program-that-nobody-has")
    assert runner.run("Measure", arguments="").returncode == 127


@one_test
@pytest.mark.parametrize("code", [3, 137])
def test_every_code_of_the_command_is_that_of_the_step(tmp_path, code):
    runner = build_runner(tmp_path)
    runner.settings["CODE"] = code
    done, _ = run_and_read_arguments(runner, arguments="--explainer tree")
    assert done.returncode == code
    assert runner.outputs["exit-code"] == str(code)


def test_what_a_report_says_is_neither_a_command_to_the_runner_nor_markdown(runner):
    runner.install("faithkit", "echo '::error::no'; echo '# Title' >&2")
    done = runner.run("Measure", arguments="")
    begin, *lines, end = done.stdout.splitlines()
    assert begin == f"::stop-commands::{end.strip(':')}"
    assert sorted(lines) == ["# Title", "::error::no"]
    assert runner.summary.splitlines()[2:] == ["    # Title", "    ::error::no"]


def test_the_plugins_are_those_of_the_actions_own_version(runner):
    runner.install("python", 'printf "%s\\n" "$@" > pip')
    done = runner.run("Install faithkit", plugins="scoped-rules paper", requirements="xgboost>=2 *.whl")
    assert done.returncode == 0, done.stderr
    words = (runner.folder / "pip").read_text().splitlines()
    projects = [str(ROOT), *(str(ROOT / "plugins" / name) for name in ("html", "scoped-rules", "paper"))]
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
