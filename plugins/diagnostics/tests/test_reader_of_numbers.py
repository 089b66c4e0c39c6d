"""A reader of numbers and scores: how near somebody comes who sees only the explanation."""

import numpy as np
import pytest
from docs.test_results import SCHEMA
from faithkit_diagnostics.reader.diagnostic import Reader
from jsonschema import Draft7Validator
from looping import one_test
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import LinearSVC

import faithkit
from faithkit.run.evaluation_report import EvaluationReport

pytestmark = pytest.mark.filterwarnings("ignore::faithkit.FaithkitWarning")

RNG = np.random.default_rng(3)
X = RNG.normal(size=(400, 3))
LINEAR = 1000 * (X[:, 0] + 0.5 * RNG.normal(size=400)) + 50_000
SQUARE = X[:, 0] ** 2 + 0.2 * RNG.normal(size=400)
P = 1 / (1 + np.exp(-2 * X[:, 0]))
SCORES = np.column_stack([P, 1 - P])


def test_a_reader_explains_as_much_of_the_variance_as_there_is_to_explain():
    result = faithkit.score(LINEAR, X).diagnose("reader")
    assert result.score == pytest.approx(1 / 1.25, abs=0.06)  # by the law that made the numbers
    assert result.score_without == pytest.approx(0, abs=0.03)
    assert (result.accuracy, result.baseline, result.low) == (None, None, None)


def test_errors_are_in_the_unit_of_the_prediction():
    result = faithkit.score(LINEAR, X).diagnose("reader")
    assert result.error == pytest.approx(500, rel=0.15)
    assert result.error_without == pytest.approx(LINEAR.std(), rel=0.02)
    off, without = (float(f"{one:.3g}") for one in (result.error, result.error_without))
    said = (
        f"predicts the model's output to within ± {off:g} (root mean square); without it, ± {without:,.0f}."
    )
    assert result.sentence == f"A regressor that sees only the explanation {said}"


@one_test
@pytest.mark.parametrize("y", [LINEAR, SQUARE, RNG.standard_t(2, 400)], ids=["line", "square", "heavy tails"])
def test_the_score_and_the_error_say_the_same(y):
    """R² is 1 less the mean squared error over the variance, so that both are better or both worse."""
    result = faithkit.score(y, X).diagnose(Reader("linear"))
    assert result.score == pytest.approx(1 - (result.error / y.std(ddof=1)) ** 2)
    assert result.score_without == pytest.approx(1 - (result.error_without / y.std(ddof=1)) ** 2)


def test_a_shift_and_a_scale_change_nothing_but_the_unit():
    one, other = (faithkit.score(y, X).diagnose(Reader("linear")) for y in (LINEAR, LINEAR * 1e-9 + 7))
    assert other.score == pytest.approx(one.score, abs=0.02)  # rows are drawn by their content
    assert other.error == pytest.approx(one.error * 1e-9, rel=0.05)


def test_readers_choose_what_reads_better():
    assert faithkit.score(SQUARE, X).diagnose("reader").classifiers == {"trees": 5}
    assert faithkit.score(LINEAR, X).diagnose("reader").classifiers == {"linear": 5}
    trees = faithkit.score(SQUARE, X).diagnose(Reader("trees")).score
    assert trees > 0.7 > 0.1 > faithkit.score(SQUARE, X).diagnose(Reader("linear")).score


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
    m, found = 0.5, []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        groups = rng.integers(0, 10, 120)
        y = (groups - 4.5) / np.sqrt(8.25) + rng.normal(size=120)
        found.append(faithkit.score(y, groups.tolist()).diagnose(Reader("linear")).score)
    assert np.mean(found) < m + 2 * np.std(found) / np.sqrt(30)


def test_a_row_without_an_explanation_scores_0():
    words = ["a", "b", None, None] * 50
    y = np.array([1.5, 5.5, 1.5, 5.5] * 50)
    result = faithkit.score(y, words).diagnose(Reader("trees"))
    assert result.score == pytest.approx(0.5, abs=0.02)


def test_scores_have_the_limits_of_labels():
    result = faithkit.score(SCORES, X).diagnose("reader")
    assert 0 < result.low <= result.score <= 1
    assert result.score > result.score_without
    assert "predicts the scores with an agreement of" in " ".join(str(result).split())


def test_certain_scores_are_read_like_labels():
    sure = np.eye(2)[(X[:, 0] > 0).astype(int)]
    scores = faithkit.score(sure, X).diagnose(Reader("trees")).score
    labels = faithkit.score(X[:, 0] > 0, X).diagnose(Reader("trees")).score
    assert scores == pytest.approx(labels, abs=0.1)


def test_several_numbers_are_read_together():
    result = faithkit.score(np.column_stack([LINEAR, -LINEAR]), X).diagnose("reader")
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
    ask, said = REFUSED[case]
    with pytest.raises(faithkit.errors.InputError, match=said) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_what_a_reader_found_is_written_and_comes_back(tmp_path):
    findings = EvaluationReport.of(faithkit.score(LINEAR, X), diagnostics=None)
    Draft7Validator({"$ref": "#/definitions/evaluation", "definitions": SCHEMA["definitions"]}).validate(
        findings.to_dict()
    )
    (tmp_path / "result.json").write_text(findings.to_json(), "utf-8")
    again = faithkit.load(tmp_path / "result.json").diagnose("reader")
    (diagnosis,) = findings.diagnoses
    assert str(again) == str(diagnosis)


def test_nobody_reads_within_a_tolerance_unasked():
    assert EvaluationReport.of(faithkit.score(LINEAR, X, agree="within:9"), diagnostics=None).diagnoses == ()
