"""One result under many discretizers: the same numbers as scoring each, and nothing explained again."""

import functools
import itertools
import math
import sys
from fractions import Fraction
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from pages import json_of

import faithkit
from faithkit.extension.entries import Entry
from faithkit.run.comparisons import discretizer_variants
from faithkit.run.comparisons.discretizer_search import with_discretizer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 6))
LABELS = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
PHI = (X * RNG.uniform(0.1, 0.4, 6)).round(3)


class Counting:
    """An explainer that counts the rows that it explains."""

    learns = False

    def __init__(self):
        self.n_explained = 0

    def fit(self, predictor, background):
        return self

    def explain(self, rows, seeds):
        self.n_explained += len(rows)
        return faithkit.Explanations.vectors(rows / 3)


class Halves:
    """A discretizer that can be looped over, which must not be mistaken for a list of them."""

    def discretize(self, explanations):
        return explanations.values[:, :1] > 0

    def __iter__(self):
        return iter("ab")


def model(rows):
    return rows[:, 0] > 0


@functools.cache
def try_all():
    """Try all discretizers, once for all tests that look at the table."""
    return faithkit.try_discretizers(faithkit.score(LABELS, PHI))


@pytest.mark.filterwarnings("ignore:no background:faithkit.errors.FaithkitWarning")
def test_every_row_is_what_scoring_with_that_discretizer_gives():
    table = try_all().set_index("discretizer")
    names = {"original", "1fp", "2fp", "sign", "rank", "sign-of-top-5", "quantile"}
    values = {"fp:digits=0", "fp:digits=3", "fp:digits=4", "sign-of-top:k=1", "quantile:bins=8"}
    assert names | values <= set(table.index)
    for name, row in table.iterrows():
        alone = faithkit.score(LABELS, PHI, discretizer=name)
        expected = alone.consistency
        if expected.verified == 0:  # no value then, and not 0
            assert row[["consistency", "by_chance"]].isna().all()
        else:
            assert row["consistency"] == expected.value
            assert row["by_chance"] == pytest.approx(expected.verified * alone.chance)
        for field in ("low", "high", "verified", "estimate", "checkability"):
            assert row[field] == getattr(expected, field)
        assert row["up_to"] == expected.bracket[1]
        assert (row["uniqueness"], row["n_explanations"]) == (alone.uniqueness, alone.n_explanations)


@one_test
@pytest.mark.parametrize("estimator", ["verified-only", "plug-in", "majority"])
def test_what_chance_gives_depends_on_the_estimator(estimator):
    result = faithkit.score(LABELS, PHI, estimator=estimator)
    row = faithkit.try_discretizers(result, "sign").iloc[0]
    if estimator == "verified-only":
        assert row["by_chance"] == pytest.approx(result.chance)
    else:
        assert math.isnan(row["by_chance"])


def test_one_discretizer_may_be_given_alone():
    result = faithkit.score(LABELS, PHI)

    def round_values(phi):
        return phi.values.round(1)

    for alone, name in (("sign", "sign"), (round_values, "round_values"), (Halves(), "Halves")):
        assert faithkit.try_discretizers(result, alone)["discretizer"].tolist() == [name]


def test_the_best_compromise_stands_first_and_what_cannot_be_used_last():
    # by hand: the signs agree with the labels; as they are, no two are equal; all alike is chance
    phi = [[0.1], [0.2], [-0.1], [-0.2]]
    result = faithkit.score([1, 1, 0, 0], phi)
    alike = faithkit.try_discretizers(
        result, ["sign-of-top:k=9", "original", lambda phi: [0] * len(phi), "sign"]
    )
    assert alike["discretizer"].tolist() == ["sign", "original", "<lambda>", "sign-of-top:k=9"]
    assert alike["recommended"].tolist() == [True, False, False, False]
    assert alike["consistency"].tolist()[:3] == pytest.approx([1.0, math.nan, 1 / 3], nan_ok=True)
    assert alike["verified"].tolist()[:3] == [1.0, 0.0, 1.0]
    assert alike["up_to"].tolist()[:3] == pytest.approx([1.0, 1.0, 1 / 3])
    last = alike.iloc[-1]
    assert math.isnan(last["consistency"])
    assert last["note"].startswith("sign-of-top: k is 9, and the explanations have 1 importances")


