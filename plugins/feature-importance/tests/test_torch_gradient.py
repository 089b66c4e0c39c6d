"""PyTorch modules as models: probabilities of their logits, and gradients by autograd."""

import sys

import numpy as np
import pandas as pd
import pytest
from faithkit_feature_importance import TorchClassifier, TorchRegressor
from looping import one_test
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import faithkit

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
TWO = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
THREE = np.digitize(X[:, 0] - X[:, 3], [-0.5, 0.5])


def make_gradient(**params):
    return faithkit.plugin.registry().create("explainer", "gradient", params)


def explain(model, rows=X, **params):
    return make_gradient(**params).fit(faithkit.Predictor(model), X).explain(rows, None)


def to_module(model, dtype=torch.float64):
    """Write a fitted scikit-learn perceptron as a PyTorch module."""
    parts = []
    for weights, biases in zip(model.coefs_, model.intercepts_, strict=True):
        layer = torch.nn.Linear(*weights.shape, dtype=dtype)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(weights.T))
            layer.bias.copy_(torch.tensor(biases))
        parts += [layer, torch.nn.Tanh()]
    return torch.nn.Sequential(*parts[:-1])


@pytest.fixture(scope="module", params=[TWO, THREE], ids=["two", "three"])
def perceptron(request):
    with pytest.warns(match="converged"):
        return MLPClassifier((6, 5), activation="tanh", max_iter=30, random_state=0).fit(X, request.param)


@one_test
@pytest.mark.parametrize("output", ["probability", "raw"])
def test_autograd_equals_the_formula_of_the_same_network(perceptron, output):
    model = TorchClassifier(to_module(perceptron), perceptron.classes_)
    assert np.allclose(model.predict_proba(X), perceptron.predict_proba(X), atol=1e-12)
    assert np.array_equal(model.predict(X), perceptron.predict(X))
    params = {"output": output, "target": "all", "offset": True, "method": "analytic"}
    assert np.allclose(explain(model, **params).values, explain(perceptron, **params).values, atol=1e-12)


def test_a_module_keeps_its_precision(perceptron):
    single = TorchClassifier(to_module(perceptron, torch.float32), perceptron.classes_)
    gradients = explain(single, method="analytic", output="raw").values
    assert gradients.dtype == np.float64
    assert np.array_equal(gradients, gradients.astype(np.float32))
    assert np.allclose(gradients, explain(perceptron, output="raw").values, atol=1e-5)
    assert np.allclose(explain(single).values, explain(perceptron).values, atol=1e-6)


def test_every_bit_is_the_same_whatever_rows_are_together(perceptron):
    model = TorchClassifier(to_module(perceptron, torch.float32), perceptron.classes_)
    fitted = make_gradient(offset=True, target="all").fit(faithkit.Predictor(model), X)
    rows = np.vstack([X, X[:20]])
    whole = fitted.explain(rows, None).values
    assert np.array_equal(whole[:20], whole[60:])
    assert np.array_equal(fitted.explain(rows[::-1], None).values[::-1], whole)
    assert np.array_equal(np.vstack([fitted.explain(row[None], None).values for row in rows]), whole)


def test_scalers_may_stand_before_a_module(perceptron):
    class Net(TorchClassifier, ClassifierMixin, BaseEstimator):
        """A classifier that a Pipeline takes for one of its own."""

        def fit(self, X, y):
            return self

    net = Net(to_module(perceptron), perceptron.classes_)
    wide = X * [1.0, 10.0, 0.1, 5.0]
    model = make_pipeline(StandardScaler(), net).fit(wide, None)
    gradients = (
        make_gradient(method="analytic").fit(faithkit.Predictor(model), wide).explain(wide, None).values
    )
    inner = make_gradient().fit(faithkit.Predictor(net), X).explain(model[0].transform(wide), None).values
    assert np.allclose(gradients, inner / model[0].scale_, atol=1e-12)


