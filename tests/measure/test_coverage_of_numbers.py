"""Intervals of the share of variance contain the truth as often as they say, where the truth is known.

Predictions are a mean of their explanation and noise of variance 1, so the share is that of the means. A
simulation fails only if its number of hits would be an accident of less than one in a thousand at the stated
bound itself.
"""

import numpy as np
import pytest
from looping import one_test
from scipy import stats

from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import SameExplanation
from faithkit.inputs.predictions.labels import encode
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.counting.count import count
from faithkit.measure.difference import JackknifeEstimate
from faithkit.measure.intervals import compute_interval

LEAST, MISSES = 0.93, 0.05
ACCIDENT = 0.001

NOISES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "t with 5 degrees": lambda rng, n: rng.standard_t(5, n) / np.sqrt(5 / 3),
    "zero for most": lambda rng, n: np.where(rng.random(n) < 0.7, 0.0, rng.normal(size=n)) / np.sqrt(0.3),
    "two points": lambda rng, n: np.where(rng.random(n) < 0.2, 2.0, -0.5),
}


def draw_groups(rng, n, size, scale):
    """Explanations shared by about `size` rows, half of which raise the prediction."""
    group = rng.integers(0, max(2, n // size), n)
    return Explanations.of(group.tolist()), np.where(group % 2, scale, -scale)


def draw_points(rng, n, size, scale):
    """Vectors that never repeat, and a smooth mean."""
    where = rng.random((n, 2))
    return Explanations.vectors(where), scale * np.sqrt(2) * np.sin(2 * np.pi * where[:, 0])


SHAPES = {"large groups": (draw_groups, 10), "small groups": (draw_groups, 3), "vectors": (draw_points, 1)}


def compute_ends(explanations, predictions):
    labels = encode(predictions, Outcome("numbers"))
    sample, k = Sample(None, explanations), len(labels.classes)
    return compute_interval(
        JackknifeEstimate.of(
            count(SameExplanation(), sample, labels.codes, k, agreement=labels.agreement)
        ).statistics
    )


def simulate_intervals(noise, shape, n, m, runs):
    rng = np.random.default_rng([n, int(100 * m), len(noise), len(shape)])
    make, size = SHAPES[shape]
    scale = np.sqrt(m / (1 - m))
    for _ in range(runs):
        explanations, means = make(rng, n, size, scale)
        yield compute_ends(explanations, means + NOISES[noise](rng, n))


@pytest.mark.simulation
@pytest.mark.parametrize("m", [0.0, 0.3, 0.9])
@pytest.mark.parametrize(("n", "runs"), [(50, 100), (300, 60)])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("noise", NOISES)
def test_intervals_of_numbers_cover(noise, shape, n, runs, m):
    result = list(simulate_intervals(noise, shape, n, m, runs))
    covered = sum(max(0.0, low) <= m <= high for low, high in result)
    assert stats.binom.cdf(covered, runs, LEAST) > ACCIDENT
    too_high = sum(max(0.0, low) > m for low, _ in result)
    assert stats.binom.sf(too_high - 1, runs, MISSES) > ACCIDENT


@one_test
@pytest.mark.parametrize("noise", NOISES)
def test_a_wide_sample_narrows_the_interval(noise):
    (small,), (large,) = (list(simulate_intervals(noise, "large groups", n, 0.5, 1)) for n in (50, 2000))
    assert large[1] - large[0] < (small[1] - small[0]) / 2
    assert large[0] < 0.5 < large[1]
