"""The plots of a page, each with a title and a caption that says how to read it.

They are SVG in the page's colours and fonts, the same bytes for the same plot.
"""

import io
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial, singledispatch
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from markupsafe import Markup, escape

import faithkit
from faithkit.plugin import (
    Levels,
    Sheet,
    format_number,
    format_percent,
    format_three_digits,
    keep_together,
    pluralize,
    shorten,
    to_printable,
)
from faithkit.results import CheckableCounts, Comparison, Contradictions, Overview
from faithkit_html import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_LINES = 12  # of a plot of groups; a longer one is no overview
MAX_TITLE = 120  # letters of an explanation on the map
ESTIMATES = (
    "The dot is the estimate, and the line its interval. A pale bar is what the sample cannot rule out: it "
    "ends at the value that the measure would have if everything unchecked agreed. The tick is the baseline: "
    "the value of explanations that have nothing to do with the predictions."
)
GROUPS = (
    "Dots are estimates, lines their intervals, pale bars what the sample cannot rule out, and ticks each "
    "group's own chance."
)
SPREAD = (
    "For the explanations that leave most open: the range of predictions, the middle half of them (dark) and "
    "the median. The shorter the line, the more informative the explanation."
)
WORTH = (
    "Worth is the part of the gap between random explanations and the full input that explanations close. A "
    "system high on the left says much in few words."
)
MAP = (
    "Each point is an explanation, or several that have nearly the same two numbers. At the top, all others "
    "agree; those low and far to the right cost most."
)
CURVE = (
    "What a smaller sample would have given on average. Where the line still rises at its end, a larger "
    "sample would check more."
)
VARIABLES = {
    drawing.INK: "var(--ink)",
    drawing.QUIET: "var(--quiet)",
    drawing.GRID: "var(--grid)",
    drawing.BLUE: "var(--blue)",
    drawing.PALE_BLUE: "var(--pale-blue)",
    drawing.ORANGE: "var(--orange)",
}
NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_COLOUR = re.compile("|".join(VARIABLES))
_TAG = re.compile(r"<[^<>]*>")  # what comes from data is escaped, so it never looks like a tag
_TITLED_LINE = re.compile(rf'<g id="{drawing.TITLED}">.*?</g>\s*</g>', re.S)
_MARKER = re.compile(r"(<use [^<>]*?)\s*/>")
_UNWANTED = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>|<defs>\s*</defs>", re.S
)


@attrs.frozen
class Figure:
    """A picture with a title and a caption that says how to read it."""

    title: str | None
    caption: str
    svg: str

    def text(self) -> str:
        """Return nothing: a terminal shows no pictures."""
        return ""


def add_figures(sheet: Sheet, name: str = "") -> Sheet:
    """Return a sheet with the pictures of what it and its sections show, above their other parts.

    `name` is that of the sheet around it: the ids in a picture are made of names, and differ on a page.
    """
    title = sheet.title or ""
    name = f"{name}: {title}"
    parts = [add_figures(part, name) if isinstance(part, Sheet) else part for part in sheet.parts]
    return attrs.evolve(sheet, parts=[*draw(sheet.shows, title, name), *parts])


@singledispatch
def draw(shown: Any, title: str, name: str) -> list[Figure]:
    """Return the pictures of what a sheet of a title shows; `name` is another one for every sheet.

    A plugin's report has one if it has a method `draw(ax)`.
    """
    draw_on = getattr(shown, "draw", None)
    if draw_on is None:
        return []
    svg = render_svg(partial(drawing.draw_report, draw_on), drawing.make_chart_axes, title, name)
    return [Figure(None, "", svg)]


@draw.register
def _draw_levels(levels: Levels, title: str, name: str) -> list[Figure]:
    """Return one line per measure, system or group; of many groups the largest."""
    sizes = levels.sizes
    if sizes is None:
        return [_draw_lines(levels.estimates, title, name, ESTIMATES, levels.best)]
    n, order = len(sizes), sorted(range(len(sizes)), key=lambda i: -sizes[i])
    largest = set(order[:MAX_LINES])
    estimates = {
        group: estimate for i, (group, estimate) in enumerate(levels.estimates.items()) if i in largest
    }
    caption = f"{GROUPS} These are the {MAX_LINES} largest of {n:,}." if n > MAX_LINES else GROUPS
    return [_draw_lines(estimates, title, name, caption)]


def _draw_lines(
    estimates: "Mapping[str, drawing.AnyEstimate | None]",
    title: str,
    name: str,
    caption: str,
    best: Collection[str] | None = None,
) -> Figure:
    draw = partial(drawing.draw_measures, estimates=estimates, best=best)
    new_axes = partial(drawing.make_line_axes, len(estimates))
    return Figure(None, caption, render_svg(draw, new_axes, f"{title}: values and intervals up to 1", name))


@draw.register
def _draw_worths(comparison: Comparison, title: str, name: str) -> list[Figure]:
    """Return worth against the number of explanations, if two systems have a worth."""
    systems = worth_points(comparison)
    if len(systems) < 2:
        return []
    draw = partial(drawing.draw_worth, systems=systems, best=comparison.best("sufficiency"))
    return [_draw_figure("worth and simplicity", WORTH, name, draw)]


def worth_points(comparison: Comparison) -> dict[str, tuple[int, float, float, float]]:
    """Return the number of explanations, the worth and its interval of each system that has one."""
    return {
        name: (comparison.results[name].n_explanations, worth.value, worth.low, worth.high)
        for name, worth in comparison.worths.items()
    }


