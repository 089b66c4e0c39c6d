"""A list of rules is a text that names rules, and applies where these hold and those behind ~ do not."""

from itertools import product
from types import SimpleNamespace as Record

import numpy as np
import pandas as pd
import pytest
from faithkit_glass_box.model_rules import reader_of
from faithkit_glass_box.rule_lists import NamedRules, RulesHold
from faithkit_glass_box.rule_model import RuleModel
from looping import one_test
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import faithkit
from faithkit import Rule
from faithkit.plugin import Interval, OneOf

NEARLY = [Rule([Interval("age", low=limit)]) for limit in (40.0, 40.0000001)]
AWKWARD = [
    Rule([OneOf("job", ["cook; clerk", "smith"])]),
    Rule([OneOf("a", ["b"])]),
    Rule([OneOf("~(a", ["b)"])]),  # reads as the absence of the one before
    Rule(),
]


@one_test
@pytest.mark.parametrize("rules", [NEARLY, AWKWARD, AWKWARD[::-1]], ids=["nearly", "awkward", "reversed"])
def test_every_choice_of_rules_has_a_text_of_its_own_which_is_read_as_it_was_written(rules):
    known = NamedRules.of(rules)
    again = NamedRules.from_shared(known.shared)
    assert list(again.rules.values()) == rules
    texts = {}
    for signs in product([0, 1, -1], repeat=len(rules)):
        holding, failing = ([i for i, sign in enumerate(signs) if sign == want] for want in (1, -1))
        text = known.text(holding, failing)
        if text != "always":
            assert again.numbers(text) == (holding, failing)
            assert texts.setdefault(text, signs) == signs


def test_the_relation_counts_as_a_double_loop_does():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=70), "b": rng.choice(["x", "y", None], 70)})
    known = NamedRules.of(
        [Rule([Interval("a", low=0.0)]), Rule([Interval("a", high=0.5), OneOf("b", ["x"])])]
    )
    lists = [([0], []), ([1], [0]), ([], [0, 1]), ([0, 1], []), ([], [])]
    texts = [*(known.text(*chosen) for chosen in lists), None]
    explanations = faithkit.Explanations.of(texts, "rule-list", shared=known.shared)
    sample = faithkit.plugin.Sample(X, faithkit.Explanations.of(range(70)))
    first, second = X["a"] > 0, (X["a"] <= 0.5) & (X["b"] == "x")
    expected = [first, second & ~first, ~first & ~second, first & second, first | True, first & False]
    np.testing.assert_array_equal(
        RulesHold().packed(sample, explanations), faithkit.plugin.pack_bits(np.array(expected))
    )


# what the libraries keep of small models, by the names of their classes, and what is told of four rows by hand
ROWS = pd.DataFrame({"a": [1, 0, 0, 1], "b": [0, 1, 0, 1]})
CUTOFFS = [{"index_col": 0, "cutoff": 0.5, "flip": False}, {"index_col": 1, "cutoff": 0.5, "flip": True}, {}]
CUT = Record(feature="a", val="<0.5"), Record(feature="a", val=">0.5"), Record(feature="b", val=1)
WEIGHED = [
    Record(args=(0.4, 1.0), agg_dict={("X_0", ">"): "0.5"}),
    Record(args=(-0.9, 1.0), agg_dict={("X_1", "<="): "0.5"}),
]
MODELS = [
    (
        "imodels",
        "GreedyRuleListClassifier",
        {"rules_": CUTOFFS},
        ["a ≥ 0.5", "~(a ≥ 0.5); ~(b < 0.5)", "b < 0.5; ~(a ≥ 0.5)", "a ≥ 0.5"],
    ),
    (
        "imodels",
        "FastFrugalTreeClassifier",
        {"rules_": CUTOFFS},
        ["a > 0.5", "~(a > 0.5); ~(b ≤ 0.5)", "b ≤ 0.5; ~(a > 0.5)", "a > 0.5"],
    ),
    (
        "imodels",
        "BayesianRuleListClassifier",
        {"final_itemsets": [("X_0", "X_1"), ("X_0",), "null"]},
        ["a = 1; ~(a = 1 and b = 1)", *["~(a = 1 and b = 1); ~(a = 1)"] * 2, "a = 1 and b = 1"],
    ),
    (
        "imodels",
        "RuleFit",
        {"rules_without_feature_names_": WEIGHED},
        ["b ≤ 0.5; a > 0.5", "~(b ≤ 0.5); ~(a > 0.5)", "b ≤ 0.5", "a > 0.5"],
    ),
    (
        "wittgenstein",
        "RIPPER",
        {
            "bin_transformer_": Record(bins_={"a": ["<0.5", ">0.5"]}),
            "ruleset_": Record(rules=[Record(conds=[CUT[0], CUT[2]]), Record(conds=[CUT[1]])]),
        },
        ["a > 0.5", "a ≤ 0.5 and b = 1", "~(a ≤ 0.5 and b = 1); ~(a > 0.5)", "a > 0.5"],
    ),
]


@one_test
@pytest.mark.parametrize(
    ("library", "name", "attributes", "texts"), MODELS, ids=[name for _, name, *_ in MODELS]
)
def test_what_a_library_keeps_is_read_without_it(library, name, attributes, texts):
    model = type(
        name,
        (),
        {"__module__": f"{library}.somewhere", "predict": lambda self, X: [0] * len(X), **attributes},
    )()
    explainer = RuleModel().fit(faithkit.Predictor(model), ROWS)
    assert explainer.explain(ROWS, None).values.tolist() == texts
    assert len(explainer.explain(ROWS[:0], None)) == 0


def read_refusal(explanations):
    with pytest.raises(faithkit.errors.InputError) as caught:
        faithkit.score(["yes", "no"], explanations, np.eye(2), relation=RulesHold())
    return str(caught.value)


def test_what_it_cannot_read_is_refused():
    assert read_refusal(faithkit.Explanations.of(["age > 3", "always"], "rule-list")) == (
        "rules-hold: no rule is called 'age > 3': give the explanations as rule-model made them, with their "
        'shared["rules"].'
    )
    assert read_refusal(faithkit.Explanations.vectors(np.eye(2))) == (
        "rules-hold reads lists of rules, and these explanations are of kind 'vector': name another relation, "
        "or the explainer rule-model."
    )


@one_test
@pytest.mark.parametrize(
    ("model", "advice"),
    [
        (
            DecisionTreeClassifier(),
            "the model is a DecisionTreeClassifier: use tree, which fits rules to any",
        ),
        (
            make_pipeline(DecisionTreeClassifier()),
            "those of a Pipeline are about columns that it makes first",
        ),
    ],
)
def test_a_model_that_has_no_rules_of_its_own_is_refused(model, advice):
    with pytest.raises(faithkit.errors.InputError, match=advice):
        reader_of(model)
