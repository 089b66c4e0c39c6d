"""Rows that are written several times: they agree with themselves, and a measure looks surer than it is."""

import math
import warnings

import numpy as np
from numpy.typing import NDArray

from faithkit.errors import FaithkitWarning
from faithkit.measure.content_words import content_words
from faithkit.measure.grouping import group, mix
from faithkit.measure.slots import Counts
from faithkit.report.formats import percent
from faithkit.run.in_memory import InMemory

MATTERS = 0.01  # of the verified share or the value
ALIKE = 10  # different rows: that all of these occur a multiple of five times, say, is no accident


def warn_about_repeats(population: InMemory, clustered: bool) -> None:
    """Say how many rows are repetitions, where they matter and nobody said which rows are one case."""
    if clustered:
        return
    times = repetitions(population)
    if times is None or not _matter(population, times):
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


def repetitions(population: InMemory) -> Counts | None:
    """Return how many rows equal each row in instance, explanation and prediction; None where none do.

    Where the instances are unknown, equal explanations are what is measured. But that all of them occur a
    multiple of the same number of times is no accident.
    """
    X, explanations = population.sample.X, population.undiscretized
    predicted = np.bincount(population.coded.codes)
    if predicted.max() == 1 or (X is None and (predicted == 1).any()):  # as with most that are numbers
        return None
    words = content_words(explanations.identities)
    columns = [words, explanations.missing.astype(np.uint64), population.coded.codes.astype(np.uint64)]
    if X is not None:
        if population.row_names.words is None:  # cells that are no JSON have no word
            return None
        columns.append(population.row_names.words)
    times = _times(mix(np.column_stack(columns)))
    if X is not None:
        return times if times.max() > 1 else None
    common = math.gcd(*np.unique(times).tolist())
    return np.full(len(times), common) if common > 1 and len(times) >= ALIKE * common else None


def _times(words: NDArray[np.uint64]) -> Counts:
    codes = group(words).codes
    return np.asarray(np.bincount(codes)[codes])


def _matter(population: InMemory, times: Counts) -> bool:
    """Whether consistency changes where a row is not checked against its repetitions."""
    codes = group(population.undiscretized.identities, population.sample.explanations.missing).codes
    labels = population.coded.codes
    N = np.bincount(codes)[codes]
    T = np.bincount(codes * len(population.labels) + labels)[codes * len(population.labels) + labels]
    before, after = ((_share(T - own, N - own), (own < N).mean()) for own in (1, times))
    return any(abs(a - b) > MATTERS for a, b in zip(before, after, strict=True))


def _share(agreeing: Counts, others: Counts) -> float:
    return float(np.divide(agreeing, others, out=np.zeros(len(others)), where=others > 0).mean())
