"""Numbers of other libraries, containers of other kinds, infinities: a number or one line, and JSON that is JSON."""

import json
import math
from decimal import Decimal
from fractions import Fraction

import attrs
import numpy as np
import pandas as pd
import pytest
from looping import one_test
from pages import json_of, page_of

import faithkit
from faithkit.explanations.relations import SameExplanation
from faithkit.run.evaluation_report import EvaluationReport

LABELS, WORDS = [0, 0, 1, 1], ["a", "a", "a", "b"]
USUAL = faithkit.score(LABELS, WORDS)
INF = math.inf


def parse_strictly(text):
    """Read JSON as a parser does that knows neither NaN nor Infinity."""

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text.encode("utf-8"), parse_constant=refuse)


# --- numbers ---------------------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("confidence", [np.float32(0.5), np.float64(0.5), np.float16(0.5), Fraction(1, 2)])
def test_a_confidence_is_any_real_number(confidence):
    result = faithkit.score(LABELS, WORDS, confidence=confidence)
    assert result.to_dict() == faithkit.score(LABELS, WORDS, confidence=0.5).to_dict()


@one_test
@pytest.mark.parametrize("permutations", [np.int64(9), np.uint8(9), pd.Series([9]).iloc[0]])
def test_permutations_are_any_whole_number(permutations):
    result = faithkit.score(LABELS, WORDS, permutations=permutations)
    assert result.to_dict() == faithkit.score(LABELS, WORDS, permutations=9).to_dict()


def model(X):
    return X[:, 0] > 3


def halves(X):
    return (X[:, 0] > 4).tolist()


X = np.arange(8.0)[:, None]


@one_test
@pytest.mark.parametrize("seed", [np.int64(3), np.uint64(2**63), -4, -(2**80)], ids=str)
def test_seeds_are_any_whole_number(seed):
    result, plain = (faithkit.evaluate(model, X, halves, permutations=9, seed=s) for s in (seed, int(seed)))
    assert result.to_dict() == plain.to_dict()
    assert parse_strictly(json_of(result))["seed"] == int(seed)


def test_a_seed_and_its_negative_draw_different_permutations():
    rows = np.arange(60.0)[:, None]
    positive, negative = (
        faithkit.evaluate(
            lambda X: X[:, 0] % 11 > 5, rows, lambda X: (X[:, 0] // 7).tolist(), seed=seed, permutations=99
        )
        for seed in (1, -1)
    )
    assert positive.consistency.p_value != negative.consistency.p_value


@one_test
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": math.nan}, "between 0 and 1, got nan"),
        ({"confidence": 1 - 1e-17}, "between 0 and 1, got 1.0"),
        ({"confidence": Decimal("0.9")}, "between 0 and 1, got Decimal"),
        ({"confidence": np.array([0.9, 0.8])}, "between 0 and 1, got array"),
        ({"confidence": True}, "between 0 and 1, got True"),
        ({"permutations": 9.0}, "permutations must be a whole number from 0 to 10000000, got 9.0"),
        ({"permutations": True}, "permutations must be a whole number from 0 to 10000000, got True"),
        ({"permutations": "9"}, "permutations must be a whole number from 0 to 10000000, got '9'"),
        ({"permutations": 10**12}, "from 0 to 10000000, got 1000000000000"),
        ({"seed": 1.5}, "the seed must be a whole number, got 1.5"),
        ({"seed": None}, "the seed must be a whole number, got None"),
        ({"seed": "0"}, "the seed must be a whole number, got '0'"),
        ({"n_jobs": 1.5}, "n_jobs must be a whole number"),
    ],
    ids=str,
)
def test_what_is_no_such_number_is_refused_in_one_line(options, message):
    with pytest.raises(faithkit.errors.InputError, match=message) as caught:
        faithkit.evaluate(model, X, halves, **options)
    assert "\n" not in str(caught.value)


def test_too_many_permutations_are_refused_before_anything_is_explained():
    with pytest.raises(faithkit.errors.InputError, match="from 0 to 10000000, got 100000000"):
        faithkit.evaluate(model, X, lambda X: pytest.fail("explained"), permutations=10**8)


def test_plans_take_numbers_of_other_libraries():
    assert faithkit.plan(np.float64(0.1), np.int64(2048)) == faithkit.plan(0.1, 2048)
    assert faithkit.plan(np.float64(0.1), pilot=USUAL) == faithkit.plan(0.1, pilot=USUAL)


def test_a_distance_may_be_a_number_of_another_library():
    near = faithkit.plugin.registry().create("relation", "near-explanation", {"tau": np.float32(0.5)})
    assert faithkit.score(LABELS, [[0.0], [0.5], [2.0], [9.0]], relation=near).sufficiency.verified == 0.5


