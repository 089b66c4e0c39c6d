"""Explanations may name a discretizer, which is used unless the caller names another one."""

import pickle
import re

import attrs
import numpy as np
import pytest
from faithkit_conformance.equality import describe_difference
from looping import one_test
from pages import json_of

import faithkit
from faithkit import Explanations
from faithkit.plugin import ChunkResult

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 3))
PHI = X * [0.5, 0.3, 0.1]
LABELS = X[:, 0] > 0


class Naming:
    """Scaled rows, meant to be read by a discretizer of that name."""

    learns = False
    rows_per_chunk = 7

    def __init__(self, discretizer=None):
        self.discretizer = discretizer

    def fit(self, predictor, background):
        return self

    def explain(self, X, seeds):
        return Explanations.vectors(X * [0.5, 0.3, 0.1], discretizer=self.discretizer)


def model(X):
    return X[:, 0] > 0


def score_named(hint, argument):
    return faithkit.score(LABELS, Explanations.vectors(PHI, discretizer=hint), discretizer=argument)


def evaluate_named(hint, argument):
    return faithkit.evaluate(model, X, Naming(hint), discretizer=argument, background=X[:30])


def compare_named(hint, argument):
    discretizers = argument if argument is None else [argument]
    comparison = faithkit.compare(model, X, Naming(hint), discretizers=discretizers, background=X[:30])
    (result,) = comparison.results.values()
    return result


@one_test
@pytest.mark.parametrize("measure", [score_named, evaluate_named, compare_named])
@pytest.mark.parametrize(
    ("hint", "argument", "used"),
    [
        (None, None, "original"),
        ("sign", None, "sign"),
        ("sign-of-top:k=2", None, "sign-of-top:k=2"),
        ("sign", "1fp", "1fp"),
        ("sign", "original", "original"),
        (None, "1fp", "1fp"),
    ],
)
def test_an_argument_comes_before_the_discretizer_that_explanations_name(measure, hint, argument, used):
    result = measure(hint, argument)
    assert result.setup.discretizer.text == result.to_dict()["discretizer"] == used
    assert result.n_explanations == score_named(None, used).n_explanations


@one_test
@pytest.mark.parametrize(("argument", "used"), [(None, "sign-of-top:k=1"), ("sign", "sign")])
def test_rows_are_counted_with_the_named_discretizer(argument, used):
    explanations = Explanations.vectors(PHI, discretizer="sign-of-top:k=1")
    assert faithkit.plugin.count_rows(LABELS, explanations, discretizer=argument).discretizer == used


def test_a_later_sample_has_the_same_discretizer():
    later = evaluate_named("sign", None).on(X[:20] + 0.1)
    assert later.setup.discretizer.text == "sign"
    assert later.n_explanations == len(np.unique(np.sign(X[:20] + 0.1), axis=0))


@one_test
@pytest.mark.parametrize("argument", ["original", "1fp"])
def test_an_unknown_name_does_not_matter_beside_an_argument(argument):
    assert compare_named("no-such", argument).setup.discretizer.text == argument
    assert score_named("no-such", argument).setup.discretizer.text == argument


@one_test
@pytest.mark.parametrize("measure", [score_named, evaluate_named, compare_named])
@pytest.mark.parametrize(
    ("hint", "message"),
    [
        ("sgin", "no discretizer 'sgin' is installed. Did you mean 'sign'?"),
        ("fp:digit=1", "has no parameter 'digit'"),
    ],
)
def test_a_misspelt_name_is_refused_with_what_to_do(measure, hint, message):
    with pytest.raises(faithkit.errors.InputError, match=re.escape(message)) as error:
        measure(hint, None)
    text = str(error.value)
    assert text.startswith("the explanations name a discretizer that is not available: ")
    assert text.endswith("(discretizer=, CLI: --discretize), such as 'original'.")


def test_a_named_discretizer_of_another_kind_is_refused():
    with pytest.raises(faithkit.errors.InputError, match="sign takes explanations of kind vector"):
        faithkit.score([0, 1], Explanations.of(["a", "b"], discretizer="sign"))


def test_a_named_discretizer_that_learns_does_so_from_the_background():
    halves = evaluate_named("quantile:bins=2", None)
    result = faithkit.evaluate(model, X, Naming(), discretizer="quantile:bins=2", background=X[:30])
    assert halves.n_explanations == result.n_explanations
    assert halves.setup.learnt_from == "given"


def test_a_warning_says_that_a_named_discretizer_learns_from_the_sample():
    with pytest.warns(faithkit.errors.FaithkitWarning, match="quantile learns from the rows it is judged on"):
        result = faithkit.evaluate(model, X, Naming("quantile"))
    assert result.to_dict()["background"] == "the sample itself"
    with pytest.warns(faithkit.errors.FaithkitWarning, match="quantile learns from the rows it is judged on"):
        result = faithkit.score([0, 1], [[1.0], [2.0]], discretizer="quantile")
    assert result.setup.learnt_from == "the sample itself"


@one_test
@pytest.mark.parametrize(
    "process",
    [
        lambda batch: batch.take([0, 2]),
        lambda batch: Explanations.concat([batch, batch]),
        lambda batch: batch.identified(np.sign(batch.values)),
        lambda batch: batch.take([0]).spread(np.array([0]), 2, np.array([None, "gone"], dtype=object)),
        lambda batch: pickle.loads(pickle.dumps(ChunkResult.of(batch))).explanations,
    ],
    ids=["take", "concat", "identified", "spread", "a worker"],
)
def test_the_name_is_carried_wherever_explanations_go(process):
    assert process(Explanations.vectors(PHI, discretizer="sign")).discretizer == "sign"


def test_a_store_keeps_the_name(tmp_path):
    fresh, _, stored = (
        json_of(faithkit.evaluate(model, X, Naming("sign"), background=X, executor=executor))
        for executor in (None, f"stored:folder={tmp_path}", f"stored:folder={tmp_path}")
    )
    assert fresh == stored


def test_batches_that_name_two_discretizers_differ():
    batch = Explanations.vectors(PHI, discretizer="sign")
    assert (
        describe_difference(batch, attrs.evolve(batch, discretizer=None))
        == "discretizer is None instead of 'sign'"
    )
