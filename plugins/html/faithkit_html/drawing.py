"""Plots on Matplotlib axes: each function draws on the axes it is given and returns them.

Nothing here uses pyplot, so no figure has to be closed. Names from data are never parsed as mathematics.
"""

import io
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.plugin import format_interval, format_number, name_interval, one_line, to_printable
from faithkit.results import CheckableCounts, Estimate, LabelEstimate, PredictionSummary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# This blue and this orange are safe for colour-blind readers, and colour is never the only mark. Pages
# replace all of these by variables of their own, for light and for dark.
INK, QUIET, GRID = "#24292f", "#656d76", "#d8dee4"
BLUE, PALE_BLUE = "#1864ab", "#c5ddf3"
ORANGE = "#c2500a"

AnyEstimate = Estimate | LabelEstimate
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

WIDTH, HEIGHT = 5.6, 2.9  # inches
SHARPNESS = 2  # pixels of the picture for one on the page: most screens have that many
LINE_HEIGHT = 0.55  # of a measure's line with its name
BINS = 20
POINTS = 32  # of the sample-size curve
QUARTERS = [0, 0.25, 0.5, 0.75, 1]
# the most important first
LEGEND = ("leave-one-out", "interval", "not ruled out", "chance")
TITLED = "titled"  # the id of lines whose markers have titles on a page
CROWDS = {1: 5.0, 2: 7.5, 10: 11.0, 100: 16.0}  # the size of a marker for at least so many explanations
LETTER = 0.6  # of the font's size, on average and in a wide font


def make_line_axes(lines: int) -> "Axes":
    """Return the axes of a new figure for so many lines of `draw_measures`."""
    return _make_axes(LINE_HEIGHT * lines + 0.75, left=0.03, right=0.06, bottom=0.32)


def make_chart_axes() -> "Axes":
    """Return the axes of a new figure for any other plot."""
    return _make_axes(HEIGHT, left=0.62, right=0.4, bottom=0.55)  # half of "1,000,000" has room


def _make_axes(height: float, left: float, right: float, bottom: float) -> "Axes":
    """Return axes with fixed margins (in inches) for numbers and legend.

    A notebook shows their figure once, without pyplot.
    """
    from matplotlib.figure import Figure

    top = 0.3
    width, inner_height = (WIDTH - left - right) / WIDTH, (height - bottom - top) / height
    figure: Any = Figure(figsize=(WIDTH, height))
    figure.set_layout_engine("none")  # the reader's rcParams may ask for one
    axes = figure.add_axes((left / WIDTH, bottom / height, width, inner_height))
    figure._repr_png_ = axes._repr_png_ = partial(_encode_png, figure)
    return axes


def _encode_png(figure: "Figure") -> tuple[bytes, dict[str, int]]:
    r"""Return a picture for a notebook, with the size at which it is shown.

    >>> picture, size = _encode_png(make_line_axes(2).figure)
    >>> picture[:4], size
    (b'\x89PNG', {'width': 560, 'height': 185})
    """
    out, dots = io.BytesIO(), figure.get_dpi()
    # whatever the reader's rcParams say of files: our inks are for paper
    settings: dict[str, Any] = {"bbox_inches": figure.bbox_inches, "facecolor": "white"}
    figure.savefig(out, format="png", dpi=SHARPNESS * dots, metadata={"Software": None}, **settings)
    width, height = (round(dots * side) for side in figure.get_size_inches())
    return out.getvalue(), {"width": width, "height": height}


def draw_measures(
    ax: "Axes", estimates: Mapping[str, AnyEstimate | None], best: Collection[str] | None = None
) -> "Axes":
    """Draw a line for every measure, system or group: its estimate, interval and bracket.

    The names in `best` are brought to the fore.
    """
    _remove_frame(ax)
    left = min(
        [0.0, *(min(estimate.bracket[0], estimate.low or 0.0) for estimate in estimates.values() if estimate)]
    )
    ticks = (
        QUARTERS
        if left == 0
        else np.unique(_locate_round_numbers().tick_values(left, 1).clip(left, 1)).tolist()
    )
    margin = 0.012 * (1 - left)
    ax.set(xlim=(left - margin, 1 + margin), ylim=(0.6 - len(estimates), 0.7), yticks=[])
    _name_ticks(ax.xaxis, ticks)
    for position, (name, estimate) in enumerate(estimates.items()):
        is_strong = best is None or name in best
        value = _format_estimate(estimate, interval=best is None)
        _write_names(ax, (left, -position), name, value, bold=is_strong and best is not None)
        _draw_rail(ax, -position, ticks)
        if estimate is not None:
            _draw_estimate(ax, -position, estimate, (BLUE, PALE_BLUE) if is_strong else (QUIET, GRID))
    _add_legend(ax)
    return ax


