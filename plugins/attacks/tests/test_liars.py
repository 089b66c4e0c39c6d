"""Every explainer that lies does what it says, and what is said to catch it does."""

import functools

import numpy as np
import pandas as pd
import pytest
from faithkit_attacks import make_applicants
from faithkit_attacks.attack_catalogue import ATTACKS, select_attacks
from faithkit_attacks.explainers.cherry_picker import CherryPicker
from faithkit_attacks.explainers.true_reason import TrueReason
from faithkit_attacks.measuring import evaluate_side
from faithkit_attacks.notes import TOPICS, make_notes
from faithkit_attacks.scenarios import applicants_scenario
from looping import one_test
from sklearn.linear_model import LogisticRegression

import faithkit


def is_lower(lie, twin):
    """Whether the lie's interval lies below the honest twin's value."""
    return lie.high < twin.estimate


def is_unchecked(lie, twin):
    return (lie.checkability, twin.checkability) == ("unverifiable", "verifiable")


CAUGHT = [
    ("encoder", "sufficiency", is_lower),
    ("flatterer", "sufficiency", is_unchecked),
    ("flatterer", "consistency", is_unchecked),
    ("same-for-all", "sufficiency", is_lower),
    ("same-for-all", "consistency", is_lower),
]


@functools.cache
def evaluate_once(side, sample, n, seed):
    """Evaluate a lie or a twin; several lies have the same twin."""
    attack = next(a for a in ATTACKS if side in (a.lie, a.twin) and a.sample == sample)
    return evaluate_side(side, attack, applicants_scenario(n, seed), seed)


def evaluate_lie(name, n=200, seed=0):
    (attack,) = select_attacks((name,))
    return evaluate_once(attack.lie, attack.sample, n, seed)


def evaluate_twin(name, n=200, seed=0):
    (attack,) = select_attacks((name,))
    return evaluate_once(attack.twin, attack.sample, n, seed)


@one_test
@pytest.mark.parametrize(("name", "measure", "catches"), CAUGHT)
def test_the_named_measures_catch_each_lie(name, measure, catches):
    assert catches(getattr(evaluate_lie(name), measure), getattr(evaluate_twin(name), measure))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
@pytest.mark.parametrize("n", [400, 2000])
def test_the_named_measures_catch_each_lie_at_every_seed(n, seed):
    for name, measure, catches in CAUGHT:
        lie, twin = (getattr(evaluate(name, n, seed), measure) for evaluate in (evaluate_lie, evaluate_twin))
        assert catches(lie, twin), (name, measure)


EXPOSED = [  # the verdict on each lie, with the objection or the warning that its twin has not
    ("scaffold-lime", "not faithful", None),
    ("encoder", "not faithful", None),
    ("same-for-all", "not faithful", None),
    ("flatterer", "nothing was tested", "scopes"),
    ("parrot", "explanations name the prediction", "labels"),
    ("label-codes", "explanations determine the prediction", None),
    ("cut-rules", "better than its control", "scope"),
    ("false-rules", "not faithful", "own row"),
    ("random-signs", "not faithful", "signs"),
    ("inverted-signs", "not faithful", "direction"),
    ("topic-word", "not shown to be better than its control", None),
]


def find_remarks(result):
    """Return the names of the objections that speak against explanations, and of the warnings."""
    against = [objection for objection in result.objections if objection.verdict is not None]
    return {remark.name for remark in (*against, *result.warnings)}


def check_exposed(name, verdict, remark, n, seed):
    lie, twin = evaluate_lie(name, n, seed), evaluate_twin(name, n, seed)
    assert (lie.verdict.name, twin.verdict.name) == (verdict, "faithful")
    assert find_remarks(twin) == set()
    assert find_remarks(lie) >= {remark} - {None}


@pytest.mark.parametrize(("name", "verdict", "remark"), EXPOSED)
def test_the_defaults_expose_each_lie_and_call_its_twin_faithful(name, verdict, remark):
    check_exposed(name, verdict, remark, n=400, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
@pytest.mark.parametrize(("name", "verdict", "remark"), EXPOSED)
def test_the_defaults_expose_each_lie_at_every_seed(name, verdict, remark, seed):
    check_exposed(name, verdict, remark, n=400, seed=seed)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 11))])