class Skorch:
    """What the explainer needs of skorch's NeuralNetClassifier, whose module may end in a softmax."""

    def __init__(self, module, classes):
        self.module_, self.classes_ = module, classes

    def predict_proba(self, X):
        with torch.no_grad():
            return self.module_(torch.tensor(X)).numpy()

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_a_module_that_gives_probabilities_itself_is_understood():
    perceptron = MLPClassifier((5,), activation="tanh", max_iter=30, random_state=0)
    with pytest.warns(match="converged"):
        perceptron.fit(X, THREE)
    net = Skorch(torch.nn.Sequential(*to_module(perceptron), torch.nn.Softmax(dim=1)), np.arange(3))
    gradients = explain(net, method="analytic", target="all").values
    assert np.allclose(gradients, explain(perceptron, target="all").values, atol=1e-12)
    module = net.module_.float()
    with pytest.raises(faithkit.errors.InputError, match="leave out its last softmax") as refusal:
        TorchClassifier(module, [0, 1, 2]).predict(X)
    code = str(refusal.value).partition("write ")[2].rstrip(".")
    model = eval(code, {"faithkit": faithkit, "module": module, "torch": torch, "numpy": np})
    assert model.predict(X).tolist() == perceptron.predict(X).tolist()


def test_one_flat_output_speaks_for_the_second_class():
    class Flat(torch.nn.Module):
        def forward(self, x):
            return 3 * x[:, 0] - 1

    model = TorchClassifier(Flat(), ["no", "yes"])
    assert model.predict(np.array([[0.0], [1.0]])).tolist() == ["no", "yes"]
    rows = np.linspace(-1, 1, 9)[:, None]
    explanations = (
        make_gradient(output="raw", offset=True).fit(faithkit.Predictor(model), rows).explain(rows, None)
    )
    assert np.allclose(explanations.values, [3.0, -1.0])


def test_the_module_is_left_as_it_was():
    module = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 3)
    )
    module[1].eval()  # frozen by hand, in a module that is being trained
    before = {name: value.clone() for name, value in module.state_dict().items()}
    state = torch.random.get_rng_state()
    model = TorchClassifier(module, [0, 1, 2])
    with torch.no_grad():  # a caller's own setting does not matter
        first, second = explain(model).values, explain(model).values
    assert np.array_equal(first, second)
    assert first.any()
    assert [part.training for part in module] == [True, False, True, True]
    assert all(parameter.grad is None for parameter in module.parameters())
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert torch.equal(torch.random.get_rng_state(), state)


def test_an_evaluation_takes_frames_and_workers(perceptron):
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = TorchClassifier(to_module(perceptron), perceptron.classes_)
    alone = faithkit.evaluate(model, frame, "gradient", discretizer="sign", background=frame)
    assert alone.rows.explanations.shared["names"] == list("abcd")
    together = faithkit.evaluate(model, frame, "gradient", discretizer="sign", background=frame, n_jobs=2)
    assert together.to_dict() == alone.to_dict()


def test_a_bare_module_is_a_model_where_somebody_says_what_its_outputs_are():
    module = torch.nn.Linear(4, 2)
    wrapped = TorchClassifier(module, ["no", "yes"])
    bare = faithkit.Predictor(module, classes=["no", "yes"])
    assert bare.predict(X).tolist() == wrapped.predict(X).tolist()
    assert bare.scores(X).tolist() == wrapped.predict_proba(X).tolist()
    explainers = (make_gradient().fit(predictor, X) for predictor in (bare, faithkit.Predictor(wrapped)))
    bare_gradients, wrapped_gradients = (
        fitted.explain(X, range(len(X))).values.tolist() for fitted in explainers
    )
    assert bare_gradients == wrapped_gradients
    numbers = faithkit.Predictor(module, outcome="numbers")
    assert numbers.predict(X).tolist() == TorchRegressor(module).predict(X).astype(float).tolist()
    with pytest.raises(
        faithkit.errors.InputError, match=r"faithkit\.Predictor\(module, classes=.*outcome='numbers'"
    ):
        faithkit.Predictor(module)


