"""The rule sets of wittgenstein, as explanations, give the reasons that the library itself gives."""

from functools import cache

import pytest
from faithkit_glass_box.rule_lists import RulesHold
from faithkit_glass_box.rule_model import RuleModel
from glass_boxes import GAPS, LABELS, MIXED, TABLE
from looping import one_test

import faithkit

pytestmark = pytest.mark.filterwarnings("ignore")
wittgenstein = pytest.importorskip("wittgenstein")

CASES = {
    "ripper": ("RIPPER", MIXED, MIXED),
    "irep": ("IREP", MIXED, MIXED),
    "array": ("RIPPER", TABLE.to_numpy(), TABLE.to_numpy()),
    "gaps": ("RIPPER", MIXED, GAPS),
}


@cache
def fit(name):
    learner, known, rows = CASES[name]
    with faithkit.plugin.seed_global_generators(0):
        model = getattr(wittgenstein, learner)(max_rules=5, n_discretize_bins=6, random_state=0)
        model.fit(known, y=LABELS, pos_class="yes")
    return model, rows


@one_test
@pytest.mark.parametrize("name", CASES)
def test_a_positive_row_has_the_first_of_its_reasons_and_a_negative_one_that_none_holds(name):
    model, rows = fit(name)
    explanations = RuleModel().fit(faithkit.Predictor(model, background=rows), rows).explain(rows, seeds=None)
    names = list(explanations.shared["rules"])
    assert len(names) == len(model.ruleset_.rules)
    none = "; ".join(f"~({name})" for name in names)
    counts = {True: 0, False: 0}
    for text, label, reasons in zip(
        explanations.values, *model.predict(rows, give_reasons=True), strict=True
    ):
        assert text == (names[model.ruleset_.rules.index(reasons[0])] if label else none)
        counts[label] += 1
    assert min(counts.values()) > 10


@one_test
@pytest.mark.parametrize("name", CASES)
def test_the_rules_of_a_set_determine_the_prediction(name):
    model, rows = fit(name)
    result = faithkit.evaluate(model, rows, RuleModel(), relation=RulesHold(), progress=False)
    for estimate in (result.consistency, result.sufficiency):
        assert estimate.value == pytest.approx(estimate.verified, abs=1e-12)
        assert estimate.verified > 0.9


def test_a_set_without_rules_or_with_one_that_takes_all_says_always():
    model, rows = fit("irep")
    original = model.ruleset_
    try:
        for rules in ([], [wittgenstein.base.Rule()]):
            model.ruleset_ = wittgenstein.base.Ruleset(rules)
            with pytest.warns(RuntimeWarning, match="Ruleset is"):
                explanations = (
                    RuleModel().fit(faithkit.Predictor(model, background=rows), rows).explain(rows, None)
                )
            assert set(explanations.values) == {"always"}
    finally:
        model.ruleset_ = original
