"""same-top-features: whoever agrees on what mattered most; by brute force, and on tables as they come."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import one_test
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

import faithkit
from faithkit import Explanations, Rule
from faithkit.plugin import Interval, OneOf, Sample


def make_relation(**params):
    return faithkit.plugin.registry().create("relation", "same-top-features", params)


def make_explanations(values, X, **fields):
    return Explanations.vectors(values, instances=X, **fields)


def make_rules(values, X, background=None, shared=None, **params):
    fitted = make_relation(**params).fit(X if background is None else background, len(X))
    return fitted.key(make_explanations(values, X, shared=shared or {})).tolist()


# the definition, by hand


def test_the_rule_is_about_the_most_important_features_of_the_explained_instance():
    X = pd.DataFrame(
        {
            "age": [20.0, 30.0, 40.0, 50.0],
            "job": ["cook", "smith", "cook", None],
            "hours": [1, 2, 3, 4],
        }
    )
    phi = [[0.1, -0.9, 0.5], [0.6, 0.0, -0.7], [0.0, 0.0, 0.2], [-0.2, 0.3, 0.1]]
    assert make_rules(phi, X, k=2, bins=2) == [
        Rule([OneOf("job", ["cook"]), Interval("hours", high=2)]),
        Rule([Interval("age", high=30), Interval("hours", high=2)]),
        Rule([Interval("hours", low=2)]),  # two features of importance 0 matter to nobody
        Rule([OneOf("job", [], missing=True), Interval("age", low=30)]),
    ]


def test_bins_are_the_backgrounds_and_not_the_samples():
    background = np.arange(100.0)[:, None]
    sample = np.array([[10.0], [30.0], [1000.0]])
    assert make_rules([[1.0]] * 3, sample, background, k=1, bins=4) == [
        Rule([Interval(0, high=24)]),
        Rule([Interval(0, 24, 49)]),
        Rule([Interval(0, low=74)]),
    ]


def test_few_distinct_numbers_are_told_apart_one_by_one():
    background = np.array([[0.0]] * 97 + [[1.0], [2.0], [3.0]])
    result = make_rules([[1.0]] * 4, np.array([[0.0], [1.0], [2.0], [3.0]]), background, k=1, bins=4)
    ends = [(-math.inf, 0), (0, 1), (1, 2), (2, math.inf)]
    assert result == [Rule([Interval(0, low, high)]) for low, high in ends]


def test_absolute_values_decide_and_of_equal_ones_the_later_column():
    X = np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    assert make_rules([[0.1, -0.5, 0.2]] * 2, X, k=1)[0] == Rule([Interval(1, high=1)])
    assert make_rules([[0.5, -0.5, 0.2]] * 2, X, k=1)[0] == Rule([Interval(1, high=1)])


def test_importances_of_all_classes_are_summed_and_offsets_left_out():
    X = np.array([[1.0, 1.0], [2.0, 2.0]])
    phi = [[0.5, 0.4, -0.1, -0.4, 9.0, 9.0]] * 2  # two classes of two columns, and two offsets
    shared = {"target": "all", "offsets": 2}
    assert make_rules(phi, X, shared=shared, k=1)[0] == Rule([Interval(1, high=1)])  # 0.8 against 0.6


def test_importances_in_another_order_than_the_columns_are_found_by_name():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0]})
    shared = {"names": ["b", "a"]}
    assert make_rules([[0.9, 0.1]] * 2, X, shared=shared, k=1)[0] == Rule([Interval("b", high=1)])


def test_a_category_that_the_background_lacks_agrees_with_itself():
    background = pd.DataFrame({"job": ["cook", "smith"]})
    X = pd.DataFrame({"job": ["nurse", "clerk", "nurse"]})
    phi = make_explanations([[1.0]] * 3, X)
    holds = make_relation(k=1).fit(background, len(X)).holds(Sample(X, phi), phi)
    assert holds.tolist() == [[True, False, True], [False, True, False], [True, False, True]]


def test_a_constant_column_agrees_wherever_there_is_a_value():
    X = np.array([[7.0], [7.0], [np.nan]])
    phi = make_explanations([[1.0]] * 3, X)
    holds = make_relation(k=1).fit(X, len(X)).holds(Sample(X, phi), phi)
    assert holds.tolist() == [[True, True, False], [True, True, False], [False, False, True]]


# brute force


@st.composite
def tables(draw):
    n, k = draw(st.integers(1, 14)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=n).round(1),
            "job": rng.choice(np.array(["cook", "smith", "nurse", None], dtype=object), n),
            3: pd.array(rng.integers(0, 6, n), dtype="Int64"),
            "married": rng.random(n) < 0.5,
        }
    )
    frame.loc[rng.random(n) < 0.2, "age"] = np.nan
    frame.loc[rng.random(n) < 0.2, 3] = pd.NA
    phi = rng.choice([-0.2, -0.1, 0.0, 0.1, 0.2, np.nan], (n, 4))
    return frame, phi, k, draw(st.integers(2, 4))


def find_bin(column, bins):
    """Say in which bin a number lies: how many ends are below it, each the least that enough do not exceed."""
    known = sorted(float(value) for value in column if not pd.isna(value))
    distinct = sorted(set(known))
    ends = set(distinct[:-1])
    if len(distinct) > bins:
        ends = {
            next(v for v in distinct if sum(u <= v for u in known) * bins >= share * len(known))
            for share in range(1, bins)
        } - {distinct[-1]}
    return lambda value: sum(float(value) > end for end in ends)


def agree(value, other, place):
    if pd.isna(value) or pd.isna(other):
        return pd.isna(value) and pd.isna(other)
    return place(value) == place(other)


def pick_top(importances, k):
    matter = [j for j, value in enumerate(importances) if value == value and value != 0]
    return sorted(matter, key=lambda j: (abs(importances[j]), j))[-k:]


@given(tables())
@settings(max_examples=8)
def test_the_fast_path_is_what_comparing_cells_gives(table):
    frame, phi, k, bins = table
    places = [find_bin(frame["age"], bins), str, find_bin(frame[3], bins), bool]
    explanations = make_explanations(phi, frame)
    fitted = make_relation(k=k, bins=bins).fit(frame, len(frame))
    sample = Sample(frame, explanations)
    holds = fitted.holds(sample, explanations)
    n, cells = len(frame), [list(row) for row in frame.itertuples(index=False)]
    expected = [
        [
            not np.isnan(importances).all()  # else there is no explanation
            and all(agree(row[j], other[j], places[j]) for j in pick_top(importances, k))
            for other in cells
        ]
        for row, importances in zip(cells, phi.tolist(), strict=True)
    ]
    assert holds.tolist() == expected
    assert np.array_equal(np.diag(holds), ~explanations.missing)
    assert np.array_equal(
        np.unpackbits(fitted.packed(sample, explanations).view(np.uint8), axis=1)[:, :n], holds
    )


def test_rows_without_an_explanation_apply_to_nothing():
    X = np.arange(4.0)[:, None]
    phi = make_explanations([[1.0], [np.nan], [1.0], [1.0]], X, missing=[False, True, False, False])
    holds = make_relation(k=1).fit(X, len(X)).holds(Sample(X, phi), phi)
    assert holds.any(axis=1).tolist() == [True, False, True, True]


# in a run


def test_sufficiency_of_importances_is_asked_for_and_composes():
    X = np.random.default_rng(0).normal(size=(300, 3))
    middle = np.sort(X[:, 0])[149]

    def model(rows):
        return rows[:, 0] > middle

    def explainer(rows):
        return Explanations.vectors(np.tile([1.0, 0.1, 0.0], (len(rows), 1)))

    plain = faithkit.evaluate(model, X, explainer, background=X)
    assert plain.sufficiency is None
    assert "need a relation" in plain.why_no_sufficiency
    halves = faithkit.evaluate(model, X, explainer, relation="same-top-features:k=1,bins=2", background=X)
    assert halves.sufficiency.value == 1.0
    assert halves.to_dict()["relation"] == "same-top-features:k=1,bins=2"
    thirds = faithkit.evaluate(model, X, explainer, relation="same-top-features:k=1,bins=3", background=X)
    # in the middle third of a hundred one half contradicts the other: 49 of 99 others agree
    assert thirds.sufficiency.value == pytest.approx((1 + 1 + 49 / 99) / 3)
    both = make_relation(k=1, bins=2) & make_relation(k=2, bins=2)
    narrow = faithkit.evaluate(model, X, explainer, relation=both, background=X)
    alone = faithkit.evaluate(model, X, explainer, relation=make_relation(k=2, bins=2), background=X)
    assert narrow.sufficiency.value == alone.sufficiency.value


def test_gradients_of_all_classes_are_checked_on_their_columns():
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = LogisticRegression().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    for target in ("all", "predicted"):
        result = faithkit.evaluate(
            model, X, f"gradient:target={target},offset=true", relation="same-top-features:k=1", background=X
        )
        assert result.sufficiency.value > 0.7


def test_of_fewer_columns_than_k_all_must_agree():
    X = np.arange(12.0).reshape(4, 3)
    assert make_rules([[1.0, 2.0, 3.0]] * 4, X, k=4) == make_rules([[1.0, 2.0, 3.0]] * 4, X, k=3)


def test_where_most_explanations_name_every_column_there_is_no_control_and_where_half_do_there_is_one():
    X = np.random.default_rng(0).normal(size=(60, 3))
    phi = np.ones((60, 3))
    phi[:20, 0] = 0
    missing = faithkit.Explanations.vectors(phi, missing=np.arange(60) >= 50)  # 30 of 50 name all
    for explanations in (phi, missing):
        most = faithkit.score(X[:, 0] > 0, explanations, X, relation="same-top-features:k=3")
        assert most.control is None
        assert most.why_no_control.startswith("most explanations name all 3 columns")
    phi[20:30, 0] = 0
    assert faithkit.score(X[:, 0] > 0, phi, X, relation="same-top-features:k=3").control is not None


# bad input


def test_importances_that_do_not_fit_the_columns_are_refused():
    X = np.zeros((2, 3))
    with pytest.raises(faithkit.errors.InputError, match="2 importances for the 3 columns of the instances"):
        make_rules([[1.0, 2.0]] * 2, X, k=1)
    with pytest.raises(faithkit.errors.InputError, match="7 importances for the 3 columns"):
        make_rules([[1.0] * 7] * 2, X, shared={"target": "all"}, k=1)
    with pytest.raises(faithkit.errors.InputError, match="6 importances for the 3 columns"):
        make_rules([[1.0] * 6] * 2, X, k=1)


def test_instances_are_needed():
    with pytest.raises(faithkit.errors.InputError, match=r"pass X \(CLI: --features\)"):
        faithkit.score([0, 1], [[1.0], [2.0]], relation="same-top-features:k=1")
    with pytest.raises(faithkit.errors.InputError, match=r"pass X \(CLI: --features\)"):
        make_relation(k=1).fit(np.zeros((2, 1)), 2).key(Explanations.vectors([[1.0], [2.0]]))
    with pytest.raises(faithkit.errors.InputError, match="call fit"):
        make_relation(k=1).key(make_explanations([[1.0]], np.zeros((1, 1))))


def test_other_explanations_and_other_rows_than_tables_are_refused():
    X = np.zeros((2, 1))
    with pytest.raises(faithkit.errors.InputError, match="kind 'value'"):
        make_relation(k=1).fit(X, len(X)).key(Explanations.of(["a", "b"], instances=X))
    with pytest.raises(faithkit.errors.InputError, match="the instances are texts"):
        make_relation().fit(["good film"], 1)
    with pytest.raises(faithkit.errors.InputError, match="the instances are a sparse matrix"):
        make_relation().fit(csr_matrix(X), len(X))


@one_test
@pytest.mark.parametrize(
    ("params", "message"),
    [
        *[({"k": k}, "k must be a whole number of at least 1") for k in (0, 1.5, True)],
        *[({"bins": bins}, "bins must be a whole number of at least 2") for bins in (1, "4")],
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(faithkit.errors.ParameterError, match=message):
        make_relation(**params)
