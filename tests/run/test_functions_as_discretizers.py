"""A function given as discretizer that fails, or returns no identities, is told what it gets and what is expected."""

import numpy as np
import pytest
from looping import one_test

import faithkit

PHI = np.random.default_rng(0).normal(size=(6, 2))
CONTRACT = (
    "It is given Explanations, whose .values hold one for each row, and must return one identity for each: a "
    "2-D array, or a list of hashable values such as str or tuple."
)


class Written:
    """An object of somebody's own."""

    name = "written"

    def discretize(self, explanations):
        return np.sign(explanations)


WRONG = {
    "takes them for an array": (lambda phi: phi.round(1), "the discretizer <lambda> failed with AttributeError: "),
    "asks NumPy to do so": (lambda phi: np.sign(phi), "the discretizer <lambda> failed with TypeError: "),
    "is an object": (Written(), "the discretizer written failed with TypeError: "),
    "returns nothing": (lambda _: None, "what the discretizer <lambda> returned, of type NoneType, failed with "),
    "returns one value": (lambda _: 3, "what the discretizer <lambda> returned, of type int, failed with "),
    "returns what it was given": (lambda phi: phi, "<lambda> returned, of type Explanations, failed with "),
    "leaves rows out": (
        lambda phi: phi.values[:3],
        "what the discretizer <lambda> returned, of type ndarray, is refused: identities for 3 rows where there "
        "are 6 explanations: give one per row. ",
    ),
    "returns a text": (lambda _: "abc", "<lambda> returned, of type str, is refused: identities for 3 rows "),
}  # fmt: skip


@one_test
@pytest.mark.parametrize("case", WRONG)
def test_a_function_that_is_no_discretizer_is_told_what_one_is(case):
    given, said = WRONG[case]
    with pytest.raises(faithkit.errors.ContractError) as caught:
        faithkit.score([0, 1] * 3, PHI, discretizer=given)
    assert said in str(caught.value)
    assert str(caught.value).endswith(CONTRACT)
    assert "\n" not in str(caught.value)


def test_a_function_of_their_values_is_one():
    assert faithkit.score(PHI[:, 0] > 0, PHI, discretizer=lambda phi: np.sign(phi.values)).n_explanations == 4


def test_who_asked_by_name_can_only_ask_for_another():
    with pytest.raises(faithkit.errors.InputError, match="choose another one, or 'original'"):
        faithkit.score([0, 1], ["a", "b"], discretizer="sign")
