"""Plots for papers and notebooks: each takes a result and Matplotlib axes, and returns the axes.

Without axes, a new figure is made. A notebook shows it once, since it is not registered with pyplot.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from faithkit import Evaluation
from faithkit.errors import InputError
from faithkit.plugin import Report
from faithkit.results import CheckableCounts, Comparison, Estimate
from faithkit_html import drawing
from faithkit_html.figures import worth_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw", "group_sizes", "local_scores", "measures", "sample_size", "subgroups", "systems", "worth"]


def measures(result: Evaluation, ax: "Axes | None" = None) -> "Axes":
    """Draw each measure with its interval, and what the sample cannot rule out.

    Examples
    --------
    >>> import faithkit, faithkit_html
    >>> result = faithkit.score(["yes", "yes", "no"], ["a", "a", "b"])
    >>> faithkit_html.plots.measures(result).figure.savefig("measures.png")  # doctest: +SKIP
    """
    estimates = {"consistency": result.consistency, "sufficiency": result.sufficiency}
    return drawing.draw_measures(drawing.make_line_axes(len(estimates)) if ax is None else ax, estimates)


def systems(comparison: Comparison, measure: str = "consistency", ax: "Axes | None" = None) -> "Axes":
    """Draw the measure of every comparable system with interval and bracket, the best highlighted.

    Examples
    --------
    >>> import faithkit, faithkit_html
    >>> one, two = (faithkit.score(["yes", "yes", "no"], list(names)) for names in ("aab", "aaa"))
    >>> axes = faithkit_html.plots.systems(faithkit.results.Comparison({"one": one, "two": two}))
    """
    ranked = comparison.ranked(measure)
    if not ranked:
        raise InputError(f"{measure} cannot be drawn: no system has it. Give a relation.")
    estimates = {name: ranked[name] for name in comparison.results if name in ranked}
    axes = drawing.make_line_axes(len(estimates)) if ax is None else ax
    return drawing.draw_measures(axes, estimates, comparison.best(measure))


def draw(report: Report, ax: "Axes | None" = None) -> "Axes":
    """Draw the report of a plugin, which has a method `draw(ax)`.

    Examples
    --------
    >>> import faithkit, faithkit_html
    >>> class Line(faithkit.plugin.Report):
    ...     def draw(self, ax):
    ...         ax.plot([0, 1], [0, 1])
    >>> axes = faithkit_html.plots.draw(Line())
    """
    if not hasattr(report, "draw"):
        raise InputError(f"a {type(report).__name__} has no plot: print it, or write a page.")
    axes: Axes = drawing.draw_report(report.draw, ax)
    return axes


def subgroups(
    parts: Mapping[str, Evaluation], measure: str = "consistency", ax: "Axes | None" = None
) -> "Axes":
    """Draw a measure of each group with its interval, of what `Evaluation.by` returns.

    Examples
    --------
    >>> import faithkit, faithkit_html
    >>> result = faithkit.score(["yes", "yes", "no", "no"], ["a", "a", "b", "a"])
    >>> axes = faithkit_html.plots.subgroups(result.by(["f", "m", "f", "m"]))
    """
    estimates: dict[str, Estimate | None] = {
        str(name): part.measures.get(measure) for name, part in parts.items()
    }
    if not any(estimates.values()):
        raise InputError(f"{measure} cannot be drawn: no group has it.")
    return drawing.draw_measures(drawing.make_line_axes(len(estimates)) if ax is None else ax, estimates)


def sample_size(result: Evaluation, measure: str = "consistency", ax: "Axes | None" = None) -> "Axes":
    """Draw what a smaller sample would have given on average.

    Examples
    --------
    >>> import faithkit, faithkit_html
    >>> axes = faithkit_html.plots.sample_size(faithkit.score(["yes", "yes", "no"] * 9, ["a", "a", "b"] * 9))
    """
    return drawing.draw_sample_size_curve(
        drawing.make_chart_axes() if ax is None else ax, _counts(result, measure)
    )


def local_scores(result: Evaluation, measure: str = "consistency", ax: "Axes | None" = None) -> "Axes":
    """Draw how far other instances agree with each instance, of those that could be checked.

    Examples
    --------
    >>> import faithkit, faithkit_html
    >>> axes = faithkit_html.plots.local_scores(faithkit.score(["yes", "yes", "no"] * 9, ["a", "a", "b"] * 9))
    """
    count = result.evidence.counts.get(measure)
    if count is None:
        raise InputError(
            f"local scores of {measure} cannot be drawn: the result has no rows, or not this measure."
        )
    return drawing.draw_local_scores(
        drawing.make_chart_axes() if ax is None else ax, count.with_sorted_labels.owners
    )


def group_sizes(result: Evaluation, ax: "Axes | None" = None) -> "Axes":
    """Draw how many instances share an explanation.

    Examples
    --------
    >>> import faithkit, faithkit_html
    >>> axes = faithkit_html.plots.group_sizes(faithkit.score(["yes", "yes", "no"] * 9, ["a", "a", "b"] * 9))
    """
    return drawing.draw_group_sizes(
        drawing.make_chart_axes() if ax is None else ax, _counts(result, "consistency")
    )


def worth(comparison: Comparison, ax: "Axes | None" = None) -> "Axes":
    """Draw what each system is worth against its number of distinct explanations.

    Examples
    --------
    >>> import faithkit, faithkit_html, numpy as np
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 3)).astype(float)
    >>> def name_column(j):
    ...     rules = [faithkit.Rule([faithkit.plugin.OneOf(j, [value])]) for value in X[:, j]]
    ...     explanations = faithkit.Explanations.of(rules, kind="rule", relation="in-scope")
    ...     return faithkit.score(X[:, 0] > 0, explanations, X)
    >>> comparison = faithkit.results.Comparison({"true": name_column(0), "false": name_column(1)})
    >>> axes = faithkit_html.plots.worth(comparison)
    """
    points = worth_points(comparison)
    if not points:
        raise InputError("worth cannot be drawn: no system has a control and could be checked.")
    best = comparison.best("sufficiency")
    return drawing.draw_worth(drawing.make_chart_axes() if ax is None else ax, points, best)


def _counts(result: Evaluation, measure: str) -> CheckableCounts:
    estimate = result.measures.get(measure)
    if estimate is None or estimate.checkable_counts is None:
        raise InputError(
            f"{measure} cannot be drawn: it was not measured, or the rows have weights, clusters or a pool."
        )
    return estimate.checkable_counts
