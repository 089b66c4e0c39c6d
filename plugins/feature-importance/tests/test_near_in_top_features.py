"""near-in-top-features: rows as near as the tenth nearest where it matters; by brute force, and by hand."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import one_test
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

import faithkit
from faithkit import Explanations
from faithkit.plugin import Sample


def make_relation(**params):
    return faithkit.plugin.registry().create("relation", "near-in-top-features", params)


def find_scopes(phi, X, background=None, n=None, shared=None, rows_held=None, **params):
    """Return the rows in scope of each explanation, as lists."""
    explanations = Explanations.vectors(phi, instances=X, shared=shared or {})
    relation = make_relation(**params).fit(X if background is None else background, n or len(X))
    held = explanations if rows_held is None else Explanations.of([None] * len(rows_held))
    sample = Sample(X if rows_held is None else rows_held, held)
    matrix = relation.holds(sample, explanations)
    bits = relation.packed(sample, explanations).view(np.uint8)
    assert np.array_equal(np.unpackbits(bits, axis=1)[:, : len(sample)], matrix)
    return [np.flatnonzero(row).tolist() for row in matrix]


def column(*values):
    return np.array(values, dtype=float)[:, None]


# by hand


def test_a_row_does_not_count_for_itself_and_ties_belong():
    X = column(1, 2, 3, 4, 9)  # distances are differences of ranks
    assert find_scopes([[1.0]] * 5, X, rows=1) == [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4]]


def test_of_equal_rows_one_is_the_row_itself():
    X = column(1, 1, 2, 3)
    assert find_scopes([[1.0]] * 4, X, rows=1) == [[0, 1], [0, 1], [2, 3], [2, 3]]
    assert find_scopes([[1.0]] * 4, X, rows=2)[0] == [0, 1, 2]


def test_a_copy_is_equal_in_all_columns_and_not_only_in_those_that_are_compared():
    X = np.array([[5.0, 0.0]])
    far, copy = np.array([[5.0, 1.0], [6.0, 0.0]]), np.array([[5.0, 0.0], [6.0, 0.0]])
    held = np.array([[5.0, 0.0], [6.0, 0.0]])
    options = {"n": 1, "rows": 1, "most": 1, "rows_held": held}
    # ceil(1 · 2 / 1) is 2, of which a background with a copy has one left: the same row
    assert find_scopes([[1.0, 0.0]], X, far, **options) == [[0, 1]]
    assert find_scopes([[1.0, 0.0]], X, copy, **options) == [[0, 1]]
    # among two held rows one is near: of the copy it is the other row, else the row with the same number
    options["n"] = 2
    assert find_scopes([[1.0, 0.0]], X, far, **options) == [[0]]
    assert find_scopes([[1.0, 0.0]], X, copy, **options) == [[0, 1]]


def test_the_share_of_near_rows_is_that_of_the_background_whatever_is_held():
    background, X = column(*range(100)), column(0, 50)
    held = column(*np.arange(0, 100, 0.5))
    scopes = find_scopes([[1.0]] * 2, X, background, n=50, rows=5, rows_held=held)
    # the tenth nearest of 99 others: 10 to one side, 5 to either; the ranks of halves lie between
    assert scopes[0] == list(range(21))
    assert scopes[1] == list(range(90, 111))


def test_ranks_are_rounded_up_without_float_noise():
    assert make_relation(rows=7).fit(column(*range(100)), 25).rank_ == 28  # 7 / 25 · 100 is more in floats
    assert make_relation(rows=10).fit(column(*range(101)), 100).rank_ == 11
    many = make_relation(rows=10).fit(column(*range(4)), 4)
    explanations = Explanations.vectors([[1.0]] * 4, instances=column(*range(4)))
    assert many.holds(Sample(column(*range(4)), explanations), explanations).all()


def test_features_are_the_fewest_that_carry_the_share_and_the_earlier_of_equals():
    X = np.zeros((1, 6))

    def named(importances, **params):
        explanations = Explanations.vectors([importances], instances=X)
        key = make_relation(**params).fit(X, 1).key(explanations)
        return np.flatnonzero(key[0, :-1] >= 0).tolist()

    assert named([0.5, 0.0, -0.3, 0.1, 0.1, 0.0]) == [0, 2]  # 0.8 of 1, exactly
    assert named([0.5, 0.0, -0.29, 0.11, 0.1, 0.0]) == [0, 2, 3]
    assert named([1.0, 1.0, 1.0, 1.0, 1.0, 1.0]) == [0, 1, 2, 3, 4]
    assert named([1.0, -1.0, 1.0, 1.0, 1.0, 1.0], most=2) == [0, 1]
    assert named([0.0, np.nan, 0.2, 0.0, 0.0, 0.0], share=1.0) == [2]


def test_an_explanation_without_importances_holds_for_nothing():
    X = np.zeros((3, 2))
    assert find_scopes([[0.0, -0.0], [np.nan, 0.0], [1.0, 0.0]], X) == [[], [], [0, 1, 2]]


def test_categories_are_equal_or_not_and_missing_values_equal_each_other():
    X = pd.DataFrame(
        {"job": ["cook", "nurse", "cook", None, None], "retired": [True, False, True, True, None]}
    )
    expected = [[0, 2], [0, 1, 2, 3, 4], [0, 2], [3, 4], [3, 4]]  # the nearest nurse is anybody else
    assert find_scopes([[1.0, 0.0]] * 5, X, rows=1) == expected
    known = [[0, 2, 3], [0, 1, 2, 3, 4], [0, 2, 3], [0, 2, 3], [0, 1, 2, 3, 4]]
    assert find_scopes([[0.0, 1.0]] * 5, X, rows=1) == known


def test_a_category_that_the_background_lacks_is_near_itself():
    background = pd.DataFrame({"job": ["cook", "smith", "cook"], "age": [1.0, 2.0, 3.0]})
    X = pd.DataFrame({"job": ["nurse", "clerk", "nurse"], "age": [0.0, 0.0, 0.0]})
    explanations = Explanations.vectors([[0.5, 0.5]] * 3, instances=X)
    relation = make_relation(rows=1).fit(background, 3)
    # the nearest of the background has another job and another age
    assert relation.holds(Sample(X, explanations), explanations).all()
    shifted = relation.fit(background.assign(job=["nurse", "smith", "cook"]), 3)
    holds = shifted.holds(Sample(X, explanations), explanations)
    assert holds.tolist() == [[True, False, True], [True, True, True], [True, False, True]]


def test_dates_are_numbers():
    X = pd.DataFrame({"signed": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-03-01", None, None])})
    assert find_scopes([[1.0]] * 5, X, rows=1) == [[0, 1], [0, 1, 2], [1, 2], [3, 4], [3, 4]]


def test_importances_of_all_classes_are_summed_and_offsets_left_out():
    X = np.array([[1.0, 1.0], [2.0, 9.0], [9.0, 2.0]])
    phi = [[0.5, 0.4, -0.1, -0.4, 9.0, 9.0]] * 3  # two classes of two columns, and two offsets
    # 0.6 and 0.8 of 1.4: the second column alone carries half
    shared = {"target": "all", "offsets": 2}
    assert find_scopes(phi, X, shared=shared, share=0.5, rows=1)[0] == [0, 2]


def test_importances_in_another_order_than_the_columns_are_found_by_name():
    X = pd.DataFrame({"a": [1.0, 2.0, 9.0], "b": [1.0, 9.0, 2.0]})
    assert find_scopes([[1.0, 0.0]] * 3, X, shared={"names": ["b", "a"]}, rows=1)[0] == [0, 2]


# brute force


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(1, 12)), draw(st.integers(0, 15))

    def rows(size):
        frame = pd.DataFrame(
            {
                "age": rng.normal(size=size).round(draw(st.sampled_from([0, 5]))),
                "job": rng.choice(np.array(["cook", "smith", "nurse", None], dtype=object), size),
                3: pd.array(rng.integers(0, 4, size), dtype="Int64"),
                "married": rng.random(size) < 0.5,
            }
        )
        frame.loc[rng.random(size) < 0.2, "age"] = np.nan
        frame.loc[rng.random(size) < 0.2, 3] = pd.NA
        return frame

    everybody = rows(n + m)
    sample = everybody.iloc[:n]
    is_repeat = rng.random(m) < 0.4
    background = everybody.iloc[np.where(is_repeat, rng.integers(0, n, m), np.arange(n, n + m))]
    phi = rng.choice([-0.2, -0.1, 0.0, 0.1, 0.5, np.nan], (n, 4))
    share = draw(st.sampled_from([0.5, 0.8, 1.0]))
    return sample, background, phi, share, draw(st.integers(1, 12)), draw(st.integers(1, 4))


def slow_scope(i, sample, learnt, phi, share, rows, most):
    """Say for every row of the sample whether explanation i holds, in fractions and by single cells."""

    def gap(name, a, b):
        if pd.isna(a) or pd.isna(b):
            return Fraction(int(pd.isna(a) != pd.isna(b)))
        if name in ("job", "married"):
            return Fraction(int(a != b))
        known = [float(v) for v in learnt[name] if not pd.isna(v)]
        twice_ranks = [sum(v < float(x) for v in known) + sum(v <= float(x) for v in known) for x in (a, b)]
        return Fraction(abs(twice_ranks[0] - twice_ranks[1]), 2 * max(1, len(known)))

    def distance(row):
        return sum(gap(name, sample.iloc[i][name], row[name]) for name in named)

    sizes = [0 if v != v else round(abs(v) * 10) for v in phi[i]]
    named, carried = [], 0
    for size, _, name in sorted(
        (-size, j, name) for j, (size, name) in enumerate(zip(sizes, sample, strict=True))
    ):
        if carried < Fraction(str(share)) * sum(sizes) and len(named) < most:
            named, carried = [*named, name], carried - size
    if not named:
        return [False] * len(sample)
    others = [row for _, row in learnt.iterrows()]
    own = [str(v) for v in sample.iloc[i]]
    copy = next((k for k, row in enumerate(others) if [str(v) for v in row] == own), None)
    if copy is not None:
        del others[copy]
    nearest = sorted(map(distance, others))
    rank = min(-((-rows * len(learnt)) // len(sample)), len(nearest))
    radius = nearest[rank - 1] if nearest else 0
    return [distance(row) <= radius for _, row in sample.iterrows()]


@given(tables())
@settings(max_examples=40)
def test_scopes_are_what_comparing_cells_gives(table):
    sample, background, phi, share, rows, most = table
    learnt = background if len(background) >= len(sample) else sample
    params = {"share": share, "rows": rows, "most": most}
    explanations = Explanations.vectors(phi, instances=sample)
    relation = make_relation(**params).fit(learnt, len(sample))
    holds = relation.holds(Sample(sample, explanations), explanations)
    expected = [slow_scope(i, sample, learnt, phi, **params) for i in range(len(sample))]
    assert holds.tolist() == expected


def test_batches_threads_and_another_order_of_rows_change_nothing():
    rng = np.random.default_rng(0)
    X, background = rng.integers(0, 9, (300, 5)) / 7, rng.integers(0, 9, (500, 5)) / 7
    phi = rng.normal(size=(300, 5)).round(1)
    relation = make_relation(rows=7).fit(background, 300)

    def scopes(rows):
        explanations = Explanations.vectors(phi[rows], instances=X[rows])
        sample = Sample(X, Explanations.vectors(phi, instances=X))
        return np.unpackbits(relation.packed(sample, explanations).view(np.uint8), axis=1, count=300)

    order = rng.permutation(300)
    whole = scopes(np.arange(300))
    assert np.array_equal(np.concatenate([scopes(np.arange(s, s + 60)) for s in range(0, 300, 60)]), whole)
    assert np.array_equal(scopes(order), whole[order])
    shuffled = make_relation(rows=7).fit(background[rng.permutation(500)], 300)
    explanations = Explanations.vectors(phi, instances=X)
    assert np.array_equal(
        shuffled.packed(Sample(X, explanations), explanations),
        np.packbits(np.pad(whole, ((0, 0), (0, 20))), axis=1).view(np.uint64),
    )


# in a run


def test_it_is_the_default_of_importances_and_says_its_parameters():
    X = np.random.default_rng(0).normal(size=(300, 4))
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    result = faithkit.evaluate(model, X[:150], "shap", background=X[150:])
    assert result.relation == "near-in-top-features:share=0.8,rows=10,most=5"
    assert result.sufficiency.value > 0.9
    assert result.control.difference.low > 0


def test_a_pool_is_part_of_the_rows_that_can_be_held():
    rng = np.random.default_rng(0)
    X, pool = rng.normal(size=(50, 3)), rng.normal(size=(450, 3))
    labels, phi = X[:, 0] > 0, np.tile([1.0, 0.0, 0.0], (50, 1))
    relation = make_relation(rows=20).fit(np.concatenate([X, pool]), 500)
    explanations = Explanations.vectors(phi, instances=X)
    blank = Explanations.of([None] * 450)
    samples = Sample(X, explanations), Sample(pool, blank)
    n_near = sum(relation.holds(sample, explanations).sum(axis=1) for sample in samples)
    assert set(n_near) == {21}  # twenty others, and the row itself
    result = faithkit.score(labels, phi, X, relation=make_relation(rows=20), pool=(pool, pool[:, 0] > 0))
    assert result.sufficiency.value > 0.9


def test_the_control_permutes_importances_and_there_is_none_where_most_name_all_columns():
    X = np.random.default_rng(0).normal(size=(60, 3))
    phi = np.tile([[3.0, 1.0, 0.0]], (60, 1))
    explanations = Explanations.vectors(phi, instances=X)
    relation = make_relation().fit(X, 60)
    seeds = np.arange(60, dtype=np.uint32)
    control = relation.control(Sample(X, explanations), explanations, seeds)
    assert np.array_equal(np.sort(control.values, axis=1), np.sort(phi, axis=1))
    assert len(np.unique(control.values, axis=0)) == 6
    even = faithkit.score(X[:, 0] > 0, np.ones((60, 3)), X, relation=make_relation())
    assert even.why_no_control.startswith("most explanations name all 3 columns")
    assert even.why_no_control.endswith("such as near-in-top-features:most=1")


def test_owners_of_compositions_are_limited_by_the_strictest_part():
    near, plain = make_relation(), faithkit.relation("same-explanation")
    assert (
        near.max_owners
        == (~near).max_owners
        == (near & plain).max_owners
        == (plain | near).max_owners
        == 10_000
    )
    assert (plain & ~plain).max_owners is None


# bad input


def test_importances_that_do_not_fit_the_columns_are_refused():
    X = np.zeros((2, 3))
    for width in (2, 6):
        message = f"near-in-top-features: {width} importances for the 3 columns of the instances"
        with pytest.raises(faithkit.errors.InputError, match=message):
            find_scopes([[1.0] * width] * 2, X)
    with pytest.raises(faithkit.errors.InputError, match="row 0 has an infinite importance"):
        find_scopes([[np.inf, 0.0, 0.0]] * 2, X)


def test_instances_and_ranks_are_needed():
    with pytest.raises(faithkit.errors.InputError, match=r"pass X \(CLI: --features\)"):
        faithkit.score([0, 1], [[1.0], [2.0]], relation="near-in-top-features")
    with pytest.raises(faithkit.errors.InputError, match=r"pass X \(CLI: --features\)"):
        make_relation().fit(np.zeros((2, 1)), 2).key(Explanations.vectors([[1.0], [2.0]]))
    with pytest.raises(faithkit.errors.InputError, match="call fit"):
        make_relation().key(Explanations.vectors([[1.0]], instances=np.zeros((1, 1))))


def test_other_explanations_and_other_rows_than_tables_are_refused():
    X = np.zeros((2, 1))
    with pytest.raises(faithkit.errors.InputError, match="kind 'value'"):
        make_relation().fit(X, 2).key(Explanations.of(["a", "b"], instances=X))
    with pytest.raises(
        faithkit.errors.InputError, match="near-in-top-features compares the columns of tables"
    ):
        make_relation().fit(["good film"], 1)
    with pytest.raises(faithkit.errors.InputError, match="the instances are a sparse matrix"):
        make_relation().fit(csr_matrix(X), 2)
    with pytest.raises(faithkit.errors.InputError, match="have no columns to encode"):
        make_relation().fit(np.zeros((2, 3, 3)), 2)


@one_test
@pytest.mark.parametrize(
    ("params", "message"),
    [
        *[
            ({"share": share}, "share must be a number above 0 and at most 1")
            for share in (0, 1.1, "0.8", True)
        ],
        *[({"rows": rows}, "rows must be a whole number of at least 1") for rows in (0, 2.5)],
        *[({"most": most}, "most must be a whole number of at least 1") for most in (0, "5")],
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(faithkit.errors.ParameterError, match=message):
        make_relation(**params)
