"""Single rows where predictions are numbers or scores: local values, and the two rows that agree least."""

import functools
import itertools

import numpy as np
import pandas as pd
import pytest
from docs.test_results import SCHEMA
from jsonschema import Draft7Validator
from looping import one_test
from pages import page_of

import faithkit
from faithkit import Explanations, Rule
from faithkit.plugin import Interval
from faithkit.run.evaluation_report import EvaluationReport

pytestmark = pytest.mark.filterwarnings("ignore::faithkit.errors.FaithkitWarning")

N = 30
RNG = np.random.default_rng(11)
FRAME = pd.DataFrame({"x": RNG.normal(size=N).round(2)})
Y = FRAME["x"].to_numpy() * 3 + RNG.normal(size=N).round(1) + 0.05
P = np.clip(0.5 + Y / 20, 0, 1)
EDGES = [-9.0, -0.5, 0.0, 0.75, 9.0]


class ByRange:
    learns = False
    outcomes = ("labels", "numbers")

    def fit(self, predictor, background):
        return self

    def explain(self, X, seeds):
        place = np.searchsorted(EDGES, X["x"].to_numpy())
        rules = [Rule([Interval("x", low=EDGES[i - 1], high=EDGES[i] + 0.2)]) for i in place]
        return Explanations.of(rules, kind="rule", relation="in-scope")


def compute_scopes():
    """Return, for each row, the rows to which its explanation applies, and those that share it."""
    x = FRAME["x"].to_numpy()
    place = np.searchsorted(EDGES, x)
    low, high = np.array(EDGES)[place - 1], np.array(EDGES)[place] + 0.2
    # rules are open below and closed above
    applies = (x[None] > low[:, None]) & (x[None] <= high[:, None])
    return {"consistency": place[:, None] == place[None], "sufficiency": applies}


def compute_half_squares(points):
    return ((points[:, None] - points[None]) ** 2).sum(axis=2) / 2


SCORES, TWO = np.column_stack([P, 1 - P]), np.column_stack([Y, Y**2])
KINDS = {
    "numbers": (Y, {}, compute_half_squares(Y[:, None]) / np.var(Y, ddof=1)),
    "two numbers": (TWO, {"outcome": "numbers"}, compute_half_squares(TWO) / np.var(TWO, axis=0, ddof=1).sum()),
    "scores": (SCORES, {}, compute_half_squares(SCORES)),
    "within": (Y, {"agree": "within:1.5"}, (np.abs(Y[:, None] - Y[None]) > 1.5).astype(float)),
}  # fmt: skip


@functools.cache
def score_kind(kind):
    predictions, agreement, _ = KINDS[kind]
    return faithkit.score(predictions, ByRange().explain(FRAME, None), X=FRAME, control_draws=10, **agreement)


@one_test
@pytest.mark.parametrize("kind", KINDS)
def test_local_values_are_those_of_a_loop_and_average_to_the_global_one(kind):
    result, apart = score_kind(kind), KINDS[kind][2]
    rows = [result.local(i) for i in range(N)]
    for measure, holds in compute_scopes().items():
        local = [getattr(row, measure) for row in rows]
        for i, score in enumerate(local):
            others = [j for j in range(N) if j != i and holds[i, j]]
            assert score.holds_for == len(others) + 1
            assert score.value == pytest.approx(1 - apart[i, others].mean(), abs=1e-9)
        assert np.mean([score.value or 0.0 for score in local]) == pytest.approx(
            getattr(result, measure).value, abs=1e-9
        )


def test_others_are_summarised_in_the_unit_of_the_prediction():
    result, holds = score_kind("numbers"), compute_scopes()["sufficiency"]
    for i in (0, 7, 23):
        others = Y[[j for j in range(N) if j != i and holds[i, j]]]
        local = result.local(i).sufficiency
        assert (local.agree, local.low, local.high) == (None, None, None)
        summary = local.numbers
        assert (summary.n, summary.minimum, summary.maximum) == (len(others), others.min(), others.max())
        assert summary.mean == pytest.approx(others.mean())
        assert summary.sd == pytest.approx(others.std())
        parts = np.quantile(others, [0.25, 0.5, 0.75], method="inverted_cdf")
        assert [summary.lower_quartile, summary.median, summary.upper_quartile] == pytest.approx(
            parts.tolist()
        )


def test_what_agrees_within_a_tolerance_is_counted():
    result, holds = score_kind("within"), compute_scopes()["consistency"]
    near = 1 - KINDS["within"][2]
    agree = (near * holds).sum(axis=1).tolist()
    assert [result.local(i).consistency.agree for i in range(0, N, 4)] == agree[::4]
    assert result.local(0).consistency.numbers is not None
    assert result.local(0).consistency.low is not None


