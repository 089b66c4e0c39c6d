"""Rules cover exactly what they say, on every kind of table and text, written in one way only."""

import json
import math
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import one_test
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from faithkit.arrays.bitsets import unpack_bits
from faithkit.errors import InputError
from faithkit.explanations import rules as rules_module
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.predicates import Contains, Interval, OneOf, predicate_from_json, tokenize
from faithkit.explanations.rules import Rule, scope_bits

INF, NAN = math.inf, math.nan


def make_sample(X):
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    return Sample(X, Explanations.of(range(n)))


def compute_scopes(rules, X):
    sample = make_sample(X)
    return unpack_bits(scope_bits(rules, sample), len(sample))


# --- the slow truth: one value at a time, in plain Python ----------------------------------------------


def is_missing(value):
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def satisfies(predicate, value):
    if is_missing(value):
        return predicate.missing
    if isinstance(predicate, OneOf):
        return any(value == other for other in predicate.values)
    return (predicate.low == -INF or value > predicate.low) and value <= predicate.high


def find_rows(predicates, columns):
    """Return for each row whether it satisfies all predicates; `columns` maps a name to a plain list of values."""
    n = len(next(iter(columns.values())))
    return [all(satisfies(p, columns[p.column][i]) for p in predicates) for i in range(n)]


NUMBERS = [-INF, -2.0, -0.0, 0.0, 0.5, 1.0, 2.0, 2.0**53, INF]
CELLS = {
    "age": st.sampled_from([*NUMBERS, NAN]),
    "count": st.sampled_from([-2, 0, 1, 2, None]),
    "rank": st.integers(-2, 3),
    "flag": st.booleans(),
    "job": st.sampled_from(["clerk", "farmer", "1", "", None]),
    "grade": st.sampled_from(["low", "high", None]),
    "any": st.sampled_from([1, 2.5, "clerk", True, None, NAN, "1"]),
}
DTYPES = {
    "age": "float64",
    "count": "Int64",
    "rank": "int64",
    "flag": "bool",
    "job": "str",
    "grade": pd.CategoricalDtype(["low", "middle", "high"]),
    "any": "object",
}
NUMERIC = ["age", "count", "rank", "flag"]
VALUES = [0, 1, 2.5, -2.0, True, "clerk", "1", "low", "high", "never", INF, 0.0]

INTERVALS = st.builds(
    Interval,
    st.sampled_from(NUMERIC),
    st.sampled_from([-INF, -2.0, -0.0, 0.0, 0.5, 1.0]),
    st.sampled_from([INF, 2.0, 1.0, 0.0, -0.0, -1.0]),
    missing=st.booleans(),
)
CHOICES = st.builds(
    OneOf, st.sampled_from(list(CELLS)), st.lists(st.sampled_from(VALUES), max_size=4), missing=st.booleans()
)
PREDICATES = st.lists(st.one_of(INTERVALS, CHOICES), max_size=4)


@st.composite
def tables(draw):
    n = draw(st.integers(1, 9))
    columns = {name: draw(st.lists(cell, min_size=n, max_size=n)) for name, cell in CELLS.items()}
    return columns, pd.DataFrame({name: pd.Series(columns[name], dtype=DTYPES[name]) for name in columns})


@given(tables(), st.lists(PREDICATES, min_size=1, max_size=5))
@settings(max_examples=15)
def test_scopes_of_rules_on_mixed_tables_equal_the_plain_loop(table, groups):
    columns, frame = table
    expected = [find_rows(predicates, columns) for predicates in groups]
    rules = [Rule(predicates) for predicates in groups]
    assert [rule.covers(frame).tolist() for rule in rules] == expected
    assert compute_scopes(rules, frame).tolist() == expected


@st.composite
def matrices(draw):
    n, d = draw(st.integers(1, 70)), draw(st.integers(1, 3))
    seed = draw(st.integers(0, 2**32 - 1))
    X = np.random.default_rng(seed).choice([*NUMBERS, NAN], size=(n, d))
    predicate = st.one_of(
        st.builds(
            Interval,
            st.integers(0, d - 1),
            st.sampled_from([-INF, 0.0, 0.5]),
            st.sampled_from([INF, 1.0, -0.0]),
            missing=st.booleans(),
        ),
        st.builds(
            OneOf,
            st.integers(0, d - 1),
            st.lists(st.sampled_from([0, 1.0, 2, INF]), max_size=2),
            missing=st.booleans(),
        ),
    )
    return X, draw(st.lists(st.lists(predicate, max_size=3), min_size=1, max_size=4))


