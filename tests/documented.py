"""The code blocks of the README and of the documentation, found wherever they stand."""

import re
import textwrap
from itertools import takewhile
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

# pages that a test of their own follows from beginning to end
FOLLOWED = {
    "tutorials/plugin.rst": "tests/distributions/test_tutorial.py",
    "howto/cluster.rst": "plugins/executors/tests/test_cluster.py",
}

DIRECTIVE = re.compile(r"^(?P<indent> *)\.\. (?P<name>[\w-]+):: *(?P<argument>.*)$")
OPTION = re.compile(r"^ *:([\w-]+):")


@attrs.frozen
class Block:
    """A directive with code in it: where it stands, what it is, and what is in it."""

    page: str
    line: int
    name: str
    argument: str
    body: str
    options: tuple[str, ...] = ()

    def __str__(self):
        return f"docs/{self.page}:{self.line}: {self.name} {self.argument}".rstrip()

    @property
    def commands(self):
        """The commands of a console block, continued lines joined."""
        joined = re.sub(r"\\\n *", " ", self.body)
        return [" ".join(line.split()) for line in re.findall(r"^\$ (.*)$", joined, flags=re.M)]


def pages():
    """Yield the name and the text of every page."""
    for path in sorted(DOCS.rglob("*.rst")):
        if "_build" not in path.parts:
            yield path.relative_to(DOCS).as_posix(), path.read_text("utf-8")


def blocks(page, text):
    """Yield every directive of a page, those too that stand inside of others."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        result = DIRECTIVE.match(line)
        if result:
            options, body = _indented(lines[number + 1 :], len(result["indent"]))
            yield Block(page, number + 1, result["name"], result["argument"].strip(), body, options)


def _indented(lines, depth):
    """Return the options and the other lines that are indented deeper."""
    body = list(takewhile(lambda line: not line.strip() or len(line) - len(line.lstrip()) > depth, lines))
    options = [option[1] for option in takewhile(bool, map(OPTION.match, body))]
    return tuple(options), textwrap.dedent("\n".join(body[len(options) :])).strip("\n")
