"""p-values of many questions, adjusted by hand."""

import numpy as np
import pytest
from looping import one_test

from faithkit.measure.difference import adjust_by_holm


@one_test
@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ([], []),
        ([0.2], [0.2]),
        # 0.01·4, 0.02·3, 0.03·2, 0.5·1, the third not below the second
        ([0.03, 0.5, 0.01, 0.02], [0.06, 0.5, 0.04, 0.06]),
        ([0.4, 0.9], [0.8, 0.9]),
        ([0.6, 0.9, 0.7], [1.0, 1.0, 1.0]),  # never above 1
        ([0.01, 0.01], [0.02, 0.02]),
        ([1.0, 1.0], [1.0, 1.0]),
        ([0.0, 1.0], [0.0, 1.0]),
    ],
)
def test_by_hand(p_values, adjusted):
    assert adjust_by_holm(p_values) == pytest.approx(adjusted)


def test_no_p_value_becomes_smaller_and_their_order_stays():
    p_values = sorted(np.random.default_rng(1).random(50).tolist())
    adjusted = adjust_by_holm(p_values)
    assert all(after >= before for before, after in zip(p_values, adjusted, strict=True))
    assert adjusted == sorted(adjusted)
