"""Estimators: every score and mean by hand, and the decoders they stand for."""

from itertools import permutations
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from laws import gibbs_error, optimal_error
from looping import one_test
from matrices import count_of, grouped

import faithkit
from faithkit.errors import ContractError, InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import SameExplanation
from faithkit.measure.agreement.base import chance
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.counting import tally as tallies
from faithkit.measure.counting.count import count
from faithkit.measure.counting.tally import Tally
from faithkit.measure.estimate import estimate
from faithkit.measure.estimators import (
    FunctionEstimator,
    LeaveOneOut,
    Majority,
    PlugIn,
    VerifiedOnly,
    by_chance,
    check_scores,
    divide_safely,
    mean_score,
    mean_score_of_tallies,
)
from faithkit.measure.jackknife.summary import JackknifeEstimate

NAN = float("nan")

# u = 0 is shared by two of label 0 and one of label 1, u = 1 belongs to one instance alone
GROUPED = Tally(np.array([[2, 1], [1, 0]]), np.array([[[0, 0], [0, 0]], [[2, 1], [1, 0]]]))

# Four instances: u = 0 holds for three (labels 0, 0, 1) and u = 1 for one (label 1). u = 0 explains one
# instance of label 0 that it holds for and one of label 1 that it does not; u = 1 explains one of label 0
# it does not hold for, and the one of label 1 that it holds for.
GENERAL = Tally(np.array([[2, 1], [0, 1]]), np.array([[[0, 1], [1, 0]], [[1, 0], [0, 1]]]))

# u = 0: labels 0 and 1 tie at two each, label 2 has one; u = 1: all three tie; u = 2 holds for nothing
TIED = Tally(
    np.array([[2, 2, 1], [1, 1, 1], [0, 0, 0]]),
    np.array([[[0, 0, 0], [0, 0, 0], [0, 1, 0]], [[2, 2, 1], [1, 1, 1], [0, 0, 0]]]),
)


def score(estimator, tally):
    return mean_score(check_scores(estimator, tally), tally.owners)


def summarise(tally, estimator, confidence=0.95):
    result = count_of(tally)
    return estimate(result, JackknifeEstimate.of(result).statistics, estimator, confidence)


def test_leave_one_out_by_hand():
    scores = LeaveOneOut().scores(GROUPED)
    assert scores[1].tolist() == [[1 / 2, 0.0], [0.0, 0.0]]
    assert score(LeaveOneOut(), GROUPED) == pytest.approx((1 / 2 + 1 / 2 + 0 + 0) / 4)


def test_leave_one_out_subtracts_the_instance_only_where_its_explanation_holds_for_it():
    scores = LeaveOneOut().scores(GENERAL)
    assert scores[1, 0, 0] == pytest.approx(1 / 2)  # two others, one of them of label 0
    assert scores[0, 0, 1] == pytest.approx(1 / 3)  # three others, one of them of label 1
    assert scores[0, 1, 0] == 0.0  # one other, of label 1
    assert scores[1, 1, 1] == 0.0  # only itself: nothing to check against
    assert score(LeaveOneOut(), GENERAL) == pytest.approx((1 / 2 + 1 / 3) / 4)


def test_plug_in_counts_the_instance_itself():
    assert PlugIn().scores(GROUPED)[1].tolist() == [[2 / 3, 1 / 3], [1.0, 0.0]]
    assert score(PlugIn(), GROUPED) == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1) / 4)
    # shares of label y among all for which u holds: 2/3 and 1/3 for u = 0, 0 and 1 for u = 1
    assert score(PlugIn(), GENERAL) == pytest.approx((2 / 3 + 1 / 3 + 0 + 1) / 4)


def test_plug_in_gives_nothing_to_an_explanation_that_holds_for_nothing():
    assert PlugIn().scores(TIED)[0, 2].tolist() == [0.0, 0.0, 0.0]


def test_majority_shares_ties_evenly_and_gives_the_others_nothing():
    scores = Majority().scores(TIED)
    assert scores[1, 0].tolist() == [1 / 2, 1 / 2, 0.0]
    assert scores[1, 1] == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert scores[0, 2].tolist() == [0.0, 0.0, 0.0]  # holds for nothing: no label is the majority
    assert score(Majority(), TIED) == pytest.approx((4 * 1 / 2 + 0 + 3 * 1 / 3 + 0) / 9)


