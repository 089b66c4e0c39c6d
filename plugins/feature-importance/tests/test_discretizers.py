"""Discretizations of importances: golden vectors by hand, brute force for every fast path, and what they refuse."""

import math
import warnings
from decimal import ROUND_FLOOR, Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from looping import one_test
from sklearn.linear_model import LogisticRegression

import faithkit

NAN = math.nan
NAMES = ("fp", "sign", "rank", "sign-of-top", "quantile")
# few values, so that ties are frequent; 0.1 and −0.1 tie in size
VALUES = st.sampled_from([-2.0, -0.31, -0.1, -0.0, 0.0, 0.05, 0.1, 0.31, 0.999, 1.0, NAN])
TABLES = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=VALUES)


def make_discretizer(name, **params):
    return faithkit.plugin.registry().create("discretizer", name, params)


def discretize(name, values, shared=None, **params):
    discretizer = make_discretizer(name, **params)
    phi = faithkit.Explanations.vectors(values, shared=shared or {})
    if hasattr(discretizer, "fit"):
        discretizer.fit(phi)
    return discretizer.discretize(phi)


def are_same(result, expected):
    return np.array_equal(np.asarray(result, dtype=float), np.asarray(expected, dtype=float), equal_nan=True)


@pytest.fixture
def small_blocks(monkeypatch):
    """Let blocks end within the arrays of these tests."""
    import faithkit_feature_importance.discretizers as discretizers
    import faithkit_feature_importance.importances as importances

    for module in (importances, discretizers):
        monkeypatch.setattr(module, "ROWS_PER_BATCH", 3)
    monkeypatch.setattr(discretizers, "VALUES_PER_BATCH", 3)


# golden vectors


def test_fp_floors_towards_minus_infinity_as_the_paper_prints_it():
    golden = [[0.19, -0.19, 0.0, -0.0, 0.1, -0.01, 0.999, 1.0]]
    assert discretize("fp", golden, digits=1).tolist() == [[0.1, -0.2, 0.0, 0.0, 0.1, -0.1, 0.9, 1.0]]
    assert discretize("fp", golden, digits=2).tolist() == [[0.19, -0.19, 0.0, 0.0, 0.1, -0.01, 0.99, 1.0]]
    rounded = discretize("fp", golden, digits=1, how="round").tolist()
    assert rounded == [[0.2, -0.2, 0.0, 0.0, 0.1, 0.0, 1.0, 1.0]]
    assert are_same(discretize("fp", [[NAN, 0.55]], digits=1), [[NAN, 0.5]])


def test_fp_keeps_whole_numbers_with_no_digits():
    assert discretize("fp", [[1.9, -0.5, -2.0]], digits=0).tolist() == [[1.0, -1.0, -2.0]]


def test_the_aliases_are_the_papers():
    phi = [[0.186, -0.186, 0.05, 0.04, -0.03, 0.02, 0.01]]
    assert discretize("1fp", phi).tolist() == [[0.1, -0.2, 0.0, 0.0, -0.1, 0.0, 0.0]]
    assert discretize("2fp", phi).tolist() == [[0.18, -0.19, 0.05, 0.04, -0.03, 0.02, 0.01]]
    assert discretize("sign-of-top-5", phi).tolist() == [[1, -1, 1, 1, -1, 0, 0]]


def test_sign_has_three_values_and_nan():
    assert are_same(discretize("sign", [[0.3, -1e-300, 0.0, -0.0, NAN]]), [[1, -1, 0, 0, NAN]])


def test_no_discretizer_gives_a_negative_zero():
    for name in ("fp", "sign", "quantile"):
        assert not np.signbit(discretize(name, [[-0.0, 0.0, 0.0]])).any()


def test_rank_lists_the_columns_from_the_smallest_importance_to_the_largest():
    # by absolute value it would be 1 2 3 0, from the largest 2 1 3 0, and the ranks themselves are 0 2 3 1
    assert discretize("rank", [[-0.5, 0.1, 0.2, -0.3]]).tolist() == [[0, 3, 1, 2]]


