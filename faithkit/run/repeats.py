"""Rows that are written several times: they agree with themselves, and a measure looks surer than it is."""

import warnings

import numpy as np

from faithkit.errors import FaithkitWarning
from faithkit.measure.grouping import group, renumbered
from faithkit.measure.owners import Counts
from faithkit.measure.tally import Count, RowCount
from faithkit.report.formats import percent
from faithkit.run.in_memory import InMemory

MATTERS = 0.01  # of the verified share or the value
ALIKE = 10  # different rows: that all of these occur a multiple of five times, say, is no accident


def warn_about_repeats(population: InMemory, counted: Count, clustered: bool) -> None:
    """Say how many rows are repetitions, where they matter and nobody said which rows are one case.

    `counted` is what consistency was counted from: it knows which explanations are equal.
    """
    if clustered or not _may_repeat(population):
        return
    codes = _explanation_codes(population, counted)
    times = repetitions(population, codes)
    if times is None or not _matter(population, codes, times):
        return
    times = times[~population.sample.explanations.missing]
    extra = float(1.0 - (1.0 / times).sum() / len(times))
    warnings.warn(
        f"{percent(extra)} of the rows repeat another one exactly, and what they agree with may be "
        "themselves: if they are cases seen again, say which rows are one case with clusters= (CLI: "
        "--clusters).",
        FaithkitWarning,
        stacklevel=4,
    )


def _may_repeat(population: InMemory) -> bool:
    """Whether predictions repeat; most that are numbers do not."""
    predicted = np.bincount(population.coded.codes)
    return bool((predicted > 1).any() if population.sample.X is not None else (predicted != 1).all())


def _explanation_codes(population: InMemory, counted: Count) -> Counts:
    """Return the group of each row's explanation before discretizing; rows that were grouped stay grouped."""
    explanations = population.undiscretized
    assert isinstance(counted, RowCount)
    if counted.sample.explanations.identities is explanations.identities:
        return counted.owned[: len(explanations)]  # the rows of a pool come last
    return group(explanations.identities, explanations.missing).codes


def repetitions(population: InMemory, codes: Counts) -> Counts | None:
    """Return how many rows equal each row in instance, explanation and prediction; None where none do.

    `codes` are the groups of equal explanations. Where the instances are unknown, equal explanations are what
    is measured. But that all of them occur a multiple of the same number of times is no accident.
    """
    X, missing = population.sample.X, population.sample.explanations.missing
    if missing.any():  # rows without explanation may repeat, too
        codes = np.where(missing, codes.max() + 1, codes)
    cells = _dense(codes * population.coded.k + population.coded.codes)
    if X is None:
        common = int(np.gcd.reduce(np.bincount(cells)))  # cells that nobody has, of 0 rows, change no divisor
        return np.full(len(cells), common) if common > 1 and len(cells) >= ALIKE * common else None
    if population.row_names.words is None:  # cells that are no JSON have no word
        return None
    equal = group(np.column_stack([cells.view(np.uint64), population.row_names.words])).codes
    times = np.asarray(np.bincount(equal)[equal])
    return times if times.max() > 1 else None


def _dense(codes: Counts) -> Counts:
    """Renumber codes that are too large to be counted in a table."""
    return codes if codes.max() <= 4 * len(codes) else renumbered(codes).codes


def _matter(population: InMemory, codes: Counts, times: Counts) -> bool:
    """Whether consistency changes where a row is not checked against its repetitions."""
    labels = population.coded.codes
    N = np.bincount(codes)[codes]
    T = np.bincount(codes * len(population.labels) + labels)[codes * len(population.labels) + labels]
    before, after = ((_share(T - own, N - own), (own < N).mean()) for own in (1, times))
    return any(abs(a - b) > MATTERS for a, b in zip(before, after, strict=True))


def _share(agreeing: Counts, others: Counts) -> float:
    return float(np.divide(agreeing, others, out=np.zeros(len(others)), where=others > 0).mean())
