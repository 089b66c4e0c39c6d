"""The columns of scores belong to labels: an order that contradicts the labels is refused, and no label lacks one."""

from functools import cache

import numpy as np
import pytest
from looping import one_test
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import faithkit
from faithkit.errors import FaithkitError, InputError
from faithkit.inputs.models.model_loading import load_model
from faithkit.inputs.models.predictor import Predictor

X, SPECIES = load_iris(return_X_y=True)
Y = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
ANOTHER_ORDER = r"lower \(.* on average\) for rows that it predicts as that class .*classes=\[…\]"


@cache
def fit_model():
    return LogisticRegression(max_iter=500).fit(X, Y)


class Shuffled:
    """The model of irises with its columns of probabilities in another order."""

    def __init__(self, order, classes=None, threshold=None):
        self.order, self.threshold = list(order), threshold
        if classes is not None:
            self.classes_ = np.array(classes)

    def predict(self, X):
        if self.threshold is None:
            return fit_model().predict(X)
        return np.where(fit_model().predict_proba(X)[:, 2] > self.threshold, "virginica", "versicolor")

    def predict_proba(self, X):
        if self.threshold is None:
            return fit_model().predict_proba(X)[:, self.order]
        p = fit_model().predict_proba(X)[:, 2]
        return np.column_stack([1 - p, p])[:, self.order]


@one_test
@pytest.mark.parametrize(
    ("order", "explainer"),
    [
        ((0, 2, 1), "shap"),
        ((1, 0, 2), "shap"),
        ((1, 2, 0), "shap"),
        ((2, 0, 1), "lime:samples=50"),
        ((2, 1, 0), "shap"),
    ],
)
def test_columns_in_another_order_than_the_classes_are_refused(order, explainer):
    for model in (Shuffled(order), Predictor(Shuffled(order), classes=np.unique(Y))):
        with pytest.raises(InputError, match=ANOTHER_ORDER):
            faithkit.evaluate(model, X[::5], explainer, background=X[::3])


def test_columns_in_another_order_are_refused_in_the_first_scores_of_several_labels():
    predictor = Predictor(Shuffled((2, 1, 0), classes=fit_model().classes_))
    assert predictor.scores(X[:1]).shape == (1, 3)  # one row says nothing
    with pytest.raises(InputError, match=ANOTHER_ORDER):
        predictor.scores(X)


def test_classes_that_are_named_in_the_order_of_the_columns_are_right():
    predictor = Predictor(Shuffled((2, 0, 1)), classes=fit_model().classes_[[2, 0, 1]], background=X)
    assert predictor.scores(X)[:, 1] == pytest.approx(fit_model().predict_proba(X)[:, 0])


@one_test
@pytest.mark.parametrize("threshold", [0.02, 0.2, 0.5, 0.9])
def test_a_tuned_threshold_is_no_other_order(threshold):
    names = ["versicolor", "virginica"]
    Predictor(Shuffled((0, 1), names, threshold), background=X).scores(X)
    with pytest.raises(InputError, match=ANOTHER_ORDER):
        Predictor(Shuffled((1, 0), names, threshold), background=X).scores(X)


def test_a_class_that_is_the_highest_where_it_is_predicted_is_in_its_place():
    """A second best class may score more for others than a best one does for its own rows."""

    class Hesitant:
        classes_ = np.array(["a", "b", "c"])

        def predict(self, X):
            return self.classes_[self.predict_proba(X).argmax(axis=1)]

        def predict_proba(self, X):
            return np.where(X[:, :1] > 0, [0.40, 0.31, 0.29], [0.45, 0.55, 0.0])

    rows = np.array([[1.0], [-1.0], [-2.0]])
    assert Predictor(Hesitant(), background=rows).scores(rows).shape == (3, 3)


@one_test
@pytest.mark.parametrize("explainer", ["shap:target=predicted", "lime:samples=50,target=predicted"])
def test_a_label_without_a_column_is_refused_in_one_line(explainer):
    class Undecided(LogisticRegression):
        def predict(self, X):
            return np.where(X[:, 0] > 7, "unsure", super().predict(X))

    model = Undecided(max_iter=500).fit(X, Y)
    with pytest.raises(
        FaithkitError, match=r"predicted 'unsure', which is none of the classes \['setosa', .*\]"
    ):
        faithkit.evaluate(model, X[100:], explainer, background=X[X[:, 0] <= 7][::4])


def test_an_onnx_file_says_in_which_order_its_labels_are(tmp_path):
    onnx = pytest.importorskip("onnx")
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    weights = [1.0, -1.0, 0.0]  # of one feature: "z" where it is large, "a" where it is small, else "m"
    node = helper.make_node(
        "LinearClassifier",
        ["X"],
        ["label", "scores"],
        domain="ai.onnx.ml",
        coefficients=weights,
        intercepts=[0.0, 0.0, 0.5],
        classlabels_strings=["z", "a", "m"],
        post_transform="SOFTMAX",
    )
    outputs = [("label", onnx.TensorProto.STRING, [None]), ("scores", float32, [None, 3])]
    graph = helper.make_graph(
        [node],
        "classifier",
        [helper.make_tensor_value_info("X", float32, [None, 1])],
        [helper.make_tensor_value_info(*output) for output in outputs],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    rows = np.array([[2.0], [-2.0], [0.0]], dtype=np.float32)
    predictor = Predictor(load_model(tmp_path / "model.onnx"), background=rows)
    assert predictor.classes.tolist() == ["z", "a", "m"]
    assert predictor.predict(rows).tolist() == ["z", "a", "m"]
    assert predictor.scores(rows).argmax(axis=1).tolist() == [0, 1, 2]


@one_test
@pytest.mark.parametrize("labels", [["no", "perhaps", "yes"], [3, 7, 10]], ids=str)
def test_an_onnx_file_names_labels_that_its_last_operator_chooses_from(tmp_path, labels):
    skl2onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import FloatTensorType
    from sklearn.naive_bayes import GaussianNB

    model = GaussianNB().fit(X, np.array(labels)[SPECIES])
    types, options = [("X", FloatTensorType([None, 4]))], {id(model): {"zipmap": False}}
    converted = skl2onnx.convert_sklearn(model, initial_types=types, options=options)
    (tmp_path / "model.onnx").write_bytes(converted.SerializeToString())
    assert load_model(tmp_path / "model.onnx").classes_.tolist() == labels


def test_a_model_of_one_label_is_not_asked_for_labels_for_ever():
    class Always:
        classes_ = np.array(["no", "yes"])
        n_asked = 0

        def predict(self, X):
            self.n_asked += len(X)
            return np.full(len(X), "no")

        def predict_proba(self, X):
            return np.tile([0.9, 0.1], (len(X), 1))

    model = Always()
    predictor = Predictor(model)
    for _ in range(50):
        predictor.scores(np.zeros((100, 1)))
    assert model.n_asked == 100
