"""Anchors as alibi returns them are rules. alibi does not install beside NumPy 2: its objects are recorded."""

import numpy as np
import pandas as pd
import pytest
from looping import one_test

import faithkit
from faithkit import Rule
from faithkit.plugin import Contains, Interval, OneOf


class Explanation:
    """Looks like alibi's: what is in `data` can be read as attributes, too."""

    def __init__(self, meta, data):
        self.meta, self.data = meta, data
        for name, value in data.items():
            setattr(self, name, value)


Explanation.__module__ = "alibi.api.interfaces"

X = pd.DataFrame(
    {
        "Age": [31.0, 40.0, 36.5, 29.0],
        "Marital Status": ["Never-Married", "Married", "Never-Married", "Never-Married"],
        "Hours per week": [40.0, 20.0, 60.0, 40.0],
    }
)
CODED = X.assign(**{"Marital Status": [1.0, 0.0, 1.0, 1.0]})


def record_anchor(anchor, feature, row=0, precision=1.0, name="AnchorTabular", instance=True, **raw):
    """Write what alibi 0.9 gives for one row."""
    raw |= {"feature": feature, "names": anchor, "prediction": np.array([0])}
    if instance:
        raw["instance"] = CODED.iloc[row].to_numpy()
    data = {"anchor": anchor, "precision": precision, "coverage": 0.3, "raw": raw}
    return Explanation({"name": name, "type": ["blackbox"], "params": {"threshold": 0.95}}, data)


SINGLE = Rule([OneOf("Marital Status", ["Never-Married"])])
# each: the conditions, the numbers of their columns, the rule on the table
CASES = [
    (["Age > 37.00"], [0], Rule([Interval("Age", low=37)])),
    (["Age <= 28.50"], [0], Rule([Interval("Age", high=28.5)])),
    (["28.00 < Age <= 37.00"], [0, 0], Rule([Interval("Age", 28, 37)])),
    (["-1.50 < Age <= 0.00"], [0], Rule([Interval("Age", -1.5, 0)])),
    (["Marital Status = Never-Married"], [1], SINGLE),
    (["Marital Status = a = b"], [1], Rule([OneOf("Marital Status", ["a = b"])])),
    (
        ["Hours per week > 40.00", "Marital Status = Never-Married", "Age <= 37.00"],
        [2, 1, 0],
        Rule([*SINGLE.predicates, Interval("Age", high=37), Interval("Hours per week", low=40)]),
    ),
    ([], [], Rule()),
]


@one_test
@pytest.mark.parametrize(("anchor", "feature", "rule"), CASES)
def test_conditions_become_a_rule(anchor, feature, rule):
    anchors = [record_anchor(anchor, feature)]
    for known in ({}, {"X": X[:1]}):
        explanations = faithkit.plugin.adapt(anchors, **known)
        assert explanations.values.tolist() == [rule]
        assert (explanations.kind, explanations.relation) == ("rule", "in-scope")


@one_test
@pytest.mark.parametrize(
    ("anchor", "feature", "rule"), [case for case in CASES if "a = b" not in str(case[0])]
)
def test_in_an_array_columns_and_categories_are_numbers(anchor, feature, rule):
    place = {name: number for number, name in enumerate(X.columns)}
    result = faithkit.plugin.adapt([record_anchor(anchor, feature)], X=CODED[:1].to_numpy()).values[0]
    expected = [
        OneOf(place[predicate.column], [1])
        if isinstance(predicate, OneOf)
        else Interval(place[predicate.column], predicate.low, predicate.high)
        for predicate in rule.predicates
    ]
    assert result == Rule(expected)


def test_a_category_is_named_as_the_table_names_it():
    anchors = [record_anchor(["Marital Status = Never-Married"], [1], row) for row in (0, 2)]
    for table, value in ((X, "Never-Married"), (CODED, 1), (CODED.astype({"Marital Status": int}), 1)):
        explanations = faithkit.plugin.adapt(anchors, X=table.iloc[[0, 2]])
        assert explanations.values.tolist() == [Rule([OneOf("Marital Status", [value])])] * 2