def test_majority_without_ties_takes_the_most_frequent_label():
    assert score(Majority(), GROUPED) == pytest.approx((1 + 1 + 0 + 1) / 4)
    assert score(Majority(), GENERAL) == pytest.approx((1 + 0 + 0 + 1) / 4)


def test_verified_only_leaves_out_rows_that_cannot_be_checked():
    scores = VerifiedOnly().scores(GROUPED)
    assert scores[1, 0].tolist() == [1 / 2, 0.0]
    assert np.isnan(scores[1, 1]).all()
    assert score(VerifiedOnly(), GROUPED) == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert score(VerifiedOnly(), GENERAL) == pytest.approx((1 / 2 + 1 / 3 + 0) / 3)


def test_where_everyone_is_left_out_the_value_is_none_and_not_a_number():
    distinct = grouped(np.eye(3, dtype=int))
    assert score(VerifiedOnly(), distinct) is None
    result = summarise(distinct, VerifiedOnly())
    assert result.value is None
    assert result.bracket == (0.0, 1.0)
    assert result.checkability == "unverifiable"


def test_an_owner_left_out_changes_neither_sum_nor_weight():
    tally = grouped([[2, 1]])
    assert mean_score(np.array([[[NAN, NAN]], [[0.25, NAN]]]), tally.owners) == 0.25
    assert mean_score(np.array([[[NAN, NAN]], [[0.25, 1.0]]]), tally.owners) == pytest.approx(
        (0.25 * 2 + 1) / 3
    )
    # all owners count: (0.25 · 1 + 1 · 3) / 4
    assert mean_score(np.array([[0.25, 1.0]]), np.array([[1, 3]])) == 0.8125


def test_a_missing_explanation_scores_zero_and_still_counts_in_n():
    explanations = Explanations.of(["a", "a", None])
    tally = count(SameExplanation(), Sample(None, explanations), np.array([0, 0, 0]), 1).tally
    assert score(LeaveOneOut(), tally) == pytest.approx(2 / 3)
    assert score(VerifiedOnly(), tally) == 1.0
    assert score(PlugIn(), tally) == pytest.approx(2 / 3)


@one_test
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros((2, 2)), r"shape \(2, 2\); expected \(2, 2, 2\)"),
        (np.zeros((1, 2, 2)), r"shape \(1, 2, 2\); expected \(2, 2, 2\)"),
        (0.5, r"shape \(\); expected \(2, 2, 2\)"),
        (None, "expected numbers"),
        (np.full((2, 2, 2), 1.5), "from 1.5 to 1.5; expected values from 0 to 1"),
        (np.full((2, 2, 2), -0.25), "from -0.25 to -0.25; expected values from 0 to 1"),
        (np.full((2, 2, 2), np.inf), "from inf to inf"),
        (np.full((2, 2, 2), -np.inf), "from -inf to -inf"),
        (np.full((2, 2, 2), "much"), "expected numbers"),
        ([[1.0], [1.0, 2.0]], "expected numbers"),
        (object(), "expected numbers"),
    ],
)
def test_scores_that_cannot_be_scores_are_refused_by_name(answer, message):
    def my_estimator(tally):
        return answer

    with pytest.raises(ContractError, match=message) as caught:
        check_scores(FunctionEstimator(my_estimator), GROUPED)
    assert "my_estimator" in str(caught.value)


def test_one_bad_score_among_good_ones_is_refused():
    scores = np.zeros((2, 2, 2))
    scores[1, 1, 0] = 1.0 + 1e-9
    with pytest.raises(ContractError, match="from 0 to 1"):
        check_scores(FunctionEstimator(lambda tally: scores), GROUPED)


def test_scores_of_cells_that_nobody_owns_are_not_looked_at():
    scores = np.full((2, 2, 2), np.inf)
    scores[1] = [[0.5, 0.5], [0.5, -7.0]]  # nobody of label 1 is explained by u = 1
    assert score(FunctionEstimator(lambda tally: scores), GROUPED) == 0.5


@one_test
@pytest.mark.parametrize("table", ["counts", "owners"])
def test_an_estimator_that_changes_the_tally_is_refused(table):
    def careless(tally):
        getattr(tally, table)[:] = 0
        return np.ones(tally.owners.shape)

    with pytest.raises(ContractError, match=r"the estimator careless failed with ValueError: .*read-only"):
        mean_score_of_tallies(FunctionEstimator(careless), [GROUPED])
    assert GROUPED.n == 4


