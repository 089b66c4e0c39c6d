"""Rules in JSON of any kind: a rule that can be written again, or one line that says what is wrong."""

import json

from fuzz.corpus import LINES, mutated, read
from hypothesis import given
from hypothesis import strategies as st

from faithkit.explanations.rules import Rule

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["inf", "nan"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=8,
)
FIELDS = st.sampled_from(["op", "column", "low", "high", "missing", "values", "token", "tokenizer"])
OPS = st.sampled_from(["interval", "one-of", "contains"])
PREDICATES = st.builds(
    lambda op, fields: {"op": op, **fields}, OPS, st.dictionaries(FIELDS, VALUES, max_size=5)
)
DEEP = st.builds(
    lambda n, parts: parts[0] * n + parts[1] * n,
    st.integers(0, 5000),
    st.sampled_from(["[]", ('{"a":', "}")]),
)


@given(VALUES | st.lists(PREDICATES, max_size=4) | st.text() | st.binary() | DEEP | mutated(LINES["rules"]))
def test_a_value_is_a_rule_or_is_refused_in_one_line(value):
    rule = read(Rule.from_json, value)
    if rule is not None:
        again = Rule.from_json(json.dumps(rule.to_json(), allow_nan=False))
        assert (again, hash(again), str(again)) == (rule, hash(rule), str(rule))


@given(st.lists(PREDICATES, max_size=4))
def test_a_rule_means_the_same_as_a_value_and_as_a_text(value):
    assert read(Rule.from_json, value) == read(Rule.from_json, json.dumps(value))
