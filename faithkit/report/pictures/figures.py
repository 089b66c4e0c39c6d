"""The plots of a page, each with a title and a caption that says how to read it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from faithkit.measure.counting.owners import Owners
from faithkit.measure.estimate import Estimate
from faithkit.measure.explanation_losses import ExplanationTotals
from faithkit.measure.planning.forecast import CheckableCounts
from faithkit.measure.witnesses import Violation
from faithkit.report.formats import (
    Payload,
    format_number,
    format_percent,
    format_three_digits,
    keep_together,
    pluralize,
)
from faithkit.report.outcome_words import Words, words_for_outcome
from faithkit.report.payloads import estimates
from faithkit.report.pictures import plots
from faithkit.report.pictures.svg import render_svg
from faithkit.report.sheets.sheet import Figure

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


def measure_figure(
    estimates: Mapping[str, Estimate | None], name: str, best: Collection[str] | None = None
) -> Figure:
    """Return one line per measure, system or group; `name` differs for every plot of a page."""
    return _line_figure(estimates, name, ESTIMATES, best)


def group_figure(
    estimates: "Mapping[str, plots.AnyEstimate | None]", sizes: Sequence[int], name: str
) -> Figure:
    """Return the figure with one line per subgroup or label, at most the largest ones."""
    n, largest = len(estimates), sorted(range(len(estimates)), key=lambda place: -sizes[place])[:MAX_LINES]
    names = [one for place, one in enumerate(estimates) if place in largest]
    caption = f"{GROUPS} These are the {MAX_LINES} largest of {n:,}." if n > MAX_LINES else GROUPS
    return _line_figure({one: estimates[one] for one in names}, name, caption)


def _line_figure(
    estimates: "Mapping[str, plots.AnyEstimate | None]",
    name: str,
    caption: str,
    best: Collection[str] | None = None,
) -> Figure:
    draw = partial(plots.measures, estimates=estimates, best=best)
    new_axes = partial(plots.line_axes, len(estimates))
    return Figure(None, caption, render_svg(draw, new_axes, f"{name}: values and intervals up to 1", name))


def worth_figure(systems: Mapping[str, tuple[int, float, float, float]], best: Collection[str]) -> Figure:
    """Return the figure of worth against the number of explanations."""
    return _figure(
        "worth and simplicity", WORTH, "comparison", partial(plots.worth_by_size, systems=systems, best=best)
    )


def result_figures(payload: Payload, name: str, owners: Mapping[str, Owners]) -> list[Figure]:
    """Return sample-size curves and local scores of what could be checked, and the sizes of groups.

    A figure is left out where its data are missing: a result that was read from a file has no owners, and one
    with weights, clusters or a pool has no counts of other rows.
    """
    measures = {measure: one for measure, one in estimates(payload).items() if one is not None}
    counts = {
        measure: estimate.checkable_counts
        for measure, estimate in measures.items()
        if estimate.checkable_counts is not None
    }
    checked = [measure for measure, estimate in measures.items() if estimate.verified > 0]
    curves = [_curve(measure, counts[measure], name) for measure in checked if measure in counts]
    scores = [
        _local(measure, 1 - measures[measure].verified, owners[measure], name, words_for_outcome(payload))
        for measure in checked
        if measure in owners
    ]
    groups = [_groups(payload["singletons"], counts["consistency"], name)] if "consistency" in counts else []
    return curves + scores + groups


def spread_figures(violations: Sequence[Violation]) -> list[Figure]:
    """Return the ranges of predictions under the worst explanations, where predictions are numbers."""
    ranges = {
        f"{place}. {violation.explanation}": violation.numbers
        for place, violation in enumerate(violations, 1)
        if violation.numbers is not None
    }
    if not ranges:
        return []
    draw, title = partial(plots.ranges, ranges=ranges), "Predictions under one explanation"
    new_axes = partial(plots.line_axes, len(ranges))
    return [Figure(title, SPREAD, render_svg(draw, new_axes, title, f"result: {title}"))]


def map_figure(totals: ExplanationTotals, texts: Mapping[int, str]) -> Figure:
    """Return the map of explanations by size and agreement; `texts` describes some of them."""
    checked = np.flatnonzero(totals.is_checked)
    size, agreement = totals.size[checked], totals.agreement[checked]
    points = plots.MapPoints.of(size, agreement)
    order = np.concatenate(points.crowds).tolist()
    titles = [_point_title(points, point, texts.get(int(checked[points.first[point]]))) for point in order]
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
    draw = partial(plots.explanation_map, points=points, label=x_label)
    svg = render_svg(draw, plots.chart_axes, label, "result: map of explanations", titles)
    title = "Agreement of each explanation, by its number of rows"
    return Figure(title, keep_together(MAP + unchecked), svg)


def _point_title(points: plots.MapPoints, point: int, text: str | None) -> str:
    n, agreement = int(points.n[point]), format_number(float(points.agreement[point]))
    mean = format_three_digits(float(points.rows[point]))
    rows = f"{mean} row{'' if mean == '1' else 's'}, agreement {agreement}"
    if n > 1 or text is None:
        return f"{pluralize(n, 'explanation')} of {rows}"
    return f"{_shorten(text)}: {rows}"


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_TITLE else f"{text[:MAX_TITLE]}…"


def _figure(title: str, caption: str, name: str, draw: Any) -> Figure:
    svg = render_svg(draw, plots.chart_axes, title, f"{name}: {title}")
    return Figure(title.capitalize(), keep_together(caption), svg)


def _curve(measure: str, counts: CheckableCounts, name: str) -> Figure:
    return _figure(f"{measure} by sample size", CURVE, name, partial(plots.sample_size_curve, counts=counts))


def _local(measure: str, unchecked: float, owners: Owners, name: str, outcome: Words) -> Figure:
    coverage = "All instances could be checked."
    if unchecked > 0:
        coverage = f"{format_percent(unchecked)} of instances could not be checked and are left out."
    caption = f"{outcome.each(measure)} {coverage}"
    draw = partial(plots.local_scores, owners=owners, label=outcome.local)
    return _figure(f"local {measure}", caption, name, draw)


def _groups(singletons: float, counts: CheckableCounts, name: str) -> Figure:
    caption = "No instance is alone with its explanation."
    if singletons > 0:
        caption = f"{format_percent(singletons)} of instances are alone with their explanation (orange)."
    return _figure("how many share an explanation", caption, name, partial(plots.group_sizes, counts=counts))


def report_figure(draw: "Callable[[Axes], object]", title: str) -> Figure:
    """Return the plot of a plugin's report."""
    return Figure(None, "", render_svg(partial(plots.draw_report, draw), plots.chart_axes, title, "plot"))
