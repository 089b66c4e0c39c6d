"""Helpers for figures: panels, lines with bands, and reproducible SVG."""

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3
WIDTH, HEIGHT = 3.6, 2.8  # inches of a panel
COLOURS = ("#1864ab", "#c2500a", "#2b8a3e", "#862e9c", "#b08900", "#495057")
MARKERS = ("o", "s", "^", "D", "v", "P")  # readers who cannot tell colours need markers


def create_panels(titles: Sequence[str], height: float = HEIGHT) -> "tuple[Figure, dict[str, Axes]]":
    """Return a figure with a panel for each title, three in a row."""
    from matplotlib.figure import Figure

    columns = min(COLUMNS, len(titles))
    rows = -(-len(titles) // columns)
    figure = Figure(figsize=(WIDTH * columns, height * rows), layout="constrained")
    axes = {title: figure.add_subplot(rows, columns, i + 1) for i, title in enumerate(titles)}
    for title, ax in axes.items():
        ax.set_title(title, fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
        ax.tick_params(labelsize=8)
    return figure, axes


def draw_line(
    ax: "Axes",
    number: int,
    label: str,
    x: Sequence[float],
    y: Sequence[float],
    band: Sequence[float] | None = None,
) -> None:
    """Draw a line with markers and, if given, a band of this half width around it."""
    style = number % len(COLOURS)
    colour, marker, dashes = COLOURS[style], MARKERS[style], "-" if number == style else "--"
    options: dict[str, Any] = {
        "color": colour,
        "marker": marker,
        "linestyle": dashes,
        "markersize": 3,
        "linewidth": 1.2,
    }
    ax.plot(x, y, **options, markevery=1 + len(x) // 8, label=label)
    if band is not None:
        low = [value - width for value, width in zip(y, band, strict=True)]
        high = [value + width for value, width in zip(y, band, strict=True)]
        ax.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)


def half_width(std: float | None, runs: int, confidence: float = 0.95) -> float:
    """Return the half width of the confidence interval of a mean over runs, by Student's t.

    Examples
    --------
    >>> round(half_width(0.01, 5), 4), half_width(None, 1)
    (0.0124, 0.0)
    """
    from scipy.stats import t

    return 0.0 if std is None else float(t.ppf((1 + confidence) / 2, runs - 1) * std / runs**0.5)


def render_svg(figure: "Figure") -> str:
    """Return the figure as SVG. The same figure gives the same bytes."""
    from matplotlib import rc_context

    out = io.StringIO()
    with rc_context({"svg.hashsalt": "faithkit", "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return re.sub(r"(\.\d\d)\d+", r"\1", out.getvalue())  # a hundredth of a point is enough
