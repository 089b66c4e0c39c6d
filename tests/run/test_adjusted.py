"""Many groups, many pairs: p-values have Holm's correction, and every report says so."""

import numpy as np
import pytest

import faithkit
from faithkit.measure.difference import adjust_by_holm
from faithkit.run.evaluation_report import EvaluationReport

RNG = np.random.default_rng(3)
N = 1200
GROUPS = RNG.integers(0, 6, N)
LABELS = RNG.choice(["no", "yes"], N)
# explained well in every group but the first, where it is not, and the second, where it is nearly not
RIGHT = np.array([0.5, 0.9, 0.97, 0.97, 0.97, 0.97])[GROUPS]
WORDS = np.where(RNG.random(N) < RIGHT, LABELS, RNG.choice(["no", "yes"], N)).tolist()
WORSE = np.where(RNG.random(N) < 0.7, LABELS, RNG.choice(["no", "yes"], N)).tolist()


@pytest.fixture(scope="module")
def result():
    return faithkit.score(LABELS, WORDS)


@pytest.fixture(scope="module")
def comparison():
    said = {"good": WORDS, "worse": WORSE, "same": ["same"] * N}
    return faithkit.results.Comparison({name: faithkit.score(LABELS, words) for name, words in said.items()})


def test_p_values_of_groups_are_adjusted_for_their_number(result):
    parts = result.by(GROUPS)
    adjusted = adjust_by_holm([parts.difference(group).p_value for group in parts])
    assert parts.to_frame()["p_value"].tolist() == adjusted
    assert [group["p_value"] for group in parts.to_dict()["groups"]["consistency"].values()] == adjusted


def test_p_values_of_pairs_are_adjusted_for_their_number(comparison):
    pairs = comparison.pairs()
    assert [pair.adjusted for pair in pairs] == adjust_by_holm([pair.difference.p_value for pair in pairs])


def test_every_report_names_the_adjustment(result, comparison):
    outcome = EvaluationReport.of(result, by=GROUPS)
    for text in (str(outcome), str(outcome.subgroups), outcome.to_html(), comparison.to_html()):
        assert "(Holm)" in " ".join(text.split())
    assert "(paired differences, Holm's correction)" in " ".join(str(comparison).split())
