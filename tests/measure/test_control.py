"""The control of sufficiency, the ceiling and worth, against loops that draw, count and leave out anew."""

import csv
import math
import re
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from scipy import stats

import faithkit
from faithkit.arrays.row_random import derive_seeds
from faithkit.explanations.relations import SameExplanation, draw_control
from faithkit.inputs.seeds import row_seeds
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.agreement.squares import Squares
from faithkit.measure.baselines.control import measure_ceiling

DRAWS = 2
few_draws = pytest.mark.usefixtures("few_control_draws")  # so many
ROOT = Path(__file__).parents[2]
SIMULATION = runpy.run_path(str(ROOT / "tests" / "benchmarks" / "simulate_control.py"))
pytestmark = pytest.mark.filterwarnings("ignore:.*of the rows repeat another one:faithkit.FaithkitWarning")


def make_table(seed, n=48):
    """Return binary rows with a category and a missing value, so that rules cover many of them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 2, (n, 4)).astype(float), columns=list("abcd"))
    X["city"] = rng.choice(["Rome", "Oslo", "Lima"], n)
    X.loc[0, "b"] = np.nan
    return X


def make_rules(X, columns):
    """Return for each row the rule that names its own values in these columns."""
    return [
        faithkit.Rule([faithkit.OneOf(name, [value]) for name, value in zip(columns, row, strict=True)])
        for row in X[list(columns)].itertuples(index=False)
    ]


def explain_by_rules(X, columns):
    """Return these rules as explanations."""
    return faithkit.Explanations.of(make_rules(X, columns), kind="rule", relation="in-scope")


def score_rules(labels, X, columns, **options):
    """Score the rules that name each row's own values in these columns."""
    return faithkit.score(labels, explain_by_rules(X, columns), X, **options)


def draw_once(X, rules):
    """Return one rule of the control for each row."""
    sample = faithkit.plugin.Sample(X, faithkit.Explanations.of(rules, kind="rule"))
    return draw_control(faithkit.relation("in-scope"), sample, row_seeds(X, 0)).values


def draw_rules(result, X):
    """Return the rules of each draw of a result's control."""
    relation, sample = faithkit.relation("in-scope"), result.evidence.population.sample
    seeds = [derive_seeds(row_seeds(X, 0), draw) for draw in range(DRAWS)]
    return [draw_control(relation, sample, of_draw).values for of_draw in seeds]


def find_scopes(explanations, X):
    """Return by a loop which rows each rule covers."""

    def satisfies(predicate, value):
        if pd.isna(value):
            return predicate.missing
        return (
            value in predicate.values if predicate.op == "one-of" else predicate.low < value <= predicate.high
        )

    predicates = {predicate for rule in explanations for predicate in rule.predicates}
    masks = {
        predicate: np.array([satisfies(predicate, value) for value in X[predicate.column]])
        for predicate in predicates
    }
    return np.array([np.logical_and.reduce([masks[p] for p in rule.predicates]) for rule in explanations])


def define_estimate(holds, labels, unit, weights, owns):
    """Return a function of the rows that are left: the estimate of a relation, by its definition."""
    apart = labels[:, None] != labels[None, :]
    same_unit = unit[:, None] == unit[None, :]
    largest = (holds * weights) @ same_unit  # the weight of j's unit in the scope of i
    cells = largest[holds]
    thinning = None if np.ptp(cells) < 1e-9 else cells.max()

    def estimate(alive):
        in_scope = holds & alive[:, None] & alive[None, :]
        by_unit = (in_scope * weights) @ same_unit
        others = (in_scope @ weights - np.diag(by_unit))[:, None]
        if thinning is not None:
            others = thinning + others - by_unit
        compared = in_scope & ~same_unit
        K = np.where(compared, (owns * weights)[:, None] * weights / np.where(compared, others, 1.0), 0.0)
        whole = (owns * weights * alive).sum()
        return 1.0 - (K * apart).sum() / whole - (1.0 - K.sum() / whole)

    return estimate