def test_one_of_equal_discretizers_is_tried_by_default():
    names = try_all()["discretizer"].tolist()
    assert len(set(names)) == len(names)
    assert "fp" not in names  # which is 1fp
    assert "sign-of-top" not in names
    assert len(names) < 36  # a few dozen
    for preset in ("fp:digits=1", "fp:digits=2", "sign-of-top:k=5", "quantile:bins=4"):
        assert preset not in names


def test_values_that_do_not_suit_these_explanations_are_left_out():
    table = faithkit.try_discretizers(faithkit.score([0, 1, 1], [[0.1, 0.2], [0.2, 0.4], [0.5, 0.1]]))
    assert {"sign-of-top:k=1", "sign-of-top:k=2"} < set(table["discretizer"])
    assert not {"sign-of-top:k=3", "sign-of-top:k=4"} & set(table["discretizer"])
    assert table["note"].iloc[-1].startswith("sign-of-top: k is 5")  # a name, which people may look for


class Proposes:
    """A third party's discretizer, which proposes what it likes."""

    tries: ClassVar = {"k": range(1, 4)}

    def __init__(self, k=1, wide=False):
        self.k = k

    def discretize(self, explanations):
        return explanations.values[:, : self.k] > 0


class ProposesForever(Proposes):
    tries: ClassVar = {"k": itertools.count(1), "wide": [True]}


class ProposesNonsense(Proposes):
    tries: ClassVar = {"k": [object()], "z": [1], 3: 4}


class ProposesAList(Proposes):
    tries: ClassVar = [1]


@one_test
@pytest.mark.parametrize(
    ("factory", "expected"),
    [
        ("Proposes", ["acme:k=2", "acme:k=3"]),  # k=1 is its default
        ("ProposesForever", [*(f"acme:k={k}" for k in range(2, 11)), "acme:wide=True"]),
        ("ProposesNonsense", []),
        ("ProposesAList", []),
    ],
)
def test_third_parties_propose_values_too(factory, expected, monkeypatch):
    component = faithkit.plugin.Component(
        name="acme", factory=f"test_discretizations:{factory}", summary="Split.", kinds=("vector",)
    )
    registry = SimpleNamespace(
        entries=lambda kind: (Entry("discretizer", component, "acme", "1.0"),), names=lambda kind: ("acme",)
    )
    monkeypatch.setattr(discretizer_variants, "registry", lambda: registry)
    monkeypatch.setitem(sys.modules, "test_discretizations", sys.modules[__name__])
    assert discretizer_variants.suitable_discretizers("vector") == ["acme"]
    assert discretizer_variants.discretizer_variants("vector") == expected


def test_the_recommended_one_is_among_the_best_and_the_note_names_it():
    table = try_all()
    (best,) = table[table["recommended"]].to_dict("records")
    assert table["low"].is_monotonic_decreasing
    checked = table[table["verified"] > 0.05]
    near = checked[checked["estimate"] >= checked["low"].max()]  # no sample tells these from the first
    assert best["discretizer"] in near["discretizer"].tolist()
    assert best["verified"] >= near["verified"].max() - 0.01
    assert table.attrs["note"].startswith(f"Recommended: {best['discretizer']}, under which ")
    assert "can only lower the measure" in table.attrs["note"]
    assert "report on another" in table.attrs["note"]


LAWS = [  # P(explanation, label), in twelfths: two labels, three explanations
    ((4, 1), (1, 3), (2, 1)),
    ((6, 0), (0, 4), (1, 1)),
    ((2, 2), (2, 2), (2, 2)),
    ((0, 1), (9, 1), (0, 1)),
]
COARSE = [(0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 0, 0)]


