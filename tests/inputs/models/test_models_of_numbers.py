"""Models whose numbers may be amounts: what is said when they are used in another way."""

import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit.inputs.models.predictor import Predictor

X = np.arange(8.0)[:, None]


class Prices:
    """A regressor of somebody's own, which does not say that it is one."""

    def predict(self, X):
        return (100 * X[:, 0]).astype(int)


class Short:
    _estimator_type = "regressor"

    def predict(self, X):
        return X[:1, 0]


@one_test
@pytest.mark.parametrize(
    ("model", "hint"), [(Prices(), True), (lambda X: np.where(X[:, 0] > 3, "yes", "no"), False)]
)
def test_whole_numbers_without_scores_may_be_amounts(model, hint):
    with pytest.raises(faithkit.errors.InputError, match="gives labels only") as raised:
        Predictor(model, background=X).scores(X)
    said = "If its labels are amounts, say outcome='numbers' (CLI: --outcome numbers)."
    assert (said in str(raised.value)) == hint


def test_one_prediction_for_many_rows_is_one():
    with pytest.raises(
        faithkit.errors.InputError, match=r"^the model returned 1 prediction for 8 rows; expected one"
    ):
        Predictor(Short()).predict(X)