def compute_expected(result, X, labels, unit, weights, pool=0):
    """Return control, difference, its standard error and worth, with every unit left out by a loop."""
    n = len(X) - pool
    owns = np.arange(len(X)) < n
    matrices = [
        np.vstack([find_scopes(values, X), np.zeros((pool, len(X)), dtype=bool)])
        for values in (result.rows.explanations.values, *draw_rules(result, X[:n]))
    ]
    measure, *controls = [define_estimate(holds, labels, unit, weights, owns) for holds in matrices]

    def contrast(alive):
        return measure(alive), np.mean([control(alive) for control in controls])

    x, control = contrast(np.ones(len(X), dtype=bool))
    owning = sorted(set(unit[:n]))
    without = np.array([contrast(unit != u) for u in owning])
    in_pool = np.array([contrast(unit != u) for u in sorted(set(unit) - set(owning))]).reshape(-1, 2)

    def error(function):
        values, pooled = function(*without.T), function(*in_pool.T)
        C = len(values)
        variance = (C - 1) / C * ((values - values.mean()) ** 2).sum()
        if pool:
            variance += ((pooled - pooled.mean()) ** 2).sum()
        return math.sqrt(variance)

    difference, worth = error(lambda x, c: x - c), error(lambda x, c: (x - c) / (1 - c))
    return control, x - control, difference, (x - control) / (1 - control), worth


@one_test
@few_draws
@pytest.mark.parametrize("design", ["equal rows", "clusters", "weights", "a pool"])
def test_control_difference_and_worth_equal_those_of_a_double_loop(design):
    X = make_table(3).assign(e=np.arange(48.0))  # no instance occurs twice, so the ceiling is 1
    labels = ((X["a"] + X["c"] > 1) ^ (np.random.default_rng(1).random(len(X)) < 0.1)).to_numpy()
    n, unit, weights, pool, options = len(X), np.arange(len(X)), np.ones(len(X)), 0, {}
    if design == "clusters":
        unit = np.r_[np.arange(n - 4), 0, 1, 2, 3]
        options = {"clusters": unit}
    if design == "weights":
        weights = np.where(np.arange(n) % 3 == 0, 2.0, 1.0)
        options = {"weights": weights}
    if design == "a pool":
        more = make_table(4, 6).assign(e=np.arange(6) + 0.5)
        pool, options = len(more), {"pool": (more, (more["a"] > 0).to_numpy())}
    result = score_rules(labels, X, "ac", **options)
    if pool:
        X, labels = pd.concat([X, more]), np.concatenate([labels, options["pool"][1]])
        unit, weights = np.arange(len(X)), np.ones(len(X))
    weights = weights / weights[:n].mean()
    control, difference, se, worth, se_worth = compute_expected(result, X, labels, unit, weights, pool)
    assert result.control.estimate == pytest.approx(control, abs=1e-9)
    assert result.control.difference.value == pytest.approx(difference, abs=1e-9)
    units = pd.Series(weights[:n]).groupby(unit[:n]).sum()
    t = stats.t.ppf(0.975, units.sum() ** 2 / (units**2).sum() - 1)
    assert result.control.difference.low == pytest.approx(difference - t * se, abs=1e-6)
    assert result.control.difference.p_value == pytest.approx(
        2 * stats.t.sf(abs(difference) / se, units.sum() ** 2 / (units**2).sum() - 1), rel=1e-4
    )
    assert result.control.worth.value == pytest.approx(worth, abs=1e-9)
    assert result.control.worth.high == pytest.approx(worth + t * se_worth, abs=1e-6)