def test_a_category_that_looks_like_a_limit_has_no_name_and_is_found_by_its_number():
    assert faithkit.plugin.adapt([record_anchor([">50K"], [1])], X=X[:1]).values[0] == Rule(
        [OneOf("Marital Status", [">50K"])]
    )


ANCHORS = [
    record_anchor(["28.00 < Age <= 37.00"], [0], 0),
    record_anchor(["Age > 37.00"], [0], 1),
    record_anchor(["Hours per week > 40.00"], [2], 2),
    record_anchor(["28.00 < Age <= 37.00"], [0], 3),
]
RULES = [
    Rule([Interval("Age", 28, 37)]),
    Rule([Interval("Age", low=37)]),
    Rule([Interval("Hours per week", low=40)]),
]


@one_test
@pytest.mark.parametrize("table", [X, CODED], ids=["names", "codes"])
def test_the_numbers_are_those_of_the_rules_to_the_bit(table):
    labels = ["no", "yes", "no", "no"]
    rules = faithkit.Explanations.of([*RULES, RULES[0]], kind="rule", relation="in-scope")
    expected, result = (faithkit.score(labels, explanations, table) for explanations in (rules, ANCHORS))
    assert (result.consistency, result.sufficiency) == (expected.consistency, expected.sufficiency)
    assert result.sufficiency.value > 0


def test_an_explainer_may_return_them_row_by_row():
    def explain(rows):
        return [record_anchor(["Age <= 37.00"] if age <= 37 else ["Age > 37.00"], [0]) for age in rows["Age"]]

    result = faithkit.evaluate(lambda rows: rows["Age"] > 37, X, explain, progress=False)
    assert result.sufficiency.verified == 0.75  # the row above 37 has no other


def test_an_anchor_below_the_threshold_says_so():
    explanations = faithkit.plugin.adapt(
        [record_anchor(["Age > 37.00"], [0], precision=p) for p in (0.9, 0.95, np.array([0.5]))]
    )
    assert explanations.remarked.tolist() == ["below the threshold", None, "below the threshold"]
    assert not explanations.missing.any()


def test_words_of_a_text_become_a_rule_on_texts():
    anchor = record_anchor(["Good", "!"], [0, 2], name="AnchorText", positions=[0, 2])
    rule = faithkit.plugin.adapt([anchor], X=["Good film !"]).values[0]
    assert rule == Rule([Contains("good", "word"), Contains("!")])
    assert rule.covers(["Good film !", "a good, long one", "good !"]).tolist() == [True, False, True]


@one_test
@pytest.mark.parametrize(
    ("anchor", "table", "message"),
    [
        (
            record_anchor(["Wage > 3.00"], [9]),
            X[:1],
            "X has no column for the condition 'Wage > 3.00': give X with the",
        ),
        (
            record_anchor(["Wage > 3.00"], [9]),
            CODED[:1].to_numpy(),
            "X has no column for the condition 'Wage > 3.00'",
        ),
        (
            record_anchor(["Age > 3.00"], []),
            CODED[:1].to_numpy(),
            "X has no column for the condition 'Age > 3.00'",
        ),
        (
            record_anchor(["Marital Status = Never-Married"], [1], instance=False),
            CODED[:1],
            "the category 'Never-Married' is a number in column 'Marital Status' of X, and the explanation does not",
        ),
        (
            record_anchor([], [], name="AnchorImage"),
            None,
            "an explanation by alibi's AnchorImage, which has no conditions",
        ),
        (
            Explanation({"name": "KernelShap"}, {}),
            None,
            "by alibi's KernelShap, which has no conditions: give anchors",
        ),
    ],
)
def test_what_cannot_be_understood_is_refused_in_one_line(anchor, table, message):
    with pytest.raises(faithkit.errors.InputError, match=message) as error:
        faithkit.plugin.adapt([anchor], X=table)
    assert "\n" not in str(error.value)


def test_other_things_in_the_list_are_refused():
    with pytest.raises(faithkit.errors.InputError, match="row 4 of the list is a Rule among alibi"):
        faithkit.plugin.adapt([*ANCHORS, RULES[0]])
    with pytest.raises(
        faithkit.errors.InputError, match="4 explanations for 3 rows of X: give one of each per row"
    ):
        faithkit.score(["a", "b", "c"], ANCHORS, X[:3])