FORMS = {
    "array": lambda X: X,
    "Fortran array": np.asfortranarray,
    "object array": lambda X: X.astype(object),
    "frame": pd.DataFrame,
    "csr matrix": sparse.csr_matrix,
    "csc matrix": sparse.csc_matrix,
    "csr array": sparse.csr_array,
    "csc array": sparse.csc_array,
}


@settings(max_examples=15)
@given(matrices(), st.sampled_from(sorted(FORMS)))
def test_scopes_of_rules_on_arrays_and_sparse_matrices_equal_the_plain_loop(case, form):
    X, groups = case
    columns = {j: X[:, j].tolist() for j in range(X.shape[1])}
    expected = [find_rows(predicates, columns) for predicates in groups]
    rules = [Rule(predicates) for predicates in groups]
    assert [rule.covers(FORMS[form](X)).tolist() for rule in rules] == expected
    assert compute_scopes(rules, FORMS[form](X)).tolist() == expected


WORDS = st.sampled_from(
    ["good", "Good", "GOOD,", "film", "a", "I", "well-made", "don't", "x1", "_", "good film"]
)
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)


def split_text(text, tokenizer):
    if tokenizer == "whitespace":
        return text.split()
    letters = "".join(c if c.isalnum() or c == "_" else " " for c in text.lower())
    return [word for word in letters.split() if len(word) > 1]


@given(
    st.lists(TEXTS, min_size=1, max_size=8),
    st.lists(
        st.lists(st.builds(Contains, WORDS, st.sampled_from(["whitespace", "word"])), max_size=3),
        min_size=1,
        max_size=4,
    ),
)
def test_scopes_of_rules_on_texts_equal_the_plain_loop(texts, groups):
    expected = [
        [all(p.token in split_text(text, p.tokenizer) for p in predicates) for text in texts]
        for predicates in groups
    ]
    rules = [Rule(predicates) for predicates in groups]
    assert [rule.covers(texts).tolist() for rule in rules] == expected
    assert compute_scopes(rules, texts).tolist() == expected


@given(TEXTS)
def test_the_word_tokenizer_splits_as_a_default_count_vectorizer_does(text):
    assert tokenize(text, "word") == CountVectorizer().build_analyzer()(text)
    assert tokenize(text, "word") == split_text(text, "word")


def test_both_tokenizers_by_hand():
    text = "A fine, FINE film\tmade\nin été"
    assert tokenize(text) == ["A", "fine,", "FINE", "film", "made", "in", "été"]
    assert tokenize(text, "word") == ["fine", "fine", "film", "made", "in", "été"]
    assert Contains("fine").mask([text]).tolist() == [False]
    assert Contains("fine,").mask([text]).tolist() == [True]
    assert Contains("fine", "word").mask([text]).tolist() == [True]
    assert Contains("FINE", "word").mask([text]).tolist() == [False]  # tokens are lower case
    assert Contains("fin", "word").mask([text]).tolist() == [False]  # whole tokens only


@one_test
@pytest.mark.parametrize("tokenizer", ["whitespace", "word"])
def test_a_missing_text_contains_no_token(tokenizer):
    assert Contains("good", tokenizer).mask(["good film", None]).tolist() == [True, False]


# --- predicates one by one -----------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (Interval(0, high=0.0), [True, True, True, False, False, False]),  # −inf, −0.0, 0.0 | 1, inf, NaN
        (Interval(0, high=-0.0), [True, True, True, False, False, False]),
        (Interval(0, low=0.0), [False, False, False, True, True, False]),
        (Interval(0, low=-0.0), [False, False, False, True, True, False]),
        (Interval(0, low=-5.0), [False, True, True, True, True, False]),
        (Interval(0, low=1.0), [False, False, False, False, True, False]),
        (Interval(0), [True, True, True, True, True, False]),
        (Interval(0, missing=True), [True] * 6),
        (Interval(0, 2.0, 1.0), [False] * 6),
        (Interval(0, 2.0, 1.0, missing=True), [False, False, False, False, False, True]),
        (OneOf(0, [0]), [False, True, True, False, False, False]),
        (OneOf(0, [-0.0]), [False, True, True, False, False, False]),
        (OneOf(0, [INF, 1]), [False, False, False, True, True, False]),
        (OneOf(0, [], missing=True), [False, False, False, False, False, True]),
        (OneOf(0, ["1"]), [False] * 6),
    ],
)
def test_predicates_at_the_ends_of_the_number_line(predicate, expected):
    X = np.array([[-INF], [-0.0], [0.0], [1.0], [INF], [NAN]])
    assert predicate.mask(X).tolist() == expected
    assert predicate.mask(pd.DataFrame(X)).tolist() == expected