@few_draws
def test_within_blocks_control_and_worth_equal_those_of_a_loop_over_blocks():
    X = make_table(6, 180).assign(e=np.arange(180.0))
    block, labels = np.repeat(np.arange(45), 4), (X["a"] + X["c"] > 1).to_numpy()
    result = score_rules(labels, X, "a", blocks=block)
    by_block = []  # sums of the shares that agree, of the explanations and of each draw
    for values in (result.rows.explanations.values, *draw_rules(result, X)):
        by_block.append([])
        holds = find_scopes(values, X)
        for rows in np.split(np.arange(180), 45):
            shares = []
            for row in rows:
                others = [labels[other] for other in rows if other != row and holds[row, other]]
                shares.append(others.count(labels[row]) / max(1, len(others)))
            by_block[-1].append(sum(shares))
    x, control = np.array(by_block[0]), np.mean(by_block[1:], axis=0)
    without = np.array([(v.sum() - v) / 176 for v in (x, control)])
    worth = (x.sum() - control.sum()) / (180 - control.sum())
    assert result.control.estimate == pytest.approx(control.sum() / 180)
    assert result.control.worth.value == pytest.approx(worth)
    se = math.sqrt(44 / 45 * ((without[0] - without[1] - np.mean(without[0] - without[1])) ** 2).sum())
    t = stats.t.ppf(0.975, 44)
    assert result.control.difference.high == pytest.approx((x - control).sum() / 180 + t * se)


@few_draws
def test_the_control_of_each_label_is_the_mean_over_its_rows_in_a_double_loop():
    X = make_table(8).fillna(0).assign(e=np.arange(48.0))
    labels = np.where(X["a"] + X["c"] > 1, "high", np.where(X["b"] > 0, "middle", "low"))
    result = score_rules(labels, X, "ac")
    shares = np.zeros((DRAWS, len(X)))
    for d, values in enumerate(draw_rules(result, X)):
        for i, row in enumerate(find_scopes(values, X)):
            others = [j for j in np.flatnonzero(row) if j != i]
            shares[d, i] = np.mean([labels[j] == labels[i] for j in others]) if others else 0.0
    by_label = result.by_label()["sufficiency"]
    for label in ("high", "middle", "low"):
        assert by_label[label].control == pytest.approx(shares[:, labels == label].mean())


def test_control_rules_have_as_many_conditions_on_other_columns_that_hold_for_the_row():
    X = make_table(0)
    X["age"] = np.random.default_rng(0).normal(40, 10, len(X))
    originals = make_rules(X, ["a", "city"])
    drawn = draw_once(X, originals)
    for i, rule in enumerate(drawn):
        assert len(rule.predicates) == 2
        assert not {predicate.column for predicate in rule.predicates} & {"a", "city"}
        assert rule.covers(X.iloc[[i]])[0]
    ages = [predicate for rule in drawn for predicate in rule.predicates if predicate.column == "age"]
    covered = [predicate.mask(X).mean() for predicate in ages]
    replaced = {rule.predicates[k].mask(X).mean() for rule in originals for k in (0, 1)}
    assert all(min(abs(share - target) for target in replaced) <= 0.08 for share in covered)


def test_where_there_are_no_other_columns_the_rules_own_are_used():
    X = make_table(0)[["a", "b"]]
    drawn = draw_once(X, make_rules(X.fillna(0), "ab"))
    assert {predicate.column for rule in drawn for predicate in rule.predicates} == {"a", "b"}


def test_control_rules_about_words_name_as_many_other_words_of_the_same_text():
    texts = ["the film was good", "the plot was thin and long", "good", "a fine day"] * 12
    named = [["good", "film"], ["thin"], ["good"], []] * 12
    of_words = [faithkit.Rule([faithkit.Contains(word) for word in words]) for words in named]
    drawn = draw_once(texts, of_words)
    for text, words, rule in zip(texts, named, drawn, strict=True):
        tokens = {predicate.token for predicate in rule.predicates}
        assert len(tokens) == len(words)
        assert tokens <= set(text.split())
        if len(set(text.split()) - set(words)) >= len(words):
            assert not tokens & set(words)


