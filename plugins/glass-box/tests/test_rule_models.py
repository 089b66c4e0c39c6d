"""The rules of imodels' models, as explanations, are those that the library itself predicts by."""

from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from contract import keep
from faithkit_conformance import checks_for
from faithkit_glass_box.rule_lists import RulesHold
from faithkit_glass_box.rule_model import RuleModel
from glass_boxes import BITS, EXPLAINERS, LABELS, SCORE, TABLE, situation
from looping import one_test

import faithkit

pytestmark = pytest.mark.filterwarnings("ignore")
imodels = pytest.importorskip("imodels")

ALONE = {"max_rules": None, "include_linear": False, "random_state": 0}
LISTS = {
    "greedy": (imodels.GreedyRuleListClassifier, TABLE),
    "array": (imodels.GreedyRuleListClassifier, TABLE.to_numpy()),
    "one-r": (imodels.OneRClassifier, TABLE),
    "frugal": (partial(imodels.FastFrugalTreeClassifier, max_depth=5), TABLE),
    "bayesian": (partial(imodels.BayesianRuleListClassifier, max_iter=200, n_chains=1), BITS),
}
SUMS = {
    "skope": (partial(imodels.SkopeRulesClassifier, n_estimators=3, random_state=0), TABLE),
    "fp-skope": (partial(imodels.FPSkopeClassifier, random_state=0), BITS),
    "rule-fit": (partial(imodels.RuleFitClassifier, alpha=5.0, n_estimators=3, **ALONE), TABLE),
    "rule-fit-numbers": (partial(imodels.RuleFitRegressor, alpha=0.05, n_estimators=3, **ALONE), TABLE),
    "fp-lasso-numbers": (partial(imodels.FPLassoRegressor, alpha=0.05, **ALONE), BITS),
}


@cache
def fit(name):
    make, rows = (LISTS | SUMS)[name]
    with faithkit.plugin.seed_global_generators(0):  # one of them seeds NumPy's generator for everybody
        model = make().fit(rows, SCORE if "numbers" in name else LABELS)
    return model, add_edges(model, rows)


def add_edges(model, rows):
    """Add a row for each limit of the model that has it exactly: there ≤ and < part."""
    if isinstance(model, imodels.BayesianRuleListClassifier):
        limits = [(j, 0.7) for j in range(4)]  # neither 1, which it asks for, nor at most 0.5, as it writes
    elif hasattr(model, "rules_without_feature_names_"):
        rules = model.rules_without_feature_names_
        limits = [(int(term[2:]), float(at)) for rule in rules for (term, _), at in rule.agg_dict.items()]
    else:
        limits = [(rule["index_col"], rule["cutoff"]) for rule in model.rules_[:-1]]
    added = np.asarray(rows, dtype=np.float64)[: len(limits)].copy()
    for row, (column, limit) in zip(added, limits, strict=False):
        row[column] = limit
    everything = np.vstack([rows, added])
    return pd.DataFrame(everything, columns=rows.columns) if hasattr(rows, "columns") else everything


def explain(name, **params):
    model, rows = fit(name)
    return RuleModel(**params).fit(faithkit.Predictor(model), rows).explain(rows, seeds=None)


def list_conditions(model):
    """Say when each entry of a list applies, as its `predict_proba` asks; the last one always does."""
    if isinstance(model, imodels.BayesianRuleListClassifier):
        for items in model.final_itemsets[:-1]:
            yield lambda row, items=items: all(row[int(item[2:])] == 1 for item in items)
        return
    frugal = isinstance(model, imodels.FastFrugalTreeClassifier)
    for rule in model.rules_[:-1]:
        if frugal:
            yield lambda row, r=rule: (row[r["index_col"]] > r["cutoff"]) != r["flip"]
        else:
            yield lambda row, r=rule: (row[r["index_col"]] >= r["cutoff"]) != r["flip"]


