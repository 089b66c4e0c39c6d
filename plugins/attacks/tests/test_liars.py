"""Every explainer that lies does what it says, and what is said to catch it does."""

import functools

import numpy as np
import pytest
from faithkit_attacks.attack_catalogue import ATTACKS, select_attacks
from faithkit_attacks.explainers.cherry_picker import CherryPicker, clarity
from faithkit_attacks.measuring import evaluate_side
from faithkit_attacks.scenarios import applicants_scenario
from looping import one_test

import faithkit


def lower(measure):
    """Whether the lie's interval lies below the honest twin's value."""
    return lambda lie, twin: getattr(lie, measure).high < getattr(twin, measure).estimate


def unchecked(measure):
    def is_so(lie, twin):
        return (getattr(lie, measure).checkability, getattr(twin, measure).checkability) == (
            "unverifiable",
            "verifiable",
        )

    return is_so


CAUGHT = [
    ("encoder", lower("sufficiency")),
    ("flatterer", unchecked("sufficiency")),
    ("flatterer", unchecked("consistency")),
    ("same-for-all", lower("sufficiency")),
    ("same-for-all", lower("consistency")),
]


@functools.cache
def sides(name, n, seed):
    (attack,) = select_attacks((name,))
    scenario = applicants_scenario(n, seed)
    return evaluate_side(attack.lie, attack, scenario, seed), evaluate_side(
        attack.twin, attack, scenario, seed
    )


@one_test
@pytest.mark.parametrize("name", dict(CAUGHT))
def test_what_is_said_to_catch_it_does(name):
    lie, twin = sides(name, 400, 0)
    assert all(catches(lie, twin) for of, catches in CAUGHT if of == name)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
@pytest.mark.parametrize("n", [400, 2000])
def test_it_does_at_every_seed(n, seed):
    scenario = applicants_scenario(n, seed)
    attacks = [attack for attack in ATTACKS if attack.name in dict(CAUGHT)]
    twin = evaluate_side(attacks[0].twin, attacks[0], scenario, seed)  # they all have the same
    for attack in attacks:
        lie = evaluate_side(attack.lie, attack, scenario, seed)
        assert all(catches(lie, twin) for name, catches in CAUGHT if name == attack.name), attack.name


@pytest.mark.slow
@pytest.mark.parametrize(("n", "seed"), [(n, seed) for n in (400, 2000) for seed in range(1, 11)])
def test_the_cherry_picker_is_caught_by_consistency(n, seed):
    lie, twin = sides("cherry-picker", n, seed)
    assert lie.consistency.high < twin.consistency.estimate


def test_the_encoder_fools_consistency_and_readers():
    lie, _ = sides("encoder", 400, 0)
    assert lie.consistency.value == 1.0
    assert lie.diagnose("reader").accuracy.value == 1.0
    columns = {p.column for rule in lie.rows.explanations.values for p in rule.predicates}
    assert len(columns) == 2
    assert not columns & {"arrears", "reminders"}  # what decides is never named


@one_test
@pytest.mark.parametrize("name", ["encoder", "out-of-reach", "flatterer"])
def test_columns_are_known_by_name_and_not_by_place(name):
    scenario = applicants_scenario(20)
    liar = (
        faithkit.plugin.registry()
        .create("explainer", name)
        .fit(faithkit.Predictor(scenario.model("biased")), scenario.background)
    )
    told, again = (liar.explain(X, seeds=None) for X in (scenario.X, scenario.X[scenario.X.columns[::-1]]))
    values = again.values[scenario.X.columns] if name == "out-of-reach" else again.values
    assert told.values.equals(values) if name == "out-of-reach" else (told.values == values).all()


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
    lie, twin = sides("parrot", 400, 0)
    assert lie.consistency.to_dict() == twin.consistency.to_dict()
    assert lie.sufficiency is None
    assert lie.verdict.name == "explanations name the prediction"
    assert "which may only repeat the prediction" in " ".join(lie.to_text(verbose=True).split())


def test_the_flatterers_rule_covers_its_row_and_no_other():
    lie, _ = sides("flatterer", 50, 0)
    X, rules = lie.rows.X, lie.rows.explanations.values
    assert (np.array([rule.covers(X) for rule in rules]) == np.eye(50, dtype=bool)).all()


def test_the_cherry_pickers_choice_looks_at_least_as_good_as_each():
    scenario = applicants_scenario(12)
    model = scenario.model("mixed")
    explainers = [
        faithkit.plugin.registry().create("explainer", name, params)
        for name, params in (("shap", {}), ("lime", {"samples": 100}))
    ]
    alone = [
        faithkit.evaluate(model, scenario.X, explainer, background=scenario.background).rows.explanations
        for explainer in explainers
    ]
    picked = faithkit.evaluate(model, scenario.X, CherryPicker(explainers), background=scenario.background)
    chosen_values = picked.rows.explanations.values
    best = np.max([clarity(explanations.values) for explanations in alone], axis=0)
    assert clarity(chosen_values) == pytest.approx(best, abs=1e-6)
    stacked = np.stack([explanations.values for explanations in alone])
    assert (np.isclose(chosen_values, stacked, atol=1e-6).all(axis=2).any(axis=0)).all()


def test_what_is_out_of_reach_is_true_and_changes_nothing_else():
    lie, _ = sides("out-of-reach", 100, 0)
    told, X = lie.rows.explanations.values, lie.rows.X
    assert (told["sex"] != X["sex"]).all()
    assert told.drop(columns="sex").equals(X.drop(columns="sex"))
    assert (
        applicants_scenario(1).model("biased").predict(told)
        != applicants_scenario(1).model("biased").predict(X)
    ).all()


def test_who_is_decided_by_something_else_has_no_such_counterfactual():
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
]


@one_test
@pytest.mark.parametrize(("name", "params", "told"), REFUSED)
def test_parameters_that_cannot_be_used_are_refused(name, params, told):
    with pytest.raises(faithkit.errors.ParameterError, match=told):
        faithkit.plugin.registry().create("explainer", name, params)


@one_test
@pytest.mark.parametrize(
    ("explainer", "told"),
    [
        ("out-of-reach:columns=['height']", "there is no column 'height'; the table has salutation"),
        ("out-of-reach:columns=[99]", "there is no column 99"),
        ("cherry-picker:explainers=['tree','lime']", "chooses among importances of the same columns"),
    ],
)
def test_what_does_not_fit_the_table_is_refused(explainer, told):
    scenario = applicants_scenario(5)
    with pytest.raises(faithkit.FaithkitError, match=told.replace("[", r"\[")):
        faithkit.evaluate(scenario.model("biased"), scenario.X, explainer, background=scenario.background)


def test_every_attack_has_another_twin_and_a_line():
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert all(attack.lie != attack.twin and attack.summary for attack in ATTACKS)
