"""One result under many discretizations: the same numbers as scoring each, and nothing explained again."""

import functools
import itertools
import math
import sys
from fractions import Fraction
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from looping import one_test
from sklearn.linear_model import LogisticRegression

import faithkit
from faithkit.extension.entries import Entry
from faithkit.run.comparisons import discretizer_variants as trying
from faithkit.run.comparisons.discretizer_search import with_discretizer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 6))
LABELS = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
PHI = (X * RNG.uniform(0.1, 0.4, 6)).round(3)


class Counting:
    """An explainer that notes how many rows it was asked about."""

    learns = False

    def __init__(self):
        self.asked = 0

    def fit(self, predictor, background):
        return self

    def explain(self, rows, seeds):
        self.asked += len(rows)
        return faithkit.Explanations.vectors(rows / 3)


class Halves:
    """A discretizer that can be looped over, which must not be mistaken for a list of them."""

    def discretize(self, explanations):
        return explanations.values[:, :1] > 0

    def __iter__(self):
        return iter("ab")


def model(rows):
    return rows[:, 0] > 0


@pytest.mark.filterwarnings("ignore:no background:faithkit.FaithkitWarning")
def test_every_row_is_what_scoring_with_that_discretizer_gives():
    result = faithkit.score(LABELS, PHI)
    tried = faithkit.try_discretizers(result).set_index("discretizer")
    names = {"original", "1fp", "2fp", "sign", "rank", "sign-of-top-5", "quantile"}
    values = {"fp:digits=0", "fp:digits=3", "fp:digits=4", "sign-of-top:k=1", "quantile:bins=8"}
    assert names | values <= set(tried.index)
    for name in tried.index:
        alone = faithkit.score(LABELS, PHI, discretizer=name)
        row, found = tried.loc[name], alone.consistency
        if found.verified == 0:  # no value then, and not 0
            assert row[["consistency", "by_chance"]].isna().all()
        else:
            assert row["consistency"] == found.value
            assert row["by_chance"] == pytest.approx(found.verified * alone.chance)
        assert (row["low"], row["high"], row["verified"]) == (found.low, found.high, found.verified)
        assert row["estimate"] == found.estimate
        assert row["up_to"] == found.bracket[1]
        assert (row["uniqueness"], row["n_explanations"]) == (alone.uniqueness, alone.n_explanations)
        assert row["checkability"] == found.checkability


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

    def rounded(phi):
        return phi.values.round(1)

    for alone, name in (("sign", "sign"), (rounded, "rounded"), (Halves(), "Halves")):
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
    names = faithkit.try_discretizers(faithkit.score(LABELS, PHI))["discretizer"].tolist()
    assert len(set(names)) == len(names)
    assert "fp" not in names  # which is 1fp
    assert "sign-of-top" not in names


def test_a_name_stands_for_the_values_that_it_presets():
    names = faithkit.try_discretizers(faithkit.score(LABELS, PHI))["discretizer"].tolist()
    assert len(names) < 36  # a few dozen
    for preset in ("fp:digits=1", "fp:digits=2", "sign-of-top:k=5", "quantile:bins=4"):
        assert preset not in names


def test_values_that_do_not_suit_these_explanations_are_left_out():
    names = faithkit.try_discretizers(faithkit.score([0, 1, 1], [[0.1, 0.2], [0.2, 0.4], [0.5, 0.1]]))
    assert {"sign-of-top:k=1", "sign-of-top:k=2"} < set(names["discretizer"])
    assert not {"sign-of-top:k=3", "sign-of-top:k=4"} & set(names["discretizer"])
    assert names["note"].iloc[-1].startswith("sign-of-top: k is 5")  # a name, which people may look for


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
        ("Proposes", ["mine:k=2", "mine:k=3"]),  # k=1 is what mine is
        ("ProposesForever", [*(f"mine:k={k}" for k in range(2, 11)), "mine:wide=True"]),
        ("ProposesNonsense", []),
        ("ProposesAList", []),
    ],
)
def test_third_parties_propose_values_too(factory, expected, monkeypatch):
    mine = faithkit.plugin.Component(
        name="mine", factory=f"test_discretizations:{factory}", summary="Mine.", kinds=("vector",)
    )
    known = SimpleNamespace(
        entries=lambda kind: (Entry("discretizer", mine, "acme", "1.0"),), names=lambda kind: ("mine",)
    )
    monkeypatch.setattr(trying, "registry", lambda: known)
    monkeypatch.setitem(sys.modules, "test_discretizations", sys.modules[__name__])
    assert trying.suitable_discretizers("vector") == ["mine"]
    assert trying.discretizer_variants("vector") == expected


def test_the_recommended_one_is_among_the_best_and_the_note_names_it():
    tried = faithkit.try_discretizers(faithkit.score(LABELS, PHI))
    (best,) = tried[tried["recommended"]].to_dict("records")
    assert tried["low"].is_monotonic_decreasing
    checked = tried[tried["verified"] > 0.05]
    near = checked[checked["estimate"] >= checked["low"].max()]  # no sample tells these from the first
    assert best["discretizer"] in near["discretizer"].tolist()
    assert best["verified"] >= near["verified"].max() - 0.01
    assert tried.attrs["note"].startswith(f"Recommended: {best['discretizer']}, under which ")
    assert "can only lower the measure" in tried.attrs["note"]
    assert "report on another" in tried.attrs["note"]


