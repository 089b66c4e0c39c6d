"""A sample computes a value once for equal arguments, and never for one relation what another asked for."""

import numpy as np
import pytest
from faithkit_example_based.relations import Nearest
from looping import one_test

from faithkit import Explanations, score
from faithkit.errors import ContractError
from faithkit.plugin import Relation, Sample

ARRAY = np.ones(2)


@one_test
@pytest.mark.parametrize(
    ("arguments", "n_calls"),
    [
        ([(), ()], 1),
        ([(1, "a"), (1, "a")], 1),
        ([(1,), (2,)], 2),
        ([(1,), (1.0,), (True,)], 3),
        ([([1],), ([1],)], 2),  # a caller may change one of the lists
        ([(np.ones(2),), (np.ones(2),)], 2),
        ([(ARRAY,), (ARRAY,)], 1),
    ],
)
def test_a_sample_computes_a_value_once_for_equal_arguments(arguments, n_calls):
    calls = []

    def compute(sample, *values):
        calls.append(values)
        return sample, values

    sample = Sample(None, Explanations.of(["a"]))
    for values in arguments:
        owner, returned = sample.once(compute, *values)
        assert owner is sample
        assert all(a is b or (type(a), a) == (type(b), b) for a, b in zip(returned, values, strict=True))
    assert len(calls) == n_calls


def test_a_sample_computes_functions_and_no_names():
    with pytest.raises(
        ContractError, match=r"of Sample.once is 'words'; expected a function of the sample, and"
    ):
        Sample(None, Explanations.of(["a"])).once("words", list)


def far(sample, limit):
    return np.abs(sample.X[:, 0]) > limit


class OfAFunction(Relation):
    """An instance is far."""

    def __init__(self, limit):
        self.limit = limit

    def key(self, explanations):
        return explanations.values

    def holds(self, sample, explanations):
        return np.broadcast_to(self.far(sample), (len(explanations), len(sample)))

    def far(self, sample):
        return sample.once(far, self.limit)


class OfAMethod(OfAFunction):
    """The limit is read from the relation itself."""

    def far(self, sample):
        return sample.once(self.remembered)

    def remembered(self, sample):
        return far(sample, self.limit)


class OfALambda(OfAFunction):
    """The limit is hidden in what a function closes over."""

    def far(self, sample):
        limit = self.limit
        return sample.once(lambda sample: far(sample, limit))


@one_test
@pytest.mark.parametrize("Far", [OfAFunction, OfAMethod, OfALambda])
def test_two_limits_do_not_share_cached_values(Far):
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    between = Far(1.5) & ~Far(2.5)  # holds for the second row, and for no other
    result = score(["a", "b", "b", "b"], ["pi"] * 4, X=X, relation=between)
    assert result.sufficiency.value == pytest.approx(2 / 4)  # rows 2 and 3 agree with row 1, row 0 does not
    assert result.sufficiency.verified == pytest.approx(3 / 4)  # row 1 has nobody else to be checked against


def test_two_distances_do_not_share_their_neighbours():
    prototypes, X = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 3.9]])
    shared = {"prototypes": prototypes, "distance": {"function": True, "name": "d"}}
    explanations = Explanations(kind="example", values=np.array([[0], [1]]), shared=shared)
    sample = Sample(X, Explanations.of(["?"]))
    by_column = [lambda a, b, c=c: abs(a[c] - b[c]) for c in (0, 1)]
    answers = [Nearest(distance).holds(sample, explanations)[:, 0].tolist() for distance in by_column]
    assert answers == [[True, False], [False, True]]
