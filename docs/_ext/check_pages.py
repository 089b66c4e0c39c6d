"""List the checks of one module of the conformance kit: ``.. faithkit-checks:: kinds.explainer_checks``.

The first line of a check's docstring states the requirement, and the rest gives the reason. Example messages
come from the table of faults in the tests: ``.. faithkit-messages:: explains_*``.
"""

import importlib
import runpy
from pathlib import Path

from docutils import nodes
from faithkit_conformance.checks import check_name, check_reason, checks_in
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def requirement(text: str) -> str:
    """Return the requirement in the first line of a check's docstring.

    >>> requirement("Check that equal rows get equal explanations.")
    'Equal rows get equal explanations.'
    """
    sentence = text.partition("\n")[0].removeprefix("Check that ").removeprefix("Check, ")
    return sentence[0].upper() + sentence[1:]


_FAULTS = runpy.run_path(str(Path(__file__).parents[2] / "plugins/conformance/tests/faults.py"))


def messages(check: str) -> list[str]:
    """Return example messages of a check, one line for each fault in the tests."""
    examples = [
        message if message.endswith(".") else f"{message} …" for message in _FAULTS["messages"](check)
    ]
    return ["*Example messages:*", "", *(f"- ``{' '.join(line.split())}``" for line in examples), ""]


class Messages(SphinxDirective):
    """List example messages of a check."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Render one line for each fault."""
        return self.parse_text_to_nodes("\n".join(messages(self.arguments[0])))


class Checks(SphinxDirective):
    """List the checks that a module of `faithkit_conformance.kinds` defines."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write one description for each check, and let Sphinx read it."""
        module = importlib.import_module(f"faithkit_conformance.kinds.{self.arguments[0]}")
        lines: list[str] = []
        for check in checks_in(module):
            body = [
                requirement(check.__doc__ or ""),
                "",
                f"*Why:* {check_reason(check)}",
                "",
                *messages(check_name(check)),
            ]
            lines += [f".. check:: {check_name(check)}", "", *(f"   {line}".rstrip() for line in body)]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directives and the object type `check`."""
    app.add_object_type("check", "check", objname="conformance check")
    app.add_directive("faithkit-checks", Checks)
    app.add_directive("faithkit-messages", Messages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