def test_rank_leaves_equal_importances_in_column_order_and_puts_nan_last():
    golden = [[0.34, NAN, -0.29, 0.0, -0.0, 0.34, -0.05]]
    assert discretize("rank", golden).tolist() == [[2, 6, 3, 4, 0, 5, 1]]


def test_sign_of_top_keeps_the_largest_absolute_importances_wherever_they_are():
    phi = [[0.1, -0.5, 0.0, 0.3, -0.2, 0.4, -0.05]]
    # the first three columns would be 1 −1 0 …, the three largest numbers those of columns 5, 3 and 0
    assert discretize("sign-of-top", phi, k=3).tolist() == [[0, -1, 0, 1, 0, 1, 0]]
    assert discretize("sign-of-top", phi, k=1).tolist() == [[0, -1, 0, 0, 0, 0, 0]]
    assert discretize("sign-of-top", phi, k=7).tolist() == [[1, -1, 0, 1, -1, 1, -1]]


def test_sign_of_top_takes_the_later_of_equal_importances_at_the_edge():
    """The paper's rank of |φ| is an argsort; a stable one ranks the later of equals higher."""
    assert discretize("sign-of-top", [[0.2, -0.2, 0.2]], k=2).tolist() == [[0, -1, 1]]
    assert discretize("sign-of-top", [[0.2, -0.2, 0.9]], k=2).tolist() == [[0, -1, 1]]


def test_sign_of_top_of_zeros_is_zero_and_nan_is_never_at_the_top():
    assert discretize("sign-of-top", [[0.0, 0.3, -0.0]], k=2).tolist() == [[0, 1, 0]]
    assert discretize("sign-of-top", [[NAN, 0.1, -0.2]], k=1).tolist() == [[0, 0, -1]]
    assert discretize("sign-of-top", [[NAN, NAN, -0.2]], k=2).tolist() == [[0, 0, -1]]


def test_quantile_cuts_each_column_by_its_own_scale():
    background = faithkit.Explanations.vectors([[1.0, -4e6], [2.0, -3e6], [3.0, 1e6], [4.0, 2e6], [NAN, NAN]])
    halves = make_discretizer("quantile", bins=2).fit(background)
    phi = faithkit.Explanations.vectors([[-9.0, -3e6], [2.0, -2.9e6], [2.1, NAN], [99.0, 0.0]])
    assert are_same(halves.discretize(phi), [[0, 0], [0, 1], [1, NAN], [1, 1]])


def test_quantile_gives_few_distinct_values_a_bin_each():
    background = faithkit.Explanations.vectors([[0.0]] * 97 + [[-1.0], [5.0], [9.0]])
    fitted = make_discretizer("quantile", bins=4).fit(background)
    phi = faithkit.Explanations.vectors([[-1.0], [-0.0], [5.0], [9.0], [7.0]])
    assert fitted.discretize(phi).ravel().tolist() == [0, 1, 2, 3, 3]
    # one value more than bins, and nearly all are equal: quantiles fall together
    crowded = faithkit.Explanations.vectors([[0.0]] * 97 + [[1.0], [2.0], [3.0], [4.0]])
    assert (
        make_discretizer("quantile").fit(crowded).discretize(crowded).ravel().tolist() == [0] * 97 + [1] * 4
    )


# brute force


def sort_columns(row):
    """Sort columns as Python does, by value and then by column, NaN last."""
    return sorted(range(len(row)), key=lambda j: (row[j] != row[j], row[j] if row[j] == row[j] else 0.0, j))


@pytest.mark.usefixtures("small_blocks")
@given(TABLES)
def test_rank_is_what_sorting_gives(values):
    assert discretize("rank", values).tolist() == [sort_columns(row) for row in values.tolist()]


