"""Deletion: known answers of linear models, and explanations that say nothing."""

import json
from itertools import permutations
from math import factorial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from faithkit_diagnostics.deletion import Deletion
from looping import one_test
from sklearn.linear_model import LogisticRegression

import faithkit
from faithkit.cli import main

WEIGHTS = np.array([2.0, -1.0, 0.5, 0.0])


def predict_linear(X):
    return np.asarray(X) @ WEIGHTS


MODEL = faithkit.Predictor(predict_linear, outcome="numbers")


def evaluate(X, explain, background, model=MODEL):
    return faithkit.evaluate(model, X, explain, background=background, progress=False)


def build_shapley_explainer(background):
    """Return a function that explains rows by the Shapley values of the linear model: w (x − mean)."""
    mean = np.asarray(background).mean(axis=0)
    return lambda X: WEIGHTS * (np.asarray(X) - mean)


@one_test
@pytest.mark.parametrize(
    ("k", "expected"),
    [
        # (3, 1, 0, 7): values (4, −1, 0, 0), by the mean background row (1, 0, 0, 0)
        # (1, 4, 2, 0): values (0, −4, 1, 0)
        (1, (4 + 4) / 2),
        (2, ((4 + 1) / 2 + (4 + 1) / 2) / 2),
        # a value of 0 names nothing
        (3, ((4 + 1) / 2 + (4 + 1) / 2) / 2),
    ],
)
def test_the_change_of_a_linear_model_is_the_mean_size_of_the_named_shapley_values(k, expected):
    X = np.array([[3.0, 1.0, 0.0, 7.0], [1.0, 4.0, 2.0, 0.0]])
    background = np.array([[0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]])
    report = evaluate(X, build_shapley_explainer(background), background).diagnose(Deletion(k=k))
    assert report.named == pytest.approx(expected, abs=1e-12)
    assert (report.n, report.k, report.features, report.replacements) == (2, k, 4, 20)
    assert report.is_number


ROWS = 1 + np.random.default_rng(0).normal(size=(60, 5), scale=0.1)
SIDES = np.where(np.arange(60) % 2, 1, -1)[:, np.newaxis]
SIGMOID_CASES = {
    "labels of both signs": (SIDES * ROWS, [-2.0, 1, 1, 1, 1], 1),
    "two large values that cancel": (SIDES * ROWS, [3.0, -3, 1, 1, 0], 2),
    "a score that is nearly 1": (ROWS, [4.0, 4, 4, 1, 1], 3),
}


def exact_shapley_values(scores, X, background):
    """Average the change by each feature over all orders."""
    d = X.shape[1]
    values = np.zeros(X.shape)
    for order in permutations(range(d)):
        for position, feature in enumerate(order):
            before, after = (background.repeat(len(X), axis=0) for _ in range(2))
            before[:, order[:position]] = X[:, order[:position]]
            after[:, order[: position + 1]] = X[:, order[: position + 1]]
            values[:, feature] += (scores(after) - scores(before)) / factorial(d)
    return values


@one_test
@pytest.mark.parametrize("case", SIGMOID_CASES)
def test_the_largest_exact_shapley_values_name_features_that_matter_more_whatever_their_signs(case):
    X, weights, k = SIGMOID_CASES[case]
    model = faithkit.Predictor(scores=lambda X: 1 / (1 + np.exp(-X @ weights)), classes=["no", "yes"])
    background = np.zeros((1, X.shape[1]))
    values = exact_shapley_values(lambda X: model.scores(X)[:, 1], X, background)
    report = evaluate(X, lambda X: values[: len(X)], background, model).diagnose(Deletion(k=k))
    assert "matter more" in report.sentence
    expected = np.sort(np.abs(values), axis=1)[:, -k:].mean()
    assert report.named == pytest.approx(expected, rel=0.15)  # 20 of all orders for each row


def test_a_random_feature_changes_the_prediction_by_the_mean_of_all_values():
    X, background = np.random.default_rng(0).normal(size=(500, 4)), np.zeros((1, 4))
    report = evaluate(X, build_shapley_explainer(background), background).diagnose(Deletion(k=1))
    values = np.abs(WEIGHTS * X)
    assert report.named == pytest.approx(values.max(axis=1).mean(), abs=1e-12)
    assert report.random == pytest.approx(values.mean(), abs=5 * values.std() / 500**0.5)
    assert report.difference == pytest.approx(report.named - report.random, abs=1e-12)
    assert report.low < report.difference < report.high


RNG = np.random.default_rng(1)
BACKGROUND = RNG.normal(size=(50, 4))
CLASSIFIER = LogisticRegression().fit(BACKGROUND, BACKGROUND @ WEIGHTS > 0)


@one_test
@pytest.mark.parametrize("model", [CLASSIFIER, MODEL], ids=["labels", "numbers"])
def test_explanations_that_say_nothing_name_no_better_features_than_chance(model):
    misses = 0
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(100, 4))
        result = evaluate(X, lambda X: np.sin(1e4 * X[:, ::-1]), BACKGROUND, model)  # as good as noise
        report = result.diagnose(Deletion(k=2, replacements=5))
        misses += not report.low <= 0 <= report.high
        assert abs(report.difference) < 0.25 * report.random
    assert misses <= 1  # of 0.25 that are expected


