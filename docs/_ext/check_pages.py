"""``.. faithkit-checks:: explainers`` lists the checks of one part of the conformance kit, in its words.

A check's docstring says what is promised in its first line, and why in the rest.
"""

import importlib

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


class Checks(SphinxDirective):
    """List the checks that a module of `faithkit.testing` defines."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write one description for each check, and let Sphinx read it."""
        module = importlib.import_module(f"faithkit.testing.{self.arguments[0]}")
        lines: list[str] = []
        for check in checks_in(module):
            told = f"   {promise(check.__doc__ or '')}", "", f"   *Why:* {why_of(check)}"
            lines += [f".. check:: {name_of(check)}", "", *told, ""]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive, and the kind of thing that it describes."""
    app.add_object_type("check", "check", objname="conformance check")
    app.add_directive("faithkit-checks", Checks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