@one_test
@pytest.mark.parametrize("k", [np.int64(1), np.uint8(1)])
def test_contradictions_take_any_whole_number(k):
    assert USUAL.contradictions(k) == USUAL.contradictions(1)


# --- containers ------------------------------------------------------------------------------------------------

CONTAINERS = {
    "a generator": lambda values: (value for value in values),
    "a tuple": tuple,
    "a Series": lambda values: pd.Series(values, index=[9, 8, 7, 6]),
    "an Index": pd.Index,
    "a Categorical": pd.Categorical,
    "an array": np.array,
    "an array of objects": lambda values: np.array(values, dtype=object),
    "the values of a dict": lambda values: dict(enumerate(values)).values(),
    "an iterator": iter,
}


@one_test
@pytest.mark.parametrize("container", CONTAINERS)
def test_labels_and_explanations_come_in_any_container(container):
    convert = CONTAINERS[container]
    expected = USUAL.to_dict()
    for result in (faithkit.score(convert(LABELS), WORDS), faithkit.score(LABELS, convert(WORDS))):
        assert result.to_dict()["measures"] == expected["measures"]


def test_ranges_are_labels_and_explanations():
    assert faithkit.score(range(4), range(4)).n_explanations == 4


@one_test
@pytest.mark.parametrize(
    "column", [{0, 1, 2, 3}, frozenset(range(4)), {0: 1, 1: 0, 2: 1, 3: 0}, "abcd", b"abcd", 4, None, 1.5]
)
def test_what_has_no_order_or_is_no_column_is_refused(column):
    problem = f"of type {type(column).__name__} are not understood"
    with pytest.raises(faithkit.errors.InputError, match=f"predictions {problem}"):
        faithkit.score(column, WORDS)
    with pytest.raises(faithkit.errors.InputError, match=f"explanations {problem}"):
        faithkit.score(LABELS, column)


@one_test
@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({1, 2, 3, 4}, "the groups are a set: give a list"),
        ({1: 1, 2: 2, 3: 3, 4: 4}, "the groups are a dict: give a list"),
        ((value for value in range(4)), "the groups are a generator: give a list"),
        (np.zeros((4, 2)), "comparing the groups failed with TypeError"),
        ([[1], [2], [3], [4]], "comparing the groups failed"),
    ],
    ids=lambda groups: type(groups).__name__,
)
def test_groups_that_are_no_column_are_refused(groups, message):
    with pytest.raises(faithkit.errors.InputError, match=message):
        USUAL.by(groups)


# --- JSON ------------------------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    "labels",
    [
        [INF, -INF, INF, 1.0],
        [np.float32(1), np.int8(2), np.str_("x"), np.bool_(True)],
        [(1, 2), (3,), (1, 2), "x"],
        pd.to_datetime(["2020", "2021", "2020", "2021"]),
        [Decimal(1), Fraction(1, 3), 2, 3.5],
        [1, "1", 2, "2"],
    ],
    ids=str,
)
def test_labels_of_any_kind_give_json_that_any_parser_reads(labels, monkeypatch, no_pictures):
    X = pd.DataFrame({"age": [INF, -INF, math.nan, 1.0], "n": [np.float32(1), None, "x", True]})
    result = faithkit.score(labels, ["a", "a", "a", "b"], X=X, outcome="labels")
    outcome = parse_strictly(json_of(EvaluationReport.of(result, 5, ["f", "f", "m", "m"])))
    (worst,) = outcome["contradictions"]
    assert sum(worst["predictions"].values()) == 3
    for row in range(4):
        parse_strictly(json.dumps(result.local(row).to_dict(), allow_nan=False))
    assert str(result)
    if isinstance(labels[0], tuple):  # other labels are drawn alike
        monkeypatch.setattr("faithkit_html.figures.render_svg", no_pictures)
        assert page_of(result)


def test_an_infinite_label_or_cell_is_a_text():
    X = pd.DataFrame({"age": [INF, -INF]})
    (worst,) = faithkit.score([INF, -INF], ["a", "a"], X=X, outcome="labels").contradictions()
    payload = worst.to_dict()
    assert payload["predictions"] == {"-inf": 1, "inf": 1}
    assert [sample_row["prediction"] for sample_row in payload["pair"]] == ["inf", "-inf"]
    assert [sample_row["values"] for sample_row in payload["pair"]] == [{"age": "inf"}, {"age": "-inf"}]


