"""Attributions as tensors give the numbers of the same array."""

import numpy as np
import pytest
from looping import one_test

import faithkit

torch = pytest.importorskip("torch")

VALUES = np.round(np.random.default_rng(0).normal(size=(30, 4)), 1).astype(np.float32)
LABELS = np.where(VALUES[:, 0] > 0, "yes", "no")
TENSOR = torch.tensor(VALUES, requires_grad=True)


@one_test
@pytest.mark.parametrize(
    "attributions",
    [
        TENSOR,
        torch.nn.Parameter(TENSOR.detach()),
        TENSOR.detach().to_sparse(),
        TENSOR.detach().T.contiguous().T,
        list(TENSOR),
        [TENSOR[row : row + 1] for row in range(30)],
        (TENSOR[:, :1], TENSOR[:, 1:]),
    ],
    ids=["with a gradient", "a parameter", "sparse", "strided", "rows", "batches of one", "several inputs"],
)
def test_every_form_gives_the_arrays_numbers_to_the_bit(attributions):
    explanations = faithkit.plugin.adapt(attributions)
    np.testing.assert_array_equal(explanations.values, VALUES)
    assert explanations.values.dtype == np.float32
    for discretizer in ("original", "sign"):
        array = faithkit.score(LABELS, VALUES, discretizer=discretizer)
        assert faithkit.score(LABELS, attributions, discretizer=discretizer).consistency == array.consistency


@one_test
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int64])
def test_numbers_of_every_type_keep_their_values(dtype):
    tensor = torch.tensor([[1.5, -2.0], [0.25, 3.0]]).to(dtype)
    assert faithkit.plugin.adapt(tensor).values.tolist() == tensor.tolist()


def test_columns_are_named_as_in_the_table():
    import pandas as pd

    X = pd.DataFrame(VALUES, columns=list("abcd"))
    assert faithkit.plugin.adapt(TENSOR, X=X).shared == {"names": list("abcd")}


def test_a_row_that_is_not_there_is_missing():
    assert faithkit.plugin.adapt([TENSOR[0], None]).missing.tolist() == [False, True]


def test_maps_of_images_are_taken_where_the_images_are_there():
    images = np.arange(24.0).reshape(2, 3, 4)
    explanations = faithkit.plugin.adapt(torch.tensor(images * 2), X=images)
    assert explanations.values.tolist() == (images * 2).reshape(2, 12).tolist()
    assert explanations.shared["names"][5] == "[1, 1]"
    each = faithkit.plugin.adapt(list(torch.tensor(images * 2)), X=images)
    assert each.values.tolist() == explanations.values.tolist()
    with pytest.raises(faithkit.errors.InputError, match="or one for each value of X, with X beside them"):
        faithkit.plugin.adapt(torch.tensor(images * 2))


def test_captums_attributions_are_taken():
    attr = pytest.importorskip("captum.attr")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))
    inputs = torch.tensor(VALUES)
    target = net(inputs).argmax(1)
    outcome = attr.IntegratedGradients(net).attribute(inputs, target=target)
    array = faithkit.score(target, outcome.detach().numpy(), discretizer="sign")
    assert faithkit.score(target, outcome, discretizer="sign").consistency == array.consistency

    def explain(X):
        rows = torch.tensor(X, dtype=torch.float32)
        return attr.Saliency(net).attribute(rows, target=net(rows).argmax(1))

    def predict(X):
        return net(torch.tensor(X, dtype=torch.float32)).argmax(1).numpy()

    result = faithkit.evaluate(predict, VALUES, explain, discretizer="sign", progress=False)
    assert result.rows.explanations.values.shape == (30, 4)


@one_test
@pytest.mark.parametrize(
    ("attributions", "message"),
    [
        (
            torch.ones(3, 2, 2),
            r"attributions of the shape \(3, 2, 2\) are not understood: give one number for each feature",
        ),
        (torch.ones(3), r"attributions of the shape \(3,\) are not"),
        ([torch.ones(2, 2)], r"tensor 0 of the list has the shape \(2, 2\)"),
        ([torch.ones(2), torch.ones(3)], "rows of 2 and of 3 values: give every row the same number"),
        ([torch.ones(2), np.ones(2)], "row 1 of the list is a ndarray among torch.Tensor"),
        ((torch.ones(2, 2), torch.ones(3, 2)), "the inputs have different numbers of rows"),
        (torch.ones(2, 2, dtype=torch.complex64), "vectors must form a 2-D array of numbers"),
    ],
)
def test_what_cannot_be_understood_is_refused_in_one_line(attributions, message):
    with pytest.raises(faithkit.errors.FaithkitError, match=message) as error:
        faithkit.plugin.adapt(attributions)
    assert "\n" not in str(error.value)