@one_test
@pytest.mark.parametrize(("power", "expected"), [(1, "matter more"), (-1, "matter less")])
def test_the_score_moves_more_without_the_features_that_decide(power, expected):
    X = RNG.normal(size=(300, 4))
    weights = np.abs(CLASSIFIER.coef_[0])  # of −1 names the features that matter least
    result = evaluate(X, lambda X: np.tile(weights**power, (len(X), 1)), BACKGROUND, CLASSIFIER)
    report = result.diagnose("deletion:k=1")
    assert expected in report.sentence
    assert (report.difference > 0) == (power == 1)
    assert 0 <= min(report.named, report.random) <= max(report.named, report.random) <= 1


def test_a_table_is_read_by_the_names_of_its_columns():
    X = pd.DataFrame(RNG.normal(size=(40, 4)), columns=list("abcd"))
    background = pd.DataFrame(BACKGROUND, columns=list("abcd"))

    def explain(rows):
        values = build_shapley_explainer(background)(rows)
        return faithkit.Explanations.vectors(values[:, ::-1], shared={"names": list("dcba")})

    frame = evaluate(X, explain, background).diagnose(Deletion(k=1))
    array = evaluate(X.to_numpy(), build_shapley_explainer(background), BACKGROUND).diagnose(Deletion(k=1))
    assert frame.named == pytest.approx(array.named, abs=1e-12)


def test_columns_named_by_numbers_may_have_another_order_than_the_background():
    X, background = (pd.DataFrame(np.random.default_rng(i).normal(size=(40, 3))) for i in (0, 1))
    model = faithkit.Predictor(lambda X: X[0].to_numpy(), outcome="numbers")
    explainer = "shap:algorithm=permutation,background=sample:5"
    result = faithkit.evaluate(model, X[[2, 1, 0]], explainer, background=background, progress=False)
    assert result.diagnose(Deletion(k=1)).named > 0.5  # the other columns change nothing


def test_categories_that_only_the_background_has_replace_others():
    X = pd.DataFrame({"job": pd.Categorical(["cook", "clerk"]), "age": [1.0, 2.0]})
    background = pd.DataFrame({"job": pd.Categorical(["smith"]), "age": [1.0]})
    model = faithkit.Predictor(
        lambda X: X["age"] + (X["job"].astype(object) == "smith") * 3.0, outcome="numbers"
    )
    result = evaluate(X, lambda X: np.tile([1.0, 0.0], (len(X), 1)), background, model)
    assert result.diagnose(Deletion(k=1)).named == 3.0


def test_rows_without_an_explanation_are_left_out():
    X, background = RNG.normal(size=(40, 4)), np.zeros((1, 4))

    def explain(rows):
        return faithkit.Explanations.vectors(
            build_shapley_explainer(background)(rows), missing=rows[:, 0] > 0
        )

    report = evaluate(X, explain, background).diagnose(Deletion(k=1))
    explained = X[X[:, 0] <= 0]
    assert report.n == len(explained)
    assert report.named == pytest.approx(np.abs(WEIGHTS * explained).max(axis=1).mean(), abs=1e-12)


X = RNG.normal(size=(20, 4))
REFUSED = {
    "a log": (lambda: faithkit.score(X[:, 0] > 0, X), {}, "the model is needed"),
    "rules": (lambda: evaluate(X, lambda X: ["a"] * len(X), BACKGROUND), {}, "reads additive values"),
    "other columns": (lambda: evaluate(X, lambda X: X[:, :2], BACKGROUND), {}, "2 values where X has 4 columns"),
    "all features": (lambda: evaluate(X, lambda X: X, BACKGROUND), {"k": 4}, "choose a smaller k"),
    "no scores": (
        lambda: evaluate(X, lambda X: X, BACKGROUND, faithkit.Predictor(lambda X: X[:, 0] > 0)), {}, "needs a model with scores",
    ),
}  # fmt: skip


@one_test
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_deleted_is_refused_in_one_line(case):
    evaluate_case, options, message = REFUSED[case]
    with pytest.raises(faithkit.errors.InputError, match=message) as raised:
        evaluate_case().diagnose(Deletion(**options))
    assert "\n" not in str(raised.value)


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures", "no_next_steps", "first_pairs")
def test_the_command_line_prints_and_writes_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = "evaluate --explainer shap --samples 40 --diagnose deletion:k=2 --out r.json --out r.html"
    done = CliRunner().invoke(main, words.split())
    assert done.exit_code == 0, done.stderr
    assert "the 2 features that explanations name" in done.stdout
    diagnoses = {
        part["name"]: part["result"] for part in json.loads(Path("r.json").read_text())["diagnostics"]
    }
    assert diagnoses["deletion:k=2"]["n"] == 40
    assert "Deletion of features" in Path("r.html").read_text()
    assert "Deletion of features" in faithkit.load("r.json").to_text(verbose=True)
