"""Estimates against sample size: what the two figures about models that explain themselves share."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

import faithkit
from faithkit_paper.context import Context
from faithkit_paper.figures import half_width, line, panels
from faithkit_paper.findings import Cell, Findings, estimate_of, over_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATASETS = ("chess", "avila", "bank-marketing", "adult", "covtype")
SIZES = (50, 100, 200, 400, 700, 1_000, 1_500, 2_000, 3_000, 4_300, 6_000, 8_000, 11_000, 15_000)
SHOWN = (100, 1_000, 4_300)
"""The sizes that stand in the Markdown table; 4,300 is the paper's example."""

NEEDED = "samples for 0.9"
TEST_SHARE = 1 / 3


@attrs.frozen(eq=False)
class Split:
    """Two thirds of a dataset for training, the rest to sample from; categories are ordinal codes."""

    train: Any
    test: Any
    y_train: np.ndarray
    y_test: np.ndarray
    remark: str


def split(context: Context, dataset: str, most: int | None) -> Split:
    """Split a dataset at random, with at most so many rows in each part."""
    from sklearn.model_selection import train_test_split

    from faithkit_paper.boosters import Codes

    data = context.dataset(dataset)
    train, test, y_train, y_test = train_test_split(
        data.X, data.y, test_size=TEST_SHARE, random_state=context.seed_of("split", dataset)
    )
    train, test, y_train, y_test = (part[:most] for part in (train, test, y_train, y_test))
    codes = Codes().fit(train)
    remark = f"{dataset}: {len(train):,} rows for training, samples of {len(test):,} other rows."
    return Split(codes.transform(train), codes.transform(test), y_train, y_test, remark)


def curve(context: Context, result: Any, names: tuple[str, str, str], runs: int) -> list[Cell]:
    """Return the mean estimate over some random samples of each size, and that of all rows.

    All rows are explained already, so samples cost nothing but counting.

    Parameters
    ----------
    context : Context
    result : Evaluation
        Of all rows that samples are drawn from.
    names : tuple of str
        Dataset, explainer and setting.
    runs : int
    """
    numbers: dict[Any, int] = {}
    groups = np.array(
        [numbers.setdefault(one, len(numbers)) for one in result.sample.explanations.identities]
    )
    labels, cells = result.labels.codes, []
    for size in (size for size in SIZES if size < result.n):
        drawn = [context.rng(*names, size, run).permutation(result.n)[:size] for run in range(runs)]
        scored = [faithkit.score(labels[rows], groups[rows, None]) for rows in drawn]
        values = [estimate_of(one.consistency) for one in scored]
        cells.append(over_runs(*names, "consistency", values, size))
    return [*cells, Cell(*names, "consistency", estimate_of(result.consistency), n=result.n)]


def needed(result: Any, names: tuple[str, str, str]) -> Cell:
    """Return how many samples bring the estimate to 0.9, of an explainer whose consistency is 1.

    The estimate then falls short by the unverified share alone, which is known for every size up to that of
    the evaluation.
    """
    others = result.consistency.others
    found = bisect_left(range(1, result.n + 1), True, key=lambda size: others.unverified(size) <= 0.1) + 1
    return Cell(*names, NEEDED, float(found) if found <= result.n else None)


def by_size(cells: Sequence[Cell]) -> list[Cell]:
    """Turn sizes into columns: of each curve a few points, on one line."""
    shown = [cell for cell in cells if cell.measure == NEEDED or cell.n in SHOWN]
    return [
        cell if cell.measure == NEEDED else attrs.evolve(cell, measure=f"n = {cell.n:,}", n=None)
        for cell in shown
    ]


def draw_curves(findings: Findings) -> "Figure":
    """Draw a panel for each dataset, with a line for each setting and the accuracy in the legend."""
    curves = [cell for cell in findings.cells if cell.measure == "consistency"]
    right = {(c.dataset, c.setting): c.ours for c in findings.cells if c.measure == "accuracy"}
    figure, axes = panels(list(dict.fromkeys(cell.dataset for cell in curves)), height=3.6)
    for dataset, ax in axes.items():
        settings = dict.fromkeys(cell.setting for cell in curves if cell.dataset == dataset)
        for number, setting in enumerate(settings):
            mine = [cell for cell in curves if (cell.dataset, cell.setting) == (dataset, setting)]
            line(
                ax,
                number,
                f"{setting} ({right[dataset, setting]:.2f})",
                [cell.n or 0 for cell in mine],
                [cell.ours or 0.0 for cell in mine],
                [half_width(cell.std, cell.runs) for cell in mine],
            )
        ax.set(ylim=(0, 1.02), xscale="log", xlabel="samples", ylabel="estimate")
        ax.legend(fontsize=7, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.22), frameon=False)
    return figure
