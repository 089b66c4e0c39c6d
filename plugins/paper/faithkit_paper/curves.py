"""Curves of estimates against sample size, for the two figures about models that explain themselves."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

import faithkit
from faithkit_paper.context import Context
from faithkit_paper.figure_panels import create_panels, draw_line, half_width
from faithkit_paper.findings import Cell, Findings, cell_of_runs, estimate_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATASETS = ("chess", "avila", "bank-marketing", "adult", "covtype")
SIZES = (50, 100, 200, 400, 700, 1_000, 1_500, 2_000, 3_000, 4_300, 6_000, 8_000, 11_000, 15_000)
SHOWN = (100, 1_000, 4_300)
"""The sizes in the Markdown table. 4,300 is the paper's example."""

NEEDED = "samples for 0.9"
TEST_SHARE = 1 / 3


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
    others = result.consistency.checkable_counts
    size = bisect_left(range(1, result.n + 1), True, key=lambda size: others.unverified(size) <= 0.1) + 1
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
