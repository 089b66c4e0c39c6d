"""A reader of numbers and scores: how well explanations alone predict them."""

from functools import cache

import numpy as np
import pytest
from docs.test_results import SCHEMA
from faithkit_diagnostics.reader.diagnostic import Reader
from jsonschema import Draft7Validator
from looping import one_test
from pages import json_of
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import LinearSVC

import faithkit

pytestmark = pytest.mark.filterwarnings("ignore::faithkit.errors.FaithkitWarning")

RNG = np.random.default_rng(3)
X = RNG.normal(size=(400, 3))
LINEAR = 1000 * (X[:, 0] + 0.5 * RNG.normal(size=400)) + 50_000
SQUARE = X[:, 0] ** 2 + 0.2 * RNG.normal(size=400)
P = 1 / (1 + np.exp(-2 * X[:, 0]))
SCORES = np.column_stack([P, 1 - P])


@cache
def read_linear():
    return faithkit.score(LINEAR, X).diagnose("reader")


def test_a_reader_explains_as_much_of_the_variance_as_there_is_to_explain():
    result = read_linear()
    assert result.score == pytest.approx(1 / 1.25, abs=0.06)  # by the law that made the numbers
    assert result.score_without == pytest.approx(0, abs=0.03)
    assert (result.accuracy, result.baseline, result.low) == (None, None, None)


def test_errors_are_in_the_unit_of_the_prediction():
    result = read_linear()
    assert result.error == pytest.approx(500, rel=0.15)
    assert result.error_without == pytest.approx(LINEAR.std(), rel=0.02)
    error, without = (float(f"{number:.3g}") for number in (result.error, result.error_without))
    assert result.sentence == (
        f"A regressor that sees only the explanation predicts the model's output to within ± {error:g} "
        f"(root mean square); without it, ± {without:,.0f}."
    )


@one_test
@pytest.mark.parametrize("y", [LINEAR, SQUARE, RNG.standard_t(2, 400)], ids=["line", "square", "heavy tails"])
def test_the_score_and_the_error_say_the_same(y):
    """R² is 1 less the mean squared error over the variance, so that both are better or both worse."""
    result = faithkit.score(y, X).diagnose(Reader("linear"))
    assert result.score == pytest.approx(1 - (result.error / y.std(ddof=1)) ** 2)
    assert result.score_without == pytest.approx(1 - (result.error_without / y.std(ddof=1)) ** 2)


def test_a_shift_and_a_scale_change_nothing_but_the_unit():
    dollars, other = (faithkit.score(y, X).diagnose(Reader("linear")) for y in (LINEAR, LINEAR * 1e-9 + 7))
    assert other.score == pytest.approx(dollars.score, abs=0.02)  # rows are drawn by their content
    assert other.error == pytest.approx(dollars.error * 1e-9, rel=0.05)


def test_readers_choose_what_reads_better():
    assert read_linear().classifiers == {"linear": 5}
    square = faithkit.score(SQUARE, X)
    best = square.diagnose("reader")
    assert best.classifiers == {"trees": 5}
    assert best.score > 0.7 > 0.1 > square.diagnose(Reader("linear")).score


def test_explanations_that_say_nothing_cannot_be_read():
    result = faithkit.score(LINEAR, RNG.normal(size=(400, 3))).diagnose("reader")
    assert result.score < 0.05
    assert "says nothing about" in " ".join(str(result).split()) or result.score > 0


def test_a_constant_explanation_is_read_as_the_mean():
    result = faithkit.score(LINEAR, ["same"] * 400).diagnose("reader")
    assert result.score == pytest.approx(result.score_without)
    assert result.error == pytest.approx(result.error_without)


@pytest.mark.slow
def test_the_mean_of_scores_is_at_most_the_consistency():
    """Ten groups of which everything is known: m is the share of the variance between them."""
    m, scores = 0.5, []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        groups = rng.integers(0, 10, 120)
        y = (groups - 4.5) / np.sqrt(8.25) + rng.normal(size=120)
        scores.append(faithkit.score(y, groups.tolist()).diagnose(Reader("linear")).score)
    assert np.mean(scores) < m + 2 * np.std(scores) / np.sqrt(30)


def test_a_row_without_an_explanation_scores_0():
    words = ["a", "b", None, None] * 50
    y = np.array([1.5, 5.5, 1.5, 5.5] * 50)
    result = faithkit.score(y, words).diagnose(Reader("trees"))
    assert result.score == pytest.approx(0.5, abs=0.02)


def test_scores_have_the_limits_of_labels():
    result = faithkit.score(SCORES[:100], X[:100]).diagnose(Reader("linear"))
    assert 0 < result.low <= result.score <= 1
    assert result.score > result.score_without
    assert "predicts the scores with an agreement of" in " ".join(str(result).split())


def test_certain_scores_are_read_like_labels():
    is_positive = X[:100, 0] > 0
    certain = np.eye(2)[is_positive.astype(int)]
    scores = faithkit.score(certain, X[:100]).diagnose(Reader("trees")).score
    labels = faithkit.score(is_positive, X[:100]).diagnose(Reader("trees")).score
    assert scores == pytest.approx(labels, abs=0.1)


def test_several_numbers_are_read_together():
    result = faithkit.score(np.column_stack([LINEAR[:100], -LINEAR[:100]]), X[:100]).diagnose("reader")
    assert result.score > 0.7
    assert result.error is None
    assert "of the variance of predictions" in " ".join(str(result).split())


def test_anybody_s_regressor_can_read():
    result = faithkit.score(LINEAR, X).diagnose(Reader(KNeighborsRegressor(n_neighbors=20)))
    assert result.classifiers == {"KNeighborsRegressor": 5}
    assert result.score > 0.5


REFUSED = {
    "a classifier's name": (lambda: faithkit.score(LINEAR, X).diagnose(Reader("logistic")), "Choose one of auto, linear, trees"),
    "no regressor": (lambda: faithkit.score(LINEAR, X).diagnose(Reader(LinearSVC())), "the regressor LinearSVC"),
    "a tolerance": (
        lambda: faithkit.score(LINEAR, X, agree="within:9").diagnose("reader"), "agree within a tolerance: measure without it",
    ),
    "what cannot learn": (lambda: faithkit.score(LINEAR, X).diagnose(Reader(3)), "or a classifier such as"),
}  # fmt: skip


@one_test
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_read_is_refused_in_one_line(case):
    diagnose, message = REFUSED[case]
    with pytest.raises(faithkit.errors.InputError, match=message) as caught:
        diagnose()
    assert "\n" not in str(caught.value)


def test_what_a_reader_found_is_written_and_comes_back(tmp_path):
    report = faithkit.score(LINEAR[:100], X[:100], diagnose="reader")
    Draft7Validator({"$ref": "#/definitions/evaluation", "definitions": SCHEMA["definitions"]}).validate(
        report.to_dict()
    )
    (tmp_path / "result.json").write_text(json_of(report), "utf-8")
    loaded = faithkit.load(tmp_path / "result.json").diagnose("reader")
    (diagnosis,) = report.diagnoses
    assert str(loaded) == str(diagnosis)


def test_nobody_reads_within_a_tolerance_unasked():
    assert faithkit.score(LINEAR, X, agree="within:9").with_needed(("reader",)).diagnoses == ()
