"""Which numbers agree with a tolerance: by decimal fractions, whatever other numbers there are."""

from fractions import Fraction

import numpy as np
import pytest

from faithkit.measure.agreement.within_tolerance import Within

CASES = {
    "a difference of ε": (["0.1", "0.3", "0.5", "0.7000001"], "0.2"),
    "below 0": (["-0.7", "-0.5", "-0.2", "0", "0.1"], "0.3"),
    "large numbers": (["1000000000.1", "1000000000.3", "1000000000.6"], "0.2"),
    "no tolerance": (["0.1", "0.2", "0.3"], "0"),
    "one is far away": (["0.1", "0.3", "0.6", "100000000000000000000"], "0.2"),
    "two are far away": (["-1e300", "0.1", "0.3", "0.6", "1e300"], "0.2"),
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_agree_that_differ_by_at_most_the_tolerance(case):
    written, epsilon = CASES[case]
    result = Within(np.array(written, dtype=float), float(epsilon))
    exact = [Fraction(one) for one in written]
    expected = [[abs(one - other) <= Fraction(epsilon) for other in exact] for one in exact]
    labels = np.arange(len(exact))
    assert [(result.disagreement(label, labels) == 0).tolist() for label in labels] == expected