def draw_sample_size_curve(ax: "Axes", counts: CheckableCounts) -> "Axes":
    """Draw the value that a smaller sample would have given on average, and what it could not rule out."""
    sizes = np.unique((np.linspace(1, np.sqrt(counts.n), POINTS) ** 2).round().astype(np.int64))
    low = counts.expected_estimates(sizes)
    unchecked = np.array([counts.unverified(int(size)) for size in sizes])
    ax.fill_between(sizes, low, low + unchecked, color=PALE_BLUE, lw=0, label="not ruled out")
    ax.plot(sizes, low, color=BLUE, lw=2, label="leave-one-out")
    ax.set(xlim=(0, counts.n), ylim=(min(0.0, float(low.min()) * 1.02), 1.02), xlabel="sample size")
    if low.min() >= 0:
        _name_ticks(ax.yaxis, QUARTERS)
    ax.xaxis.set_major_locator(_locate_round_numbers(integer=True))
    ax.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")
    _remove_frame(ax, grid=True)
    _add_legend(ax)
    return ax


def draw_report(draw: "Callable[[Axes], object]", ax: "Axes | None" = None) -> "Axes":
    """Draw a report on the given axes, or on new ones, in the style of all plots."""
    axes = make_chart_axes() if ax is None else ax
    draw(axes)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(_locate_round_numbers())
    _remove_frame(axes, grid=True)
    _add_legend(axes)
    return axes


def draw_local_scores(ax: "Axes", owners: Any, label: str = "share of other instances that agree") -> "Axes":
    """Draw how the instances' own scores are spread; those that could not be checked are left out.

    Scores below −1, which some numbers have, are drawn there. `label` says what a score is.
    """
    checked = owners.others > 0
    scores, share = owners.scores[checked], owners.weight[checked] / owners.total_weight
    left = 0 if scores.min(initial=0.0) >= 0 else -1
    ax.hist(scores.clip(left, 1), bins=BINS, range=(left, 1), weights=share, color=BLUE, rwidth=0.9)
    ax.set(xlim=(left - 0.01, 1.01), xlabel=label)
    ticks = QUARTERS if left == 0 else [-1, -0.5, 0, 0.5, 1]
    _name_ticks(ax.xaxis, ticks)
    _count_shares(ax)
    return ax


def draw_ranges(ax: "Axes", ranges: Mapping[str, PredictionSummary]) -> "Axes":
    """Draw the predictions under each of some explanations: all of them, the half in the middle, the median.

    Each has a line of its own, with its name above it.
    """
    least = min(values.minimum for values in ranges.values())
    most = max(values.maximum for values in ranges.values())
    margin = 0.02 * (most - least) or 1.0
    ax.set(xlim=(least - margin, most + margin), ylim=(0.6 - len(ranges), 0.7), yticks=[])
    for position, (name, values) in enumerate(ranges.items()):
        text = _shorten_middle(one_line(to_printable(name)), _count_letters(ax, 1.0))
        ax.text(least, 0.4 - position, text, va="center", color=INK, parse_math=False, usetex=False)
        _draw_bar(ax, (values.minimum, values.maximum), -position, PALE_BLUE, lw=9)
        _draw_bar(ax, (values.lower_quartile, values.upper_quartile), -position, BLUE, lw=9)
        ax.plot([values.median], [-position], "|", color=INK, ms=14, mew=1.5)
    ax.xaxis.set_major_locator(_locate_round_numbers())
    _remove_frame(ax)
    return ax


def draw_group_sizes(ax: "Axes", counts: CheckableCounts) -> "Axes":
    """Draw how many instances share an explanation; unique ones in another colour."""
    size = np.array(counts.number) + 1
    edges = _doubling_bins(int(size.max()))
    share = np.histogram(size, edges, weights=np.array(counts.rows) / counts.n)[0]
    widths = np.diff(edges)
    colours = [ORANGE, *[BLUE] * (len(share) - 1)]
    ax.set_xscale("log")
    ax.bar(edges[:-1] + 0.04 * widths, share, 0.92 * widths, align="edge", color=colours)
    ax.set(xlim=(edges[0], edges[-1]), xlabel="instances that share the explanation")
    ticks = _list_decades(edges[-1])
    _name_counts(ax, ticks)
    _count_shares(ax)
    return ax