def select_top_signs(row, k):
    """Take the largest absolute value k times, the last one of equals."""
    signs = [0] * len(row)
    left = {j for j, value in enumerate(row) if value == value and value != 0}
    for _ in range(min(k, len(left))):
        best = max(left, key=lambda j: (abs(row[j]), j))
        signs[best] = 1 if row[best] > 0 else -1
        left.remove(best)
    return signs


@pytest.mark.usefixtures("small_blocks")
@given(TABLES, st.data())
def test_sign_of_top_is_what_repeated_selection_gives(values, data):
    k = data.draw(st.integers(1, values.shape[1]))
    result = discretize("sign-of-top", values, k=k).tolist()
    assert result == [select_top_signs(row, k) for row in values.tolist()]


def floor_as_written(value, digits):
    """Cut the number as Python writes it, in decimal: 0.29 has the digits 2 and 9, whatever it is in binary."""
    if value != value:
        return NAN
    with localcontext(prec=400):
        cut = Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_FLOOR)
    return float(cut) + 0.0


# with few decimals, just beside such numbers, of any size, and at the edge where floats have no decimals left
WRITTEN = st.builds(
    lambda n, k: float(Decimal(n).scaleb(-k)), st.integers(-(10**15), 10**15), st.integers(0, 17)
)
BESIDE = st.builds(math.nextafter, WRITTEN, st.sampled_from([-math.inf, math.inf]))
EDGE = st.builds(lambda x, k: x / 10**k, st.floats(2.0**48, 2.0**55), st.integers(0, 15)).flatmap(
    lambda x: st.sampled_from([x, -x])
)
ANY = st.one_of(WRITTEN, BESIDE, EDGE, st.floats(allow_infinity=False), VALUES)
COLUMNS = st.lists(ANY, min_size=1, max_size=9).map(lambda column: np.array(column)[:, None])


@pytest.mark.usefixtures("small_blocks")
@settings(max_examples=60)
@given(COLUMNS, st.integers(0, 15))
def test_fp_cuts_every_number_as_it_is_written(values, digits):
    expected = [[floor_as_written(value, digits)] for value in values.ravel().tolist()]
    assert are_same(discretize("fp", values, digits=digits), expected)


def test_every_number_of_two_decimals_is_its_own_2fp():
    written = np.array([float(f"{n // 100}.{n % 100:02}") for n in range(30_000)])[:, None]
    assert are_same(discretize("2fp", written), written)
    assert are_same(discretize("2fp", -written), -written + 0.0)
    assert are_same(discretize("fp", written, digits=2, how="round"), written)


def test_fp_unites_the_same_numbers_whatever_else_is_in_the_batch():
    """A number of any size beside it must not change where a number is cut."""
    tricky = [0.29, 0.57, math.nextafter(0.29, 0), -0.29, 1.1, 2.3, 0.289999]
    alone = [discretize("2fp", [[value]]).item() for value in tricky]
    assert alone == [0.29, 0.57, 0.28, -0.29, 1.1, 2.3, 0.28]
    for beside in (1e13, 1e300, NAN, -5e-324):
        assert discretize("2fp", [[value, beside] for value in tricky])[:, 0].tolist() == alone