def test_a_module_that_predicts_by_itself_stays_what_it_is():
    class Own(torch.nn.Linear):
        def predict(self, X):
            return ["no"] * len(X)

    module = Own(4, 2)
    assert faithkit.Predictor(module).model is module


def test_what_is_no_classifier_is_refused():
    with pytest.raises(faithkit.errors.InputError, match=r"wraps a torch.nn.Module, and was given a list"):
        TorchClassifier([1], [0, 1])
    with pytest.raises(faithkit.errors.InputError, match="two classes or more"):
        TorchClassifier(torch.nn.Linear(4, 1), ["only"])
    with pytest.raises(faithkit.errors.InputError, match="gives 3 logits, and there are 2 classes"):
        TorchClassifier(torch.nn.Linear(4, 3), [0, 1]).predict(X)
    with pytest.raises(faithkit.errors.InputError, match="one row of logits, or numbers, for each"):
        TorchClassifier(torch.nn.Flatten(0), [0, 1]).predict(X)


def test_without_pytorch_the_error_says_how_to_install_it(monkeypatch):
    module = torch.nn.Linear(4, 2)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(faithkit.errors.InputError, match=r"pip install torch"):
        TorchClassifier(module, [0, 1])


def test_the_gradient_of_a_regressor_is_that_of_its_output():
    module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1)).double()
    model, step = TorchRegressor(module), 1e-5
    explainer = faithkit.plugin.registry().create("explainer", "gradient", {"method": "analytic"})
    explanations = explainer.fit(faithkit.Predictor(model), X).explain(X, None)
    sides = [
        (model.predict(X + step * axis) - model.predict(X - step * axis)) / (2 * step) for axis in np.eye(4)
    ]
    assert explanations.values == pytest.approx(np.stack(sides, axis=1), abs=1e-7)
    with pytest.raises(faithkit.errors.InputError, match=r"wraps a torch.nn.Module, and was given a list"):
        TorchRegressor([1])


# --- images -------------------------------------------------------------------------------------------------------


def draw_pictures(n=6):
    return np.random.default_rng(3).normal(size=(n, 1, 4, 3))


def make_convolutional(outputs):
    torch.manual_seed(0)
    parts = [torch.nn.Conv2d(1, 2, 2), torch.nn.Tanh(), torch.nn.Flatten(), torch.nn.Linear(12, outputs)]
    return torch.nn.Sequential(*parts).double()


def test_the_gradient_of_images_is_autograds_for_every_cell():
    module, X = make_convolutional(3), draw_pictures()
    model = faithkit.Predictor(TorchClassifier(module, classes=["a", "b", "c"]))
    explanations = faithkit.plugin.registry().create("explainer", "gradient").fit(model, X).explain(X, None)
    for image, label, values in zip(X, model.predict(X), explanations.values, strict=True):
        point = torch.tensor(image[None], requires_grad=True)
        torch.softmax(module(point), dim=1)[0, "abc".index(label)].backward()
        np.testing.assert_allclose(values, point.grad.numpy().ravel(), atol=1e-12)
    assert explanations.shared["names"][4] == "[0, 1, 1]"


def test_the_gradient_of_a_module_of_images_that_predicts_numbers():
    module, X = make_convolutional(1), draw_pictures()
    model = faithkit.Predictor(TorchRegressor(module))
    explanations = (
        faithkit.plugin.registry().create("explainer", "gradient").fit(model, X).explain(X[:2], None)
    )
    point = torch.tensor(X[:2], requires_grad=True)
    module(point).sum().backward()
    np.testing.assert_allclose(explanations.values, point.grad.numpy().reshape(2, -1), atol=1e-9)
