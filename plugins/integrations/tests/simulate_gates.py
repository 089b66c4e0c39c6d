"""How often `--fail-unless-as-good` and `--fail-if-worse` fail: `python plugins/integrations/tests/simulate_gates.py FILE`.

Two labels, equally frequent, and two explanations, each of which goes with its label with probability r, so that
consistency is r² + (1 − r)². The reference and the new sample are drawn apart, with as many rows each. A sample is a
table of counts, whose exact jackknife has four terms, so that 20,000 rows cost no more than 200; a test compares the
differences with those of `faithkit.score`.
"""

import csv
import sys
from pathlib import Path

import numpy as np

from faithkit.measure.intervals import MeasureStatistics, compute_interval

SEED = 34
BEFORE, MARGIN = 0.9, 0.02
CHANGES = (0.0, 0.02, 0.05, 0.1)
ROWS = (200, 2_000, 20_000)
BUILDS = 400
HEADER = ["rows in each sample", "consistency falls by", "--fail-unless-as-good", "--fail-if-worse"]


def draw(rng, consistency, n):
    """Count n rows by explanation and label, for a law with this consistency."""
    r = (1 + np.sqrt(2 * consistency - 1)) / 2
    return rng.multinomial(n, [r / 2, (1 - r) / 2, (1 - r) / 2, r / 2]).reshape(2, 2)


def leave_one_out(table):
    """Return the mean share of others with the same explanation that have the same label."""
    others = table.sum(axis=1, keepdims=True) - 1
    return (table * (table - 1) / others).sum() / table.sum()


def moments(table):
    """Return what an interval needs; every row has others to be checked against."""
    n, value = table.sum(), leave_one_out(table)
    cells = [np.eye(4, dtype=int)[cell].reshape(2, 2) for cell in np.flatnonzero(table)]
    without = np.array([leave_one_out(table - cell) for cell in cells])
    share = table[table > 0] / n
    se = np.sqrt((n - 1) * (share * (without - share @ without) ** 2).sum())
    return MeasureStatistics.of_rows(int(n), float(value), float(se))


def difference(now, reference):
    """Return the ends of the interval of now minus the reference."""
    (low, high), (least, most) = compute_interval(now), compute_interval(reference)
    change = now.value - reference.value
    return (
        change - np.hypot(now.value - low, most - reference.value),
        change + np.hypot(high - now.value, reference.value - least),
    )


def failure_rates(n, builds=BUILDS):
    """Return, for each fall of consistency, the share of builds that either gate fails."""
    rng = np.random.default_rng([SEED, n])
    failures = np.zeros((len(CHANGES), 2))
    for _ in range(builds):
        reference = moments(draw(rng, BEFORE, n))
        for row, fall in enumerate(CHANGES):
            low, high = difference(moments(draw(rng, BEFORE - fall, n)), reference)
            failures[row] += low < -MARGIN, high < -MARGIN
    return failures / builds


def main(path):
    """Write the table."""
    with Path(path).open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for n in ROWS:
            for fall, rates in zip(CHANGES, failure_rates(n), strict=True):
                writer.writerow([f"{n:,}", f"{fall:g}", *(f"{100 * rate:.1f} %" for rate in rates)])


if __name__ == "__main__":
    main(*sys.argv[1:])
