"""The string form of a component: the contract's splitting rules, clear errors, a lossless way back, and no code run."""

import contextlib
import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from looping import one_test
from model_files.forging import CANARY, TOUCH

from faithkit.errors import FaithkitError, ParameterError
from faithkit.explanations.rules import Rule
from faithkit.extension.spec import format_spec, parse_spec


@one_test
@pytest.mark.parametrize(
    ("text", "name", "params"),
    [
        ("shap", "shap", {}),
        (" shap ", "shap", {}),
        ("my-plugin/shap:k=1", "my-plugin/shap", {"k": 1}),
        ("anchors:threshold=0.9", "anchors", {"threshold": 0.9}),
        ("shap:background=kmeans:10", "shap", {"background": "kmeans:10"}),
        ("x:a=true,b=FALSE,c=None", "x", {"a": True, "b": False, "c": None}),
        ("x:a-long-name=1,b_c=2", "x", {"a_long_name": 1, "b_c": 2}),
        ("x: a = 1 , b = two words ", "x", {"a": 1, "b": "two words"}),
        ("x:a=[1, 2],b=(3,),c={'k': [4, 5]}", "x", {"a": [1, 2], "b": (3,), "c": {"k": [4, 5]}}),
        ("x:a='1, 2',b=\"true\"", "x", {"a": "1, 2", "b": "true"}),
        ("x:a='it\\'s, well',b=2", "x", {"a": "it's, well", "b": 2}),
        ("x:a=b=c", "x", {"a": "b=c"}),
        ("x:a=", "x", {"a": ""}),
        ("x:a=-1e-3", "x", {"a": -0.001}),
        ("x:a=f(1, 2),b=3", "x", {"a": "f(1, 2)", "b": 3}),
        ("x:a='[',b=']'", "x", {"a": "[", "b": "]"}),
        ("x:a=inf", "x", {"a": "inf"}),
    ],
)
def test_a_string_is_read_by_the_rules_of_the_contract(text, name, params):
    spec = parse_spec(text)
    assert spec == (name, params)
    assert repr(spec) == repr((name, params))  # 1 is not True


@one_test
@pytest.mark.parametrize("text", ["", "  ", ":k=1", " :"])
def test_a_string_without_a_name_is_refused(text):
    with pytest.raises(ParameterError) as caught:
        parse_spec(text)
    assert str(caught.value) == (
        f"{text!r} names no component. Write a name, as in 'shap' or 'shap:param=value'."
    )


@one_test
@pytest.mark.parametrize(
    ("text", "piece", "proposal"),
    [
        ("anchors:0.9", "0.9", "anchors:param=0.9"),
        ("x:a=1,5", "5", "x:param=5"),
        ("x:", "", "x:param=value"),
        ("x:a=1,", "", "x:param=value"),
    ],
)
def test_a_piece_without_an_equals_sign_is_named(text, piece, proposal):
    with pytest.raises(ParameterError) as caught:
        parse_spec(text)
    assert str(caught.value) == (
        f"{piece!r} in {text!r} is not of the form param=value. Write for example {proposal!r}; "
        "`faithkit show` lists a component's parameters."
    )


def test_a_value_without_a_parameters_name_is_refused():
    with pytest.raises(
        ParameterError, match=r"^'=3' in 'x:=3' has no name before '='\. Write param=value\.$"
    ):
        parse_spec("x:=3")


@one_test
@pytest.mark.parametrize("text", ["x:k=1,k=2", "x:a-b=1,a_b=1"])
def test_a_parameter_given_twice_is_refused(text):
    with pytest.raises(ParameterError, match=r"is given twice in .* Keep one of the two"):
        parse_spec(text)


@one_test
@pytest.mark.parametrize(
    ("text", "partner"),
    [
        ("x:a=[1, 2", "]"),
        ("x:a=1]", "]"),
        ("x:a=(1]", "]"),
        ("x:a=([1)", ")"),
        ("x:a=it's", "'"),
        ('x:a="open', '"'),
        ("x:a='open\\'", "'"),
    ],
)
def test_an_unbalanced_quote_or_bracket_is_refused(text, partner):
    with pytest.raises(ParameterError) as caught:
        parse_spec(text)
    assert str(caught.value) == (
        f"a quote or bracket is not balanced in {text}: look for the partner of {partner}. "
        'Put a value that contains only one of them in quotes, as in note="it\'s".'
    )


def test_the_advice_on_quotes_works():
    assert parse_spec('x:note="it\'s"') == ("x", {"note": "it's"})


@pytest.mark.filterwarnings("error")
def test_a_backslash_in_a_value_does_not_warn():
    assert parse_spec(r"x:pattern='\d+'") == ("x", {"pattern": r"\d+"})