def test_labels_and_groups_that_are_written_alike_stay_two():
    result = faithkit.score([1, "1", 1, "1"], ["a"] * 4)
    assert result.contradictions()[0].to_dict()["predictions"] == {"1": 2, "'1'": 2}
    groups = result.by([1, 1, "1", "1"]).to_dict()["groups"]["consistency"]
    assert [part["n"] for part in groups.values()] == [2, 2]


def test_half_a_character_does_not_spoil_a_file(tmp_path):
    result = faithkit.score([0, 1], np.array(["\ud800"] * 2, dtype=object))
    text = json_of(EvaluationReport.of(result, 1))
    assert parse_strictly(text)["contradictions"][0]["explanation"] == "?"
    result.write(tmp_path / "result.json")


def test_tuples_of_other_lengths_stay_as_they_are():
    assert set(faithkit.score([(1, 2), (3,), (1, 2)], ["a"] * 3).contradictions()[0].predictions) == {
        (1, 2),
        (3,),
    }


# --- indexes of pandas -------------------------------------------------------------------------------------

ROWS = pd.DataFrame({"age": [31, 45, 52, 28], "why": WORDS, "label": LABELS}, index=["d", "b", "a", "c"])


def evaluate_rows():
    return faithkit.evaluate(lambda X: X["label"], ROWS, explainer=lambda X: X["why"].tolist())


ORDERS = {
    "explanations": lambda: faithkit.score(ROWS["label"], ROWS["why"].sort_index()),
    "a table of them": lambda: faithkit.score(ROWS["label"], ROWS[["age"]].sort_index()),
    "X": lambda: faithkit.score(ROWS["label"].sort_index(), WORDS, X=ROWS),
    "weights": lambda: faithkit.score(LABELS, WORDS, X=ROWS, weights=ROWS["age"].sort_index()),
    "ids": lambda: faithkit.evaluate(len, ROWS, explainer=len, ids=ROWS["age"].sort_index()),
    "groups": lambda: faithkit.score(ROWS["label"], WORDS).by(ROWS["why"].sort_index()),
    "groups of X": lambda: evaluate_rows().by(ROWS["why"].sort_index()),
    "groups inside a group": lambda: (
        evaluate_rows().by(["f", "m", "f", "m"])["f"].by(ROWS["why"][["a", "d"]])
    ),
    "scores": lambda: faithkit.score(LABELS, ROWS["why"]).mean(ROWS["age"].sort_index() / 100),
    "weights of later rows": lambda: evaluate_rows().on(ROWS, weights=ROWS["age"].sort_index()),
}


@one_test
@pytest.mark.parametrize("what", ORDERS)
def test_an_index_in_another_order_is_refused_and_not_ignored(what):
    with pytest.raises(faithkit.errors.InputError, match="have one index in different orders"):
        ORDERS[what]()


@one_test
@pytest.mark.parametrize(
    "index", [range(4), ["d", "b", "a", "c"], ["x", "y", "z", "w"], ["a", "a", "b", "b"], [3, 1, 2, 0]]
)
def test_an_index_that_says_nothing_of_the_order_changes_nothing(index):
    result = faithkit.score(ROWS["label"], pd.Series(WORDS, index=index), X=ROWS)
    shuffled = faithkit.score(pd.Series(LABELS, index=index), pd.Series(WORDS))
    assert result.consistency == shuffled.consistency == USUAL.consistency


# --- relations that do not take the explanations ---------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    "wrap",
    [
        lambda name: name,
        lambda name: ~faithkit.relation(name),
        lambda name: faithkit.relation("same-explanation") & faithkit.relation(name),
    ],
    ids=["by name", "negated", "composed"],
)
def test_explanations_of_a_kind_that_a_relation_does_not_take_are_refused(wrap):
    with pytest.raises(faithkit.errors.InputError) as caught:
        faithkit.score(LABELS, WORDS, relation=wrap("near-explanation:tau=0.5"))
    assert str(caught.value) == (
        "the relation near-explanation:tau=0.5 takes explanations of kind vector, and these are of kind 'value': "
        "use another one, or another explainer."
    )


def test_a_relation_that_declares_no_kinds_takes_all():
    # 0 and 0 of "a" each agree with one of two others, 1 of "a" with none, and nothing shares "b": (½ + ½) / 4
    assert faithkit.score(LABELS, WORDS, relation="same-explanation").sufficiency.value == 0.25


def test_a_frozen_relation_declares_its_kinds(monkeypatch):
    frozen = attrs.frozen(type("Frozen", (SameExplanation,), {}))
    monkeypatch.setattr("faithkit.explanations.relations.SameExplanation", frozen)
    assert faithkit.relation("same-explanation").declared_kinds == ()
