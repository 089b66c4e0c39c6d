"""Figures: panels, lines with bands, reproducible SVG, and curves of estimates against sample size."""

import io
import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

import faithkit
from faithkit_paper.context import Context
from faithkit_paper.findings import Cell, Findings, cell_of_runs, estimate_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


COLUMNS = 3
WIDTH, HEIGHT = 3.6, 2.8  # inches of a panel
COLOURS = ("#1864ab", "#c2500a", "#2b8a3e", "#862e9c", "#b08900", "#495057")
MARKERS = ("o", "s", "^", "D", "v", "P")  # readers who cannot tell colours need markers
DATASETS = ("chess", "avila", "bank-marketing", "adult", "covtype")
SIZES = (50, 100, 200, 400, 700, 1_000, 1_500, 2_000, 3_000, 4_300, 6_000, 8_000, 11_000, 15_000)
SHOWN = (100, 1_000, 4_300)
"""The sizes in the Markdown table. 4,300 is the paper's example."""
NEEDED = "samples for 0.9"
TEST_SHARE = 1 / 3


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


@attrs.frozen(eq=False)
class Split:
    """A dataset split into two thirds for training and a rest to sample from, as ordinal codes."""

    train: Any
    test: Any
    y_train: np.ndarray
    y_test: np.ndarray
    remark: str


def split_dataset(context: Context, dataset: str, max_rows: int | None) -> Split:
    """Split a dataset at random, with at most `max_rows` rows in each part."""
    from sklearn.model_selection import train_test_split

    from faithkit_paper.boosters import Codes

    data = context.dataset(dataset)
    train, test, y_train, y_test = train_test_split(
        data.X, data.y, test_size=TEST_SHARE, random_state=context.seed_of("split", dataset)
    )
    train, test, y_train, y_test = (array[:max_rows] for array in (train, test, y_train, y_test))
    codes = Codes().fit(train)
    remark = f"{dataset}: {len(train):,} rows for training, samples of {len(test):,} other rows."
    return Split(codes.transform(train), codes.transform(test), y_train, y_test, remark)


def estimate_curve(context: Context, result: Any, names: tuple[str, str, str], runs: int) -> list[Cell]:
    """Return the mean estimate over random samples of each size, and the estimate on all rows.

    All rows are explained already, so samples only need counting.

    Parameters
    ----------
    context : Context
    result : Evaluation
        The result on all rows. Samples are drawn from them.
    names : tuple of str
        Dataset, explainer and setting.
    runs : int
    """
    group_of: dict[Any, int] = {}
    groups = np.array(
        [group_of.setdefault(identity, len(group_of)) for identity in result.rows.explanations.identities]
    )
    labels, cells = result.rows.codes, []
    for size in (size for size in SIZES if size < result.n):
        samples = [context.rng(*names, size, run).permutation(result.n)[:size] for run in range(runs)]
        results = [faithkit.score(labels[rows], groups[rows, None]) for rows in samples]
        values = [estimate_of(sample_result.consistency) for sample_result in results]
        cells.append(cell_of_runs(*names, "consistency", values, size))
    return [*cells, Cell(*names, "consistency", estimate_of(result.consistency), n=result.n)]


def samples_needed(result: Any, names: tuple[str, str, str]) -> Cell:
    """Return the sample size at which the estimate of an explainer with consistency 1 reaches 0.9.

    The estimate is 1 minus the unverified share, which is known for all sizes up to that of the evaluation.
    """
    counts = result.consistency.checkable_counts
    size = bisect_left(range(1, result.n + 1), True, key=lambda size: counts.unverified(size) <= 0.1) + 1
    return Cell(*names, NEEDED, float(size) if size <= result.n else None)


def sizes_as_columns(cells: Sequence[Cell]) -> list[Cell]:
    """Turn sizes into columns: a row for each curve, with a few of its points."""
    shown = [cell for cell in cells if cell.measure == NEEDED or cell.n in SHOWN]
    return [
        cell if cell.measure == NEEDED else attrs.evolve(cell, measure=f"n = {cell.n:,}", n=None)
        for cell in shown
    ]


def draw_curves(findings: Findings) -> "Figure":
    """Draw a panel for each dataset, with a line for each setting and the accuracy in the legend."""
    curves = [cell for cell in findings.cells if cell.measure == "consistency"]
    accuracies = {
        (cell.dataset, cell.setting): cell.ours for cell in findings.cells if cell.measure == "accuracy"
    }
    figure, axes = create_panels(list(dict.fromkeys(cell.dataset for cell in curves)), height=3.6)
    for dataset, ax in axes.items():
        settings = dict.fromkeys(cell.setting for cell in curves if cell.dataset == dataset)
        for number, setting in enumerate(settings):
            points = [cell for cell in curves if (cell.dataset, cell.setting) == (dataset, setting)]
            draw_line(
                ax,
                number,
                f"{setting} ({accuracies[dataset, setting]:.2f})",
                [cell.n or 0 for cell in points],
                [cell.ours or 0.0 for cell in points],
                [half_width(cell.std, cell.runs) for cell in points],
            )
        ax.set(ylim=(0, 1.02), xscale="log", xlabel="samples", ylabel="estimate")
        ax.legend(fontsize=7, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.22), frameon=False)
    return figure
