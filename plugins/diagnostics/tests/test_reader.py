"""`result.diagnose("reader")`: which classifiers it takes, what it refuses, and what comes back."""

import json
import re
import subprocess
import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from diagnostics.readers import Hedging
from faithkit_diagnostics.reader.diagnostic import Reader
from faithkit_diagnostics.reader.models import Logistic
from looping import one_test
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import faithkit
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.populations.log_scoring import score_in_pieces

RNG = np.random.default_rng(2)
X = RNG.normal(size=(80, 2))
LABELS = np.where(X[:, 0] > 0, "yes", "no")


class Failing(Hedging):
    def fit(self, X, y):
        raise SystemExit(0)


class Doubling(Hedging):
    def predict_proba(self, X):
        return 2 * super().predict_proba(X)


class Nan(Hedging):
    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), np.nan)


class Flat(Hedging):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, 0]


class Drawing(Hedging):
    """Takes no seed, and draws from the global generator."""

    def predict_proba(self, X):
        first = np.random.random(len(X))
        return np.column_stack([first, 1 - first])


@cache
def score_sample():
    return faithkit.score(LABELS, X)


@one_test
@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        ("forest", "there is no reader 'forest'. Choose one of auto, logistic, trees, words."),
        (int, "the class int cannot be a reader; expected 'auto', 'logistic', 'trees', 'words', or a"),
        (
            7,
            "an object of type int cannot be a reader; expected 'auto', 'logistic', 'trees', 'words', or a classifier",
        ),
        (LinearSVC(), "the classifier LinearSVC failed with AttributeError: 'LinearSVC' object has no"),
        (
            Failing(),
            "the classifier Failing failed with SystemExit: 0. Give a scikit-learn classifier that has",
        ),
        (
            Doubling(),
            "the classifier Doubling gave probabilities below 0, or above 1 in all; expected shares of",
        ),
        (
            Nan(),
            "the classifier Nan gave probabilities below 0, or above 1 in all; expected shares of 1. Give",
        ),
        (
            Flat(),
            "the classifier Flat gave probabilities of shape (16,); expected (16, 2). Give a scikit-learn",
        ),
    ],
)
def test_what_cannot_be_a_reader_is_refused_in_one_line(classifier, message):
    with pytest.raises(faithkit.errors.InputError) as raised:
        score_sample().diagnose(Reader(classifier))
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_a_classifier_that_takes_no_gaps_is_named():
    gaps = np.where(np.arange(160).reshape(80, 2) % 7 == 0, np.nan, X)
    with pytest.raises(
        faithkit.errors.InputError, match=r"the classifier LogisticRegression failed with ValueError: .* NaN"
    ):
        faithkit.score(LABELS, gaps).diagnose(Reader(LogisticRegression()))


@one_test
@pytest.mark.parametrize(("rows", "clusters"), [(1, None), (2, None), (9, None), (40, 4)])
def test_too_few_rows_cannot_be_read(rows, clusters):
    message = (
        f"a reader learns from other rows, and {clusters or rows} independent are too few: give 10 or more"
    )
    units = None if clusters is None else [row % clusters for row in range(rows)]
    with pytest.raises(faithkit.errors.InputError, match=message):
        faithkit.score([row % 2 for row in range(rows)], list(range(rows)), clusters=units).diagnose("reader")


def join_lines(diagnosis):
    return " ".join(str(diagnosis).split())


def test_a_score_that_bounds_nothing_is_not_told_as_a_number():
    result = faithkit.score([0, 1] * 5, list(range(10))).diagnose("reader")
    assert result.low == 0
    assert "so consistency may be anything (95 %" in join_lines(result)


def test_a_seed_is_a_whole_number():
    with pytest.raises(
        faithkit.errors.InputError, match=re.escape("reader: seed must be a whole number, got 0.5.")
    ):
        score_sample().diagnose(Reader(seed=0.5))


def test_a_result_from_a_file_has_no_rows_to_read(tmp_path):
    score_sample().write(tmp_path / "result.json")
    with pytest.raises(
        faithkit.errors.InputError, match="are not available in a result that was loaded from"
    ):
        faithkit.load(tmp_path / "result.json").diagnose("reader")


def test_the_order_of_named_columns_changes_nothing():
    table = pd.DataFrame(X, columns=[f"phi_{j}" for j in range(X.shape[1])])
    straight, turned = (
        faithkit.score(LABELS, rows).diagnose("reader") for rows in (table, table[table.columns[::-1]])
    )
    assert straight == turned


@one_test
@pytest.mark.parametrize("column", [X[:, 0], np.arange(len(X)) % 7], ids=["floats", "integers"])
def test_a_log_that_stays_on_disk_is_read_with_the_same_bytes(tmp_path, column):
    pd.DataFrame({"label": LABELS, "phi": column}).to_parquet(tmp_path / "log.parquet")
    result = score_in_pieces(open_log(str(tmp_path / "log.parquet"), "label", ("phi",), ()))
    expected = faithkit.score(LABELS, column[:, None]).diagnose(Reader("logistic"))
    assert result.diagnose(Reader("logistic")) == expected


@one_test
@pytest.mark.parametrize(
    "classifier",
    [make_pipeline(StandardScaler(), GaussianNB()), RandomForestClassifier(5)],
    ids=lambda classifier: type(classifier).__name__,
)
def test_any_classifier_can_be_a_reader_and_is_copied(classifier):
    result = score_sample().diagnose(Reader(classifier))
    assert result.accuracy.value > 0.9
    assert result.classifiers == {type(classifier).__name__: 5}
    assert result == score_sample().diagnose(Reader(classifier))
    assert not [name for name in vars(classifier) if name.endswith("_") and not name.startswith("_")]


