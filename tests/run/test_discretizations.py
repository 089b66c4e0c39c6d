"""One result under many discretizations: the same numbers as scoring each, and nothing explained again."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import faithkit
from faithkit.run.discretizations import with_discretizer

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


def test_every_row_is_what_scoring_with_that_discretizer_gives():
    result = faithkit.score(LABELS, PHI)
    tried = faithkit.try_discretizers(result).set_index("discretizer")
    assert {"original", "1fp", "2fp", "sign", "rank", "sign-of-top-5", "quantile"} <= set(tried.index)
    for name in tried.index:
        alone = faithkit.score(LABELS, PHI, discretizer=name)
        row, found = tried.loc[name], alone.consistency
        if found.verified == 0:  # no value then, and not 0
            assert row[["consistency", "by_chance"]].isna().all()
        else:
            assert row["consistency"] == found.value
            assert row["by_chance"] == pytest.approx(found.verified * alone.chance)
        assert (row["low"], row["high"], row["verified"]) == (found.low, found.high, found.verified)
        assert row["up_to"] == found.bracket[1]
        assert (row["uniqueness"], row["n_explanations"]) == (alone.uniqueness, alone.n_explanations)
        assert row["verdict"] == found.verdict


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


def test_discretizers_of_other_kinds_are_not_tried_unless_asked_for():
    result = faithkit.score(["a", "b"], ["good", "bad"])
    assert faithkit.try_discretizers(result)["discretizer"].tolist() == ["original"]
    asked = faithkit.try_discretizers(result, ["sign", "original"])
    assert asked["note"].tolist()[0] == ""
    assert "takes explanations of kind vector" in asked["note"].tolist()[1]


def test_nothing_is_explained_again_and_the_result_stays_as_it_was():
    explainer = Counting()
    result = faithkit.evaluate(model, X, explainer, "1fp", background=X[:50])
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
    result = faithkit.evaluate(model, X, Counting(), "quantile:bins=2", background=X[:20])
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
        faithkit.InputError, match="the result is a list: give what evaluate or score returned"
    ):
        faithkit.try_discretizers([1, 2])
    with pytest.raises(faithkit.InputError, match="no discretizers were given"):
        faithkit.try_discretizers(faithkit.score(LABELS, PHI), [])


@pytest.mark.parametrize("name", ["original", "sign", "2fp", "quantile:bins=3"])
def test_another_discretizer_gives_what_evaluating_with_it_gives(name):
    linear = LogisticRegression().fit(X, LABELS)
    whole = faithkit.evaluate(linear, X, "gradient", "1fp", "same-top-features:k=2", background=X[:90])
    alone = faithkit.evaluate(linear, X, "gradient", name, "same-top-features:k=2", background=X[:90])
    found = with_discretizer(whole, name)
    assert found.to_json() == alone.to_json()
    assert found.local(X[:1]).explanation == alone.local(X[:1]).explanation


def test_another_discretizer_of_a_score_or_of_another_kind():
    result = faithkit.score(LABELS, PHI, discretizer="1fp")
    assert (
        with_discretizer(result, "sign").to_json()
        == faithkit.score(LABELS, PHI, discretizer="sign").to_json()
    )
    assert with_discretizer(faithkit.score(["a"], ["good"]), "sign") is None