@one_test
@pytest.mark.parametrize(
    "values",
    [
        pd.array([1, 2, None], dtype="Int64"),
        pd.array([1.0, 2.0, None], dtype="Float64"),
        pd.Series([1.0, 2.0, NAN]),
        pd.Series([1, 2.0, None], dtype=object),
        pd.Categorical([1, 2, None]),
    ],
    ids=["Int64", "Float64", "float64", "object", "category"],
)
def test_missing_numbers_satisfy_a_predicate_only_where_it_says_so(values):
    X = pd.DataFrame({"age": values})
    assert Interval("age", low=1).mask(X).tolist() == [False, True, False]
    assert Interval("age", low=1, missing=True).mask(X).tolist() == [False, True, True]
    assert OneOf("age", [1]).mask(X).tolist() == [True, False, False]
    assert OneOf("age", [1], missing=True).mask(X).tolist() == [True, False, True]


@one_test
@pytest.mark.parametrize("dtype", ["str", "object", "string", "category"])
def test_missing_categories_satisfy_a_predicate_only_where_it_says_so(dtype):
    X = pd.DataFrame({"sex": pd.Series(["Male", "Female", None], dtype=dtype)})
    assert OneOf("sex", ["Male"]).mask(X).tolist() == [True, False, False]
    assert OneOf("sex", ["Male"], missing=True).mask(X).tolist() == [True, False, True]
    assert OneOf("sex", ["Male", "Female"]).mask(X).tolist() == [True, True, False]
    assert OneOf("sex", ["unheard of"]).mask(X).tolist() == [False, False, False]


def test_a_frame_whose_index_is_not_its_row_numbers_is_read_by_position():
    X = pd.DataFrame({"age": [1.0, 2.0, 3.0]}, index=[7, 7, 0])
    rule = Rule([Interval("age", low=1.5), OneOf("age", [2, 3])])
    assert rule.covers(X).tolist() == [False, True, True]
    assert compute_scopes([rule], X).tolist() == [[False, True, True]]


def test_a_frame_may_name_its_columns_by_number():
    X = pd.DataFrame([[1.0, 5.0], [2.0, 0.0]], columns=[10, 20])
    assert Interval(20, low=1).mask(X).tolist() == [True, False]


# --- one way to write a rule ---------------------------------------------------------------------------


@given(PREDICATES, st.randoms(use_true_random=False))
def test_the_order_of_predicates_and_repetitions_make_no_difference(predicates, random):
    again = predicates + predicates[:2]
    random.shuffle(again)
    rule, shuffled = Rule(predicates), Rule(again)
    assert rule == shuffled
    assert hash(rule) == hash(shuffled)
    assert str(rule) == str(shuffled)
    assert Rule(rule.predicates) == rule


def test_predicates_on_one_column_unite():
    rule = Rule([Interval("age", high=40), Interval("age", low=20), Interval("age", low=10, high=50)])
    assert rule.predicates == (Interval("age", 20, 40),)
    rule = Rule([OneOf("job", ["a", "b", "c"]), OneOf("job", ["c", "b", "d"])])
    assert rule.predicates == (OneOf("job", ["b", "c"]),)
    assert Rule([OneOf("job", ["a"]), OneOf("job", ["b"])]).predicates == (OneOf("job", []),)


def test_united_predicates_take_missing_values_only_where_all_did():
    for first, second, both in [(True, True, True), (True, False, False), (False, False, False)]:
        rule = Rule([Interval("age", 1, missing=first), Interval("age", high=9, missing=second)])
        assert rule.predicates == (Interval("age", 1, 9, missing=both),)


def test_a_predicate_that_takes_everything_is_left_out():
    assert Rule([Interval("age", missing=True)]) == Rule()
    assert Rule([Interval("age", missing=True), Interval("age", low=3)]) == Rule([Interval("age", low=3)])
    assert Rule([Interval("age")]) != Rule()  # it does not take missing values


def test_values_repeat_and_order_without_effect():
    assert OneOf("job", ["b", "a", "b"]) == OneOf("job", ("a", "b"))
    assert OneOf("job", {"a", "b"}).values == ("a", "b")
    assert OneOf("job", [2, "a", 1]) == OneOf("job", ["a", 1, 2])


