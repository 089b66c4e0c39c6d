"""Show the rules of the verdict as a table, from the table in the code: ``.. faithkit-verdicts::``."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from faithkit.measure.verdict import RULES

APPLIES = {None: "always", "sufficiency": "sufficiency was checked", "consistency": "else"}


class Verdicts(SphinxDirective):
    """List the rules in the order in which they are considered."""

    def run(self) -> list[nodes.Node]:
        """Render one row for each rule."""
        lines = [".. list-table::", "   :header-rows: 1", "   :widths: 20 45 35", ""]
        rows = [("if", "and", "the verdict is")]
        for rule in RULES:
            name = rule.name if isinstance(rule.name, str) else "the one that it names"
            rows.append((APPLIES[rule.needs], rule.condition, name))
        for row in rows:
            first, *rest = row
            lines += [f"   * - {first}", *(f"     - {cell}" for cell in rest)]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("faithkit-verdicts", Verdicts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