def compute_consistency(law):
    """Return Σ_π P(π) Σ_y P(y | π)², exactly."""
    whole = sum(map(sum, law))
    return sum(Fraction(sum(n * n for n in row), sum(row) * whole) for row in law if sum(row))


@functools.cache
def estimate_consistency(labels, places):
    return faithkit.score(labels, [(f"{place}",) for place in places]).consistency.estimate


@one_test
@pytest.mark.parametrize(("law", "places"), zip(LAWS, COARSE, strict=True))
def test_what_a_coarser_one_is_at_least_bounds_the_finer_one_in_the_mean(law, places):
    cells = [(u, y) for u in range(3) for y in (0, 1) if law[u][y]]
    mean = 0.0
    for drawn in itertools.combinations_with_replacement(cells, 3):
        times = [drawn.count(cell) for cell in set(drawn)]
        ways = math.factorial(3) // math.prod(map(math.factorial, times))
        chance = ways * math.prod(law[u][y] / 12 for u, y in drawn)
        mean += chance * estimate_consistency(tuple(y for _, y in drawn), tuple(places[u] for u, _ in drawn))
    assert mean <= compute_consistency(law) + 1e-12


def test_discretizers_of_other_kinds_are_not_tried_unless_asked_for():
    result = faithkit.score(["a", "b"], ["good", "bad"])
    assert faithkit.try_discretizers(result)["discretizer"].tolist() == ["original"]
    notes = faithkit.try_discretizers(result, ["sign", "original"])["note"].tolist()
    assert notes[0] == ""
    assert "takes explanations of kind vector" in notes[1]


def test_nothing_is_explained_again_and_the_result_stays_as_it_was():
    explainer = Counting()
    result = faithkit.evaluate(model, X, explainer, discretizer="1fp", background=X[:50])
    before = json_of(result)
    assert explainer.n_explained == len(X)
    table = faithkit.try_discretizers(result, ["1fp", "sign", "quantile"])
    assert explainer.n_explained == len(X)
    assert json_of(result) == before
    own = table.set_index("discretizer").loc["1fp"]
    assert (own["n_explanations"], own["verified"]) == (result.n_explanations, result.consistency.verified)


def test_a_discretizer_that_learns_is_marked_unless_it_had_learnt_before():
    fresh = faithkit.try_discretizers(faithkit.score(LABELS, PHI), ["quantile", "sign"])
    assert fresh.set_index("discretizer")["note"].to_dict() == {
        "quantile": "learnt from the sample itself",
        "sign": "",
    }
    result = faithkit.evaluate(model, X, Counting(), discretizer="quantile:bins=2", background=X[:20])
    row = faithkit.try_discretizers(result, ["quantile:bins=2"]).iloc[0]
    assert row["note"] == ""
    assert row["consistency"] == result.consistency.value


def test_a_discretizer_that_fails_is_a_row_and_not_the_end():
    def broken(explanations):
        raise KeyError("age")

    table = faithkit.try_discretizers(faithkit.score(LABELS, PHI), [broken, "sign"])
    assert table["discretizer"].tolist() == ["sign", "broken"]
    assert table["note"].tolist()[1].startswith("the discretizer broken failed with KeyError: 'age'. ")


def test_two_functions_of_one_name_are_two_discretizers():
    result = faithkit.score(LABELS, PHI, discretizer=lambda phi: phi.values)
    table = faithkit.try_discretizers(result, [lambda phi: [0] * len(phi)])
    assert table["n_explanations"].tolist() == [1]


def test_what_is_no_result_is_refused():
    with pytest.raises(
        faithkit.errors.InputError, match="the result is a list: give what evaluate or score returned"
    ):
        faithkit.try_discretizers([1, 2])
    with pytest.raises(faithkit.errors.InputError, match="no discretizers were given"):
        faithkit.try_discretizers(faithkit.score(LABELS, PHI), [])


