"""Plots as part of a page: SVG in the page's colours and fonts, the same bytes for the same plot."""

import io
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from faithkit.report.pictures import plots
from faithkit.wording import to_printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VARIABLES = {
    plots.INK: "var(--ink)",
    plots.QUIET: "var(--quiet)",
    plots.GRID: "var(--grid)",
    plots.BLUE: "var(--blue)",
    plots.PALE_BLUE: "var(--pale-blue)",
    plots.ORANGE: "var(--orange)",
}
NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_COLOUR = re.compile("|".join(VARIABLES))
_TAG = re.compile(r"<[^<>]*>")  # what comes from data is escaped, so it never looks like a tag
_TITLED_LINE = re.compile(rf'<g id="{plots.TITLED}">.*?</g>\s*</g>', re.S)
_MARKER = re.compile(r"(<use [^<>]*?)\s*/>")
_UNWANTED = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>|<defs>\s*</defs>", re.S
)


def render_svg(
    draw: "Callable[[Axes], object]",
    new_axes: "Callable[[], Axes]",
    label: str,
    name: str,
    titles: Iterable[str] = (),
) -> Markup:
    """Draw on new axes, and return the picture as an element of a page.

    Parameters
    ----------
    draw : callable
        Takes the axes.
    new_axes : callable
        Makes them.
    label : str
        What the picture shows, for those who cannot see it.
    name : str
        Another one for every picture of a page: it makes the ids in it differ from all others.
    titles : iterable of str
        What a browser shows where the pointer is on a marker, in the order of the markers of all lines whose
        id is `plots.TITLED`.
    """
    from matplotlib import style

    settings = {"font.size": 12, "svg.fonttype": "none", "svg.hashsalt": to_printable(name)}
    out = io.StringIO()
    with style.context(["default", settings]), warnings.catch_warnings():
        # the browser writes the text, in its own fonts: what Matplotlib's lack does not matter
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        axes = new_axes()
        draw(axes)
        axes.get_figure(root=True).savefig(  # type: ignore[union-attr]
            out, format="svg", transparent=True, metadata=NO_METADATA
        )
    return _as_element(_add_titles(out.getvalue(), iter(titles)), label)


def _add_titles(svg: str, titles: Iterator[str]) -> str:
    """Put a title into each marker of the lines that have some."""

    def add(line: re.Match[str]) -> str:
        return _MARKER.sub(lambda marker: f"{marker[1]}><title>{escape(next(titles))}</title></use>", line[0])

    return _TITLED_LINE.sub(add, svg)


def _as_element(svg: str, label: str) -> Markup:
    """Keep the drawing: no prologue, no namespaces (HTML knows them), no fonts, colours as variables."""
    body = _TAG.sub(lambda tag: _restyled(tag[0]), _UNWANTED.sub("", svg)).strip()
    size = re.search(r'viewBox="[^"]*"', body)
    opening = f'<svg role="img" aria-label="{escape(label)}" {size[0] if size else ""}>'
    return Markup(re.sub(r"\A<svg[^>]*>", lambda _: opening, body))


def _restyled(tag: str) -> str:
    tag = _COLOUR.sub(lambda colour: VARIABLES[colour[0]], tag)
    tag = re.sub(r"font-family: [^;\"]*;? ?", "", tag)
    return re.sub(r'<g id="[^"]*"', "<g", tag)  # nothing refers to a group, and ids must differ on a page