def test_rules_about_repeated_cases_are_confirmed_by_their_repeats_alone(seed):
    lie, twin = evaluate_lie("repeated-cases", 400, seed), evaluate_twin("repeated-cases", 400, seed)
    assert lie.verdict.name == "nothing was tested"
    assert lie.verdict.reason == "no two independent instances share an explanation"
    assert twin.verdict.name == "better than chance"  # a control needs forty people, and there are thirty
    assert find_remarks(lie) == find_remarks(twin) == {"repeats"}


def test_a_pool_shows_what_cut_rules_are_worth():
    (attack,) = select_attacks(("cut-rules",))
    scenario = applicants_scenario(200)
    X, _ = scenario.sample(attack.sample)
    result = faithkit.evaluate(
        scenario.model("honest"), X, "cut-rules", background=X, pool=make_applicants(4_000, seed=7)
    )
    assert result.verdict.name == "not faithful"


@pytest.mark.slow
@pytest.mark.parametrize(("n", "seed"), [(n, seed) for n in (400, 2000) for seed in range(1, 11)])
def test_the_cherry_picker_is_less_sufficient_than_its_twin_and_faithful_all_the_same(n, seed):
    lie, twin = evaluate_lie("cherry-picker", n, seed), evaluate_twin("cherry-picker", n, seed)
    assert lie.sufficiency.high < twin.sufficiency.estimate
    assert lie.verdict.name == twin.verdict.name == "faithful"


def test_the_encoder_fools_consistency_and_readers():
    lie = evaluate_lie("encoder")
    assert lie.consistency.value == 1.0
    assert lie.diagnose("reader").accuracy.value == 1.0
    columns = {p.column for rule in lie.rows.explanations.values for p in rule.predicates}
    assert len(columns) == 2
    assert not columns & {"arrears", "reminders"}  # what decides is never named


def test_the_encoder_names_dates():
    frame = pd.DataFrame({"signed": pd.date_range("2024-01-01", periods=40), "town": ["a", "b"] * 20})
    model = faithkit.Predictor(lambda X: X["town"].to_numpy())
    encoder = faithkit.plugin.registry().create("explainer", "encoder").fit(model, frame)
    rules = encoder.explain(frame, seeds=None).values
    assert "signed ≤ 2024-01-20" in set(map(str, rules))
    assert all(rule.covers(frame)[i] for i, rule in enumerate(rules))


@one_test
@pytest.mark.parametrize("name", ["encoder", "out-of-reach", "flatterer"])
def test_columns_are_known_by_name_and_not_by_place(name):
    scenario = applicants_scenario(20)
    liar = (
        faithkit.plugin.registry()
        .create("explainer", name)
        .fit(faithkit.Predictor(scenario.model("biased")), scenario.background)
    )
    straight, turned = (
        liar.explain(X, seeds=None).values for X in (scenario.X, scenario.X[scenario.X.columns[::-1]])
    )
    if name == "out-of-reach":
        assert straight.equals(turned[scenario.X.columns])
    else:
        assert (straight == turned).all()


def test_the_encoder_names_the_first_word_or_the_last():
    texts = ["bad film", "a good cast", "good"]
    model = faithkit.Predictor(lambda X: np.array(["yes" if "good" in text else "no" for text in X]))
    encoder = faithkit.plugin.registry().create("explainer", "encoder").fit(model, texts)
    explanations = encoder.explain([*texts, ""], seeds=None)
    assert [str(rule) for rule in explanations.values] == [
        "contains 'bad'",
        "contains 'good'",
        "contains 'good'",
        "None",
    ]


def test_the_parrot_is_caught_by_no_number_and_has_its_sentence():
    lie, twin = evaluate_lie("parrot"), evaluate_twin("parrot")
    assert lie.consistency.to_dict() == twin.consistency.to_dict()
    assert lie.sufficiency is None
    assert lie.verdict.name == "explanations name the prediction"
    assert "which may only repeat the prediction" in " ".join(lie.to_text(verbose=True).split())