def test_another_discretizer_gives_what_evaluating_with_it_gives():
    def evaluate(discretizer):
        options = {"relation": "same-top-features:k=2", "background": X[20:40]}
        return faithkit.evaluate(model, X[:20], Counting(), discretizer=discretizer, **options)

    rounded = evaluate("1fp")
    for name in ("original", "sign", "quantile:bins=3"):
        result, expected = with_discretizer(rounded, name), evaluate(name)
        assert result.to_dict() == expected.to_dict()
        assert result.local(X[:1]).explanation == expected.local(X[:1]).explanation


def test_another_discretizer_of_a_score_or_of_another_kind():
    result = faithkit.score(LABELS, PHI, discretizer="1fp")
    assert (
        with_discretizer(result, "sign").to_dict()
        == faithkit.score(LABELS, PHI, discretizer="sign").to_dict()
    )
    assert with_discretizer(faithkit.score(["a"], ["good"]), "sign") is None


UNKNOWN = {
    "one row": ([1], [[0.1, 0.2]], "all explained predictions are the same"),
    "one prediction": ([1] * 20, np.random.default_rng(0).normal(size=(20, 2)), "all explained predictions are the same"),
    "two rows that differ": ([0, 1], [[0.1, 0.2], [3.5, -1.0]], "next to nothing could be checked"),
}  # fmt: skip


@one_test
@pytest.mark.parametrize("case", UNKNOWN)
def test_none_is_recommended_where_nothing_is_known(case):
    predictions, phi, why = UNKNOWN[case]
    table = faithkit.try_discretizers(faithkit.score(predictions, phi), ["original", "sign"])
    assert not table["recommended"].any()
    assert table.attrs["note"].startswith(f"None is recommended: {why}")


def test_none_is_recommended_of_those_that_cannot_be_used():
    table = faithkit.try_discretizers(faithkit.score([0, 1], ["a", "b"]), ["sign"])
    assert table.attrs["note"].startswith("None is recommended: none could be used.")


def test_what_checks_nothing_is_not_recommended():
    x = np.random.default_rng(0).normal(size=(300, 1))
    result = faithkit.score(x[:, 0] > 0, x)
    assert result.consistency.finding == "above chance"  # by comparing near vectors
    table = faithkit.try_discretizers(result, ["original"])
    assert not table["recommended"].any()
    assert "None is recommended: next to nothing could be checked." in table.attrs["note"]


# --- discretizers and relations that are fitted once ------------------------------------------------------

ROWS = pd.DataFrame({"a": RNG.normal(size=60), "b": RNG.integers(0, 9, 60)})
EARLIER = faithkit.Explanations.vectors(RNG.normal(size=(60, 2)), instances=ROWS)
LATER = faithkit.Explanations.vectors(RNG.normal(3, 1, size=(60, 2)), instances=ROWS + 5)


class SortingMedian:
    """Sorts what it learns from in place, and does not expect NaN."""

    def fit(self, explanations):
        explanations.values.sort(axis=0)
        self.median = explanations.values[len(explanations) // 2]

    def discretize(self, explanations):
        return explanations.values > self.median


@pytest.mark.filterwarnings("ignore:no background was given")
def test_a_discretizer_learns_from_a_copy_without_missing_explanations():
    values = np.array([[3.0], [np.nan], [1.0], [4.0], [2.0]])
    explanations = faithkit.Explanations.vectors(values.copy(), missing=np.isnan(values[:, 0]))
    result = faithkit.score(["b", "b", "a", "b", "a"], explanations, discretizer=SortingMedian())
    np.testing.assert_array_equal(explanations.values, values)
    # the median of 1, 2, 3, 4 is 3, so that only the 4 is above it
    assert result.rows.explanations.identities[[0, 2, 3, 4], 0].tolist() == [False, False, True, False]
