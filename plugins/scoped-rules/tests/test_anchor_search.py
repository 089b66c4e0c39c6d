"""Many searches for anchors together against anchor-exp's own, one by one: same draws, same rules."""

import numpy as np
import pandas as pd
import pytest
from faithkit_scoped_rules.anchors.beam_search import Anchor, Search
from faithkit_scoped_rules.anchors.lockstep_searches import compute_bounds, run_together
from faithkit_scoped_rules.anchors.perturbed_rows import PerturbedRows
from faithkit_scoped_rules.anchors.texts import MaskedText
from looping import one_test

import faithkit

DEFAULTS = {"threshold": 0.95, "delta": 0.1, "tau": 0.15, "batch_size": 100, "beam_size": 4}


class Batch(int):
    """A batch size of which anchor-exp sets aside 100 batches at a time, and not 10,000."""

    def __mul__(self, other):
        return 100 * max(50, int(self))


def test_bounds_of_shares_are_those_of_anchor_exp():
    from anchor.anchor_base import AnchorBaseBeam

    rng = np.random.default_rng(0)
    shares, levels, upper = np.append(rng.random(48), [0.0, 1.0]), rng.random(50) / 3, rng.random(50) < 0.5
    expected = [
        (AnchorBaseBeam.dup_bernoulli if is_upper else AnchorBaseBeam.dlow_bernoulli)(share, level)
        for share, level, is_upper in zip(shares, levels, upper, strict=True)
    ]
    assert compute_bounds(shares, levels, upper) == pytest.approx(expected, abs=1e-9)


def search_with_anchor_exp(search, perturbation, ask, stop_on_first):
    """anchor-exp's search itself, about rows from the same generator, the model asked about each of them."""
    from anchor.anchor_base import AnchorBaseBeam

    label, unanimous = ask([perturbation.instance_row])[0], []

    def sample(present, n, compute_labels=True):
        if not compute_labels:
            return None, perturbation.coverage(), None
        drawn, rows = perturbation.draw(present, n)
        agree = ask(rows) == label
        unanimous.append(agree.all())
        return np.empty((n, 0)), perturbation.holds(drawn), agree

    result = AnchorBaseBeam.anchor_beam(
        sample,
        desired_confidence=search.threshold,
        delta=search.delta,
        epsilon=search.tau,
        batch_size=Batch(search.batch_size),
        beam_size=search.beam_size,
        max_anchor_size=search.max_size,
        stop_on_first=stop_on_first,
    )
    precision = result["mean"][-1] if result["feature"] else result["all_precision"]
    remark = None if precision >= search.threshold else "below the threshold"
    return Anchor(tuple(result["feature"]), remark, is_unanimous=all(unanimous))


def search_both_ways(search, perturbations, ask, stop_on_first=False):
    """All rows together by our search, and one by one by anchor-exp's."""
    steps = (search.steps(make(), faithkit.plugin.Tolerance(), stop_on_first) for make in perturbations)
    anchors = run_together(steps, ask, bytes_per_round=1)
    return anchors, [search_with_anchor_exp(search, make(), ask, stop_on_first) for make in perturbations]


# --- tables ----------------------------------------------------------------------------------------------