@one_test
@pytest.mark.parametrize("classifier", [GaussianNB(), make_pipeline(StandardScaler(), LogisticRegression())])
def test_a_classifier_that_can_learns_by_weight(classifier):
    """All have one explanation, half are "yes" and weigh nine times as much: the classifier learns 0.9."""
    labels = ["yes", "no"] * 100
    result = faithkit.score(labels, np.ones((200, 1)), weights=[9, 1] * 100).diagnose(Reader(classifier))
    assert result.score == pytest.approx(0.9**2 + 0.1**2, abs=0.01)


def test_global_generators_are_seeded_and_given_back():
    np.random.seed(3)
    before = np.random.get_state()[1].tolist()
    result = score_sample().diagnose(Reader(Drawing()))
    assert np.random.get_state()[1].tolist() == before
    np.random.seed(4)
    assert score_sample().diagnose(Reader(Drawing())) == result


def test_a_reader_can_be_asked_in_a_group():
    for part in score_sample().by(np.where(X[:, 1] > 0, "f", "m")).values():
        assert part.diagnose(Reader("logistic")).n == part.n


def test_what_comes_back_is_told_in_a_sentence_and_in_json():
    result = faithkit.score(["yes"] * 70 + ["no"] * 30, ["same"] * 100).diagnose(Reader(Hedging()))
    assert result.sentence == (
        "This classifier, which sees only the explanation, gets 70 % of predictions right (60 – 79 %); "
        "without it, 70 %. Another reader may learn more."
    )
    assert join_lines(result).startswith(result.sentence)
    assert join_lines(result).endswith("(95 % confidence).")
    payload = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert payload["accuracy"]["value"] == 0.7
    assert set(payload) == {
        "n", "accuracy", "baseline", "score", "low", "classifiers", "confidence", "columns", "seen",
        "effective", "clusters", "score_without", "error", "error_without",
    }  # fmt: skip


ONE_THREAD = """
import faithkit, numpy as np
from faithkit_diagnostics.reader.diagnostic import Reader
from sklearn.base import BaseEstimator, ClassifierMixin

class Watching(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        from threadpoolctl import threadpool_info
        self.classes_ = np.unique(y)
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}, threadpool_info()
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

print(faithkit.score([0, 1] * 20, np.arange(40.0)[:, None]).diagnose(Reader(Watching())).n)
"""


@pytest.mark.slow
def test_in_a_new_process_too_it_has_one_thread():
    """Libraries that are loaded after threads are limited would start threads of their own."""
    done = subprocess.run([sys.executable, "-c", ONE_THREAD], capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr) == ("40\n", "")


# classifier, columns of explanations, columns that it is shown, what the result says
WIDE = {
    "more than trees are shown": ("trees", 65, 64, "The reader with 64 of 65 columns has"),
    "more than any classifier is shown": ("logistic", 2000, 500, "The reader with 500 of 2,000 columns has"),
    "a user's classifier": (GaussianNB(), 501, 500, "The reader with 500 of 501 columns has"),
}


@one_test
@pytest.mark.parametrize("case", WIDE)
def test_what_a_reader_costs_is_bounded_by_the_columns_that_it_is_shown_and_the_result_says_so(case):
    classifier, n_columns, n_shown, message = WIDE[case]
    phi = np.random.default_rng(0).normal(size=(20, n_columns))
    result = faithkit.score(phi[:, 0] > 0, phi).diagnose(Reader(classifier))
    assert (result.columns, result.seen) == (n_columns, n_shown)
    assert message in join_lines(result)


def test_the_columns_that_tell_are_those_that_vary():
    phi = np.random.default_rng(0).normal(size=(100, 300)) * np.where(np.arange(300) == 7, 1.0, 0.01)
    assert faithkit.score(phi[:, 7] > 0, phi).diagnose(Reader("trees")).accuracy.value > 0.95


# --- logistic regression ---------------------------------------------------------------------------------

NUMBERS = RNG.normal(size=(80, 3)) * [1.0, 100.0, 0.0]
GAPS = np.where(RNG.random(NUMBERS.shape) < 0.2, np.nan, NUMBERS)


@one_test
@pytest.mark.parametrize(
    ("rows", "n_labels", "weights"),
    [(NUMBERS, 2, None), (NUMBERS, 4, RNG.random(80)), (GAPS, 4, None), (GAPS, 2, RNG.random(80))],
    ids=["numbers", "weights", "gaps", "gaps and weights"],
)
def test_logistic_regression_gives_the_probabilities_of_the_usual_pipeline(rows, n_labels, weights):
    y = np.arange(80) % n_labels
    steps = SimpleImputer(add_indicator=True), StandardScaler(), LogisticRegression()
    pipeline = make_pipeline(*steps).fit(rows, y, logisticregression__sample_weight=weights)
    fitted = Logistic().fit(rows, y, sample_weight=weights)
    assert fitted.classes_.tolist() == list(range(n_labels))
    assert np.allclose(fitted.predict_proba(rows), pipeline.predict_proba(rows), atol=1e-3)


def test_a_column_that_was_constant_decides_nothing_when_it_is_not():
    """Ten times 0.1 has a mean that is not 0.1, so its spread is no 0."""
    rows = np.column_stack([np.full(30, 0.1), RNG.normal(size=30)])
    fitted = Logistic().fit(rows, np.arange(30) % 2)
    other = rows + np.array([0.1, 0.0])
    assert np.abs(fitted.predict_proba(other) - fitted.predict_proba(rows)).max() < 0.1