def test_the_flatterers_rule_covers_its_row_and_no_other():
    rows = evaluate_lie("flatterer").rows
    X, rules = rows.X, rows.explanations.values
    assert (np.array([rule.covers(X) for rule in rules[:20]]) == np.eye(20, len(X), dtype=bool)).all()


def explain(name, n=200, sample="people", model="honest", **params):
    """Return rows, predictions and explanations of one of the lying explainers, without measuring anything."""
    scenario = applicants_scenario(n)
    X, background = scenario.sample(sample)
    predictor = faithkit.Predictor(scenario.model(model))
    seeds = np.random.default_rng(0).integers(0, 2**32, len(X), dtype=np.uint32)
    liar = faithkit.plugin.registry().create("explainer", name, params).fit(predictor, background)
    return X, predictor.predict(X), liar.explain(X, seeds).values


def test_each_code_stands_for_one_prediction_and_each_prediction_has_five():
    _, predictions, codes = explain("label-codes")
    pairs = set(zip(predictions, codes, strict=True))
    assert len(pairs) == len(set(codes)) == 10
    assert sorted(label for label, _ in pairs) == ["no"] * 5 + ["yes"] * 5
    assert not any(label in code for label, code in pairs)


def test_a_cut_rule_covers_its_row_and_one_other_and_says_nothing_about_new_rows():
    X, predictions, rules = explain("cut-rules", sample="own-rows")
    scopes = np.array([rule.covers(X) for rule in rules])
    assert scopes.diagonal().all()
    assert (scopes.sum(axis=1) == 2).all()
    assert ((predictions[:, None] == predictions) | ~scopes).all()
    fresh = make_applicants(20_000, seed=5)
    is_granted = ~fresh["arrears"].to_numpy()
    truths = [
        (is_granted[scope] == (label == "yes")).mean()
        for rule, label in zip(rules, predictions, strict=True)
        if (scope := rule.covers(fresh)).any()
    ]
    assert np.mean(truths) == pytest.approx(0.5, abs=0.05)  # a coin, as arrears depend on nothing else


def test_where_no_rule_can_be_cut_the_row_has_no_explanation():
    X = pd.DataFrame({"age": [30, 30, 40, 50]})
    model = faithkit.Predictor(lambda X: X["age"].to_numpy() < 45)
    cut = faithkit.plugin.registry().create("explainer", "cut-rules").fit(model, X)
    explanations = cut.explain(X, seeds=None)
    assert [str(rule) for rule in explanations.values] == ["age ≤ 40", "age ≤ 40", "None", "None"]
    assert explanations.remarked[3] == "no rule covers the row and one other row alone"


def test_two_false_rules_in_three_are_false_of_their_own_row_and_all_are_true_of_others():
    X, predictions, rules = explain("false-rules", n=2_000)
    n_true = 0
    for late, income, rule in zip(X["arrears"], X["income"], rules, strict=True):
        conditions = {condition.column: condition for condition in rule.predicates}
        assert set(conditions) == {"arrears", "income"}
        assert conditions["arrears"].values == (late,)
        claimed = conditions["income"]
        n_true += claimed.low < income <= claimed.high
    assert n_true / len(X) == pytest.approx(1 / 3, abs=0.04)
    scopes = {rule: rule.covers(X) for rule in set(rules)}
    assert len(scopes) == 6  # a third of the incomes each, for both predictions
    assert min(scope.sum() for scope in scopes.values()) > 250
    assert all(
        (predictions[scopes[rule]] == label).all() for rule, label in zip(rules, predictions, strict=True)
    )


class Weights:
    """An explainer whose importances are the numbers of the row."""

    def fit(self, predictor, background):
        return self

    def explain(self, X, seeds):
        return faithkit.Explanations.vectors(X)