@one_test
@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({}, "x"),
        ({"background": "kmeans:10", "k": 3}, "x:background=kmeans:10,k=3"),
        ({"a": "a, b"}, "x:a='a, b'"),
        ({"a": "3"}, "x:a='3'"),
        ({"a": "true", "b": True}, "x:a='true',b=True"),
        ({"a": " padded"}, "x:a=' padded'"),
        ({"a": "two\nlines"}, r"x:a='two\nlines'"),
        ({"a": ["b", 1.5, None]}, "x:a=['b', 1.5, None]"),
    ],
)
def test_text_is_written_bare_where_it_reads_back_and_quoted_elsewhere(params, text):
    assert format_spec("x", params) == text


@one_test
@pytest.mark.parametrize("value", [math.nan, math.inf, [math.inf], object, frozenset({1}), ..., [object()]])
def test_a_value_without_a_text_form_is_refused_instead_of_written_wrongly(value):
    with pytest.raises(ParameterError, match=r"^the parameter a=.* cannot be written as text\. Use"):
        format_spec("x", {"a": value})


@one_test
@pytest.mark.parametrize("param", ["a-b", "a=b", "a,b", " a", ""])
def test_a_parameters_name_that_would_not_read_back_is_refused(param):
    with pytest.raises(ParameterError):
        format_spec("x", {param: 1})


@one_test
@pytest.mark.parametrize("name", ["a:b", " a", "a:b=1"])
def test_a_name_that_would_not_read_back_is_refused(name):
    with pytest.raises(ParameterError):
        format_spec(name, {})


names = st.from_regex(r"([a-z0-9][a-z0-9-]*/)?[a-z0-9][a-z0-9-]*", fullmatch=True)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.text(alphabet="ab01'\"\\,=:()[]{}# -\n")
    | st.binary()
)
literals = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(), inner, max_size=3)
        | st.sets(st.integers(), max_size=1)  # the order of more is nobody's
    ),
    max_leaves=6,
)
parameters = st.dictionaries(st.from_regex(r"[a-z_][a-z0-9_]*", fullmatch=True), literals, max_size=4)


@settings(max_examples=15)
@given(names, parameters)
@example("x", {"a": "1#b", "b": "1if 1else 2", "c": "\\", "d": "'", "e": "'a' 'b'", "f": set()})
def test_what_is_written_reads_back_the_same(name, params):
    spec = parse_spec(format_spec(name, params))
    assert spec == (name, params)
    assert [repr(value) for value in spec[1].values()] == [repr(value) for value in params.values()]


@given(st.text())
def test_any_text_is_read_or_refused_as_a_parameter_error(text):
    with contextlib.suppress(ParameterError):
        name, params = parse_spec(text)
        assert name in text
        assert all("-" not in param for param in params)


# --- texts that look like code: parsed as text, as data, or not at all -------------------------------------------

CODE = [
    f"__import__('os').system('{TOUCH}')",
    f"os.system('{TOUCH}')",
    f"open('{CANARY}', 'w').write('dead')",
    f"[x for x in [open('{CANARY}', 'w').write('dead')]]",
    f"(lambda: open('{CANARY}', 'w').write('dead'))()",
    f"f\"{{open('{CANARY}', 'w').write('dead')}}\"",
    f"{{**{{open('{CANARY}', 'w'): 1}}}}",
    "().__class__.__base__.__subclasses__()",
    "10**10**10",
    "'a' * 10**12",
    "1 if __import__('os').abort() else 2",
    "{x: 1 for x in open('" + CANARY + "', 'w')}",
    "$(echo dead)",
    f"`{TOUCH}`",
]


@pytest.fixture
def canary(tmp_path, monkeypatch):
    """Be in a folder with a file that code in a text would change."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / CANARY).write_text("alive")
    yield
    assert (tmp_path / CANARY).read_text() == "alive"


@one_test
@pytest.mark.usefixtures("canary")
@pytest.mark.parametrize("code", CODE)
def test_a_parameter_that_is_code_is_text(code):
    assert parse_spec(f"shap:a={code}") == ("shap", {"a": code})


@one_test
@pytest.mark.usefixtures("canary")
@pytest.mark.parametrize("code", CODE)
def test_a_name_that_is_code_is_a_name(code):
    name, *_ = parse_spec(code.replace(":", ";"))
    assert name == code.replace(":", ";")


@one_test
@pytest.mark.usefixtures("canary")
@pytest.mark.parametrize("code", CODE)
def test_a_rule_that_is_code_is_no_rule(code):
    with pytest.raises(FaithkitError, match="in JSON form"):
        Rule.from_json(code)
    for field in ("op", "low", "values", "tokenizer"):
        with pytest.raises(FaithkitError):
            Rule.from_json([{"op": "interval", "column": "a", field: code}])
    assert str(Rule.from_json([{"op": "interval", "column": code, "high": 1}])) == f"{code} ≤ 1"