def test_equal_numbers_of_different_types_are_one_value():
    assert OneOf("job", [1, 2.0]) == OneOf("job", [1.0, 2])


def test_numpys_scalars_are_pythons():
    plain = Rule([Interval(0, 0.5), OneOf(1, [2, "a", True])])
    numpys = Rule(
        [
            Interval(np.int64(0), np.float32(0.5)),
            OneOf(np.intp(1), [np.int8(2), np.str_("a"), np.bool_(True)]),
        ]
    )
    assert plain == numpys
    assert hash(plain) == hash(numpys)
    assert json.dumps(plain.to_json()) == json.dumps(numpys.to_json())


def test_minus_zero_is_zero_also_in_print():
    negative = Rule([Interval("a", -0.0), Interval("b", high=-0.0)])
    positive = Rule([Interval("a", 0.0), Interval("b", high=0.0)])
    assert negative == positive
    assert str(negative) == str(positive) == "a > 0 and b ≤ 0"
    assert json.dumps(negative.to_json()) == json.dumps(positive.to_json())


def test_different_rules_differ():
    different = [
        Rule(),
        Rule([Interval("age", 1)]),
        Rule([Interval("age", high=1)]),
        Rule([Interval("age", 1, missing=True)]),
        Rule([Interval("ages", 1)]),
        Rule([Interval(0, 1)]),
        Rule([Interval("0", 1)]),
        Rule([OneOf("age", [1])]),
        Rule([OneOf("age", [1, 2])]),
        Rule([OneOf("age", ["1"])]),
        Rule([Contains("age")]),
        Rule([Contains("age", "word")]),
        Rule([Contains("age"), Contains("old")]),
    ]
    assert len(set(different)) == len(different)


def test_a_rule_cannot_be_changed():
    rule = Rule([Interval("age", 1)])
    with pytest.raises(AttributeError):
        rule.predicates = ()
    with pytest.raises(AttributeError):
        rule.predicates[0].low = 2.0


@one_test
@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (Rule(), "always"),
        (Rule([Interval("age", high=37.5)]), "age ≤ 37.5"),
        (Rule([Interval("age", 17)]), "age > 17"),
        (Rule([Interval("age", 17, 65)]), "17 < age ≤ 65"),
        (Rule([Interval("age")]), "any value of age"),
        (Rule([Interval("age", 17, missing=True)]), "age > 17 (or missing)"),
        (Rule([Interval(3, high=1e-9)]), "3 ≤ 1e-09"),
        (Rule([OneOf("sex", ["Male"])]), "sex = Male"),
        (Rule([OneOf("job", ["farmer", "clerk"], missing=True)]), "job in {clerk, farmer} (or missing)"),
        (Rule([OneOf("job", [])]), "no value of job"),
        (Rule([Contains("zebra"), Contains("ape")]), "contains 'ape' and contains 'zebra'"),
        (Rule([OneOf("sex", ["Male"]), Interval("age", high=9)]), "age ≤ 9 and sex = Male"),
        (Rule([Interval("{x}", 1)]), "{x} > 1"),
    ],
)
def test_a_rule_reads_as_a_person_would_write_it(rule, text):
    assert str(rule) == text


# --- the JSON form -------------------------------------------------------------------------------------


@given(st.lists(st.one_of(INTERVALS, CHOICES.filter(lambda p: INF not in p.values)), max_size=4))
def test_rules_survive_their_json_form(predicates):
    rule = Rule(predicates)
    text = json.dumps(rule.to_json(), allow_nan=False)
    for value in (rule.to_json(), text, text.encode()):
        again = Rule.from_json(value)
        assert again == rule
        assert hash(again) == hash(rule)
        assert again.to_json() == rule.to_json()


@given(
    st.lists(st.builds(Contains, st.text(max_size=5), st.sampled_from(["whitespace", "word"])), max_size=3)
)
def test_rules_about_words_survive_their_json_form(predicates):
    rule = Rule(predicates)
    assert Rule.from_json(json.dumps(rule.to_json())) == rule


def test_the_json_form_by_hand():
    rule = Rule([Interval("age", high=40), OneOf("sex", ["Male"], missing=True), Contains("ape", "word")])
    assert rule.to_json() == [
        {"op": "interval", "column": "age", "high": 40.0, "missing": False},
        {"op": "one-of", "column": "sex", "values": ["Male"], "missing": True},
        {"op": "contains", "token": "ape", "tokenizer": "word"},
    ]


