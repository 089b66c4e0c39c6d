"""The plots of a page, each with a title and a caption that says how to read it."""

from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from faithkit.report import plots
from faithkit.report.formats import percent, unbroken
from faithkit.report.svg import drawn

if TYPE_CHECKING:
    from markupsafe import Markup

    from faithkit.measure.estimate import Estimate
    from faithkit.run.evaluation import Evaluation

Figure = dict[str, Any]

CURVE = (
    "What a smaller sample would have given on average. Where the line still rises at its end, a larger "
    "sample would check more."
)
OTHERS = {
    "consistency": "with the same explanation",
    "sufficiency": "to which its explanation applies",
}


def lines(
    estimates: "Mapping[str, Estimate | None]",
    name: str,
    best: Collection[str] | None = None,
) -> "Markup":
    """Return one line per measure, system or group; `name` differs for every plot of a page."""
    draw = partial(plots.measures, estimates=estimates, best=best)
    new_axes = partial(plots.line_axes, len(estimates))
    return drawn(draw, new_axes, f"{name}: values and intervals from 0 to 1", name)


def figures(result: "Evaluation", name: str) -> list[Figure]:
    """Return the sample-size curve and the local scores of what could be checked, and the group sizes."""
    checked = [measure for measure in result.owned if getattr(result, measure).verified > 0]
    curves = [_curve(result, measure, name) for measure in checked]
    return [*curves, *(_local(result, measure, name) for measure in checked), _groups(result, name)]


def _figure(title: str, caption: str, name: str, draw: Any) -> Figure:
    return {
        "title": title,
        "caption": unbroken(caption),
        "svg": drawn(draw, plots.chart_axes, title, f"{name}: {title}"),
    }


def _curve(result: "Evaluation", measure: str, name: str) -> Figure:
    draw = partial(plots.sample_size_curve, others=getattr(result, measure).others)
    return _figure(f"{measure} by sample size", CURVE, name, draw)


def _local(result: "Evaluation", measure: str, name: str) -> Figure:
    unchecked = 1 - getattr(result, measure).verified
    rest = "All instances could be checked."
    if unchecked > 0:
        rest = f"{percent(unchecked)} of instances could not be checked and are left out."
    told = f"For each instance, how many of the others {OTHERS[measure]} get its prediction. {rest}"
    return _figure(f"local {measure}", told, name, partial(plots.local_scores, tally=result.owned[measure]))


def _groups(result: "Evaluation", name: str) -> Figure:
    told = "Nobody is alone with an explanation."
    if result.singletons > 0:
        told = f"{percent(result.singletons)} of instances are alone with theirs (orange)."
    draw = partial(plots.group_sizes, others=result.consistency.others)
    return _figure("how many share an explanation", told, name, draw)