@one_test
@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_told_up_to_the_rule_that_applies_with_a_tilde_before_all_earlier_ones(name):
    model, rows = fit(name)
    conditions, explanations = list(list_conditions(model)), explain(name)
    for row, text in zip(np.asarray(rows), explanations.values, strict=True):
        applies = [condition(row) for condition in conditions] + [True]
        names = [*explanations.shared["rules"], None]
        place = applies.index(True)
        expected = [names[place]] * (place < len(conditions)) + [f"~({name})" for name in names[:place]]
        assert text == "; ".join(expected)


@one_test
@pytest.mark.parametrize("name", LISTS)
def test_the_rules_of_a_list_determine_the_prediction(name):
    model, rows = fit(name)
    result = faithkit.evaluate(model, rows, RuleModel(), relation=RulesHold(), progress=False)
    for estimate in (result.consistency, result.sufficiency):
        assert estimate.value == pytest.approx(estimate.verified, abs=1e-12)
        assert estimate.verified > 0.9
    assert 2 < result.n_explanations <= len(list(list_conditions(model))) + 1


def find_firing_rules(explanations):
    """Return which rules each explanation names, in the order of their weights."""
    names = list(explanations.shared["rules"])
    named_rules = [text.split("; ") for text in explanations.values]
    assert all(len(set(parts) & set(names)) in (0, len(parts)) for parts in named_rules)
    return np.array([[name in parts for name in names] for parts in named_rules])


@one_test
@pytest.mark.parametrize("name", SUMS)
def test_the_weights_of_the_rules_that_fire_add_up_to_the_models_score(name):
    model, rows = fit(name)
    weights = np.array(sorted((r.args[0] for r in model.rules_), key=abs, reverse=True))
    total = find_firing_rules(explain(name)) @ weights
    if "numbers" in name:
        expected = model.predict(rows) - model.intercept
    elif "skope" in name:
        expected = model.predict_proba(rows)[:, 1] * weights.sum()
    else:  # its two scores are f and 1 − f
        expected = (np.log(np.divide(*model.predict_proba(rows).T[::-1])) + 1) / 2 - model.intercept
    np.testing.assert_allclose(total, expected, atol=1e-9)


@one_test
@pytest.mark.parametrize("name", [*LISTS, *SUMS])
def test_an_explanation_applies_to_the_row_that_it_explains(name):
    explanations, rows = explain(name), fit(name)[1]
    bits = RulesHold().packed(faithkit.plugin.Sample(rows, explanations), explanations)
    assert np.unpackbits(bits.view(np.uint8), axis=1)[:, : len(rows)].diagonal().all()


def test_of_a_sum_the_strongest_rules_can_be_told_alone():
    whole = explain("skope").values
    for top in (1, 2):
        assert explain("skope", top=top).values.tolist() == [
            text if text.startswith("~") else "; ".join(text.split("; ")[:top]) for text in whole
        ]
    with pytest.raises(
        faithkit.errors.ParameterError, match=r"top=2 chooses among rules that add up.*leave it out"
    ):
        explain("greedy", top=2)


def test_a_model_without_rules_yet_and_rows_of_other_columns_are_refused():
    model, rows = fit("greedy")
    with pytest.raises(faithkit.errors.InputError, match="the OneRClassifier has no rules: fit it first"):
        RuleModel().fit(faithkit.Predictor(imodels.OneRClassifier()), rows)
    explainer = RuleModel().fit(faithkit.Predictor(model), rows)
    with pytest.raises(
        faithkit.errors.InputError, match="X has the columns age, hours, and the background has age, "
    ):
        explainer.explain(rows[["age", "hours"]], None)


SITUATIONS = {name: situation(*fit(name)) for name in ("array", "bayesian", "rule-fit-numbers")}


def test_rule_models_keep_the_contract():
    keep(checks_for(("explainer", EXPLAINERS["rule-model"]), situations=SITUATIONS))