LAWS = [  # P(explanation, label), in twelfths: two labels, three explanations
    ((4, 1), (1, 3), (2, 1)),
    ((6, 0), (0, 4), (1, 1)),
    ((2, 2), (2, 2), (2, 2)),
    ((0, 1), (9, 1), (0, 1)),
]
COARSE = [(0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 0, 0)]


def consistency(law):
    """Return Σ_π P(π) Σ_y P(y | π)², exactly."""
    whole = sum(map(sum, law))
    return sum(Fraction(sum(n * n for n in row), sum(row) * whole) for row in law if sum(row))


def united(law, places):
    return [
        [sum(row[y] for row, p in zip(law, places, strict=True) if p == place) for y in (0, 1)]
        for place in (0, 1)
    ]


@one_test
@pytest.mark.parametrize("places", COARSE)
def test_what_is_coarser_has_no_higher_consistency(places):
    for cells in itertools.product(range(3), repeat=6):
        if sum(cells):
            law = (cells[:2], cells[2:4], cells[4:])
            assert consistency(united(law, places)) <= consistency(law)


@functools.cache
def estimate(labels, places):
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
        mean += chance * estimate(tuple(y for _, y in drawn), tuple(places[u] for u, _ in drawn))
    assert mean <= consistency(law) + 1e-12


def test_discretizers_of_other_kinds_are_not_tried_unless_asked_for():
    result = faithkit.score(["a", "b"], ["good", "bad"])
    assert faithkit.try_discretizers(result)["discretizer"].tolist() == ["original"]
    asked = faithkit.try_discretizers(result, ["sign", "original"])
    assert asked["note"].tolist()[0] == ""
    assert "takes explanations of kind vector" in asked["note"].tolist()[1]


def test_nothing_is_explained_again_and_the_result_stays_as_it_was():
    explainer = Counting()
    result = faithkit.evaluate(model, X, explainer, discretizer="1fp", background=X[:50])
    before, asked = result.to_json(), explainer.asked
    tried = faithkit.try_discretizers(result)
    assert explainer.asked == asked == len(X)
    assert result.to_json() == before
    own = tried.set_index("discretizer").loc["1fp"]
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

    tried = faithkit.try_discretizers(faithkit.score(LABELS, PHI), [broken, "sign"])
    assert tried["discretizer"].tolist() == ["sign", "broken"]
    assert tried["note"].tolist()[1].startswith("the discretizer broken failed with KeyError: 'age'. ")


def test_two_functions_of_one_name_are_two_discretizers():
    result = faithkit.score(LABELS, PHI, discretizer=lambda phi: phi.values)
    tried = faithkit.try_discretizers(result, [lambda phi: [0] * len(phi)])
    assert tried["n_explanations"].tolist() == [1]


def test_what_is_no_result_is_refused():
    with pytest.raises(
        faithkit.errors.InputError, match="the result is a list: give what evaluate or score returned"
    ):
        faithkit.try_discretizers([1, 2])
    with pytest.raises(faithkit.errors.InputError, match="no discretizers were given"):
        faithkit.try_discretizers(faithkit.score(LABELS, PHI), [])


@one_test
@pytest.mark.parametrize("name", ["original", "sign", "2fp", "quantile:bins=3"])
def test_another_discretizer_gives_what_evaluating_with_it_gives(name):
    def evaluate(discretizer):
        options = {"relation": "same-top-features:k=2", "background": X[:30]}
        return faithkit.evaluate(linear, X[:50], "gradient", discretizer=discretizer, **options)

    linear = LogisticRegression().fit(X, LABELS)
    whole, alone = evaluate("1fp"), evaluate(name)
    result = with_discretizer(whole, name)
    assert result.to_json() == alone.to_json()
    assert result.local(X[:1]).explanation == alone.local(X[:1]).explanation


def test_another_discretizer_of_a_score_or_of_another_kind():
    result = faithkit.score(LABELS, PHI, discretizer="1fp")
    assert (
        with_discretizer(result, "sign").to_json()
        == faithkit.score(LABELS, PHI, discretizer="sign").to_json()
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
    tried = faithkit.try_discretizers(faithkit.score(predictions, phi), ["original", "sign"])
    assert not tried["recommended"].any()
    assert tried.attrs["note"].startswith(f"None is recommended: {why}")


def test_none_is_recommended_of_those_that_cannot_be_used():
    tried = faithkit.try_discretizers(faithkit.score([0, 1], ["a", "b"]), ["sign"])
    assert tried.attrs["note"].startswith("None is recommended: none could be used.")


def test_what_checks_nothing_is_not_recommended():
    x = np.random.default_rng(0).normal(size=(300, 1))
    result = faithkit.score(x[:, 0] > 0, x)
    assert result.consistency.finding == "above chance"  # by comparing near vectors
    tried = faithkit.try_discretizers(result, ["original"])
    assert not tried["recommended"].any()
    assert "None is recommended: next to nothing could be checked." in tried.attrs["note"]