@one_test
@pytest.mark.parametrize("predicate", [Interval("age", low=INF), Interval("age", high=-INF)])
def test_an_interval_that_is_empty_at_infinity_survives_its_json_form(predicate):
    assert Rule.from_json(Rule([predicate]).to_json()) == Rule([predicate])


@one_test
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('[{"op"', "no rule in JSON form: '\\[\\{\"op\"'"),
        ("", "no rule in JSON form"),
        ({"op": "interval"}, "a list of predicates, got {'op'"),
        ("7", "a list of predicates, got 7"),
        (None, "a list of predicates, got None"),
        ([7], "no predicate in JSON form: 7: its op must be one of interval, one-of, none-of, contains"),
        ([{}], "its op must be one of interval, one-of, none-of, contains"),
        ([{"op": "equals", "column": "a"}], "its op must be one of"),
        ([{"op": "interval"}], "no predicate in JSON form.*column"),
        ([{"op": "interval", "column": "a", "lo": 1}], "no predicate in JSON form.*lo"),
        ([{"op": "interval", "column": "a", "low": None}], "no predicate in JSON form"),
        ([{"op": "one-of", "column": "a"}], "no predicate in JSON form.*values"),
        ([{"op": "one-of", "column": "a", "values": 3}], "no predicate in JSON form.*iterable"),
        ([{"op": "one-of", "column": "a", "values": [[1]]}], "no predicate in JSON form.*unhashable"),
        ([{"op": "one-of", "column": "a", "values": [None]}], "say missing=True instead"),
        ([{"op": "contains"}], "no predicate in JSON form.*token"),
        ([{"op": "contains", "token": "a", "tokenizer": "letters"}], "no tokenizer 'letters'"),
    ],
)
def test_json_that_is_no_rule_is_refused(value, message):
    with pytest.raises(InputError, match=message):
        Rule.from_json(value)


@one_test
@pytest.mark.parametrize(
    "item",
    [
        {"op": "interval", "column": "a", "low": "abc"},
        {"op": ["interval"], "column": "a"},
        {"op": "interval", "column": ["a"]},
    ],
)
def test_json_of_the_wrong_types_is_refused_as_an_input_error(item):
    with pytest.raises(InputError, match="no predicate in JSON form"):
        Rule.from_json([item])


# --- what can go wrong ---------------------------------------------------------------------------------

FRAME = pd.DataFrame({"age": [1.0, 2.0], "job": ["clerk", "farmer"]})


@one_test
@pytest.mark.parametrize(
    ("predicate", "X", "message"),
    [
        (Interval("income"), FRAME, "a rule reads the column 'income'; the table has age, job."),
        (OneOf("income", [1]), FRAME, "a rule reads the column 'income'; the table has age, job."),
        (Interval(0), FRAME, "a rule reads the column 0; the table has age, job."),
        (Interval(1), np.zeros((2, 1)), "the column 1; the array has columns 0 to 0"),
        (Interval(-1), np.zeros((2, 1)), "the column -1; the array has columns 0 to 0"),
        (Interval("age"), np.zeros((2, 1)), "the column 'age'.*name columns by number, or give a DataFrame"),
        (OneOf(3, [1]), sparse.csr_matrix((2, 2)), "the column 3; the array has columns 0 to 1"),
        (Interval("job", 1), FRAME, "compares the column 'job' with a number; its values are of type str"),
        (
            Interval("job", 1),
            FRAME.astype({"job": "category"}),
            "compares the column 'job' with a number; its values are of type str",
        ),
        (Interval(0, 1), np.array([["a"]]), "compares the column 0 with a number"),
        (Interval("age"), ["good film"], "the column 'age' of a table, and the sample is a list of texts"),
        (OneOf("age", [1]), ["good film"], "the column 'age' of a table, and the sample is a list of texts"),
        (Contains("good"), FRAME, "reads a list of texts, not a DataFrame"),
        (Contains("good"), np.zeros((2, 1)), "reads a list of texts, not a ndarray"),
        (Contains("good"), sparse.csr_matrix((2, 2)), "reads a list of texts, not a csr_matrix"),
    ],
)
def test_a_rule_that_does_not_fit_its_sample_says_why(predicate, X, message):
    with pytest.raises(InputError, match=message):
        Rule([predicate]).covers(X)
    with pytest.raises(InputError, match=message):
        scope_bits([Rule([predicate])], make_sample(X))


