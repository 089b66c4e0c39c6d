"""No code block of the README or of the documentation is there only to be looked at."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from cli.test_examples import EXAMPLES, find_steps
from documented import DOCS, FOLLOWED, ROOT, Block, blocks, pages
from looping import one_test

import faithkit

# Sphinx's two builders run the first line's
SPHINX = {"doctest", "testcode", "testoutput", "testsetup", "testcleanup", "plot"}
SHOWING = {"code-block", "code", "sourcecode", "literalinclude", "parsed-literal", "prompt", "highlight"}

# files and folders that pages show, and the tests that run them
SHOWN = {
    "docs/tutorials/make_log.py": "tests/cli/test_examples.py",
    "docs/tutorials/make_reasons.py": "tests/cli/test_examples.py",
    "docs/tutorials/reasons.toml": "tests/cli/test_examples.py",
    "docs/howto/house": "tests/docs/test_howto.py",
    "docs/howto/house.toml": "tests/docs/test_howto.py",
    "tests/third_party/acme-faithkit": "tests/distributions/test_third_party.py",
}
COMMANDS = {
    "python tests/benchmarks --write docs/benchmarks": "tests/docs/test_benchmarks.py",
    "python tests/benchmarks/compare_peers.py docs/comparison": "tests/docs/test_comparison.py",
    "python tests/benchmarks/compare_engines.py docs/comparison": "tests/docs/test_comparison.py",
    "pytest --faithkit-reports reports": "plugins/integrations/tests/test_pytest_plugin.py",
}
# commands that take minutes or hours are run with an option that makes them read their arguments and stop
LENGTHY = {
    "faithkit reproduce": "--list",
    "faithkit attacks --": "--list",
    "python tests/benchmarks": "--help",
}
PUBLISHING = {"python -m build", "python -m twine upload dist/*"}  # nobody may try these

PROJECTS = {
    f"-e {path.parent.relative_to(ROOT).as_posix()}"
    for path in [ROOT / "pyproject.toml", *ROOT.glob("plugins/*/pyproject.toml")]
} | {"-e '.[dask]'"}


def list_code_blocks():
    return [block for page, text in pages() for block in blocks(page, text) if block.name in SPHINX | SHOWING]


def is_run(block):
    """Return whether a test or Sphinx runs a block of code as it stands."""
    if "+SKIP" in block.body or "skipif" in block.options:
        return False
    if block.name in SPHINX or (block.page in FOLLOWED and block.argument != "text"):
        return True
    if block.name == "literalinclude":
        return _is_shown(block)
    judges = {"console": _is_example, "sh": _is_script, "yaml": _is_workflow, "text": _is_output}
    return block.name == "code-block" and block.argument in judges and judges[block.argument](block)


def _is_shown(block):
    file = (DOCS / block.page).parent.joinpath(block.argument).resolve()
    return file.is_file() and any(file.is_relative_to(ROOT / known) for known in SHOWN)


def _is_example(block):
    known = {*COMMANDS, *list_long_commands(block), *(line for page, line in EXAMPLES if page == block.page)}
    return bool(block.commands) and all(line in known or _installs_ours(line) for line in block.commands)


def _is_script(block):
    return bool(block.body) and all(
        line.partition(" #")[0].rstrip() in list_long_commands(block) for line in block.body.splitlines()
    )


def list_long_commands(block):
    """Return those commands of a block that take too long."""
    lines = block.commands if block.argument == "console" else block.body.splitlines()
    plain = (line.partition(" #")[0].rstrip() for line in lines)
    return [line for line in plain if line not in COMMANDS and line.startswith(tuple(LENGTHY))]


def _is_workflow(block):
    return any((block.page, line) in EXAMPLES for line in find_steps(block.body))


def _installs_ours(line):
    head, _, names = line.partition("python -m pip install ")
    names = names.replace("-r requirements.txt", "-e .")
    return (
        not head and {f"-e {name.strip()}" for name in names.split("-e ")[1:]} <= PROJECTS and "-e" in names
    )


def _is_output(block):
    return not [line for line in block.commands if line not in PUBLISHING]


def test_every_block_is_run():
    assert [f"{block}: {block.body}" for block in list_code_blocks() if not is_run(block)] == []


@pytest.mark.examples
@pytest.mark.parametrize(
    "line", sorted({line for block in list_code_blocks() for line in list_long_commands(block)})
)
def test_a_long_command_is_understood(line):
    option = next(option for start, option in LENGTHY.items() if line.startswith(start))
    program, *words = shlex.split(line)
    run = [sys.executable, "-m", "faithkit"] if program == "faithkit" else [sys.executable]
    process = subprocess.run([*run, *words, option], cwd=ROOT, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert process.stdout


@one_test
@pytest.mark.parametrize(("thing", "runner"), (FOLLOWED | SHOWN | COMMANDS).items())
def test_each_test_that_runs_a_file_or_command_names_it(thing, runner):
    name = thing.split()[1] if thing in COMMANDS else thing
    assert Path(name).stem in (ROOT / runner).read_text()


def test_no_session_stands_outside_of_a_block_that_is_run():
    for page, text in pages():
        inside = [block.body for block in blocks(page, text) if block.name == "doctest"]
        assert text.count(">>> ") == sum(body.count(">>> ") for body in inside), page


def test_no_page_has_a_literal_block_without_a_language():
    for page, text in pages():
        assert [line for line in text.splitlines() if line.endswith("::") and ".. " not in line] == [], page


@pytest.mark.usefixtures("no_pictures", "few_control_draws")
def test_the_readmes_python_works(tmp_path, monkeypatch):
    from sklearn.ensemble import RandomForestClassifier

    monkeypatch.chdir(tmp_path)
    iris = faithkit.load_dataset("iris")
    names = {
        "model": RandomForestClassifier(3, random_state=0).fit(iris.X[::2], iris.y[::2]),
        "X_train": iris.X[::2],
        "X_test": iris.X[1::15],
        "predictions": ["yes", "yes", "no"],
        "logged_explanations": [[0.1], [0.1], [0.2]],
        "logged_features": pd.DataFrame({"age": [30, 31, 60]}),
    }
    readme = (ROOT / "README.md").read_text()
    ((language, shown),) = re.findall(r"^```(\w*)\n(.*?)^```", readme, flags=re.M | re.S)
    assert language == "python"
    exec(shown, names)
    assert (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>")


def make_block(directive, body="", argument="", **more):
    return Block("index.rst", 1, directive, argument, body, **more)


@one_test
@pytest.mark.parametrize(
    "block",
    [
        make_block("code-block", "$ faithkit divine", "console"),
        make_block("code-block", "$ python -m pip install something", "console"),
        make_block("code-block", "", "console"),
        make_block("code-block", "- run: faithkit evaluate", "yaml"),
        make_block("code-block", "faithkit evaluate", "sh"),
        make_block("code-block", "x = 1", "python"),
        make_block("code-block", "$ faithkit evaluate", "text"),
        make_block("code", "x = 1"),
        make_block("parsed-literal", "x = 1"),
        make_block("literalinclude", "", "nobody.py"),
        make_block("doctest", ">>> 1 / 0  # doctest: +SKIP"),
        make_block("testcode", "1 / 0", options=("skipif",)),
    ],
    ids=lambda block: f"{block} {block.body}",
)
def test_a_block_that_is_not_run_is_found(block):
    assert not is_run(block)


def test_blocks_are_found_wherever_they_stand():
    text = """
Word
   Means something:

   .. code-block:: console
      :caption: a shell

      $ faithkit evaluate \\
                 --seed 1

      printed
      $ faithkit plugins

.. doctest::

   >>> 1
   1
Text.
"""
    shell, session = blocks("a.rst", text)
    assert (shell.line, shell.argument, shell.options) == (5, "console", ("caption",))
    assert shell.commands == ["faithkit evaluate --seed 1", "faithkit plugins"]
    assert (session.name, session.body) == ("doctest", ">>> 1\n1")