def test_an_estimator_without_a_name_is_called_by_its_class():
    class Bold:
        def scores(self, tally):
            return np.full(tally.owners.shape, 2.0)

    with pytest.raises(ContractError, match="the estimator Bold returned"):
        check_scores(Bold(), GROUPED)


def test_an_estimator_without_a_name_can_be_summarised():
    class Half:
        def scores(self, tally):
            return np.full(tally.owners.shape, 0.5)

    assert summarise(GROUPED, Half()).value == 0.5


@one_test
@pytest.mark.parametrize("estimator", [LeaveOneOut(), PlugIn(), VerifiedOnly()])
def test_estimators_of_the_measure_itself_carry_the_leave_one_out_interval(estimator):
    tally = grouped([[30, 10], [5, 25], [1, 0]])
    result, reference = (summarise(tally, e, 0.9) for e in (estimator, LeaveOneOut()))
    assert (result.se, result.low, result.high) == (reference.se, reference.low, reference.high)
    assert (result.bracket, result.verified) == (reference.bracket, reference.verified)
    assert result.value == pytest.approx(score(estimator, tally))


@one_test
@pytest.mark.parametrize("estimator", [Majority(), FunctionEstimator(lambda t: np.full(t.owners.shape, 0.5))])
def test_estimators_of_another_quantity_have_no_interval_but_keep_bracket_and_verified(estimator):
    tally = grouped([[30, 10], [5, 25], [1, 0]])
    result, reference = (summarise(tally, e, 0.9) for e in (estimator, LeaveOneOut()))
    assert (result.se, result.low, result.high) == (None, None, None)
    assert (result.bracket, result.verified) == (reference.bracket, reference.verified)


# who an explanation holds for: by groups of 3, 2 and 1, and by overlapping scopes that are not reflexive
GROUPS = np.equal.outer([0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 2])
SCOPES = np.array([[1, 1, 0, 1, 0, 0], [0, 0, 1, 1, 1, 0], [0, 0, 1, 0, 0, 0]] * 2, dtype=bool)


def mean_over_shuffles(estimator, holds, labels):
    """Return the mean of an estimate over all orders of the labels, counted pair by pair."""
    values = []
    for y in map(np.array, set(permutations(labels))):  # each stands for as many orders
        counts = np.stack([(holds & (y == label)).sum(axis=1) for label in (0, 1)], axis=1)
        owners = np.zeros((2, len(y), 2), dtype=np.int64)
        owners[holds.diagonal().astype(int), range(len(y)), y] = 1
        values.append(score(estimator, Tally(counts, owners)))
    return np.mean(values)


@one_test
@pytest.mark.parametrize("holds", [GROUPS, SCOPES])
@pytest.mark.parametrize("estimator", [LeaveOneOut(), VerifiedOnly()])
def test_what_chance_gives_is_the_mean_over_all_shuffles_of_the_labels(estimator, holds):
    labels = [0, 0, 0, 0, 1, 1]
    others = holds & ~np.eye(6, dtype=bool)
    result = by_chance(estimator, others.any(axis=1).mean(), chance(np.bincount(labels), SAME_LABEL))
    assert result == pytest.approx(mean_over_shuffles(estimator, holds, labels), abs=1e-12)


def test_the_two_estimators_that_know_their_chance_differ_by_the_verified_share():
    # by hand: 4 of 6 instances and then 3 of the other 5, or 2 of 6 and 1 of 5; five of six have company
    assert by_chance(LeaveOneOut(), 5 / 6, 14 / 30) == pytest.approx(5 / 6 * 14 / 30)
    assert by_chance(VerifiedOnly(), 5 / 6, 14 / 30) == pytest.approx(14 / 30)


def test_chance_is_none_where_the_estimator_does_not_know_it():
    third_party = FunctionEstimator(lambda tally: tally.owners * 0.5)
    assert [by_chance(e, 0.5, 0.5) for e in (PlugIn(), Majority(), third_party)] == [None] * 3
    assert by_chance(LeaveOneOut(), 0.0, None) is None  # a single instance
    assert by_chance(LeaveOneOut(), 0.0, 0.5) == 0
    assert by_chance(VerifiedOnly(), 0.0, 0.5) is None  # it has no value either


