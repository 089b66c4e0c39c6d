"""Several explanation systems on one sample: paired differences, and ties told honestly."""

import json

import numpy as np
import pytest

import faithkit

X = np.random.default_rng(0).normal(size=(300, 2))


def model(X):
    return np.where(X[:, 0] > 0, "yes", "no")


def perfect(X):
    return (X[:, 0] > 0).tolist()


def perfect_too(X):
    return np.sign(X[:, 0]).tolist()


def useless(X):
    return (X[:, 1] > 0).tolist()


def all_distinct(X):
    return X[:, :1]


@pytest.fixture(scope="module")
def found():
    return faithkit.compare(model, X, explainers=[perfect, perfect_too, useless])


def test_what_the_sample_cannot_tell_from_the_best_is_the_best_too(found):
    assert found.best() == ["perfect", "perfect_too"]


def test_every_pair_is_compared_on_the_same_rows(found):
    pairs = {(pair.first, pair.second): pair for pair in found.pairs()}
    assert len(pairs) == 3
    assert pairs["perfect", "perfect_too"].difference.value == 0
    worse = pairs["perfect", "useless"]
    assert worse.difference == found.results["perfect"].difference(found.results["useless"])
    assert worse.adjusted == pytest.approx(min(1, 3 * worse.difference.p_value))


def test_an_explainer_whose_explanations_nobody_shares_is_not_called_worse():
    """What could not be checked may be perfect: the sample says nothing against it."""
    found = faithkit.compare(model, X, explainers=[perfect, all_distinct])
    assert set(found.best()) == {"perfect", "all_distinct"}


def test_every_explainer_explains_once_whatever_the_number_of_discretizers():
    calls = []

    def counted(X):
        calls.append(len(X))
        return X[:, :1]

    found = faithkit.compare(model, X, [counted], ["original", "1fp", "sign"])
    assert sum(calls) == len(X)
    assert list(found.results) == ["counted", "counted · 1fp", "counted · sign"]
    assert "counted · sign" in found.best()


def test_a_discretizer_that_does_not_take_an_explainers_kind_is_left_out():
    found = faithkit.compare(model, X, [perfect, all_distinct], ["sign"])
    assert list(found.results) == ["all_distinct · sign"]
    with pytest.raises(faithkit.InputError, match="no discretizer takes"):
        faithkit.compare(model, X, [perfect], ["sign"])


def test_nothing_to_compare_is_an_error():
    with pytest.raises(faithkit.InputError, match="at least one explainer"):
        faithkit.compare(model, X, [])


def test_the_same_numbers_come_out_as_when_each_is_evaluated_alone(found):
    alone = faithkit.evaluate(model, X, explainer=useless)
    assert found.results["useless"].consistency == alone.consistency


def test_the_table_fits_eighty_columns_and_marks_the_best(found):
    lines = repr(found).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line[0] for line in lines if "perfect" in line] == ["*", "*"]
    assert [line[0] for line in lines if "useless" in line] == [" "]


def test_json_is_the_same_twice_and_has_all_differences(found, tmp_path):
    text = found.to_json(tmp_path / "found.json")
    assert (tmp_path / "found.json").read_text() == text
    again = faithkit.compare(model, X, explainers=[perfect, perfect_too, useless]).to_json()
    assert again == text
    assert len(json.loads(text)["differences"]["consistency"]) == 3


def test_the_frame_has_a_row_per_system_and_measure(found):
    frame = found.to_frame()
    assert frame["system"].tolist() == ["perfect", "perfect_too", "useless"]
    assert frame["best"].tolist() == [True, True, False]