def test_a_long_list_of_columns_is_cut_short():
    X = pd.DataFrame(np.zeros((1, 20)), columns=[f"c{i}" for i in range(20)])
    with pytest.raises(InputError, match=r"the table has c0, c1, .* and \d+ more\."):
        Interval("age").mask(X)


@one_test
@pytest.mark.parametrize("ends", [(NAN, 1), (0, NAN), (NAN, NAN)])
def test_a_limit_that_is_not_a_number_is_refused(ends):
    with pytest.raises(InputError, match="'age' has NaN as a limit: leave it out"):
        Interval("age", *ends)


@one_test
@pytest.mark.parametrize("value", [None, NAN, pd.NA, pd.NaT])
def test_a_missing_value_among_the_values_is_refused(value):
    with pytest.raises(InputError, match="'job': say missing=True instead"):
        OneOf("job", ["clerk", value])


@one_test
@pytest.mark.parametrize(
    "make",
    [lambda: Contains("a", "letters"), lambda: tokenize("a b", "letters")],
    ids=["predicate", "function"],
)
def test_an_unknown_tokenizer_is_refused_with_those_there_are(make):
    with pytest.raises(InputError, match="no tokenizer 'letters': choose one of whitespace, word"):
        make()


def test_rules_without_instances_say_what_to_pass():
    with pytest.raises(InputError, match=re.escape("pass X (CLI: --features)")):
        scope_bits([Rule()], Sample(None, Explanations.of(["a"])))


def test_a_single_predicate_reads_back_from_its_json_value():
    assert predicate_from_json({"op": "contains", "token": "a"}) == Contains("a")


# --- bitsets of predicates -----------------------------------------------------------------------------


def draw_rules(rng, count):
    return [
        Rule(
            [
                Interval(0, float(rng.integers(0, 500)) / 500),
                Interval(1, high=float(rng.integers(0, 500)) / 500),
                OneOf(2, rng.choice(9, 3).tolist()),
            ][: int(rng.integers(0, 4))]
        )
        for _ in range(count)
    ]


def test_a_small_memory_for_predicates_changes_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random((130, 2)), rng.integers(0, 9, 130)])
    rules = draw_rules(rng, 300)
    expected = np.array([rule.covers(X) for rule in rules])
    assert compute_scopes(rules, X).tolist() == expected.tolist()
    monkeypatch.setattr(rules_module, "PREDICATE_BYTES", 1)
    sample = make_sample(X)
    for part in (slice(None), slice(None, None, -1), slice(5)):
        scopes = unpack_bits(scope_bits(rules[part], sample), len(sample))
        assert scopes.tolist() == expected[part].tolist()
    distinct = {predicate for rule in rules for predicate in rule.predicates}
    table = sample.once(rules_module._PredicateTable).bits
    assert len(table) <= 65 < len(distinct) / 3  # 64 is the floor of the bound; one row stands for "always"


def test_a_rule_that_does_not_fit_leaves_the_sample_usable():
    sample = make_sample(FRAME)
    with pytest.raises(InputError, match="'income'"):
        scope_bits([Rule([Interval("income")])], sample)
    assert unpack_bits(scope_bits([Rule([Interval("age", 1.5)])], sample), 2).tolist() == [[False, True]]


def test_scopes_computed_twice_are_the_same():
    sample = make_sample(np.array([[1.0], [2.0]]))
    first = scope_bits([Rule([Interval(0, 1.5)]), Rule()], sample).copy()
    scope_bits([Rule([Interval(0, high=1.5), OneOf(0, [1])])], sample)[:] = 0
    assert scope_bits([Rule([Interval(0, 1.5)]), Rule()], sample).tolist() == first.tolist()


@one_test
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 129])
def test_scopes_are_padded_with_zeros_whatever_the_number_of_rows(n):
    X = np.arange(n, dtype=float)[:, None]
    bits = scope_bits([Rule(), Rule([Interval(0, 10)])], make_sample(X))
    assert bits.shape == (2, -(-n // 64))
    assert np.bitwise_count(bits).sum(axis=1).tolist() == [n, max(0, n - 11)]


def test_no_rules_give_no_rows():
    assert scope_bits([], make_sample(np.zeros((3, 1)))).shape == (0, 1)


def test_decimals_are_numbers_to_a_rule():
    X = pd.DataFrame({"debt": [Decimal("0.1"), None, Decimal("0.3")]}, dtype=object)
    assert Rule([Interval("debt", high=0.2)]).covers(X).tolist() == [True, False, False]