@draw.register
def _draw_result(result: faithkit.Evaluation, title: str, name: str) -> list[Figure]:
    """Return sample-size curves and local scores of what could be checked, and the sizes of groups.

    A figure is left out where its data are missing: a result that was read from a file has no owners, and one
    with weights, clusters or a pool has no counts of other rows.
    """
    words, tallies = result.setup.outcome.words, result.evidence.counts
    checked = {measure: estimate for measure, estimate in result.measures.items() if estimate.verified > 0}
    curves = [
        _draw_curve(measure, estimate.checkable_counts, name)
        for measure, estimate in checked.items()
        if estimate.checkable_counts is not None
    ]
    scores = [
        _draw_local(measure, 1 - estimate.verified, tallies[measure].with_sorted_labels.owners, name, words)
        for measure, estimate in checked.items()
        if measure in tallies
    ]
    counts = result.consistency.checkable_counts
    groups = [] if counts is None else [_draw_groups(result.singletons, counts, name)]
    return curves + scores + groups


@draw.register
def _draw_contradictions(contradictions: Contradictions, title: str, name: str) -> list[Figure]:
    """Return the ranges of predictions under the worst explanations, where predictions are numbers."""
    ranges = {
        f"{number}. {contradiction.explanation}": contradiction.numbers
        for number, contradiction in enumerate(contradictions, 1)
        if contradiction.numbers is not None
    }
    if not ranges:
        return []
    draw, title = partial(drawing.draw_ranges, ranges=ranges), "Predictions under one explanation"
    new_axes = partial(drawing.make_line_axes, len(ranges))
    return [Figure(title, SPREAD, render_svg(draw, new_axes, title, f"{name}: {title}"))]


@draw.register
def _draw_map(overview: Overview, title: str, name: str) -> list[Figure]:
    """Return the map of explanations by size and agreement."""
    totals = overview.totals
    texts = dict(zip(overview.selected.tolist(), overview.short_texts, strict=True))
    checked = np.flatnonzero(totals.is_checked)
    size, agreement = totals.size[checked], totals.agreement[checked]
    points = drawing.MapPoints.of(size, agreement)
    order = np.concatenate(points.crowds).tolist()
    titles = [_describe_point(points, point, texts.get(int(checked[points.first[point]]))) for point in order]
    n_alone = len(totals.rows) - len(checked)
    unchecked = (
        f" Left out: {pluralize(n_alone, 'explanation')} that could not be checked." if n_alone else ""
    )
    label = (
        f"map of {pluralize(len(checked), 'explanation')}: from {size.min():,} to {size.max():,} rows each, "
        f"with an agreement from {format_number(float(agreement.min()))} to "
        f"{format_number(float(agreement.max()))}; the table has their numbers"
    )
    x_label = "rows with the explanation" if totals.scope is None else "rows to which the explanation applies"
    draw = partial(drawing.draw_map, points=points, label=x_label)
    svg = render_svg(draw, drawing.make_chart_axes, label, f"{name}: map of explanations", titles)
    title = "Agreement of each explanation, by its number of rows"
    return [Figure(title, keep_together(MAP + unchecked), svg)]


def _describe_point(points: drawing.MapPoints, point: int, text: str | None) -> str:
    n, agreement = int(points.n[point]), format_number(float(points.agreement[point]))
    mean = format_three_digits(float(points.rows[point]))
    rows = f"{mean} row{'' if mean == '1' else 's'}, agreement {agreement}"
    if n > 1 or text is None:
        return f"{pluralize(n, 'explanation')} of {rows}"
    return f"{shorten(text, MAX_TITLE)}: {rows}"


def _draw_figure(title: str, caption: str, name: str, draw: Any) -> Figure:
    svg = render_svg(draw, drawing.make_chart_axes, title, f"{name}: {title}")
    return Figure(title.capitalize(), keep_together(caption), svg)


def _draw_curve(measure: str, counts: CheckableCounts, name: str) -> Figure:
    return _draw_figure(
        f"{measure} by sample size", CURVE, name, partial(drawing.draw_sample_size_curve, counts=counts)
    )


def _draw_local(measure: str, unchecked: float, owners: Any, name: str, words: Any) -> Figure:
    coverage = "All instances could be checked."
    if unchecked > 0:
        coverage = f"{format_percent(unchecked)} of instances could not be checked and are left out."
    caption = f"{words.each(measure)} {coverage}"
    draw = partial(drawing.draw_local_scores, owners=owners, label=words.local)
    return _draw_figure(f"local {measure}", caption, name, draw)


def _draw_groups(singletons: float, counts: CheckableCounts, name: str) -> Figure:
    caption = "No instance is alone with its explanation."
    if singletons > 0:
        caption = f"{format_percent(singletons)} of instances are alone with their explanation (orange)."
    return _draw_figure(
        "how many share an explanation", caption, name, partial(drawing.draw_group_sizes, counts=counts)
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
    draw, new_axes : callable
    label : str
        What the picture shows, for those who cannot see it.
    name : str
        Another one for every picture of a page: it makes the ids in it differ from all others.
    titles : iterable of str
        What a browser shows for the markers of all lines whose id is `drawing.TITLED`, in their order.
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
    """Reduce an SVG to its drawing: no prologue, namespaces or fonts, and colours as variables."""
    body = _TAG.sub(lambda tag: _restyle_tag(tag[0]), _UNWANTED.sub("", svg)).strip()
    size = re.search(r'viewBox="[^"]*"', body)
    opening = f'<svg role="img" aria-label="{escape(label)}" {size[0] if size else ""}>'
    return Markup(re.sub(r"\A<svg[^>]*>", lambda _: opening, body))


def _restyle_tag(tag: str) -> str:
    tag = _COLOUR.sub(lambda colour: VARIABLES[colour[0]], tag)
    tag = re.sub(r"font-family: [^;\"]*;? ?", "", tag)
    return re.sub(r'<g id="[^"]*"', "<g", tag)  # nothing refers to a group, and ids must differ on a page
