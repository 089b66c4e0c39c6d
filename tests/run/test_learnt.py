"""What has learnt says and does what it did before, and learns no more."""

import numpy as np
import pandas as pd
import pytest
from looping import one_test

import faithkit
from faithkit.explanations.relations import holds_bits
from faithkit.run.components.discretization import fit_and_freeze_discretizer, learns
from faithkit.run.components.resolution import resolve_component
from faithkit.run.components.setup import Applicability, fit_and_freeze_relation

RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=60), "b": RNG.integers(0, 9, 60)})
PHI = faithkit.Explanations.vectors(RNG.normal(size=(60, 2)), instances=X)
LATER = faithkit.Explanations.vectors(RNG.normal(3, 1, size=(60, 2)), instances=X + 5)


@one_test
@pytest.mark.parametrize("given", ["quantile:bins=3", "sign", "original"])
def test_a_discretizer_is_taught_once(given):
    taught = resolve_component("discretizer", given)
    if learns(taught):
        taught.instance.fit(PHI)
    result = fit_and_freeze_discretizer(given, PHI)
    assert not learns(result)
    assert (result.text, result.recipe) == (taught.text, taught.recipe)
    identities = [one.instance.discretize(LATER) for one in (result, taught)]
    np.testing.assert_array_equal(*map(np.asarray, identities))


@one_test
@pytest.mark.parametrize("given", ["same-top-features:k=1,bins=2", "near-explanation:tau=1", "in-scope"])
def test_a_relation_is_taught_once_and_says_what_it_said(given):
    taught = faithkit.relation(given).fit(X)
    result = fit_and_freeze_relation(given, X)
    assert (str(result.instance), result.text, result.is_fitted) == (str(taught), given, True)


def test_a_relation_that_was_taught_does_not_learn_from_later_rows():
    taught = faithkit.relation("same-top-features:k=1,bins=2").fit(X)
    relation = Applicability.of(
        fit_and_freeze_relation("same-top-features:k=1,bins=2", X), LATER, X + 5
    ).relation
    sample = faithkit.plugin.Sample(X + 5, LATER)
    np.testing.assert_array_equal(holds_bits(relation, sample, LATER), holds_bits(taught, sample, LATER))
    anew = faithkit.relation("same-top-features:k=1,bins=2").fit(X + 5)
    assert (holds_bits(anew, sample, LATER) != holds_bits(taught, sample, LATER)).any()
