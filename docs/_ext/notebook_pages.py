"""Run a notebook during the build, and show its cells and outputs: `.. notebook:: tour.ipynb`.

Stored outputs could come from an earlier version, so the files store none.
"""

import logging
from collections.abc import Iterator
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

PATIENCE = 600  # seconds for a cell, on a busy machine
QUIET = logging.getLogger(__name__)
QUIET.setLevel(logging.ERROR)  # messages about the start of a kernel are noise


class notebook(nodes.General, nodes.Element):  # noqa: N801 (nodes are named like this)
    """The placeholder of a notebook until the page is written."""


class NotebookDirective(SphinxDirective):
    """The cells of a notebook, run from the first to the last."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a placeholder with the path of the notebook."""
        _, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(path)
        return [notebook("", path=path)]


def executed(path: Path) -> Any:
    """Run a notebook in a new kernel, and return it with the outputs of its cells."""
    import nbformat
    from jupyter_client import AsyncKernelManager
    from nbclient import NotebookClient

    document = nbformat.read(path, as_version=4)
    with TemporaryDirectory() as folder:
        # a socket in a private folder: other users could connect to a port
        place = {"transport": "ipc", "connection_file": f"{folder}/kernel.json"}
        kernel = AsyncKernelManager(kernel_name="python3", log=QUIET, **place)
        waits = {"timeout": PATIENCE, "startup_timeout": PATIENCE}
        NotebookClient(document, km=kernel, log=QUIET, **waits).execute(cwd=folder, cleanup_kc=True)
    return document


def output_html(output: Any) -> str:
    """Return the HTML of an output: its own HTML, a picture, or text."""
    if output.output_type == "stream":
        return f"<pre>{escape(output.text)}</pre>"
    data = output.data
    if "image/png" in data:
        width = output.metadata.get("image/png", {}).get("width", "")
        return f'<img alt="a plot" width="{width}" src="data:image/png;base64,{data["image/png"].strip()}">'
    return data.get("text/html", f"<pre>{escape(data['text/plain'])}</pre>")


def cell_nodes(cell: Any) -> Iterator[nodes.Node]:
    """Yield the nodes of a cell: prose, or code and its outputs."""
    from markdown_it import MarkdownIt

    if cell.cell_type == "markdown":
        yield nodes.raw("", MarkdownIt().render(cell.source), format="html")
        return
    yield nodes.literal_block(cell.source, cell.source, language="python")
    for text in filter(None, map(output_html, cell.outputs)):
        yield nodes.raw("", f'<div class="notebook-output">{text}</div>', format="html")


def fill(app: Sphinx, doctree: nodes.document, _: str) -> None:
    """Run the notebooks of a page; other formats than HTML show no outputs."""
    for place in list(doctree.findall(notebook)):
        cells = executed(Path(place["path"])).cells if app.builder.format == "html" else []
        place.replace_self([node for cell in cells for node in cell_nodes(cell)])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_node(notebook)
    app.add_directive("notebook", NotebookDirective)
    app.connect("doctree-resolved", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
