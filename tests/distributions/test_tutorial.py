"""The tutorial on publishing an explainer is followed to the letter: its files, its commands, what they print."""

import doctest
import re
import textwrap

import pytest
from environments import ROOT

PAGE = (ROOT / "docs" / "tutorials" / "plugin.rst").read_text()
BLOCK = re.compile(
    r"^\.\. code-block:: (?P<language>\w+)\n(?:   :caption: (?P<file>\S+)\n)?\n(?P<body>(?: {3}.*\n|\n)+)",
    flags=re.M,
)
SAME = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def read_steps():
    """Yield, in the order of the page, ("file", name, content) and ("command", line, what it prints)."""
    for block in BLOCK.finditer(PAGE):
        body = textwrap.dedent(block["body"]).strip() + "\n"
        if block["file"]:
            yield "file", block["file"], body
        elif block["language"] == "console":
            for shown in re.split(r"^\$ ", body, flags=re.M)[1:]:
                command, _, output = shown.partition("\n")
                yield "command", command, output


def test_the_package_is_complete_in_under_forty_lines():
    files = {name: text for kind, name, text in read_steps() if kind == "file" and name != "measure.py"}
    assert list(files) == [
        "pyproject.toml",
        "faithkit_occlusion/__init__.py",
        "faithkit_occlusion/explainer.py",
        "test_occlusion.py",
    ]
    assert sum(1 for text in files.values() for line in text.splitlines() if line.strip()) < 40


@pytest.mark.slow
@pytest.mark.xdist_group("distributions")
def test_the_tutorial_works_as_it_is_written(with_kit, tmp_path):
    environment = with_kit()
    commands = []
    for kind, name, text in read_steps():
        if kind == "file":
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        else:
            printed = environment.run(name, cwd=tmp_path).stdout
            assert doctest.OutputChecker().check_output(text, printed, SAME) or not text, printed
            commands.append(name)
    assert "faithkit check faithkit-occlusion" in commands
    assert len(commands) == 6
