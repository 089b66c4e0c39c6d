"""The plots of a page, each with a title and a caption that says how to read it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from faithkit.measure.counting.owners import Owners
from faithkit.measure.estimate import Estimate
from faithkit.measure.planning.checkable_counts import CheckableCounts
from faithkit.measure.witnesses import Violation
from faithkit.report.formats import Payload, format_percent, keep_together
from faithkit.report.outcome_words import Words, words
from faithkit.report.payloads import estimates
from faithkit.report.pictures import plots
from faithkit.report.pictures.svg import drawn
from faithkit.report.sheets.sheet import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ESTIMATES = (
    "The dot is the estimate, and the line its interval. A pale bar is what the sample cannot rule out: it "
    "ends at the value that the measure would have if everything unchecked agreed. The tick is the baseline: "
    "the value of explanations that have nothing to do with the predictions."
)
SPREAD = (
    "For the explanations that leave most open, from where to where the predictions are, the half of them in "
    "the middle (dark) and the median. The shorter, the more the explanation tells."
)
WORTH = (
    "Worth is the part of the gap between random explanations and the full input that explanations close. A "
    "system high on the left says much in few words."
)
CURVE = (
    "What a smaller sample would have given on average. Where the line still rises at its end, a larger "
    "sample would check more."
)


def measure_figure(
    estimates: Mapping[str, Estimate | None], name: str, best: Collection[str] | None = None
) -> Figure:
    """Return one line per measure, system or group; `name` differs for every plot of a page."""
    draw = partial(plots.measures, estimates=estimates, best=best)
    new_axes = partial(plots.line_axes, len(estimates))
    return Figure(None, ESTIMATES, drawn(draw, new_axes, f"{name}: values and intervals up to 1", name))


def worth_figure(systems: Mapping[str, tuple[int, float, float, float]], best: Collection[str]) -> Figure:
    """Return what systems are worth against how simple they are."""
    return _figure(
        "worth and simplicity", WORTH, "comparison", partial(plots.worth_by_size, systems=systems, best=best)
    )


def result_figures(payload: Payload, name: str, owners: Mapping[str, Owners]) -> list[Figure]:
    """Return sample-size curves and local scores of what could be checked, and the sizes of groups.

    A figure is left out where its data are missing: a result that was read from a file has no owners, and one
    with weights, clusters or a pool has no counts of other rows.
    """
    measures = {measure: one for measure, one in estimates(payload).items() if one is not None}
    counts = {measure: one.others for measure, one in measures.items() if one.others is not None}
    checked = [measure for measure, estimate in measures.items() if estimate.verified > 0]
    curves = [_curve(measure, counts[measure], name) for measure in checked if measure in counts]
    scores = [
        _local(measure, 1 - measures[measure].verified, owners[measure], name, words(payload))
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
    return [Figure(title, SPREAD, drawn(draw, new_axes, title, f"result: {title}"))]


def _figure(title: str, caption: str, name: str, draw: Any) -> Figure:
    svg = drawn(draw, plots.chart_axes, title, f"{name}: {title}")
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
    return Figure(None, "", drawn(partial(plots.chart, draw), plots.chart_axes, title, "plot"))