@few_draws
def test_the_order_of_rows_changes_no_control_nor_do_their_labels():
    X = make_table(5, 60)
    labels = (X["a"] > 0).to_numpy()
    order = np.random.default_rng(0).permutation(len(X))
    phi = np.random.default_rng(1).normal(size=(len(X), 3))
    importances = faithkit.Explanations.vectors(phi, relation="same-top-features:k=1")
    for explanations, columns in ((explain_by_rules(X, "ac"), X.columns), (importances, list("acd"))):
        first, second = (
            faithkit.score(labels[rows], explanations.take(rows), X[columns].iloc[rows]).control
            for rows in (np.arange(len(X)), order)
        )
        assert second.estimate == pytest.approx(first.estimate, abs=1e-12)
        assert second.difference.low == pytest.approx(first.difference.low, abs=1e-12)


@one_test
@few_draws
@pytest.mark.parametrize("role", ["clusters", "blocks", "weights"])
def test_equal_rows_have_draws_of_their_own_in_any_order(role):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (90, 3)), columns=list("abc"))
    labels, units = (X["a"] > 0).to_numpy() ^ (rng.random(90) < 0.2), rng.integers(0, 50, 90)
    explanations = explain_by_rules(X, "a")
    first, second = (
        faithkit.score(
            labels[rows], explanations.take(rows), X.iloc[rows].reset_index(drop=True), **{role: units[rows]}
        )
        for rows in (np.arange(90), rng.permutation(90))
    )
    (drawn,) = first.evidence.population.draw_controls(faithkit.relation("in-scope"), 0, 1)
    is_equal = (X.iloc[0] == X).all(axis=1).to_numpy()
    assert {str(rule)[0] for rule in drawn.sample.explanations.values[is_equal]} == {"b", "c"}
    assert second.control.estimate == pytest.approx(first.control.estimate, abs=1e-12)
    assert second.control.difference.low == pytest.approx(first.control.difference.low, abs=1e-12)


@one_test
@pytest.mark.parametrize("outcome", ["labels", "numbers"])
def test_the_ceiling_without_each_unit_equals_that_of_a_loop(outcome):
    rng = np.random.default_rng(7)
    n = 40
    instance, labels, unit = rng.integers(0, 15, n), rng.integers(0, 3, n), rng.integers(0, 12, n)
    weight = rng.integers(1, 4, n).astype(float)
    numbers = np.array([0.0, 1.0, 2.5])
    agreement, apart = SAME_LABEL, lambda i, j: float(labels[i] != labels[j])
    if outcome == "numbers":
        agreement = Squares.of_numbers(numbers[:, None], np.bincount(labels))
        scale = np.mean([(numbers[i] - numbers[j]) ** 2 / 2 for i in labels for j in labels]) * n / (n - 1)
        apart = lambda i, j: (numbers[labels[i]] - numbers[labels[j]]) ** 2 / 2 / scale  # noqa: E731

    def ceiling(alive):
        disagreeing = compared = 0.0
        for code in set(instance[alive]):
            rows = [i for i in np.flatnonzero(alive) if instance[i] == code]
            pairs = [(i, j) for i in rows for j in rows if i != j]
            if pairs:
                whole = weight[rows].sum()
                mean = sum(weight[i] * weight[j] * apart(i, j) for i, j in pairs) / sum(
                    weight[i] * weight[j] for i, j in pairs
                )
                disagreeing, compared = disagreeing + whole * mean, compared + whole
        return 1.0 - disagreeing / compared

    measured = measure_ceiling(instance, labels, agreement, unit, weight)
    assert measured.value == pytest.approx(ceiling(np.ones(n, dtype=bool)), abs=1e-9)
    for u in set(unit.tolist()):
        assert measured.without[u] == pytest.approx(ceiling(unit != u), abs=1e-9)


@few_draws
def test_an_explanation_that_determines_the_prediction_is_worth_everything_and_its_control_nothing():
    X = make_table(2, 200)
    labels = X["a"] > 0
    truth = score_rules(labels, X, "a")
    assert truth.control.worth.value == pytest.approx(1.0)
    columns = np.random.default_rng(0).choice(list("acd"), len(X))
    any_column = [faithkit.Rule([faithkit.OneOf(c, [X.loc[i, c]])]) for i, c in enumerate(columns)]
    random = faithkit.score(
        labels, faithkit.Explanations.of(any_column, kind="rule"), X[list("acd")], relation="in-scope"
    )
    assert random.control.finding == "not above its control"
    assert random.control.worth.low < 0 < random.control.worth.high