@attrs.frozen(eq=False)
class MapPoints:
    """The points of a map of explanations; similar ones share a point.

    Attributes
    ----------
    rows, agreement : (p,) float
        How many rows have the explanations of a point, and how far these agree, on average.
    n : (p,) int
        How many explanations share the point.
    first : (p,) int
        The first of them.
    """

    rows: Floats
    agreement: Floats
    n: Counts
    first: Counts

    @classmethod
    def of(cls, rows: Counts, agreement: Floats) -> "MapPoints":
        """Merge similar explanations: ten steps for each power of ten rows, and 25 from 0 to 1.

        Examples
        --------
        >>> points = MapPoints.of(np.array([2, 2, 300]), np.array([1.0, 1.0, 0.5]))
        >>> points.rows, points.agreement, points.n
        (array([  2., 300.]), array([1. , 0.5]), array([2, 1]))
        """
        steps = np.column_stack([np.round(10 * np.log10(rows)), np.floor(25 * agreement + 1e-9)])
        _, first, point, n = np.unique(
            steps, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        mean_rows, mean_agreement = (np.bincount(point.ravel(), values) / n for values in (rows, agreement))
        return cls(mean_rows, mean_agreement, n, first)

    @property
    def crowds(self) -> "list[Counts]":
        """The points of each size of markers, the largest first, so that small ones are drawn over them."""
        size = np.searchsorted(list(CROWDS), self.n, side="right") - 1
        return [np.flatnonzero(size == position) for position in reversed(range(len(CROWDS)))]


def draw_map(ax: "Axes", points: MapPoints, label: str = "rows with the explanation") -> "Axes":
    """Draw how many rows each explanation has, and how far others agree; `label` says which rows."""
    least = max(-1.0, min(0.0, float(points.agreement.min())))
    for (limit, size), crowd in zip(CROWDS.items(), reversed(points.crowds), strict=True):
        x, y = points.rows[crowd], points.agreement[crowd].clip(least)
        crowd_name = f"{limit:,}+" if limit > 1 else "1 explanation"
        style: dict[str, Any] = {"color": BLUE, "alpha": 0.75, "mew": 0, "ms": size, "zorder": 3 - size / 20}
        ax.plot(x, y, "o", gid=TITLED, label=crowd_name if len(crowd) else None, **style)
    ticks = _list_decades(1.3 * float(points.rows.max()) + 1)
    ax.set_xscale("log")
    ax.set(xlim=(0.8 * points.rows.min(), 1.3 * points.rows.max()), ylim=(least - 0.06, 1.06))
    _name_counts(ax, ticks)
    ax.set_xlabel(label)
    if least == 0:
        _name_ticks(ax.yaxis, QUARTERS)
    _remove_frame(ax, grid=True)
    _add_legend(ax)
    return ax


def draw_worth(
    ax: "Axes", systems: Mapping[str, tuple[int, float, float, float]], best: Collection[str] = ()
) -> "Axes":
    """Draw what each system is worth, with its interval, against its number of distinct explanations.

    `systems` maps names to the number of explanations, the worth and its ends; `best` come to the fore.
    """
    _remove_frame(ax, grid=True)
    sizes = [size for size, *_ in systems.values()]
    for name, (size, worth, low, high) in systems.items():
        colour = BLUE if name in best else QUIET
        ax.plot([size, size], [max(low, -0.1), min(high, 1.1)], color=colour, lw=2, solid_capstyle="butt")
        ax.plot([size], [worth], "o", color=colour, ms=7)
        ax.annotate(_shorten_middle(name, 24), (size, worth), (7, 4), textcoords="offset points", color=INK)
    ax.set_xscale("log")
    ax.set(xlim=(min(sizes) / 1.6, max(sizes) * 6), ylim=(-0.12, 1.12))
    _name_counts(ax, sorted(set(sizes)))
    ax.set_xlabel("distinct explanations (fewer are simpler)")
    return ax


def _name_ticks(axis: "Axis", ticks: list[float]) -> None:
    axis.set_ticks(ticks, [f"{tick:.3g}".replace("-", "−") for tick in ticks])


def _name_counts(ax: "Axes", counts: list[int]) -> None:
    """Write some counts below a logarithmic axis, and no others."""
    ax.set_xticks(counts, [f"{count:,}" for count in counts])
    ax.set_xticks([], minor=True)


def _list_decades(most: float) -> list[int]:
    """Return round numbers for a logarithmic axis, as many as fit."""
    digits = (1, 2, 5) if most < 200 else (1, 3) if most < 3_000 else (1,)
    return [digit * 10**power for power in range(12) for digit in digits if digit * 10**power < most]


def _doubling_bins(most: int) -> NDArray[np.float64]:
    """Return the bins of 1, 2, 3–4, 5–8, … up to the largest size, and at least those four."""
    last = max(3, (most - 1).bit_length())
    return np.concatenate([[0.7], 2.0 ** np.arange(last + 1) + 0.5])


def _write_names(ax: "Axes", position: tuple[float, float], name: str, value: str, bold: bool) -> None:
    """Write the name above its line, shortened to what the value beside it leaves."""
    style: dict[str, Any] = {"va": "center", "color": INK, "parse_math": False, "usetex": False}
    weight = "bold" if bold else "normal"
    room = _count_letters(ax, 1.15 if bold else 1.0) - len(value) - 1
    left, y = position
    ax.text(
        left,
        y + 0.4,
        _shorten_middle(one_line(to_printable(name)), room),
        ha="left",
        fontweight=weight,
        **style,
    )
    ax.text(1, y + 0.4, value, ha="right", **style)


def _count_letters(ax: "Axes", wider: float) -> int:
    """Return about how many letters fit beside each other."""
    from matplotlib.font_manager import FontProperties

    figure = ax.get_figure(root=True)
    inches = ax.get_position().width * (WIDTH if figure is None else figure.get_figwidth())
    return int(inches * 72 / (LETTER * wider * FontProperties().get_size_in_points()))


def _shorten_middle(name: str, room: int) -> str:
    """Shorten a name in the middle, because similar names differ at their ends."""
    if len(name) <= room:
        return name
    tail = max(2, room // 2 - 1)
    return f"{name[: max(2, room - tail - 1)]}…{name[-tail:]}"


def _format_estimate(estimate: AnyEstimate | None, interval: bool) -> str:
    if estimate is None:
        return "not measured"
    if _is_unchecked(estimate):
        return "nothing known"
    has_interval = interval and estimate.low is not None
    ends = f" ({format_interval(estimate.low, estimate.high)})" if has_interval else ""
    return format_number(estimate.estimate) + ends


def _is_unchecked(estimate: AnyEstimate) -> bool:
    """Whether nothing could be compared, so that a dot would mislead; a table then has dashes."""
    if isinstance(estimate, Estimate):
        return not estimate.is_compared
    return estimate.verified == 0 and estimate.estimate == 0


def _draw_rail(ax: "Axes", y: float, ticks: list[float]) -> None:
    """Draw the reference line, without crossing the names."""
    ax.plot([ticks[0], ticks[-1]], [y, y], color=GRID, lw=1, zorder=0)
    ax.plot(ticks, [y] * len(ticks), "|", color=GRID, ms=6, mew=1, zorder=0)


def _draw_estimate(ax: "Axes", y: float, estimate: AnyEstimate, colours: tuple[str, str]) -> None:
    strong, pale = colours
    if estimate.bracket[1] > estimate.bracket[0]:
        _draw_bar(ax, estimate.bracket, y, pale, lw=9, label="not ruled out")
    if estimate.estimate is None or _is_unchecked(estimate):
        return
    if estimate.chance is not None:
        ax.plot([estimate.chance], [y], "|", color=QUIET, ms=14, mew=1.5, label="chance")
    if estimate.low is not None and estimate.high is not None:
        label = name_interval(estimate.confidence)
        _draw_bar(ax, (estimate.low, estimate.high), y, strong, lw=2.2, label=label)
    ax.plot([estimate.estimate], [y], "o", color=strong, ms=7.5, mew=0)  # its number stands above it


def _draw_bar(ax: "Axes", ends: tuple[float, float], y: float, colour: str, **style: Any) -> None:
    ax.plot(ends, [y, y], color=colour, solid_capstyle="butt", **style)


def _add_legend(ax: "Axes") -> None:
    """Explain the marks above the axes, each once."""
    handles, labels = ax.get_legend_handles_labels()
    handle_of = dict(zip(reversed(labels), reversed(handles), strict=True))
    usual = [label for end in LEGEND for label in handle_of if label.endswith(end)]
    order = usual or labels  # of a plugin's report, as it drew them
    if order:
        ax.legend(
            [handle_of[label] for label in order],
            order,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=len(order),
            frameon=False,
            labelcolor=QUIET,
            borderpad=0,
            borderaxespad=0.4,
            handlelength=1.2,
            handletextpad=0.5,
            columnspacing=1.2,
        )


def _remove_frame(ax: "Axes", grid: bool = False) -> None:
    """Remove frames and ticks; keep the numbers and a faint grid."""
    ax.spines[:].set_visible(False)
    ax.patch.set_visible(False)
    ax.grid(False)
    if grid:
        ax.grid(axis="y", color=GRID, lw=0.8)
        ax.set_axisbelow(True)
    ax.tick_params(length=0, pad=7, colors=QUIET)
    ax.xaxis.label.set_color(QUIET)


def _count_shares(ax: "Axes") -> None:
    ax.yaxis.set_major_locator(_locate_round_numbers())
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.6g} %")
    _remove_frame(ax, grid=True)


def _locate_round_numbers(integer: bool = False) -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4, steps=[1, 2, 2.5, 5, 10], integer=integer)
