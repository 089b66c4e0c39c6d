"""How many others each row could be checked against, by the double loop; many different numbers are rounded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrices import Matrix, counted

from faithkit.explanations.relations import SameExplanation
from faithkit.measure.planning import forecast as others
from faithkit.measure.planning.forecast import CheckableCounts


@given(st.data())
def test_rows_are_gathered_by_the_number_of_their_others(data):
    n = data.draw(st.integers(1, 12))
    owned = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    labels = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    matrix = np.array(data.draw(st.lists(st.booleans(), min_size=16, max_size=16))).reshape(4, 4)
    for relation, holds in (
        (SameExplanation(), owned[:, None] == owned),
        (Matrix(matrix), matrix[owned][:, owned]),
    ):
        expected = {}
        for i in range(n):
            near = [j for j in range(n) if j != i and holds[i, j]]
            score = np.mean([labels[j] == labels[i] for j in near]) if near else 0.0
            expected.setdefault(len(near), []).append(score)
        result = CheckableCounts.of(counted(relation, owned, labels, 3).owners)
        assert result.number == tuple(sorted(expected))
        assert result.rows == tuple(len(expected[k]) for k in result.number)
        assert result.score == pytest.approx([np.mean(expected[k]) for k in result.number])
        assert result.n == n
        assert CheckableCounts.from_dict(result.to_dict()) == result


def test_of_many_different_numbers_the_large_ones_are_rounded(monkeypatch):
    sizes = np.arange(1, 1200)
    owned, labels = np.repeat(np.arange(len(sizes)), sizes), np.zeros(sizes.sum(), dtype=np.int64)
    owners = counted(SameExplanation(), owned, labels, 1).owners
    exact = CheckableCounts.of(owners)
    assert exact.number[:256] == tuple(range(256))
    assert exact.number[256:] == (*range(260, 1000, 10), 1000, 1100, 1200)
    assert exact.n == sizes.sum()
    monkeypatch.setattr(others, "EXACT", 10**9)
    assert CheckableCounts.of(owners).number == tuple(range(1199))
