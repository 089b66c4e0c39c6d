"""How far two vectors of importances agree: by hand, against chance by enumeration, and by what must always hold."""

from itertools import permutations

import numpy as np
import pytest
from faithkit_feature_importance import agreement
from faithkit_feature_importance.explainer_agreement.agreement_measures import ORDER_MEASURES, TOP_K_MEASURES
from looping import one_test

NAN = np.nan
NAMES = [*TOP_K_MEASURES, *ORDER_MEASURES]

# feature, sign, rank and signed rank agreement of the top k, rank correlation, pairwise rank agreement
BY_HAND = {
    "two change places": ([4, -3, 2, 1], [3, 4, -2, 0.5], 3, (1, 1 / 3, 1 / 3, 0, 0.8, 5 / 6)),
    "other features": ([4, 3, 2, 1], [1, 2, 3, 4], 2, (0, 0, 0, 0, -1, 0)),
    "half of the features": ([4, 3, 2, 1], [4, 1, 3, 2], 2, (1 / 2, 1 / 2, 1 / 2, 1 / 2, 0.4, 4 / 6)),
    "signs alone differ": ([4, -3, 2], [-4, 3, -2], 2, (1, 0, 1, 0, 1, 1)),
    "what is 0 is not named": ([5, 0, 0, 0], [0, 0, 0, 5], 2, (0, 0, 0, 0, -1 / 3, 1 / 6)),
    "one names fewer": ([5, 0, 0], [5, 1, 0], 2, (1 / 2, 1 / 2, 1 / 2, 1 / 2, 1.5 / 3**0.5, 2 / 3)),
    "of equal ones the later": ([1, 1, 1], [1, 2, 1], 1, (0, 0, 0, 0, NAN, 1 / 3)),
    "equal ones in order": ([1, 1, 1], [1, 2, 1], 2, (1, 1, 0, 0, NAN, 1 / 3)),
    "NaN is least": ([NAN, 1], [2, 1], 1, (0, 0, 0, 0, -1, 0)),
    "both name nothing": ([0, 0], [-0.0, 0], 1, (1, 1, 1, 1, NAN, 1)),
    "one feature": ([2], [-3], 1, (1, 0, 1, 0, NAN, NAN)),
}


@one_test
@pytest.mark.parametrize(("first", "second", "k", "expected"), BY_HAND.values(), ids=BY_HAND)
def test_agreement_by_hand(first, second, k, expected):
    for result in (agreement([first], [second], k), agreement([second], [first], k)):
        assert list(result.rows) == NAMES
        np.testing.assert_allclose(result.rows.iloc[0], expected, atol=1e-12)


def check_chance(first, second, k, ways):
    shuffled = agreement(np.tile(first, (len(ways), 1)), second[ways], k)
    measures = agreement([first], [second], k).measures
    for name, scores in shuffled.rows.items():
        claimed = measures[name].by_chance
        assert claimed == pytest.approx(scores.mean(), abs=1e-12) if scores.notna().all() else claimed is None


@one_test
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_chance_is_the_mean_over_all_ways_to_shuffle_features(d):
    rng = np.random.default_rng(d)
    ways = [list(way) for way in permutations(range(d))]
    for k in range(1, d + 1):
        first, second = rng.normal(size=(2, d))
        first[rng.random(d) < 0.2], second[rng.random(d) < 0.3] = 0.0, 0.0
        check_chance(first, second, k, ways)
        # of equal sizes the later column comes first
        check_chance(np.sign(first), np.round(second), k, ways)


def test_independent_sets_of_features_agree_no_more_than_chance():
    first, second = np.random.default_rng(0).integers(0, 2, size=(2, 1000, 8))
    for name, estimate in agreement(first, second, k=2, confidence=0.999).measures.items():
        assert estimate.finding in ("not above chance", None), name


def test_chance_of_full_rankings_has_a_closed_form():
    values = np.random.default_rng(0).normal(size=(20, 8))
    measures = agreement(values, values[:, ::-1], k=3).measures
    assert measures["feature agreement"].by_chance == pytest.approx(3 / 8)
    assert measures["rank agreement"].by_chance == pytest.approx(1 / 8)
    both = measures["rank correlation"].by_chance, measures["pairwise rank agreement"].by_chance
    assert both == pytest.approx((0.0, 0.5))


def test_what_two_random_explainers_have_in_common_is_chance():
    first, second = np.random.default_rng(1).normal(size=(2, 400, 6))
    for name, estimate in agreement(first, second, k=2, confidence=0.999).measures.items():
        assert estimate.low < estimate.by_chance < estimate.high, name
        assert estimate.finding == "not above chance"


def draw_importances(seed=0):
    values = np.random.default_rng(seed).normal(size=(40, 7)).round(1)
    values[3] = 0.0
    return values


@one_test
@pytest.mark.parametrize("k", [1, 4, 7])
def test_an_explainer_agrees_with_itself_and_its_opposite_in_all_but_signs(k):
    values = draw_importances()
    same, opposite = agreement(values, values, k).measures, agreement(values, -values, k).rows
    assert {name: estimate.value for name, estimate in same.items()} == dict.fromkeys(NAMES, 1.0)
    signed = [name for name in NAMES if name.startswith("sign")]
    named = np.arange(40) != 3  # a row without any importance has no sign to differ in
    assert (opposite.loc[named, signed] == 0).all(axis=None)
    assert (opposite.drop(columns=signed)[named] == 1).all(axis=None)


def test_the_order_of_features_and_the_scale_of_either_are_no_matter():
    first, second = (draw_importances(seed) + 1e-3 * np.arange(7) for seed in (1, 2))  # no ties
    order = np.random.default_rng(3).permutation(7)
    plain, other = agreement(first, second, k=3), agreement(first[:, order] * 1e-9, second[:, order] * 7, k=3)
    np.testing.assert_allclose(plain.rows, other.rows, atol=1e-12)


def test_chosen_features_are_ranked_among_themselves():
    measures = agreement([[3, 9, 2, 1]], [[3, 0, 1, 2]], k=1, among=["0", "2", "3"]).measures
    assert measures["pairwise rank agreement"].value == pytest.approx(2 / 3)
    assert measures["rank correlation"].value == pytest.approx(0.5)
