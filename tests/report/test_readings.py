"""A reader's sentence: shares that are never rounded to what they are not."""

import pytest

from faithkit.report.readings import guessed, reading_sentences


def sentence(value, low, high, usual=0.5):
    return guessed({"accuracy": {"value": value, "low": low, "high": high}, "baseline": {"value": usual}})


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


def test_no_sentence_without_a_reader():
    assert reading_sentences({"reader": None}) == reading_sentences({}) == []
