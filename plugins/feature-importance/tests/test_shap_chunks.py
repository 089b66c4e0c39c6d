"""SHAP explains thousands of rows at a time where it reads the model, and a few where it asks it."""

import numpy as np
import pytest
from faithkit_feature_importance.shap_values.explainer import ShapExplainer
from looping import one_test
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import faithkit

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, (900, 3)).astype(float)
y = (X[:, 0] + X[:, 1] > 3).astype(int)


def one_hot(model):
    return make_pipeline(make_column_transformer((OneHotEncoder(), [0, 1, 2])), model).fit(X, y)


@one_test
@pytest.mark.parametrize(
    ("algorithm", "model", "rows"),
    [
        ("auto", GradientBoostingClassifier(n_estimators=2), 1024),
        ("tree", GradientBoostingClassifier(n_estimators=2), 4096),
        ("auto", LogisticRegression(), 1024),
        ("auto", MLPClassifier(hidden_layer_sizes=(2,), max_iter=2), 16),
        ("permutation", GradientBoostingClassifier(n_estimators=2), 16),
    ],
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_the_number_of_rows_at_a_time_follows_from_the_model(algorithm, model, rows):
    predictor = faithkit.Predictor(one_hot(model))
    assert ShapExplainer(algorithm).rows_per_chunk(predictor) == rows


def test_more_rows_do_not_prepare_the_table_more_often(monkeypatch):
    model = one_hot(GradientBoostingClassifier(n_estimators=5, random_state=0))
    prepare, sizes = model[0], []
    transform = type(prepare).transform

    def counted(self, table, **options):
        sizes.append(len(table))
        return transform(self, table, **options)

    monkeypatch.setattr(type(prepare), "transform", counted)

    def calls(rows):
        sizes.clear()
        faithkit.evaluate(model, X[:rows], explainer="shap", background=X[:50], n_jobs=1)
        return len(sizes)

    assert calls(100) == calls(900)