def test_an_estimator_of_somebody_else_can_tell_what_chance_gives():
    class Doubtful:
        name = "doubtful"

        def scores(self, tally):
            return LeaveOneOut().scores(tally) / 2

        def by_chance(self, verified, chance):
            return verified * chance / 2

    result = summarise(GROUPED, Doubtful())
    assert result.by_chance == pytest.approx(3 / 4 * (3 * 2) / (4 * 3) / 2)  # labels 0, 0, 0 and 1


def test_dividing_by_zero_gives_zero_or_the_value_for_empty():
    assert divide_safely(np.array([1, 0, 3]), np.array([4, 0, 0])).tolist() == [0.25, 0.0, 0.0]
    assert np.isnan(divide_safely(np.array([0]), np.array([0]), empty=NAN)).all()


TABLES = hnp.arrays(
    np.int64,
    st.tuples(st.integers(1, 6), st.integers(1, 4)),
    elements=st.integers(0, 6),
).filter(lambda table: table.sum() > 0)


@given(TABLES)
def test_plug_in_and_majority_are_the_accuracies_of_the_gibbs_and_the_optimal_decoder(table):
    law = table / table.sum()
    assert score(PlugIn(), grouped(table)) == pytest.approx(1 - gibbs_error(law), abs=1e-12)
    assert score(Majority(), grouped(table)) == pytest.approx(1 - optimal_error(law), abs=1e-12)


@given(TABLES)
def test_leave_one_out_and_verified_only_agree_with_their_definitions_row_by_row(table):
    rows = [(u, y) for u, row in enumerate(table) for y, times in enumerate(row) for _ in range(times)]
    left, verified = [], []
    for i, (u, y) in enumerate(rows):
        others = [other for j, other in enumerate(rows) if j != i and other[0] == u]
        agree = sum(label == y for _, label in others)
        left.append(agree / len(others) if others else 0.0)
        verified += [agree / len(others)] if others else []
    tally = grouped(table)
    assert score(LeaveOneOut(), tally) == pytest.approx(np.mean(left), abs=1e-12)
    expected = pytest.approx(np.mean(verified), abs=1e-12) if verified else None
    assert score(VerifiedOnly(), tally) == expected


class Macro:
    """Every label counts the same."""

    name = "macro"

    def scores(self, tally):
        return LeaveOneOut().scores(tally)

    def weigh(self, tally):
        return 1 / tally.owners.sum(axis=(0, 1)).clip(1)


@one_test
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0, 1.0, 5.0, 1.0, 2.0, 1.0]])
def test_an_estimator_may_weigh_labels_and_is_then_the_mean_of_their_means(weights):
    labels, words = list("yyyyynnn"), list("aabbbaab")
    result = faithkit.score(labels, words, estimator=Macro(), weights=weights)
    w = np.ones(8) if weights is None else np.array(weights)
    means = []
    for label in "yn":
        rows = [i for i in range(8) if labels[i] == label]
        own = [[j for j in range(8) if j != i and words[j] == words[i]] for i in rows]
        shares = [sum(w[j] for j in group if labels[j] == label) / sum(w[j] for j in group) for group in own]
        means.append(np.average(shares, weights=w[rows]))
    assert result.consistency.value == pytest.approx(np.mean(means), abs=1e-12)


@one_test
@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_that_cannot_be_any_are_refused_by_name(weight):
    class Odd(Macro):
        def weigh(self, tally):
            return weight

    with pytest.raises(ContractError, match=r"the estimator macro weighs owners by .*finite weights of at"):
        faithkit.score(["y", "n"], ["a", "a"], estimator=Odd())


def test_an_estimator_gets_the_tally_whole_or_says_that_it_is_too_large():
    labels, words = ["y", "n"] * 6, [*range(6), *range(6)]  # rows i and i + 6 agree
    assert faithkit.score(labels, words, estimator=Macro()).consistency.value == 1.0
    with (
        mock.patch.object(tallies, "MAX_ENTRIES", 11),
        pytest.raises(
            InputError, match=r"the estimator macro needs the whole tally, and .* 6 explanations × 2"
        ),
    ):
        faithkit.score(labels, words, estimator=Macro())