def test_labels_have_no_numbers():
    assert faithkit.score([0, 0, 1], ["a"] * 3).local(0).consistency.numbers is None


NEW = {
    "numbers": (
        {"outcome": "numbers"},
        lambda y, all_y: 1 - ((y - 1.2345) ** 2).mean() / 2 / np.var(all_y, ddof=1),
    ),
    "within": ({"agree": "within:1.5"}, lambda y, all_y: (np.abs(y - 1.2345) <= 1.5).mean()),
}


@one_test
@pytest.mark.parametrize("kind", NEW)
def test_a_new_row_is_measured_by_a_prediction_that_nobody_had(kind):
    options, value = NEW[kind]
    known = dict(zip(FRAME["x"].tolist(), Y.tolist(), strict=True))

    def model(X):
        return np.array([known.get(x, 1.2345) for x in X["x"]])

    result = faithkit.evaluate(model, FRAME, explainer=ByRange(), **options)
    local_result = result.local(pd.DataFrame({"x": [0.331]}))
    y, sharing = model(FRAME), np.searchsorted(EDGES, FRAME["x"]) == 3
    assert local_result.prediction == 1.2345
    assert local_result.consistency.holds_for == sharing.sum()
    assert local_result.consistency.value == pytest.approx(value(y[sharing], y), abs=1e-9)


# --- pair --------------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("kind", ["numbers", "scores"])
def test_pairs_are_the_owner_and_the_row_that_are_furthest_apart(kind):
    result, apart, holds = score_kind(kind), KINDS[kind][2], compute_scopes()["sufficiency"]
    contradictions = result.contradictions(10)
    assert len(contradictions) == 4
    for contradiction in contradictions:
        owner, other = contradiction.rows
        owners = [
            i
            for i in range(N)
            if (compute_scopes()["consistency"][owner] == compute_scopes()["consistency"][i]).all()
        ]
        most = max(apart[i, j] for i, j in itertools.product(owners, range(N)) if holds[i, j])
        assert apart[owner, other] == pytest.approx(most)
        assert holds[owner, other]


def test_the_worst_explanation_costs_most():
    result, apart, holds = score_kind("numbers"), KINDS["numbers"][2], compute_scopes()["sufficiency"]
    loss = (apart * holds).sum(axis=1) / (holds.sum(axis=1) - 1)
    place = np.searchsorted(EDGES, FRAME["x"])
    worst = max(range(1, 5), key=lambda p: loss[place == p].sum())
    assert place[result.contradictions(1)[0].rows[0]] == worst


def test_numbers_of_a_contradiction_are_summarised():
    contradiction = score_kind("numbers").contradictions(1)[0]
    in_scope = Y[compute_scopes()["sufficiency"][contradiction.rows[0]]]
    assert contradiction.predictions == {}
    assert contradiction.holds_for == contradiction.numbers.n == len(in_scope)
    assert (contradiction.numbers.minimum, contradiction.numbers.maximum) == (in_scope.min(), in_scope.max())


def test_within_a_tolerance_the_first_two_that_disagree_are_shown():
    y, words = [1.0, 1.5, 1.9, 2.6, 0.2], ["a"] * 5
    contradictions = faithkit.score([*y, 9.5], [*words, "b"], agree="within:1").contradictions(1)[0]
    assert contradictions.rows == (0, 3)


SHOWN = {
    "numbers": ["they get", "half of them"],
    "within": ["they get", "half of them"],
    "scores": ["instances"],
}


@one_test
@pytest.mark.parametrize("kind", SHOWN)
def test_rows_are_shown_and_written_as_the_schema_says(kind):
    findings = EvaluationReport.of(score_kind(kind), contradictions=2)
    text, page = str(findings), page_of(findings)
    for part in SHOWN[kind]:
        assert part in text
        assert part in page
    valid = {"$ref": "#/definitions/evaluation", "definitions": SCHEMA["definitions"]}
    Draft7Validator(valid).validate(findings.to_dict())
    local = {"$ref": "#/definitions/local_result", "definitions": SCHEMA["definitions"]}
    Draft7Validator(local).validate(findings.result.local(3).to_dict())


def test_a_row_is_printed_with_what_the_others_get():
    text = str(score_kind("numbers").local(3))
    assert "others get" in text
    assert "±" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "others get" not in str(faithkit.score([0, 0, 1], ["a"] * 3).local(0))
