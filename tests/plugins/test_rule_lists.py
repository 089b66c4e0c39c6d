"""A list of rules is a text that names rules, and applies where these hold and those behind ~ do not."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from faithkit_rule_models.lists import Named
from faithkit_rule_models.reading import reader_of
from faithkit_rule_models.rules_hold import RulesHold
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import faithkit
from faithkit import Interval, OneOf, Rule

NEARLY = [Rule([Interval("age", low=limit)]) for limit in (40.0, 40.0000001)]
AWKWARD = [
    Rule([OneOf("job", ["cook; clerk", "smith"])]),
    Rule([OneOf("a", ["b"])]),
    Rule([OneOf("~(a", ["b)"])]),  # reads as the absence of the one before
    Rule(),
]


@pytest.mark.parametrize("rules", [NEARLY, AWKWARD, AWKWARD[::-1]], ids=["nearly", "awkward", "reversed"])
def test_every_choice_of_rules_has_a_text_of_its_own_which_is_read_as_it_was_written(rules):
    known = Named.of(rules)
    again = Named.read(known.shared)
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
    known = Named.of([Rule([Interval("a", low=0.0)]), Rule([Interval("a", high=0.5), OneOf("b", ["x"])])])
    lists = [([0], []), ([1], [0]), ([], [0, 1]), ([0, 1], []), ([], [])]
    texts = [*(known.text(*chosen) for chosen in lists), None]
    told = faithkit.Explanations.of(texts, "rule-list", shared=known.shared)
    sample = faithkit.Sample(X, faithkit.Explanations.of(range(70)))
    first, second = X["a"] > 0, (X["a"] <= 0.5) & (X["b"] == "x")
    expected = [first, second & ~first, ~first & ~second, first & second, first | True, first & False]
    np.testing.assert_array_equal(RulesHold().packed(sample, told), faithkit.pack_bits(np.array(expected)))


def refused(explanations):
    with pytest.raises(faithkit.InputError) as caught:
        faithkit.score(["yes", "no"], explanations, np.eye(2), relation=RulesHold())
    return str(caught.value)


def test_what_it_cannot_read_is_refused():
    assert refused(faithkit.Explanations.of(["age > 3", "always"], "rule-list")) == (
        "rules-hold: no rule is called 'age > 3': give the explanations as rule-model made them, with their "
        'shared["rules"].'
    )
    assert refused(faithkit.Explanations.vectors(np.eye(2))) == (
        "rules-hold reads lists of rules, and these explanations are of kind 'vector': name another relation, "
        "or the explainer rule-model."
    )


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
    with pytest.raises(faithkit.InputError, match=advice):
        reader_of(model)
