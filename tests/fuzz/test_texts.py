"""Component strings and rules in JSON of any kind: parsed, and written again as the same, or refused in one line."""

import json

from fuzz.corpus import LINES, draw_mutations, read_or_refuse
from hypothesis import given, settings
from hypothesis import strategies as st

from faithkit.errors import FaithkitError
from faithkit.explanations.rules import Rule
from faithkit.extension.spec import format_spec, parse_spec

HALF = settings(max_examples=settings().max_examples // 2)
WORDS = ["shap", "0x", "1e9", "none", "not ", "1+", "a."]
PARTS = st.sampled_from([*WORDS, *":,='\"[]{}()\\- \n\0"])
ANYTHING = st.text() | st.lists(PARTS | st.text(max_size=3), max_size=60).map("".join)
REPEATED = st.builds(lambda part, n: f"x:a={part * n}", PARTS, st.integers(0, 3000))


@given(ANYTHING | REPEATED | draw_mutations(LINES["specs"]))
def test_a_component_string_is_parsed_or_refused_in_one_line(text):
    result = read_or_refuse(parse_spec, text)
    if result is not None:
        name, params = result
        assert name == name.strip() != ""
        assert parse_spec(name) == (name, {})
        assert repr(params)


@given(ANYTHING | draw_mutations(LINES["specs"]))
def test_a_component_string_that_was_parsed_is_written_back_as_the_same(text):
    try:
        result = parse_spec(text)
        text_again = format_spec(*result)
    except FaithkitError:
        return
    assert parse_spec(text_again) == result


# --- rules ----------------------------------------------------------------------------------------------------

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


@given(
    VALUES
    | st.lists(PREDICATES, max_size=4)
    | st.text()
    | st.binary()
    | DEEP
    | draw_mutations(LINES["rules"])
)
def test_a_value_is_a_rule_or_is_refused_in_one_line(value):
    rule = read_or_refuse(Rule.from_json, value)
    if rule is not None:
        again = Rule.from_json(json.dumps(rule.to_json(), allow_nan=False))
        assert (again, hash(again), str(again)) == (rule, hash(rule), str(rule))


@HALF
@given(st.lists(PREDICATES, max_size=4))
def test_a_rule_means_the_same_as_a_value_and_as_a_text(value):
    assert read_or_refuse(Rule.from_json, value) == read_or_refuse(Rule.from_json, json.dumps(value))
