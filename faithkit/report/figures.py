"""The plots of a page, each with a title and a caption that says how to read it."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from faithkit.measure.counting.owners import Owners
from faithkit.measure.estimate import Estimate
from faithkit.measure.planning.checkable_counts import CheckableCounts
from faithkit.measure.witnesses import Violation
from faithkit.report import plots
from faithkit.report.agreeing import Words, words
from faithkit.report.formats import Payload, percent, unbroken
from faithkit.report.svg import drawn
from faithkit.report.told import estimates

if TYPE_CHECKING:
    from markupsafe import Markup

Figure = dict[str, Any]

SPREAD = (
    "For the explanations that leave most open, from where to where the predictions are, the half of them in "
    "the middle (dark) and the median. The shorter, the more the explanation tells."
)
CURVE = (
    "What a smaller sample would have given on average. Where the line still rises at its end, a larger "
    "sample would check more."
)


def lines(found: Mapping[str, Estimate | None], name: str, best: Collection[str] | None = None) -> "Markup":
    """Return one line per measure, system or group; `name` differs for every plot of a page."""
    draw = partial(plots.measures, estimates=found, best=best)
    new_axes = partial(plots.line_axes, len(found))
    return drawn(draw, new_axes, f"{name}: values and intervals up to 1", name)


def figures(told: Payload, name: str, owners: Mapping[str, Owners]) -> list[Figure]:
    """Return the sample-size curve and the local scores of what could be checked, and the group sizes.

    A figure is left out where the result does not know what it shows: one that was read from a file has no
    owners, and one with weights, clusters or a pool no numbers of others.
    """
    found = {measure: one for measure, one in estimates(told).items() if one is not None}
    others = {measure: one.others for measure, one in found.items() if one.others is not None}
    checked = [measure for measure, one in found.items() if one.verified > 0]
    curves = [_curve(measure, others[measure], name) for measure in checked if measure in others]
    scores = [
        _local(measure, 1 - found[measure].verified, owners[measure], name, words(told))
        for measure in checked
        if measure in owners
    ]
    groups = [_groups(told["singletons"], others["consistency"], name)] if "consistency" in others else []
    return curves + scores + groups


def spreads(violations: Sequence[Violation]) -> list[Figure]:
    """Return the predictions under the explanations that leave most of them open, where they are numbers."""
    found = {
        f"{place}. {one.explanation}": one.numbers
        for place, one in enumerate(violations, 1)
        if one.numbers is not None
    }
    if not found:
        return []
    draw, title = partial(plots.ranges, found=found), "predictions under one explanation"
    new_axes = partial(plots.line_axes, len(found))
    svg = drawn(draw, new_axes, title, f"result: {title}")
    return [{"title": title, "caption": SPREAD, "svg": svg}]


def _figure(title: str, caption: str, name: str, draw: Any) -> Figure:
    return {
        "title": title,
        "caption": unbroken(caption),
        "svg": drawn(draw, plots.chart_axes, title, f"{name}: {title}"),
    }


def _curve(measure: str, others: CheckableCounts, name: str) -> Figure:
    return _figure(f"{measure} by sample size", CURVE, name, partial(plots.sample_size_curve, others=others))


def _local(measure: str, unchecked: float, owners: Owners, name: str, said: Words) -> Figure:
    rest = "All instances could be checked."
    if unchecked > 0:
        rest = f"{percent(unchecked)} of instances could not be checked and are left out."
    caption = f"{said.each(measure)} {rest}"
    draw = partial(plots.local_scores, owners=owners, told=said.local)
    return _figure(f"local {measure}", caption, name, draw)


def _groups(singletons: float, others: CheckableCounts, name: str) -> Figure:
    caption = "Nobody is alone with an explanation."
    if singletons > 0:
        caption = f"{percent(singletons)} of instances are alone with theirs (orange)."
    return _figure("how many share an explanation", caption, name, partial(plots.group_sizes, others=others))
