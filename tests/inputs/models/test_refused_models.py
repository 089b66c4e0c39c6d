"""Each refusal of a model says what to write instead, and what it says works at the next step."""

from pathlib import Path

import attrs
import numpy as np
import pytest
from looping import one_test
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

import faithkit
from faithkit.errors import InputError

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
y = np.array(["no", "no", "yes", "yes"])
TREE = DecisionTreeClassifier(random_state=0).fit(X, y)
LABELS = np.array([0, 0, 1, 1])


def predict_chances(X):
    return TREE.predict_proba(X)


def predict_odds(X):
    return X[:, 0] - 1.5


class Wrapped:
    """A model whose predict gives scores, as those of some libraries do."""

    def predict(self, X):
        return TREE.predict_proba(X)


class Unnamed:
    """A model with scores of three classes, of which the rows show two, and nobody says which."""

    def predict(self, X):
        return LABELS[: len(X)]

    def predict_proba(self, X):
        return np.column_stack([X[:, 0] < 2, X[:, 0] >= 2, np.zeros(len(X))])


class Odd:
    """A model that predicts what it does not know."""

    classes_ = (0, 1)

    def predict(self, X):
        return [7] * len(X)


@attrs.frozen
class Case:
    """A refused call, the code that the refusal has in it, and what the names in the code are."""

    call: object
    code: str
    names: dict = attrs.field(factory=dict)
    labels: list = attrs.field(factory=LABELS.tolist)


