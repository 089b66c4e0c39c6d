"""Every explainer with a model that predicts numbers: it works, or says in one line why it cannot."""

import numpy as np
import pytest
from looping import one_test
from regressors import (
    BACKGROUND,
    IMAGES,
    MODELS,
    REVIEWS,
    ROWS,
    SITUATIONS,
    STARS,
    TEXT,
    TEXTS,
    TWO_NUMBERS,
    Y,
    create_explainer,
    explained,
    function,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline

import faithkit

WORKS = {
    "shap": ["array, function", "array, xgboost", "frame, linear"],
    "lime": ["array, lightgbm", "frame, linear"],
    "gradient": ["array, linear", "array, forest", "frame, boosting", *IMAGES],
    "tree": ["array, tree", "array, histograms", "frame, linear"],
    "empirical-anchors": ["array, extra trees", "frame, boosting"],
    "anchors": ["array, function", "frame, linear"],
    "nearest-neighbor": ["array, boosting", "frame, linear"],
    "nearest-counterfactual": ["array, forest", "frame, boosting"],
    "dice": ["array, linear", "frame, boosting"],
    "lime-text": [*TEXT],
    "anchors-text": [*TEXT],
    "first-word": [*TEXT],
    "all-words": [*TEXT],
    "top-coefficient": [*TEXT],
    "patches": [*IMAGES],
}
FAST = {
    "lime": "samples=60",
    "anchors": "max_size=1,beam_size=1",
    "anchors-text": "beam_size=1",
    "lime-text": "samples=60",
}


def test_every_explainer_of_the_plugins_and_every_situation_is_in_the_table():
    assert {name for names in WORKS.values() for name in names} == set(SITUATIONS)
    known = faithkit.plugin.registry()
    ours = {
        entry.component.name
        for entry in known.entries("explainer")
        if entry.distribution
        in ("faithkit-scoped-rules", "faithkit-feature-importance", "faithkit-example-based")
    }
    assert ours == set(WORKS)


def assert_measured(explainer, situation):
    model, rows, background = SITUATIONS[situation]
    rows = rows[:3]
    spec = f"{explainer}:{FAST[explainer]}" if explainer in FAST else explainer
    result = faithkit.evaluate(model, rows, spec, background=background, progress=False)
    assert result.setup.outcome.kind == "numbers"
    assert result.n == faithkit.plugin.n_rows(rows)
    assert result.n - result.unexplained > result.n / 2


PAIRS = [(name, situation) for name, situations in WORKS.items() for situation in situations]
OPTIONAL = ("array, xgboost", "array, lightgbm")
QUICK_ON_FRAMES = ("lime", "nearest-neighbor", "tree")
SLOW = [
    (name, situation)
    for name, situation in PAIRS
    if situation in OPTIONAL
    or name == "anchors-text"
    or (situation.startswith("frame") and name not in QUICK_ON_FRAMES)
]


@one_test
@pytest.mark.filterwarnings("ignore::faithkit.errors.FaithkitWarning")
@pytest.mark.parametrize(("explainer", "situation"), [pair for pair in PAIRS if pair not in SLOW])
def test_an_explainer_of_numbers_is_measured(explainer, situation):
    assert_measured(explainer, situation)


@pytest.mark.slow
@one_test
@pytest.mark.filterwarnings("ignore::faithkit.errors.FaithkitWarning")
@pytest.mark.parametrize(("explainer", "situation"), SLOW)
def test_an_explainer_of_numbers_that_takes_long_or_needs_a_library_is_measured(explainer, situation):
    assert_measured(explainer, situation)


CLASSES = LogisticRegression().fit(BACKGROUND, Y[:200] > 0)
REFUSED = [
    (
        "shap:target='positive'",
        MODELS["forest"],
        "shap: target=positive chooses a class, and the model predicts",
    ),
    (
        "shap:output='raw'",
        MODELS["forest"],
        "RandomForestRegressor has no raw scores besides its predictions",
    ),
    ("shap:algorithm='tree'", MODELS["linear"], "shap cannot read LinearRegression as trees"),
    (
        "shap:algorithm='linear'",
        MODELS["forest"],
        "and linear regressors, and was given RandomForestRegressor",
    ),
    (
        "lime:target='all'",
        function,
        "lime: target=all chooses a class, and the model predicts numbers: leave",
    ),
    ("gradient:output='raw'", MODELS["linear"], "LinearRegression has no raw scores besides its predictions"),
    ("gradient:method='analytic'", function, "no formula is known for the prediction output of function"),
    (
        "tree:surrogate=false",
        MODELS["linear"],
        "DecisionTreeRegressor on numeric columns, and the model is a L",
    ),
    (
        "anchors",
        TWO_NUMBERS,
        "anchors explains one number per row, and the model predicts 2: give a model of",
    ),
    (
        "empirical-anchors",
        TWO_NUMBERS,
        "empirical-anchors explains one number per row, and the model predicts",
    ),
    (
        "nearest-counterfactual",
        TWO_NUMBERS,
        "nearest-counterfactual explains one number per row, and the model",
    ),
    (
        "dice",
        TWO_NUMBERS,
        "dice explains one number per row, and the model predicts 2: give a model of one of",
    ),
    (
        "anchors:within=1",
        CLASSES,
        "anchors: within=1 is about models that predict numbers, and labels are equal",
    ),
    (
        "empirical-anchors:within=1",
        CLASSES,
        "within=1 is about models that predict numbers, and labels are eq",
    ),
    (
        "dice:desired_range=[0, 1]",
        CLASSES,
        "dice: desired_range is about models that predict numbers, and th",
    ),
    ("nearest-counterfactual:desired_range=[90, 99]", function, "none of them in the desired range"),
]


@one_test
@pytest.mark.parametrize(
    ("spec", "model", "line"), REFUSED, ids=[f"{spec} {n}" for n, (spec, *_) in enumerate(REFUSED)]
)
def test_an_explainer_that_cannot_says_why_in_one_line(spec, model, line):
    with pytest.raises(faithkit.errors.InputError) as refused:
        explained(spec, model, ROWS, BACKGROUND)
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


@one_test
@pytest.mark.parametrize("explainer", ["anchors", "empirical-anchors", "nearest-counterfactual", "dice"])
def test_a_background_with_one_prediction_does_not_say_how_far_apart_others_are(explainer):
    predictor = faithkit.Predictor(lambda X: np.full(len(X), 0.25), outcome="numbers")
    with pytest.raises(faithkit.errors.InputError, match=r"predicts 0.25 for all .* rows of the background"):
        create_explainer(explainer).fit(predictor, BACKGROUND)


def test_words_and_a_class_do_not_go_with_numbers():
    with pytest.raises(
        faithkit.errors.InputError, match="by=predicted is about classes, and the model predicts numb"
    ):
        explained("top-coefficient:by='predicted'", REVIEWS, TEXTS, TEXTS)
    two = make_pipeline(CountVectorizer(), Ridge()).fit(TEXTS, np.column_stack([STARS, -STARS]))
    with pytest.raises(
        faithkit.errors.InputError, match="predicts 2 numbers, and form=words explains one: set form=weig"
    ):
        explained("lime-text", two, TEXTS, TEXTS)


@one_test
@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("anchors:within=-1", "anchors: within must be a number, 0 or more, got -1"),
        ("anchors-text:within=True", "anchors-text: within must be a number, 0 or more, got True"),
        ("empirical-anchors:within=float('nan')", "empirical-anchors: within must be a number"),
        ("nearest-counterfactual:within='a'", "nearest-counterfactual: within must be a number"),
        ("dice:desired_range=[2, 1]", "dice: desired_range must be two numbers, the lesser one first"),
        ("dice:desired_range=3", "dice: desired_range must be two numbers"),
        ("nearest-counterfactual:within=1;desired_range=[0, 1]", "within=1 and desired_range exclude each"),
    ],
)
def test_an_invalid_tolerance_or_range_is_refused(spec, line):
    with pytest.raises(faithkit.errors.ParameterError, match=line):
        create_explainer(spec)


class LabelsOnly:
    """An explainer that does not declare numbers."""

    def fit(self, predictor, background):
        self.labels_ = list(predictor.classes)
        return self

    def explain(self, X, seeds):
        return faithkit.Explanations.vectors(X)


def test_an_explainer_that_does_not_say_numbers_is_refused_before_it_fails_in_an_odd_way():
    line = 'LabelsOnly explains labels, and the model predicts numbers: .*outcomes = ."labels", "numbers"'
    with pytest.raises(faithkit.errors.InputError, match=line):
        faithkit.evaluate(MODELS["forest"], ROWS, LabelsOnly(), background=BACKGROUND)
    by_label = faithkit.evaluate(CLASSES, ROWS, LabelsOnly(), background=BACKGROUND)
    assert by_label.n == len(ROWS)
