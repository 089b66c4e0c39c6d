"""A reader's sentence: shares that are never rounded to what they are not."""

import pytest
from faithkit_diagnostics.reader.reader_sentences import accuracy_sentence, bound_sentence


def sentence(value, low, high, usual=0.5):
    return accuracy_sentence(
        {"accuracy": {"value": value, "low": low, "high": high}, "baseline": {"value": usual}}
    )


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (0.94, 0.9149, 0.9551, "94 % of the time (91 – 96 %)"),
        (1.0, 0.98999, 1.0, "100 % of the time (98 – 100 %)"),
        (0.9978, 0.99449, 0.99982, "99.8 % of the time (99.4 – 99.99 %)"),
        (0.99995, 0.99981, 0.999999, "> 99.9 % of the time (99.9 – 99.9999 %)"),
        (0.0, 0.0, 0.021, "0 % of the time (0 – 3 %)"),
        (0.0004, 0.0001, 0.0021, "< 0.1 % of the time (0.0 – 0.3 %)"),
    ],
)
def test_shares_are_rounded_outwards_and_never_to_nothing_or_everything(value, low, high, said):
    assert said in sentence(value, low, high)


@pytest.mark.parametrize(
    ("told", "begins"),
    [
        (
            {"accuracy": {"value": 0.33, "low": 0.3, "high": 0.36}, "baseline": {"value": 0.33}},
            "This classifier",
        ),
        (
            {"accuracy": {"value": 0.5, "low": 0.31, "high": 0.7}, "baseline": {"value": 0.33}},
            "This classifier",
        ),
        ({"accuracy": {"value": 0.5, "low": 0.34, "high": 0.7}, "baseline": {"value": 0.33}}, "Somebody"),
        ({"accuracy": None, "error": 2.0, "error_without": 2.0}, "This regressor"),
        ({"accuracy": None, "error": 1.0, "error_without": 2.0}, "Somebody"),
        ({"accuracy": None, "error": None, "score": 0.1, "score_without": 0.2, "low": 0.0}, "This regressor"),
    ],
)
def test_what_one_classifier_could_not_learn_is_not_said_of_everybody(told, begins):
    assert accuracy_sentence(told).startswith(begins)
    assert ("Another reader may learn more." in accuracy_sentence(told)) == (begins != "Somebody")


@pytest.mark.parametrize(("clusters", "units"), [(None, "rows"), (60, "clusters")])
def test_the_one_bound_says_what_it_rests_on(clusters, units):
    told = {"accuracy": {}, "score": 0.9, "low": 0.8691, "classifiers": {"trees": 5}, "confidence": 0.95}
    assert bound_sentence({**told, "clusters": clusters, "seen": 2, "columns": 2}) == (
        f"By the score of this reader (0.900), consistency is at least 0.869 if {units} are independent (95 % "
        "confidence)."
    )
