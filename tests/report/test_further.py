"""What is said of exceedance and of the encoding gap: nothing surer than it is."""

import pytest

from faithkit.report.further import encoded, exceeded, further_sentences

UNDER = {"measure": "sufficiency", "level": 0.75, "n": 2000, "checked": 1500, "low": 0.0, "high": 1.0}
GAP = {"value": 0.2, "low": 0.11, "high": 0.29, "same": 0.9, "other": 0.7, "n": 200, "compared": 150}
GAP |= {"without_same": 30, "without_other": 40, "confidence": 0.9}
SAID = {
    "next to none": (
        exceeded(UNDER | {"share": 0.0004, "surely": 0.0}),
        "Of the 1,500 instances that could be checked, < 0.1 % have a local sufficiency under 0.75, and 0 % surely",
    ),
    "nothing checked": (
        exceeded(UNDER | {"checked": 0, "share": None, "surely": None}),
        "How many of 2,000 instances have a local sufficiency under 0.75 is not known: none could be checked.",
    ),
    "a gap": (encoded(GAP), "Encoding gap +0.200 (90 % interval +0.110 to +0.290): "),
    "who was left out": (
        encoded(GAP),
        "150 of 200 instances have both; 30 have nobody of the former kind, and 40 nobody of the latter.",
    ),
    "what a gap means": (encoded(GAP), "So which explanation is chosen tells what its content does not."),
    "no interval": (encoded(GAP | {"low": None, "high": None}), "Encoding gap +0.200 (no interval: too few "),
    "no gap": (
        encoded(GAP | {"value": None, "low": None}),
        "The encoding gap is not known: it takes others ",
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_it_is_said_in_words(case):
    sentence, words = SAID[case]
    assert words in sentence


@pytest.mark.parametrize(
    "ends", [{"low": -0.1, "high": 0.3}, {"low": None, "high": None}, {"low": 0.0, "high": 0.3}]
)
def test_a_gap_that_may_be_none_means_nothing(ends):
    assert "So which explanation" not in encoded(GAP | ends)


def test_nothing_is_said_of_what_nobody_asked():
    assert further_sentences({}) == further_sentences({"exceedance": None, "encoding_gap": None}) == []