@one_test
@pytest.mark.parametrize("how", ["floor", "round"])
def test_numbers_too_large_to_have_decimals_stay_as_they_are(how):
    huge = [[1.7976931348623157e308, -1.7976931348623157e308, 1e300, 2.0**53 + 2]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert discretize("fp", huge, digits=2, how=how).tolist() == huge


def test_fp_of_the_tiniest_numbers_is_zero_or_one_step_below():
    assert discretize("2fp", [[5e-324, -5e-324, 1e-300, -1e-300]]).tolist() == [[0.0, -0.01, 0.0, -0.01]]


@given(TABLES, st.integers(0, 3))
def test_fp_that_rounds_is_what_python_computes_number_by_number(values, digits):
    scale = 10.0**digits
    expected = [[NAN if v != v else round(v * scale) / scale for v in row] for row in values.tolist()]
    assert are_same(discretize("fp", values, digits=digits, how="round"), expected)


@given(TABLES)
def test_sign_is_what_python_computes_number_by_number(values):
    expected = [[NAN if v != v else (v > 0) - (v < 0) for v in row] for row in values.tolist()]
    assert are_same(discretize("sign", values), expected)


def count_cuts_below(row, cuts):
    return [NAN if v != v else sum(v > cut for cut in ends) for v, ends in zip(row, cuts, strict=True)]


def find_cuts(column, bins):
    """The smallest value that so many of all do not exceed, for every share; no end above all values."""
    known = sorted(value + 0.0 for value in column if value == value)
    distinct = sorted(set(known))
    if len(distinct) <= bins:
        return distinct[:-1]
    ends = {
        next(v for v in distinct if sum(u <= v for u in known) * bins >= share * len(known))
        for share in range(1, bins)
    }
    return sorted(ends - {distinct[-1]})


@pytest.mark.usefixtures("small_blocks")
@given(TABLES, st.integers(2, 5))
def test_quantile_is_what_counting_gives(values, bins):
    cuts = [find_cuts(column, bins) for column in values.T.tolist()]
    expected = [count_cuts_below(row, cuts) for row in values.tolist()]
    assert are_same(discretize("quantile", values, bins=bins), expected)


# whole numbers, single precision, wide and empty tables, missing rows


@one_test
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.bool_, np.float32])
def test_numbers_of_any_type_are_read_as_float64(name, dtype):
    values = np.array([[1, 0, 1, 0, 1], [0, 1, 1, 0, 0], [1, 1, 1, 1, 1]]).astype(dtype)
    assert are_same(discretize(name, values), discretize(name, values.astype(np.float64)))


def test_rank_of_hundreds_of_columns_has_room_for_their_numbers():
    values = np.random.default_rng(0).normal(size=(3, 700))
    assert discretize("rank", values).tolist() == np.argsort(values, axis=1).tolist()


@one_test
@pytest.mark.parametrize("name", NAMES)
def test_nothing_gives_nothing(name):
    assert len(discretize(name, np.empty((0, 6)))) == 0


@one_test
@pytest.mark.parametrize("name", NAMES)
def test_a_row_without_an_explanation_may_hold_anything(name):
    values = np.array([[1.0, -2.0, 3.0, 4.0, 5.0], [np.inf, NAN, 0.0, 0.0, 0.0]])
    phi = faithkit.Explanations.vectors(values, missing=[False, True])
    discretizer = make_discretizer(name)
    if hasattr(discretizer, "fit"):
        discretizer.fit(phi)
    assert len(discretizer.discretize(phi)) == 2


# offsets


@one_test
@pytest.mark.parametrize("name", ["fp", "sign", "quantile"])
def test_an_offset_is_part_of_the_identity(name):
    values = [[0.11, 0.52, -0.7], [0.11, 0.52, 0.7]]
    first, second = discretize(name, values, shared={"offsets": 1}).tolist()
    assert first[:2] == second[:2]
    assert first[2] != second[2]


@one_test
@pytest.mark.parametrize(("name", "params"), [("rank", {}), ("sign-of-top", {"k": 2})])
def test_an_offset_has_no_place_in_an_order(name, params):
    without = discretize(name, [[0.11, -0.52]], **params)
    with_offset = discretize(name, [[0.11, -0.52, -9.0]], shared={"offsets": 1}, **params)
    assert with_offset.tolist() == without.tolist()


# in a run


def test_quantile_learns_from_the_background_and_not_from_the_sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    sample, background = X[:50] * 3, X[50:]
    result = faithkit.evaluate(
        model, sample, "gradient", discretizer="quantile:bins=3", background=background
    )
    phi = faithkit.evaluate(model, background, "gradient", background=background).rows.explanations
    expected = make_discretizer("quantile", bins=3).fit(phi).discretize(result.rows.explanations)
    assert are_same(result.rows.explanations.identities, expected)
    part = faithkit.evaluate(
        model, sample[:7], "gradient", discretizer="quantile:bins=3", background=background[::-1]
    )
    assert are_same(part.rows.explanations.identities, expected[:7])


