"""List the fields of one definition in a JSON Schema of results: ``.. faithkit-schema:: estimate``.

The kernel has a schema, and a plugin has one of what it adds.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
SCHEMAS = [
    ROOT / "faithkit" / "run" / "results.schema.json",
    *ROOT.glob("plugins/*/faithkit_*/**/*.schema.json"),
]


def type_of(field: dict[str, Any]) -> str:
    """Return the type of a field in a few words.

    >>> type_of({"type": ["number", "null"]})
    'number or null'
    >>> type_of({"anyOf": [{"$ref": "#/definitions/estimate"}, {"type": "null"}]})
    'estimate or null'
    """
    if "$ref" in field:
        return str(field["$ref"].rpartition("/")[2])
    if "enum" in field:
        return "one of " + ", ".join(f"``{json.dumps(value)}``" for value in field["enum"])
    for parts in ("anyOf", "allOf"):
        if parts in field:
            return " or ".join(map(type_of, field[parts]))
    if "items" in field:
        return f"list of {type_of(field['items'])}"
    types = field["type"]
    return " or ".join([types] if isinstance(types, str) else types)


def fields(definition: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the fields of an object, and those of the objects inside it, as ``data.rows``."""
    for name, field in definition.get("properties", {}).items():
        yield f"{prefix}{name}", field
        yield from fields(field, f"{prefix}{name}.")


class Fields(SphinxDirective):
    """List the fields of a definition, each with its type and description."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Render one entry for each field."""
        definitions: dict[str, Any] = {}
        for schema in SCHEMAS:
            self.env.note_dependency(str(schema))
            definitions |= json.loads(schema.read_text("utf-8"))["definitions"]
        definition = definitions[self.arguments[0]]
        lines = [definition["description"], ""]
        for name, field in fields(definition):
            described = field if "description" in field else definitions[type_of(field)]
            lines += [f"`{name}` : {type_of(field)}", f"   {described['description']}"]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("faithkit-schema", Fields)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