def test_forged_signs_change_no_size():
    X, create = np.random.default_rng(0).normal(size=(500, 4)), faithkit.plugin.registry().create
    seeds = np.arange(500, dtype=np.uint32)
    inverted, forged = (
        create("explainer", name, {"explainer": Weights()}).fit(None, X).explain(X, seeds).values
        for name in ("inverted-signs", "random-signs")
    )
    np.testing.assert_array_equal(inverted, -X)
    np.testing.assert_array_equal(np.abs(forged), np.abs(X))
    kept = forged == X
    assert kept.mean() == pytest.approx(0.5, abs=0.05)
    assert np.abs(np.corrcoef(kept.T) - np.eye(4)).max() < 0.2  # one sign tells nothing about another


def test_the_topic_word_goes_with_the_answer_and_decides_nothing():
    texts, answers, rules = explain("topic-word", sample="notes", model="by-word")
    words = [rule.predicates[0].token for rule in rules]
    assert set(words) <= {word for topic in TOPICS.values() for word in topic}
    assert all(word in text.split() for word, text in zip(words, texts, strict=True))
    fresh = make_notes(20_000, seed=5)
    fresh_answers = np.array(["no" if "late" in text.split() else "yes" for text in fresh])
    truths = [
        (fresh_answers[rule.covers(fresh)] == answer).mean()
        for rule, answer in zip(rules, answers, strict=True)
    ]
    assert np.mean(truths) == pytest.approx(0.96**2 + 0.04**2, abs=0.02)  # the usual topic, with its answer


def test_a_rule_about_a_repeated_case_covers_its_repeats_alone():
    X, _, rules = explain("flatterer", sample="repeats", leave_out=["time"])
    people = [tuple(row) for row in X.drop(columns="time").itertuples(index=False)]
    assert X["time"].is_unique
    for person, rule in zip(people, rules, strict=True):
        assert rule.covers(X).tolist() == [other == person for other in people]
    assert min(people.count(person) for person in set(people)) > 5


@one_test
@pytest.mark.parametrize(
    ("model", "sample"), [("honest", "people"), ("biased", "people"), ("by-word", "notes")]
)
def test_the_honest_twin_gives_the_reason_of_each_row_and_of_all_with_the_same_prediction(model, sample):
    scenario = applicants_scenario(200)
    X, _ = scenario.sample(sample)
    decides = scenario.model(model)
    predictions, rules = decides.predict(X), TrueReason(decides).fit(None, X).explain(X, None).values
    assert (np.array([rule.covers(X) for rule in rules]) == (predictions[:, None] == predictions)).all()


def test_the_cherry_picker_chooses_the_explanation_whose_largest_weight_stands_out_most():
    X = np.random.default_rng(0).normal(size=(40, 4))
    predictor = faithkit.Predictor(LogisticRegression().fit(X, X[:, 0] + X[:, 1] * X[:, 2] > 0))
    gradient = faithkit.plugin.registry().create("explainer", "gradient")
    lime = faithkit.plugin.registry().create("explainer", "lime", {"samples": 100})
    rows, seeds = X[:12], np.arange(12)
    candidates = np.array([e.fit(predictor, X).explain(rows, seeds).values for e in (gradient, lime)])
    sizes = np.abs(candidates)
    chosen = CherryPicker(["gradient", lime]).fit(predictor, X).explain(rows, seeds).values
    best = (sizes.max(axis=2) / sizes.sum(axis=2)).argmax(axis=0)
    assert set(best) == {0, 1}
    np.testing.assert_allclose(chosen, candidates[best, np.arange(12)], atol=1e-9)


def test_the_mixed_model_decides_by_arrears_and_by_sex():
    scenario = applicants_scenario(200)
    labels, X = scenario.model("mixed").predict(scenario.X), scenario.X
    is_man, has_arrears = X["sex"] == "man", X["arrears"].astype(bool)
    assert np.mean(labels[is_man & ~has_arrears] == "yes") > 0.95
    assert np.mean(labels[~is_man & has_arrears] == "no") > 0.95


def test_a_counterfactual_out_of_reach_is_true_and_changes_no_other_column():
    rows = evaluate_lie("out-of-reach", n=40).rows
    counterfactuals, X = rows.explanations.values, rows.X
    assert (counterfactuals["sex"] != X["sex"]).all()
    assert counterfactuals.drop(columns="sex").equals(X.drop(columns="sex"))
    model = applicants_scenario(1).model("biased")
    assert (model.predict(counterfactuals) != model.predict(X)).all()