@few_draws
def test_explanations_not_above_their_control_are_reported_with_the_most_of_the_gap_they_may_close():
    X = make_table(1, 60).assign(e=np.arange(60.0))
    labels = np.random.default_rng(51).random(60) < 0.5
    result = score_rules(labels, X, "a")
    assert result.control.finding == "not above its control"
    text = " ".join(result.to_text(verbose=True).split())
    (percent,) = re.findall(r"Explanations close at most (\d+) % of the gap between the control and", text)
    assert int(percent) / 100 == pytest.approx(result.control.worth.high, abs=0.01)


@few_draws
def test_a_model_that_contradicts_itself_has_a_lower_ceiling():
    X = pd.concat([make_table(2, 60).fillna(0)] * 3, ignore_index=True)
    labels = (X["a"] > 0) ^ (np.random.default_rng(0).random(len(X)) < 0.1)
    result = score_rules(labels, X, "a")
    rows = list(X.itertuples(index=False, name=None))
    agreeing = [
        labels[i] == labels[j] for i in range(180) for j in range(180) if i != j and rows[i] == rows[j]
    ]
    assert 0.75 < result.control.ceiling < 0.95
    assert result.control.ceiling == pytest.approx(np.mean(agreeing), abs=0.02)  # mean over pairs, not rows
    assert result.control.ceiling_rows == 180
    assert "No explanation can agree with more than the model: the model agrees with itself" in " ".join(
        str(result).split()
    )
    assert " of the gap between the control and the full input (the model agrees with itself" in " ".join(
        result.to_text(verbose=True).split()
    )


@few_draws
def test_the_same_row_of_two_blocks_is_no_instance_that_was_predicted_twice():
    X = pd.DataFrame({"a": [0, 0, 1, 1] * 40, "b": [0, 1, 0, 1] * 40, "c": [1] * 160})
    block = np.repeat(np.arange(40), 4)
    labels = (X["a"] + block) % 2  # each question has its own answer, which only a decides
    result = score_rules(labels, X, "a", blocks=block)
    assert (result.control.ceiling, result.control.ceiling_rows) == (1, 0)
    assert result.control.worth.value == pytest.approx(1)
    twice = pd.concat([X, X], ignore_index=True)
    answers = np.append(labels, np.where(np.arange(160) % 4 == 0, 1 - labels, labels))
    result = score_rules(answers, twice, "a", blocks=np.append(block, block))
    assert (result.control.ceiling, result.control.ceiling_rows) == (0.75, 320)


def test_why_there_is_no_control():
    X = make_table(0, 30)
    few = score_rules(X["a"] > 0, X, "a")
    assert few.control is None
    assert few.why_no_control == "a control is compared on 40 independent rows or more, and there are 30"
    assert "Sufficiency has no control: a control is compared on 40" in str(few)
    near = faithkit.score([0, 1] * 30, np.arange(60.0)[:, None], relation="near-explanation:tau=1.0")
    assert near.why_no_control == "the relation near-explanation:tau=1.0 offers none"
    assert faithkit.score([0, 1], ["a", "a"]).why_no_control == "sufficiency was not measured"


