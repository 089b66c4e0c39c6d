"""Explanations may name the discretizer that is meant for them; who asks for another one gets that."""

import re
import warnings

import attrs
import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit import Explanations
from faithkit.run.explaining.store import ChunkResult

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


def scored(named, asked):
    return faithkit.score(LABELS, Explanations.vectors(PHI, discretizer=named), discretizer=asked)


def evaluated(named, asked):
    return faithkit.evaluate(model, X, Naming(named), discretizer=asked, background=X[:30])


def compared(named, asked):
    asked = asked if asked is None else [asked]
    (found,) = faithkit.compare(
        model, X, Naming(named), discretizers=asked, background=X[:30]
    ).results.values()
    return found


@one_test
@pytest.mark.parametrize("measure", [scored, evaluated, compared])
@pytest.mark.parametrize(
    ("named", "asked", "used"),
    [
        (None, None, "original"),
        ("sign", None, "sign"),
        ("sign-of-top:k=2", None, "sign-of-top:k=2"),
        ("sign", "1fp", "1fp"),
        ("sign", "original", "original"),
        (None, "1fp", "1fp"),
    ],
)
def test_the_one_asked_for_comes_before_the_one_named(measure, named, asked, used):
    result = measure(named, asked)
    assert result.setup.discretizer.text == result.to_dict()["discretizer"] == used
    assert result.n_explanations == scored(None, used).n_explanations


@one_test
@pytest.mark.parametrize(("asked", "used"), [(None, "sign-of-top:k=1"), ("sign", "sign")])
def test_rows_are_counted_with_it(asked, used):
    named = Explanations.vectors(PHI, discretizer="sign-of-top:k=1")
    assert faithkit.plugin.count_rows(LABELS, named, discretizer=asked).discretizer == used


def test_a_later_sample_has_the_same_discretizer():
    later = evaluated("sign", None).on(X[:20] + 0.1)
    assert later.setup.discretizer.text == "sign"
    assert later.n_explanations == len(np.unique(np.sign(X[:20] + 0.1), axis=0))


@one_test
@pytest.mark.parametrize("asked", ["original", "1fp"])
def test_a_name_that_nobody_has_is_no_matter_where_another_one_is_asked_for(asked):
    assert compared("no-such", asked).setup.discretizer.text == asked
    assert scored("no-such", asked).setup.discretizer.text == asked


@one_test
@pytest.mark.parametrize("measure", [scored, evaluated, compared])
@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("sgin", "no discretizer 'sgin' is installed. Did you mean 'sign'?"),
        ("fp:digit=1", "has no parameter 'digit'"),
    ],
)
def test_a_misspelt_name_is_refused_with_what_to_do(measure, named, said):
    with pytest.raises(faithkit.errors.InputError, match=re.escape(said)) as error:
        measure(named, None)
    text = str(error.value)
    assert text.startswith("the explanations name a discretizer that is not available: ")
    assert text.endswith("(discretizer=, CLI: --discretize), such as 'original'.")


def test_one_of_another_kind_is_refused():
    with pytest.raises(faithkit.errors.InputError, match="sign takes explanations of kind vector"):
        faithkit.score([0, 1], Explanations.of(["a", "b"], discretizer="sign"))


def test_one_that_learns_does_so_from_the_background():
    halves = evaluated("quantile:bins=2", None)
    result = faithkit.evaluate(model, X, Naming(), discretizer="quantile:bins=2", background=X[:30])
    assert halves.n_explanations == result.n_explanations
    assert halves.setup.learnt_from == "given"


def test_one_that_learns_from_the_sample_itself_is_said_to():
    with pytest.warns(faithkit.FaithkitWarning, match="quantile learns from the rows it is judged on"):
        result = faithkit.evaluate(model, X, Naming("quantile"))
    assert result.to_dict()["background"] == "the sample itself"
    with pytest.warns(faithkit.FaithkitWarning, match="quantile learns from the rows it is judged on"):
        assert scored("quantile", None).to_dict()["background"] == "the sample itself"


@one_test
@pytest.mark.parametrize(
    "carried",
    [
        lambda named: named.take([0, 2]),
        lambda named: Explanations.concat([named, named]),
        lambda named: named.identified(np.sign(named.values)),
        lambda named: named.take([0]).spread(np.array([0]), 2, np.array([None, "gone"], dtype=object)),
        lambda named: ChunkResult.load(ChunkResult.of(named).dump("key"), "key").explanations,
    ],
    ids=["take", "concat", "identified", "spread", "the store"],
)
def test_the_name_is_carried_wherever_explanations_go(carried):
    assert carried(Explanations.vectors(PHI, discretizer="sign")).discretizer == "sign"


def test_a_store_and_workers_know_the_name(tmp_path):
    ways = [{"store": tmp_path}, {"store": tmp_path}, {"n_jobs": 2}]
    results = [faithkit.evaluate(model, X, Naming("sign"), background=X, **way).to_json() for way in ways]
    assert len(set(results)) == 1


def test_a_log_names_none(tmp_path):
    from click.testing import CliRunner

    from faithkit.cli import main

    path = tmp_path / "log.csv"
    path.write_text("label,phi\nyes,0.5\nyes,0.25\nno,-0.5\n")
    run = CliRunner().invoke(main, ["score", str(path), "--prediction", "label", "--explanation", "phi"])
    assert run.exit_code == 0
    assert "logged explanations" in run.output


def test_a_saved_reference_of_another_discretizer_is_refused_whoever_named_this_one(tmp_path):
    from faithkit.run.comparisons.reference import check_comparable, load_reference

    path = tmp_path / "before.json"
    scored(None, "sign").to_json(path)
    asked = {"discretizer": None, "estimator": "leave-one-out", "confidence": 0.95}
    before = load_reference(str(path), **asked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_comparable(scored("sign", None), before)
    with pytest.raises(
        faithkit.errors.InputError, match="was measured with the discretizer sign, and this is original"
    ):
        check_comparable(scored(None, None), before)


def test_who_compares_two_batches_compares_the_names():
    from faithkit.testing.equality import describe_difference

    named = Explanations.vectors(PHI, discretizer="sign")
    assert (
        describe_difference(named, attrs.evolve(named, discretizer=None))
        == "discretizer is None instead of 'sign'"
    )
