"""``.. faithkit-checks:: explainer_checks`` lists the checks of a part of the conformance kit, in its words.

A check's docstring says what is promised in its first line, and why in the rest. What it tells who breaks
the promise is in the table of faults that the tests go by; ``.. faithkit-messages:: explains_*`` shows that.
"""

import importlib
import runpy
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from faithkit.testing.checks import checks_in, name_of, why_of


def promise(text: str) -> str:
    """Take what is promised from the first line of a check's docstring.

    >>> promise("Check that equal rows get equal explanations.")
    'Equal rows get equal explanations.'
    """
    said = text.partition("\n")[0].removeprefix("Check that ").removeprefix("Check, ")
    return said[0].upper() + said[1:]


_FAULTS = runpy.run_path(str(Path(__file__).parents[2] / "tests/testing/faults.py"))


def messages(check: str) -> list[str]:
    """Write down what a check tells: one line for each fault that the tests know."""
    told = [message if message.endswith(".") else f"{message} …" for message in _FAULTS["messages"](check)]
    return ["*It tells, for example:*", "", *(f"- ``{' '.join(line.split())}``" for line in told), ""]


class Messages(SphinxDirective):
    """List what a check tells of those who fail it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write one line for each fault, and let Sphinx read it."""
        return self.parse_text_to_nodes("\n".join(messages(self.arguments[0])))


class Checks(SphinxDirective):
    """List the checks that a module of `faithkit.testing` defines."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write one description for each check, and let Sphinx read it."""
        module = importlib.import_module(f"faithkit.testing.{self.arguments[0]}")
        lines: list[str] = []
        for check in checks_in(module):
            said = [
                promise(check.__doc__ or ""),
                "",
                f"*Why:* {why_of(check)}",
                "",
                *messages(name_of(check)),
            ]
            lines += [f".. check:: {name_of(check)}", "", *(f"   {line}".rstrip() for line in said)]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive, and the kind of thing that it describes."""
    app.add_object_type("check", "check", objname="conformance check")
    app.add_directive("faithkit-checks", Checks)
    app.add_directive("faithkit-messages", Messages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