def test_a_large_sample_has_a_control_on_request_only(monkeypatch):
    X = np.arange(10_001.0)[:, None] % 7
    by_value = [faithkit.Rule([faithkit.OneOf(0, [value])]) for value in range(7)]
    explanations = faithkit.Explanations.of([by_value[int(value)] for value in X[:, 0]], kind="rule")
    result = faithkit.score(X[:, 0] > 3, explanations, X, relation="in-scope")
    assert result.why_no_control.startswith("10,001 rows are many: ask for it by control_draws=10")
    monkeypatch.setattr("faithkit.run.comparisons.controls.MAX_ROWS", 89)
    few_rows = X[:90, 0] > 3, explanations.take(slice(90)), X[:90]
    on_request = faithkit.score(*few_rows, relation="in-scope", control_draws=10)
    assert on_request.control.draws == 10
    none = faithkit.score(*few_rows, relation="in-scope", control_draws=0)
    assert none.why_no_control == "none was asked for (control_draws=0)"


@few_draws
def test_a_comparison_shows_the_control_of_each_system():
    X = make_table(2, 80).fillna(0)

    def name_a(X):
        return explain_by_rules(X, "a")

    compared = faithkit.compare(lambda X: X["a"] > 0, X, explainers=[name_a], progress=False)
    control = compared.results["name_a"].control.estimate
    assert f"{control:.3f}" in str(compared).split("sufficiency")[1]


def test_fewer_than_ten_draws_are_refused():
    with pytest.raises(
        faithkit.errors.InputError, match="3 draws of the control are too few: give at least 10"
    ):
        faithkit.score([0, 1], ["a", "b"], control_draws=3)


def test_a_control_of_another_form_is_the_relations_fault():
    class Shortened(SameExplanation):
        groups = False
        name = "shortened"

        def control(self, sample, explanations, seeds):
            return explanations.take(slice(3))

    result = faithkit.score([0, 1] * 30, ["a", "b"] * 30, X=np.arange(60.0)[:, None], relation=Shortened())
    with pytest.raises(
        faithkit.errors.ContractError, match=r"shortened.control returned .* expected 60 explanations"
    ):
        _ = result.control


def test_a_loaded_result_has_its_control(tmp_path):
    X = make_table(2, 80)
    result = score_rules(X["a"] > 0, X, "a")
    result.to_json(tmp_path / "result.json")
    assert faithkit.load(tmp_path / "result.json").control == result.control
    assert result.control.draws == 10
    assert result.judge(above_control=True)[0].is_kept


@few_draws
def test_a_gate_on_the_control_needs_one_and_fails_where_it_is_not_exceeded():
    X = make_table(2, 80)
    labels = X["a"] > 0
    useless = score_rules(labels, X, "d")
    (gate,) = useless.judge(above_control=True)
    assert gate.is_kept is False
    assert gate.words.startswith("sufficiency is below its control (the difference is between ")
    (gate,) = faithkit.score(labels, list(X["d"]), X).judge(above_control=True)
    assert gate.is_kept is None


@few_draws
def test_an_estimate_that_exceeds_the_control_by_less_than_its_error_is_not_above_it():
    X = make_table(2, 80).assign(e=np.arange(80.0))
    labels = (X["a"] > 0) ^ (np.random.default_rng(1).random(80) < 0.45)
    result = score_rules(labels, X, "a")
    assert result.control.difference.low < 0 < result.control.difference.value
    assert result.control.finding == "not above its control"
    assert result.judge(above_control=True)[0].is_kept is False


def test_a_control_that_takes_explanations_of_other_rows_is_compared_within_each_rows_own_block():
    class BelowLimit(faithkit.plugin.Relation):
        """The instance is at most the explanation; a control takes the explanation of another row."""

        name = "at-most"
        instance_only = True

        def key(self, explanations):
            return explanations.values

        def holds(self, sample, explanations):
            return sample.X[:, 0] <= explanations.values

        def control(self, sample, explanations, seeds):
            return explanations.take(np.roll(np.arange(len(explanations)), 2))

    rng = np.random.default_rng(4)
    X, block = rng.normal(size=(180, 1)), np.repeat(np.arange(45), 4)
    labels, limits = X[:, 0] > 0, X + rng.normal(size=X.shape)
    result = faithkit.score(labels, limits, X, relation=BelowLimit(), blocks=block)

    holds = (X[:, 0] <= np.roll(limits, 2, axis=0)) & (block[:, None] == block) & ~np.eye(180, dtype=bool)
    agree = (holds & (labels[:, None] == labels)).sum(axis=1) / np.maximum(holds.sum(axis=1), 1)
    assert result.control.estimate == pytest.approx(agree.mean(), abs=1e-12)