CASES = {
    "a class": Case(
        lambda: faithkit.Predictor(DecisionTreeClassifier),
        "DecisionTreeClassifier().fit(X, y)",
        {"DecisionTreeClassifier": DecisionTreeClassifier},
        y.tolist(),
    ),
    "a matrix of scores": Case(
        lambda: faithkit.Predictor(predict_chances).predict(X),
        "faithkit.Predictor(scores=predict_chances, classes=[0, 1])",
        {"predict_chances": predict_chances},
    ),
    "a matrix of scores from an object": Case(
        lambda: faithkit.Predictor(Wrapped()).predict(X),
        "faithkit.Predictor(scores=model.predict, classes=[0, 1])",
        {"model": Wrapped()},
    ),
    "a matrix of scores from a nameless function": Case(
        lambda: faithkit.evaluate(lambda X: predict_chances(X), X, "tree", background=X),
        "faithkit.Predictor(scores=f, classes=[0, 1])",
        {"f": predict_chances},
    ),
    "classes that the background does not show": Case(
        lambda: faithkit.Predictor(Unnamed(), background=X).scores(X),
        "faithkit.Predictor(model, classes=[0, 1, 2])",
        {"model": Unnamed()},
    ),
    "the path of a file": Case(
        lambda: faithkit.Predictor("bank_model:predict_chances"),
        "faithkit.load_model('bank_model:predict_chances')",
    ),
    "a path": Case(
        lambda: faithkit.Predictor(Path("bank_model:predict_chances")),
        "faithkit.load_model('bank_model:predict_chances')",
    ),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "bank_model.py").write_text(
        "def predict_chances(X):\n    return (X[:, 0] > 1.5).astype(int)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)


@one_test
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_a_refusal_says_to_write_works(here, case):
    with pytest.raises(InputError) as refusal:
        case.call()
    assert case.code in str(refusal.value)
    assert "\n" not in str(refusal.value)
    model = eval(case.code, {"faithkit": faithkit, "X": X, "y": y, **case.names})
    result = faithkit.evaluate(model, X, lambda X: [0] * len(X), background=X, progress=False)
    assert result.rows.row_predictions == case.labels


@one_test
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: faithkit.Predictor(scores=predict_chances),
            r"faithkit\.Predictor\(scores=predict_chances, classes=\[…\]\)",
        ),
        (lambda: faithkit.Predictor(TREE, scores=predict_chances, classes=[0, 1]), "give a model or scores"),
        (lambda: faithkit.Predictor(scores=3, classes=[0, 1]), "type int; expected a function that takes X"),
        (lambda: faithkit.Predictor(scores=TREE, classes=[0, 1]), r"expected model\.predict_proba\."),
        (
            lambda: faithkit.Predictor(scores=predict_chances, classes="ab"),
            r"'ab'; expected a list of labels",
        ),
        (lambda: faithkit.Predictor(scores=predict_chances, classes=2), "are 2; expected a list of labels"),
        (
            lambda: faithkit.Predictor(scores=predict_chances, classes={0, 1}),
            r"\{0, 1\}; expected a list of labels",
        ),
        (lambda: faithkit.Predictor(scores=predict_chances, classes=[None, 1]), "expected distinct labels"),
        (lambda: faithkit.Predictor(scores=lambda X: X * 1j, classes=[0, 1]).predict(X), "no numbers"),
        (lambda: faithkit.Predictor(Odd(), classes=["a", "b"]).predict(X), r"predicted .*7.*, which is none"),
        (lambda: faithkit.Predictor("tree"), "text 'tree'; expected a fitted model"),
        (lambda: faithkit.Predictor([1, 0]), r"faithkit\.score\(predictions, explanations\)"),
        (lambda: faithkit.Predictor(y), r"faithkit\.score\(predictions, explanations\)"),
        (lambda: faithkit.Predictor(lambda X: y).scores(X), r"Predictor\(scores=f, classes=\[…\]\)"),
        (lambda: faithkit.Predictor(TREE, classes=["yes", "no"]), r"model's own are \['no', 'yes'\]: leave"),
        (lambda: faithkit.Predictor(TREE, classes=["a", "b", "c"]), "give a new name for each"),
        (
            lambda: faithkit.Predictor(scores=predict_odds, classes=[0, 1]).predict(X),
            r"from -1\.5 to 1\.5.*numpy\.column_stack\(\[-d, d\]\)",
        ),
        (
            lambda: faithkit.Predictor(scores=predict_chances, classes=[0, 1, 2]).predict(X),
            r"shape \(4, 2\) for 4 rows and 3 classes \(0, 1, 2\); expected a row of scores",
        ),
        (
            lambda: faithkit.Predictor(scores=lambda X: y, classes=[0, 1]).predict(X),
            "no numbers.*leave scores",
        ),
        (
            lambda: faithkit.Predictor(scores=lambda X: X * np.nan, classes=[0, 1]).predict(X),
            "NaN in the scores of 4 of 4 rows",
        ),
    ],
)
def test_other_refusals_name_the_next_step(call, words):
    with pytest.raises(InputError, match=words) as refusal:
        call()
    assert "\n" not in str(refusal.value)


def test_advice_for_log_odds_works():
    both = faithkit.Predictor(
        scores=lambda X: np.column_stack([-predict_odds(X), predict_odds(X)]), classes=[0, 1]
    )
    assert both.predict(X).tolist() == LABELS.tolist()


@one_test
@pytest.mark.parametrize(
    ("model", "folder"),
    [("xgboost.Booster", "integrations"), ("catboost.CatBoost", "integrations")],
)
def test_a_model_that_another_distribution_takes_names_it(monkeypatch, model, folder):
    package, _, name = model.partition(".")
    kind = type(name, (), {"__module__": f"{package}.core", "predict": lambda self, X: X})
    monkeypatch.setattr("faithkit.inputs.models.recognition.adapt_object", lambda model, *_: model)
    with pytest.raises(InputError, match=f"a {model}, .*pip install -e plugins/{folder}$"):
        faithkit.Predictor(kind())


def test_numbers_of_several_outputs_are_asked_for_as_the_refusal_says():
    model = LinearRegression().fit(X, X)
    with pytest.raises(InputError, match="if they are numbers, say outcome='numbers'"):
        faithkit.Predictor(model.predict).predict(X)
    result = faithkit.evaluate(
        model.predict, X, lambda X: [0] * len(X), background=X, outcome="numbers", progress=False
    )
    assert result.setup.outcome.kind == "numbers"