def make_people(n, seed):
    """Words, gaps, booleans, whole numbers and fractions."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(45, 12, n),
            "job": pd.Series(rng.choice(["clerk", "smith", "cook"], n), dtype="str"),
            "children": rng.integers(0, 4, n),
            "member": rng.random(n) < 0.5,
            "hours": rng.integers(10, 60, n),
        }
    )
    frame.loc[rng.random(n) < 0.15, "age"] = np.nan
    frame.loc[rng.random(n) < 0.15, "job"] = None
    return frame


def predict_three_labels(frame):
    clerk = (frame["job"] == "clerk").fillna(False).to_numpy(bool)
    busy = (frame["hours"] > 40).to_numpy()
    return np.where(frame["age"].isna(), "gap", np.where(clerk & busy, "low", "high")).astype(object)


def predict_sums(frame):
    """One label where enough things come together: long rules."""
    score = (frame["age"].fillna(0) > 45).astype(int) + (frame["hours"] > 35) + frame["member"]
    return (score + (frame["children"] > 1) >= 3).to_numpy()


def predict_noise(frame):
    """Labels without a pattern: no rule is precise."""
    return (frame["age"].fillna(0) * 1e6 % 10 < 6).to_numpy().astype(int)


def predict_constant(frame):
    return np.ones(len(frame), dtype=int)


def predict_seldom(frame):
    """Nearly one label: the rule without conditions is precise enough, and the search may not try it."""
    return (frame["hours"] < 12).to_numpy()


CASES = [
    (predict_three_labels, {"beam_size": 1, "tau": 0.3}),
    (predict_three_labels, {"batch_size": 30, "tau": 0.3, "beam_size": 2}),
    (predict_three_labels, {}),
    (predict_three_labels, {"threshold": 0.5}),
    (predict_sums, {}),
    (predict_sums, {"beam_size": 1, "bins": "decile"}),
    (predict_sums, {"beam_size": 2, "delta": 0.01, "tau": 0.2}),
    (predict_sums, {"max_size": 1}),
    (predict_sums, {"max_size": 2, "beam_size": 1}),
    (predict_sums, {"max_size": 50, "threshold": 0.99}),
    (predict_noise, {"max_size": 2, "tau": 0.3}),
    (predict_noise, {"max_size": 1, "beam_size": 100}),
    (predict_constant, {}),
    (predict_seldom, {"beam_size": 2}),
]


@pytest.mark.parametrize(
    ("model", "params"), [CASES[0], *(pytest.param(*case, marks=pytest.mark.slow) for case in CASES[1:])]
)
def test_the_anchor_is_the_one_that_anchor_exp_finds(model, params):
    params = dict(params)
    bins = params.pop("bins", "quartile")
    fitted = faithkit.plugin.registry().create("explainer", "anchors", {"bins": bins})
    fitted.fit(faithkit.Predictor(model), make_people(300, seed=0))
    codes = fitted.encoder_.encode(make_people(2, seed=1))
    rows = [lambda i=i: PerturbedRows(fitted.table_, codes[i], seed=i) for i in range(len(codes))]
    anchors, expected = search_both_ways(
        Search("anchors", **{**DEFAULTS, **params}), rows, fitted._predict_rows
    )
    assert anchors == expected


@pytest.mark.slow
def test_the_cases_are_of_all_kinds():
    """The comparison sees long and short rules, empty ones, and some below the threshold."""
    background, X = make_people(300, seed=0), make_people(2, seed=1)
    anchors = []
    for model, params in CASES:
        explainer = faithkit.plugin.registry().create("explainer", "anchors", params)
        explanations = explainer.fit(faithkit.Predictor(model), background).explain(X, np.arange(2))
        anchors += zip(explanations.values, explanations.remarks, strict=True)
    assert {len(rule.predicates) for rule, _ in anchors} >= {0, 1, 2, 3}
    assert {remark for _, remark in anchors} == {None, "below the threshold"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_anchors_are_those_of_anchor_exp_for_many_rows_and_seeds(seed):
    fitted = (
        faithkit.plugin.registry()
        .create("explainer", "anchors")
        .fit(faithkit.Predictor(predict_sums), make_people((40, 500)[seed % 2], seed))
    )
    codes = fitted.encoder_.encode(make_people(12, seed=9))
    rows = [lambda i=i: PerturbedRows(fitted.table_, codes[i], 100 * seed + i) for i in range(len(codes))]
    anchors, expected = search_both_ways(Search("anchors", **DEFAULTS), rows, fitted._predict_rows)
    assert anchors == expected


# --- texts -----------------------------------------------------------------------------------------------

WORDS = ["fine", "dull", "plot", "cast", "long", "loud", "warm", "cold", "so"]


def judge_tone(texts):
    score = np.array([text.count("fine") + text.count("warm") - 2 * text.count("dull") for text in texts])
    return np.array(["bad", "so-so", "good"])[np.digitize(score, [0, 2])]


def predict_parity(texts):
    return np.array([text.count("UNK") % 2 for text in texts])


@one_test
@pytest.mark.parametrize(
    ("model", "params"),
    [
        (judge_tone, {}),
        (predict_parity, {"beam_size": 1}),
        (judge_tone, {"threshold": 0.8, "batch_size": 25}),
    ],
)
def test_the_words_are_those_that_anchor_exp_finds(model, params):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, n)) for n in (1, 2, 5)]
    masked = [lambda i=i, text=text: MaskedText(text, text.split(), seed=i) for i, text in enumerate(texts)]
    search = Search("anchors-text", **{**DEFAULTS, "batch_size": 10, **params})
    anchors, expected = search_both_ways(search, masked, model, stop_on_first=True)
    assert anchors == expected
