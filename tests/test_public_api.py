"""The public API is one list, of which every name can be imported."""

import pytest
from looping import one_test

import faithkit


def test_every_name_can_be_imported():
    homes = (faithkit, faithkit.plugin, faithkit.results)
    assert [name for home in homes for name in home.__all__ if getattr(home, name, None) is None] == []


@one_test
@pytest.mark.parametrize("name", ["Explainer", "Discretizer", "Estimator"])
def test_a_protocol_is_there_to_annotate_with(name):
    assert getattr(getattr(faithkit.plugin, name), "_is_protocol", False)


def test_a_relation_is_neither_true_nor_false():
    same = faithkit.relation("same-explanation")
    for wrong in (lambda: same and same, lambda: same or same, lambda: not same, lambda: bool(~same & same)):
        with pytest.raises(faithkit.errors.InputError, match=r"relations compose with &, \| and ~"):
            wrong()