def test_a_discretizer_that_learns_sees_a_thousand_background_rows_in_any_order():
    fitted_values = []

    class Learner:
        def fit(self, explanations):
            fitted_values.append(sorted(explanations.values.ravel().tolist()))
            return self

        def discretize(self, explanations):
            return explanations.values

    # each of ten rows occurs 500 times, and has its share of what is seen
    background = np.repeat(np.arange(10.0), 500)[:, None]
    for order in (slice(None), slice(None, None, -1)):
        faithkit.evaluate(
            lambda X: X[:, 0] > 1,
            background[:3],
            lambda X: X,
            discretizer=Learner(),
            background=background[order],
        )
    assert fitted_values[0] == fitted_values[1] == np.repeat(np.arange(10.0), 100).tolist()


# bad input


@one_test
@pytest.mark.parametrize("name", NAMES)
def test_explanations_that_are_no_vectors_are_refused(name):
    words, discretizer = faithkit.Explanations.of(["good", "bad"]), make_discretizer(name)
    ask = getattr(discretizer, "fit", discretizer.discretize)
    with pytest.raises(
        faithkit.errors.InputError, match=f"{name} reads feature importances .* of kind 'value'"
    ):
        ask(words)


def test_sign_of_top_refuses_more_than_there_are():
    with pytest.raises(faithkit.errors.InputError, match="k is 4, and the explanations have 3 importances"):
        discretize("sign-of-top", [[1.0, 2.0, 3.0]], k=4)
    with pytest.raises(faithkit.errors.InputError, match="k is 3, and the explanations have 2 importances"):
        discretize("sign-of-top", [[1.0, 2.0, 3.0]], shared={"offsets": 1}, k=3)


def test_quantile_refuses_other_columns_and_explanations_before_it_learnt():
    phi = faithkit.Explanations.vectors([[1.0, 2.0]])
    with pytest.raises(faithkit.errors.InputError, match="call fit"):
        make_discretizer("quantile").discretize(phi)
    with pytest.raises(
        faithkit.errors.InputError, match="bins of 1 importances, and these explanations have 2"
    ):
        make_discretizer("quantile").fit(faithkit.Explanations.vectors([[1.0]])).discretize(phi)


@one_test
@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        *[("fp", {"digits": digits}, "digits") for digits in (-1, 1.5, 99, True)],
        ("fp", {"how": "ceil"}, "'floor' or 'round'"),
        *[("sign-of-top", {"k": k}, "k must be a whole number of at least 1") for k in (0, 2.0, True, "5")],
        *[
            ("quantile", {"bins": bins}, "bins must be a whole number of at least 2")
            for bins in (1, 2.5, True)
        ],
    ],
)
def test_wrong_parameters_are_refused(name, params, message):
    with pytest.raises(faithkit.errors.ParameterError, match=message):
        make_discretizer(name, **params)


def word_explanation(discretizer):
    names = {"names": ["age", "job"]}
    phi = faithkit.Explanations.vectors([[0.5, 0.1], [0.5, 0.1], [0.1, 0.5]], shared=names)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", faithkit.errors.FaithkitWarning
        )  # quantile learns from the log itself
        return faithkit.score(["a", "b", "a"], phi, discretizer=discretizer).local(0).explanation


def test_an_identity_whose_numbers_mean_something_else_is_worded_by_its_discretizer():
    assert word_explanation("rank") == "job ≤ age"
    assert word_explanation("quantile:bins=2") == "age in bin 2, job in bin 1"
    assert word_explanation("sign") == "age +, job +"
    assert word_explanation("sign-of-top:k=1") == "age +"