def test_a_counterfactual_out_of_reach_has_room_for_longer_words():
    background, X = np.array([["man"], ["woman"]]), np.array([["man"]])
    model = faithkit.Predictor(lambda X: X[:, 0] == "woman", background=background)
    explainer = faithkit.plugin.registry().create("explainer", "out-of-reach")
    assert explainer.fit(model, background).explain(X, None).values.tolist() == [["woman"]]


def test_rows_that_another_column_decides_have_no_counterfactual_out_of_reach():
    scenario = applicants_scenario(20)
    result = faithkit.evaluate(
        scenario.model("honest"), scenario.X, "out-of-reach:columns=['sex']", background=scenario.background
    )
    assert result.unexplained == 20
    assert set(result.rows.explanations.remarked) == {"no other sex changes the prediction"}


REFUSED = [
    ("cherry-picker", {"explainers": "shap"}, r"must be a list of at least two.*got 'shap'"),
    ("cherry-picker", {"explainers": ["shap"]}, r"must be a list of at least two"),
    ("out-of-reach", {"columns": "sex"}, r"must be a list of names or positions.*got 'sex'"),
    ("out-of-reach", {"columns": []}, r"must be a list of names or positions"),
    ("flatterer", {"leave_out": "time"}, r"must be a list of names or positions.*got 'time'"),
    ("label-codes", {"codes": 0}, r"label-codes: codes"),
    ("random-signs", {"signs": "none"}, r"must be 'random' or 'inverted', got 'none'"),
]


@one_test
@pytest.mark.parametrize(("name", "params", "message"), REFUSED)
def test_parameters_that_cannot_be_used_are_refused(name, params, message):
    with pytest.raises(faithkit.errors.ParameterError, match=message):
        faithkit.plugin.registry().create("explainer", name, params)


@one_test
@pytest.mark.parametrize(
    ("explainer", "message"),
    [
        ("out-of-reach:columns=['height']", "there is no column 'height'; the table has salutation"),
        ("out-of-reach:columns=[99]", "there is no column 99"),
        ("cherry-picker:explainers=['tree','lime']", "chooses among importances of the same columns"),
        ("inverted-signs:explainer=same-for-all", "same-for-all gave explanations of kind 'rule'"),
    ],
)
def test_what_does_not_fit_the_table_is_refused(explainer, message):
    scenario = applicants_scenario(5)
    with pytest.raises(faithkit.errors.FaithkitError, match=message.replace("[", r"\[")):
        faithkit.evaluate(scenario.model("biased"), scenario.X, explainer, background=scenario.background)


def test_every_attack_has_another_twin_and_a_line():
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert all(attack.lie != attack.twin and attack.summary for attack in ATTACKS)


def test_an_error_that_proposes_explainers_of_texts_proposes_no_liar():
    with pytest.raises(faithkit.errors.InputError, match="tree explains the rows of a table") as caught:
        faithkit.evaluate(lambda X: [0 for _ in X], ["good film"], explainer="tree")
    _, _, advice = str(caught.value).partition(": use ")
    assert "first-word" in advice
    liars = ("encoder", "flatterer", "parrot", "same-for-all", "label-codes", "topic-word")
    assert [liar for liar in liars if liar in advice] == []


def test_false_rules_need_a_second_column():
    X = np.arange(6.0).reshape(6, 1)
    model = faithkit.Predictor(lambda X: X[:, 0] > 2)
    with pytest.raises(faithkit.errors.InputError, match="needs two columns with values"):
        faithkit.plugin.registry().create("explainer", "false-rules").fit(model, X)


def test_a_prediction_that_the_background_does_not_have_has_no_code_and_no_false_rule():
    X, background = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([[1.0, 0.0], [2.0, 1.0]])
    model = faithkit.Predictor(lambda X: np.where(X[:, 0] > 0, "yes", "no"))
    for name in ("label-codes", "false-rules"):
        liar = faithkit.plugin.registry().create("explainer", name).fit(model, background)
        assert liar.explain(X, np.arange(2)).missing.tolist() == [False, True]
