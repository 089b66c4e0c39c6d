"""The reader's logistic regression is the usual pipeline of scikit-learn's."""

import numpy as np
import pytest
from faithkit_diagnostics.reader.models import Logistic
from looping import one_test
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3)) * [1.0, 100.0, 0.0]
GAPS = np.where(RNG.random(X.shape) < 0.2, np.nan, X)


@one_test
@pytest.mark.parametrize("rows", [X, GAPS], ids=["numbers", "gaps"])
@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.parametrize("weights", [None, RNG.random(80)], ids=["equal", "weighted"])
def test_it_gives_the_probabilities_of_the_pipeline(rows, labels, weights):
    y = np.arange(80) % labels
    steps = SimpleImputer(add_indicator=True), StandardScaler(), LogisticRegression()
    pipeline = make_pipeline(*steps).fit(rows, y, logisticregression__sample_weight=weights)
    fitted = Logistic().fit(rows, y, sample_weight=weights)
    assert fitted.classes_.tolist() == list(range(labels))
    assert np.allclose(fitted.predict_proba(rows), pipeline.predict_proba(rows), atol=1e-3)


def test_a_column_that_was_constant_decides_nothing_when_it_is_not():
    """Ten times 0.1 has a mean that is not 0.1, so its spread is no 0."""
    rows = np.column_stack([np.full(30, 0.1), RNG.normal(size=30)])
    fitted = Logistic().fit(rows, np.arange(30) % 2)
    other = rows + np.array([0.1, 0.0])
    assert np.abs(fitted.predict_proba(other) - fitted.predict_proba(rows)).max() < 0.1
