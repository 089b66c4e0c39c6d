"""Render formulas as MathML with docutils' converter: browsers show it without script or network."""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


def visit_inline(writer: Any, node: nodes.math) -> None:
    """Write an inline formula."""
    writer.body.append(_converted(node, as_block=False))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    """Write a displayed formula."""
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(_converted(node, as_block=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def _converted(node: nodes.Element, as_block: bool) -> str:
    """Return MathML, or warn about TeX that the converter does not know."""
    try:
        return str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        logger.warning("%s In: %s", error, node.astext(), location=node)
        return ""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer, which `html_math_renderer` names."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
