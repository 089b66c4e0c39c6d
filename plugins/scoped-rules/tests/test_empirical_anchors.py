"""Empirical anchors: exact counts, the widest valid rule, and every rule covers its own instance."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import one_test
from scipy.special import rel_entr

import faithkit


def make_anchors(**params):
    return faithkit.plugin.registry().create("explainer", "empirical-anchors", params)


@st.composite
def tables(draw):
    n, seed = draw(st.integers(20, 40)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 6, n).astype(float),
            "job": rng.choice(["clerk", "farmer", None], n),
            "hours": pd.array(rng.integers(0, 4, n), dtype="Int64"),
        }
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    labels = np.where(frame["age"].fillna(9) > 3, "old", np.where(frame["job"] == "clerk", "clerk", "other"))
    noise = rng.random(n) < 0.1
    return frame, np.where(noise, "old", labels)


class Table:
    """A model that knows the label of every row of a table, by its number."""

    def __init__(self, labels):
        self.labels = dict(enumerate(labels))
        self.classes_ = np.unique(labels)

    def predict(self, X):
        return np.array([self.labels[i] for i in X.index], dtype=object)


def bisect_lower_bound(successes, trials, level):
    """The KL bound by a plain bisection."""
    p = successes / trials
    low, high = 0.0, p
    for _ in range(60):
        q = (low + high) / 2
        apart = rel_entr(p, q) + rel_entr(1 - p, 1 - q)
        low, high = (q, high) if trials * apart > level else (low, q)
    return low


def enumerate_widest(fitted, frame, labels, row, explainer):
    """Try every conjunction of the predicates that hold for the row."""
    words = [w for w in fitted.vocabulary_.satisfied(frame.iloc[[row]])[0] if w >= 0]
    masks = {w: fitted.vocabulary_.predicates[w].mask(frame) for w in words}
    best = None
    for size in range(explainer.max_size + 1):
        for chosen in itertools.combinations(words, size):
            mask = np.logical_and.reduce([masks[w] for w in chosen]) if chosen else np.ones(len(frame), bool)
            covered, agree = int(mask.sum()), int((labels[mask] == labels[row]).sum())
            sure = (
                bisect_lower_bound(agree, covered, fitted.level_)
                >= explainer.threshold - explainer.tau - 1e-9
            )
            if agree >= explainer.threshold * covered and sure and (best is None or covered > best):
                best = covered
    return best


@given(tables(), st.sampled_from([0.6, 0.8, 0.95]))
@settings(max_examples=4)
def test_a_wide_enough_beam_finds_the_widest_valid_rule(table, threshold):
    frame, labels = table
    explainer = make_anchors(threshold=threshold, beam_size=5000, max_size=3, bins=3, tau=0.3, delta=0.5)
    fitted = explainer.fit(faithkit.Predictor(Table(labels)), frame)
    rows = range(0, len(frame), 7)
    for row, rule in zip(rows, fitted.explain(frame.iloc[::7], None).values, strict=True):
        best = enumerate_widest(fitted, frame, labels, row, explainer)
        if best is not None:
            assert int(rule.covers(frame).sum()) == best


@given(tables())
@settings(max_examples=3)
def test_every_rule_covers_its_own_instance(table):
    frame, labels = table
    fitted = make_anchors().fit(faithkit.Predictor(Table(labels)), frame)
    rows = frame.iloc[::2]
    for i, rule in enumerate(fitted.explain(rows, None).values):
        assert rule.covers(rows.iloc[[i]])[0]


def test_precision_is_reached_on_the_background_or_the_row_is_remarked():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    model = faithkit.Predictor(lambda X: (X[:, 0] > 0.3) & (X[:, 1] > -0.5))
    labels = model.predict(X)
    fitted = make_anchors(threshold=0.9).fit(model, X)
    explanations = fitted.explain(X[:600], None)
    below = np.array([remark == "too little evidence for the threshold" for remark in explanations.remarked])
    for i, rule in enumerate(explanations.values):
        if not below[i]:
            assert (labels[rule.covers(X)] == labels[i]).mean() >= 0.9
    assert 0 < below.sum() < 300


def test_a_constant_model_is_explained_by_the_rule_that_covers_everything():
    X = np.random.default_rng(0).normal(size=(500, 2))
    fitted = make_anchors().fit(faithkit.Predictor(lambda X: np.zeros(len(X))), X)
    assert set(fitted.explain(X[:5], None).values) == {faithkit.Rule()}


@one_test
@pytest.mark.parametrize(("beam_size", "enough"), [(1, 45), (4, 72)])
def test_a_wider_beam_tries_more_rules_and_needs_more_rows_to_be_sure(beam_size, enough):
    """N rows that all agree show a precision of (rules / delta) ** (−1 / N); a beam tries one rule for each place."""
    remarks = {}
    for n in (enough - 1, enough):
        X = np.arange(n)[:, None] % 2.0
        fitted = make_anchors(bins=2, beam_size=beam_size).fit(
            faithkit.Predictor(lambda X: np.zeros(len(X))), X
        )
        remarks[n] = fitted.explain(X[:1], None).remarked[0]
    assert remarks == {enough - 1: "too little evidence for the threshold", enough: None}
    assert (beam_size / 0.1) ** (-1 / enough) >= 0.95 > (beam_size / 0.1) ** (-1 / (enough - 1))


def test_a_category_or_label_that_the_background_lacks_is_no_error():
    background = pd.DataFrame({"job": ["a", "b"] * 50, "n": np.arange(100.0)})
    model = faithkit.Predictor(lambda X: np.where(X["n"] > 500, "new", X["job"]), classes=["a", "b", "new"])
    fitted = make_anchors().fit(model, background)
    unseen = pd.DataFrame({"job": ["zebra", "a"], "n": [3.0, 1000.0]})
    explanations = fitted.explain(unseen, None)
    assert explanations.remarked.tolist() == ["too little evidence for the threshold"] * 2
    rules = explanations.values
    assert [rule.covers(unseen.iloc[[i]])[0] for i, rule in enumerate(rules)] == [True, True]
    assert not any(isinstance(p, faithkit.plugin.OneOf) and "zebra" in p.values for p in rules[0].predicates)


def test_the_cache_of_conjunctions_changes_nothing(monkeypatch):
    import faithkit_scoped_rules.evidence as module

    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4))
    model = faithkit.Predictor(lambda X: X[:, 0] * X[:, 1] > 0)
    fitted = make_anchors(threshold=0.8, tau=0.2).fit(model, X)
    whole = fitted.explain(X[:10], None).values.tolist()
    assert fitted.explain(X[:10], None).values.tolist() == whole  # now from the cache
    monkeypatch.setattr(module, "CACHE_BYTES", 1)
    without = make_anchors(threshold=0.8, tau=0.2).fit(model, X)
    assert [without.explain(X[i : i + 1], None).values[0] for i in range(10)] == whole


def test_the_kl_bound_solves_its_equation():
    from faithkit_scoped_rules.evidence import divergence, lower_bound

    for successes, trials, level in [(3, 10, 1.0), (10, 10, 2.0), (950, 1000, 5.0), (0, 7, 3.0)]:
        bound = float(lower_bound(np.array([successes]), np.array([trials]), level)[0])
        assert bound == pytest.approx(
            bisect_lower_bound(successes, trials, level) if successes else 0.0, abs=1e-8
        )
        if successes:
            gap = divergence(np.array([successes / trials]), np.array([bound]))[0]
            assert trials * gap == pytest.approx(level, rel=1e-5)
    # all of N agree: the bound is exp(−level/N)
    assert lower_bound(np.array([20]), np.array([20]), 3.0)[0] == pytest.approx(math.exp(-3 / 20), abs=1e-8)


@one_test
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"threshold": 1.0}, "threshold must lie between 0 and 1"),
        ({"delta": 0}, "delta must lie between 0 and 1"),
        ({"tau": -0.1}, "tau must lie in"),
        ({"bins": 1}, "bins must be a whole number of at least 2"),
        ({"beam_size": 0}, "beam_size"),
        ({"max_size": 2.5}, "max_size"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(faithkit.errors.ParameterError, match=message):
        make_anchors(**params)


def test_texts_are_refused():
    with pytest.raises(faithkit.errors.InputError, match="tables, not texts"):
        make_anchors().fit(faithkit.Predictor(len), ["good film"])