@few_draws
def test_names_that_no_other_row_has_do_not_make_random_reasons_look_good():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (400, 4)), columns=list("abcd")).assign(
        name=[f"p{i}" for i in range(400)]
    )
    labels, columns = (X["a"] > rng.integers(0, 2, 400)).to_numpy(), rng.choice(list("abcd"), 400)
    named = [faithkit.Rule([faithkit.OneOf(c, [X.loc[i, c]])]) for i, c in enumerate(columns)]
    result = faithkit.score(labels, faithkit.Explanations.of(named, kind="rule"), X, relation="in-scope")
    assert result.control.finding == "not above its control"
    drawn = draw_once(X, named)
    assert {predicate.column for rule in drawn for predicate in rule.predicates} == set("abcd")


def test_a_control_has_columns_that_cover_about_as_many_rows_where_there_are_some():
    n = 240
    rows = np.arange(n)
    X = pd.DataFrame({"half": rows % 2, "other half": rows // 2 % 2, "many": (rows // 6).astype(str)})
    drawn = draw_once(X, make_rules(X, ["half"]))
    assert {rule.predicates[0].column for rule in drawn} == {"other half"}


def test_a_rule_on_a_column_of_durations_has_a_control_on_the_others():
    X = pd.DataFrame({"a": [0, 1] * 30, "wait": pd.to_timedelta([1, 2, 3] * 20, "h")})
    result = score_rules(X["a"], X, ["wait"])
    assert result.control.estimate == pytest.approx(1)  # a decides


def allowed_misses(runs):
    """Return how often either end may miss: in 4 % of samples, and two standard errors of so many runs."""
    return 0.04 + 2 * math.sqrt(0.04 * 0.96 / runs)


@pytest.mark.simulation
@pytest.mark.parametrize("law", SIMULATION["LAWS"])
def test_random_explanations_are_seldom_found_above_or_below_their_control_and_true_ones_above(law):
    assert max(SIMULATION["compare"](law, 200, 300)) <= allowed_misses(200)
    assert SIMULATION["compare"](law, 20, 300, "true")[0] == 1


def test_the_table_of_simulations_has_every_law_and_none_that_misses():
    with (ROOT / "docs" / "control.csv").open() as file:
        table = list(csv.DictReader(file))
    assert {row["law"] for row in table} == set(SIMULATION["LAWS"])
    for row in table:
        shares = [float(row[f"random explanations {side}"].removesuffix(" %")) for side in ("above", "below")]
        assert max(shares) <= 100 * allowed_misses(500)


def test_an_instance_is_predicted_twice_only_if_two_of_its_rows_have_a_weight():
    instance, labels, unit = np.array([0, 0, 1]), np.array([0, 1, 1]), np.arange(3)
    ceiling = measure_ceiling(instance, labels, SAME_LABEL, unit, np.array([1.0, 0.0, 1.0]))
    assert (ceiling.value, ceiling.rows, ceiling.without.tolist()) == (1.0, 0, [1.0, 1.0, 1.0])
    ceiling = measure_ceiling(instance, labels, SAME_LABEL, unit, np.array([1.0, 1e-12, 1.0]))
    assert ceiling.value == 1.0


def test_columns_that_conditions_cannot_compare_have_no_control():
    X = pd.DataFrame({"wait": pd.to_timedelta(np.arange(60) % 5, unit="D")})
    rules = [faithkit.Rule([faithkit.OneOf("wait", [wait])]) for wait in X["wait"]]
    explanations = faithkit.Explanations.of(rules, kind="rule", relation="in-scope")
    result = faithkit.score(np.arange(60) % 2, explanations, X)
    assert result.control is None
    assert "no column has numbers, categories or dates" in str(result.to_dict())
