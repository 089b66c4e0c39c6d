"""Rules in the words of people and libraries are parsed as what they say, or refused, and never guessed."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from faithkit_logged_reasons import parse_rule
from faithkit_logged_reasons.vocabulary import Vocabulary
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import one_test

import faithkit
from faithkit import Rule
from faithkit.errors import InputError
from faithkit.plugin import Contains, Interval, NoneOf, OneOf

X = pd.DataFrame(
    {
        "age": [20, 37, 38, 48, 60, 31],
        "sex": ["Male", "Female", "Male", "Male", None, "Female"],
        "petal width (cm)": [0.1, 0.8, 0.9, np.nan, 3.0, 4.2],
        "Marital Status": ["Never-Married", "Divorced", "and", "a and b", "a, b", "b"],
        "age group": ["=3", ">50K", "a = b", "'s-Hertogenbosch", " lead", "x"],
        "smoker": [True, False, True, False, True, False],
        "zip": pd.Categorical(["01", "1", "01", "1", "02", "3"]),
        "code": pd.Categorical([1, 2, 1, 2, 3, 3]),
    }
)
KNOWN = Vocabulary.of(X)
AGE, SEX, WIDTH = X["age"], X["sex"], X["petal width (cm)"]
STATUS, GROUP, SMOKER, ZIP, CODE = (
    X[name] for name in ("Marital Status", "age group", "smoker", "zip", "code")
)


@one_test
@pytest.mark.parametrize("tokenizer", ["whitespace", "word"])
@pytest.mark.parametrize("word", ["zebra", "it's", 'a"b', "and", "a&&b", "∧", "\\"])
def test_rules_about_words_are_read_as_they_are_printed(tokenizer, word):
    rule = Rule([Contains(word, tokenizer), Contains("the", "word"), Contains("the")])
    assert parse_rule(str(rule), ["some text"]) == rule


READ = {
    "age ≤ 37 and sex = Male": (AGE <= 37) & (SEX == "Male"),
    "age <= 37 AND sex == Male": (AGE <= 37) & (SEX == "Male"),
    "sex=Male∧age<=37.0": (AGE <= 37) & (SEX == "Male"),
    "IF age > 37 AND sex = Male THEN approve": (AGE > 37) & (SEX == "Male"),
    "if age > 37 then b and c": AGE > 37,
    "IF age > 37": AGE > 37,
    "37.00 < age <= 48.00 AND sex = Male": AGE.between(38, 48) & (SEX == "Male"),
    '["37.00 < age <= 48.00", "sex = Male"]': AGE.between(38, 48) & (SEX == "Male"),
    "48 >= age > 37": AGE.between(38, 48),
    "37 ≤ age < 48": AGE.between(37, 47),
    "37 < age": AGE > 37,
    "age >= 37 & age < 60": AGE.between(37, 59),
    "age = 37": AGE == 37,
    "age ≠ 37": AGE != 37,
    "age in {37, 60.0}": AGE.isin([37, 60]),
    "age ≥ −3": AGE > 0,
    "age > 1e1": AGE > 10,
    "petal width (cm) <= 0.80": WIDTH <= 0.8,
    "petal width (cm) ≤ 0.8 (or missing)": (WIDTH <= 0.8) | WIDTH.isna(),
    "petal width (cm) is missing": WIDTH.isna(),
    "sex ≠ Male": SEX == "Female",
    "sex not in {Male} (or missing)": SEX != "Male",
    "sex = 'Male'": SEX == "Male",
    "sex = Other and age > 3": AGE < 0,
    "sex = 'Trinidad and Tobago' and age > 3": AGE < 0,
    "Marital Status = Never-Married": STATUS == "Never-Married",
    "Marital Status = and and age > 20": (STATUS == "and") & (AGE > 20),
    "Marital Status = a and b and age > 20": (STATUS == "a and b") & (AGE > 20),
    "Marital Status in {a, b, Divorced}": STATUS.isin(["a, b", "Divorced"]),  # 'a, b' is a word, and 'a' is none
    "Marital Status in {'a, b', Divorced}": STATUS.isin(["a, b", "Divorced"]),
    "age group = x": GROUP == "x",
    "age group = =3": GROUP == "=3",
    "age group=>50K": GROUP == ">50K",
    "age group = a = b": GROUP == "a = b",
    "age group = 's-Hertogenbosch": GROUP == "'s-Hertogenbosch",
    "age group = lead": GROUP == " lead",
    "smoker = True and age>20": SMOKER & (AGE > 20),
    "smoker <= 0.00": ~SMOKER,
    "zip = 01": ZIP == "01",
    "zip = 1": ZIP == "1",
    "code = 1": CODE == 1,
    "code > 1.5": CODE.astype(int) > 1.5,
    "always": AGE > 0,
}  # fmt: skip


@one_test
@pytest.mark.parametrize(("text", "covered"), READ.items())
def test_a_text_is_read_as_what_it_says(text, covered):
    rule = parse_rule(text, KNOWN)
    assert rule.covers(X).tolist() == covered.fillna(False).tolist()
    assert parse_rule(str(rule), KNOWN) == rule
    assert Rule.from_json(rule.to_json()) == rule


REFUSED = {
    "job = clerk": "'job = clerk' names no column",
    "age > 3 and job = clerk": "'job = clerk' names no column in 'age > 3 and job = clerk'",
    "IF age > 3 AND wage > 4 THEN yes": "'wage > 4' names no column",
    "ages > 3": "'ages > 3' is no condition",
    "sex > 3": "'sex > 3' is no condition that its column could fulfil",
    "age = old": "is no condition",
    "age ≤ 37 years": "is no condition",
    "age > nan": "is no condition",
    "age > 1_000": "is no condition",
    "age >": "is no condition",
    "3 < age > 4": "is no condition",
    "sex = 'Male": "is no condition",
    "sex =": "is no condition",
    "age > 3 and": "is no condition",
    "age > 3 or sex = Male": "is no condition",
    "sex = Male and job = clerk": "'job = clerk' names no column",
    "sex = Male or age > 3": "is no condition",
    "sex = 'a' and job = 'b'": "names no column",
    "sex = Male and not smoker": "'not smoker' names no column",
    "sex = Trinidad and Tobago": "'Tobago' names no column",
    "age group in {x, a and z}": "is no condition",
    "too young": "names no column",
    "": "names no column",
    '["age > 3", 4]': "is no list of conditions",
    '["age > 3"': "is no list of conditions",
    "age > 3" * 2000: "characters is no rule",
    " and ".join(["age > 3"] * 200): "is no condition|in 'age",
}


@one_test
@pytest.mark.parametrize(("text", "words"), REFUSED.items())
def test_what_is_no_rule_about_the_columns_is_refused(text, words):
    with pytest.raises(InputError, match=words) as error:
        parse_rule(text, KNOWN)
    assert len(str(error.value)) < 400


AMBIGUOUS = {
    "a known word could be a second condition": (
        "c = x and d = y",
        {"c": ["x", "x and d = y"], "d": ["y", "z"]},
    ),
    "a column's name could be a word": ("c = d = y", {"c": ["d = y"], "c = d": ["y"]}),
    "two words differ by spaces": ("c = x", {"c": ["x", " x"]}),
    "two values are written alike": ("c = 1", {"c": [1, "1"]}),
    "a comma could be in a word": ("c in {a, b}", {"c": ["a", "b", "a, b"]}),
    "a number could be a column": ("0 > 5", {"0": [1.0], "5": [2.0]}),
}


@one_test
@pytest.mark.parametrize(("text", "columns"), AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_what_can_be_read_in_two_ways_is_refused(text, columns):
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    with pytest.raises(InputError, match="can be read in more than one way"):
        parse_rule(text, frame)


def test_quotes_tell_apart_what_would_be_read_in_two_ways():
    frame = pd.DataFrame({"c": ["x", "x and d = y"], "d": ["y", "z"]})
    assert parse_rule("c = 'x and d = y'", frame) == Rule([OneOf("c", ["x and d = y"])])
    assert parse_rule("c = 'x' and d = y", frame) == Rule([OneOf("c", ["x"]), OneOf("d", ["y"])])


def test_cells_that_are_no_words_do_not_matter():
    frame = pd.DataFrame(
        {"c": [["a"], "b"], "d": pd.to_datetime(["2026-01-01", "2026-01-02"]), "e": [None, None]}
    )
    assert parse_rule("c = b", frame) == Rule([OneOf("c", ["b"])])
    with pytest.raises(InputError, match="no condition that its column could fulfil"):
        parse_rule("d > 2026", frame)  # no date


@one_test
@pytest.mark.parametrize("name", ["x1", "1"])
def test_the_columns_of_an_array_have_numbers(name):
    array = np.array([[0.0, 1.0], [2.0, 3.0]])
    assert parse_rule(f"{name} > 2.5", array).covers(array).tolist() == [False, True]


def test_rules_about_words_are_read_where_rows_are_texts():
    rule = Rule([Contains("fine"), Contains("don't")])
    assert parse_rule(str(rule), ["a fine film"]) == rule
    with pytest.raises(InputError, match="names no column"):
        parse_rule("age > 3", ["a fine film"])


def test_rules_are_read_with_the_words_of_a_table():
    assert parse_rule("sex = Male", X) == parse_rule("sex = Male", KNOWN) == Rule([OneOf("sex", ["Male"])])


def test_a_column_that_takes_some_values_and_not_others_takes_what_is_left():
    predicates = [OneOf("c", ["a", "b"]), NoneOf("c", ["b", "d"])]
    assert Rule(predicates) == Rule([OneOf("c", ["a"])])
    assert Rule([NoneOf("c", [], missing=True)]) == Rule()
    with pytest.raises(InputError, match="a missing value"):
        NoneOf("c", [None])


# --- any rule, any text -------------------------------------------------------------------------------

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.builds(lambda n, e: float(f"{n}e{e}"), st.integers(-999_999, 999_999), st.integers(-9, 9)),
    st.integers(-1000, 1000).map(lambda n: float(np.nextafter(n, -np.inf))),  # what "x < n" is
)
WORDS = {
    name: sorted(X[name].dropna().unique(), key=str) for name in ("sex", "zip", "age group", "Marital Status")
}


def draw_intervals(name):
    ends = st.lists(NUMBERS, min_size=2, max_size=2, unique=True).map(sorted)
    below, above = ends.map(lambda two: {"high": two[0]}), ends.map(lambda two: {"low": two[0]})
    both = ends.map(lambda two: {"low": two[0], "high": two[1]})
    missing = st.booleans()
    return st.builds(
        lambda ends, missing: Interval(name, **ends, missing=missing), below | above | both, missing
    )


def draw_choices(name):
    values = st.lists(st.sampled_from(WORDS[name]), max_size=3, unique=True)
    return st.one_of(
        st.builds(lambda values, missing: OneOf(name, values, missing=missing), values, st.booleans()),
        st.builds(lambda values, missing: NoneOf(name, values, missing=missing), values, st.booleans()),
    )


CONDITIONS = st.one_of(*map(draw_intervals, ("age", "petal width (cm)")), *map(draw_choices, WORDS))


@settings(max_examples=30)
@given(st.lists(CONDITIONS, max_size=4))
def test_a_rule_that_is_written_and_read_is_the_same_rule(conditions):
    rule = Rule(conditions)
    assert parse_rule(str(rule), KNOWN) == rule


PIECES = st.sampled_from(
    [*X.columns, *"<>=≤≥≠{}[](),'\"& ", "and", "IF ", " THEN ", "in", "not ", "(or missing)", "is missing", "3", "1e9", "Male", "\n", "≤ 3"]
)  # fmt: skip


@settings(max_examples=30)
@given(st.text() | st.lists(PIECES, max_size=12).map("".join) | st.lists(PIECES, max_size=12).map(" ".join))
def test_any_text_is_a_rule_or_is_refused(text):
    for known in (KNOWN, Vocabulary.of(["texts"]), Vocabulary({})):
        try:
            rule = parse_rule(text, known)
        except InputError:
            continue
        assert Rule.from_json(rule.to_json()) == rule


def test_what_faithkit_writes_with_all_digits_scores_as_the_rules_themselves():
    """Limits of six digits would move rows that lie next to them."""
    values = np.random.default_rng(0).normal(1e6, 1e-3, 200)
    table = pd.DataFrame({"x": values})
    rules = [Rule([Interval("x", high=value)]) for value in values]
    labels = (values > 1e6).tolist()
    explanations = faithkit.Explanations.of(rules, kind="rule", relation="in-scope")
    by_texts = faithkit.score(labels, [str(rule) for rule in rules], X=table)
    assert by_texts.measures == faithkit.score(labels, explanations, X=table).measures
    assert len({f"{rule:.6g}" for rule in rules}) == 1


# --- dates and decimals -------------------------------------------------------------------------------------

SINCE = np.arange(200)
DATES_READ = {
    "signed ≤ 2024-04-10": SINCE <= 100,
    "signed < 2024-04-10": SINCE < 100,
    "2024-01-01 < signed <= 2024-01-11": (SINCE > 0) & (SINCE <= 10),
    "signed > 2024-04-09 12:00 (or missing)": SINCE > 99,
    "any value of signed": SINCE >= 0,
    "no value of signed": SINCE < 0,
}


@one_test
@pytest.mark.parametrize("text", DATES_READ)
def test_rules_about_dates_are_read(text):
    table = pd.DataFrame({"signed": pd.date_range("2024-01-01", periods=200)})
    assert parse_rule(text, table).covers(table).tolist() == DATES_READ[text].tolist()


def test_decimals_are_numbers():
    X = pd.DataFrame({"debt": [Decimal("0.1"), None, Decimal("0.3")]}, dtype=object)
    assert parse_rule("debt > 0.2", X).covers(X).tolist() == [False, False, True]
