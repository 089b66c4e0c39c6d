"""Of which class the numbers are, where an object has those of several: said, or left open by nothing."""

import numpy as np
import pytest
from faithkit_feature_importance.adapters.output_choice import Outputs
from looping import one_test

import faithkit


def choose(target, count, predictions=None, classes=None, names=None, n=None, reported=None):
    predict = None if predictions is None else lambda: predictions
    about = faithkit.plugin.RowContext(predict=predict, classes=classes)
    rows = n or len(predictions)
    return Outputs.of("it", count, about, names).choose(target, about, rows, reported)[:, 0].tolist()


ABC = ["a", "b", "c"]


@one_test
@pytest.mark.parametrize(
    ("predictions", "count", "more", "expected"),
    [
        (["b", "a", "c"], 3, {}, [1, 0, 2]),  # all labels occur: in their order
        (["c", "a"], 3, {"classes": ["c", "b", "a"]}, [0, 2]),  # the order of the scores, not of the alphabet
        (["c", "a"], 3, {"names": ["c", "b", "a"]}, [0, 2]),
        ([2, 0], 3, {}, [2, 0]),  # from 0: numbers of classes
        ([2, 0], 3, {"names": ["low", "mid", "high"]}, [2, 0]),  # words for people
        ([7, 1, 4], 3, {}, [2, 0, 1]),
        ([1, 3, 2], 3, {}, [0, 2, 1]),
        ([1.0, 0.0, 2.0], 3, {}, [1, 0, 2]),
        ([3, 1], 3, {"classes": [1, 2, 3]}, [2, 0]),
        ([3, 1], 3, {"names": ["1", "2", "3"]}, [2, 0]),
        (np.array(["c", "a"]), 3, {"classes": np.array(ABC)}, [2, 0]),
    ],
)
def test_the_predicted_class_is_found_by_its_label(predictions, count, more, expected):
    assert choose("predicted", count, predictions, **more) == expected
    assert choose(None, count, predictions, **more) == expected  # of more than two it is the default


@one_test
@pytest.mark.parametrize("predictions", [[True, False, True], [True, True, True]])
def test_truth_values_have_one_order_even_where_one_does_not_occur(predictions):
    assert choose("predicted", 2, predictions) == [int(label) for label in predictions]


@one_test
@pytest.mark.parametrize(
    ("target", "count", "more", "expected"),
    [
        (None, 2, {}, 1),  # the second of two
        (None, 1, {}, 0),
        ("positive", 2, {}, 1),
        ("positive", 2, {"classes": ["positive", "negative"]}, 0),  # a label of that name
        ("b", 3, {"classes": ABC}, 1),
        ("b", 3, {"names": ABC}, 1),
        (2, 3, {}, 2),
        (2, 3, {"classes": ABC}, 2),
        (2, 3, {"classes": [1, 2, 3]}, 1),  # a label, not a number
        (np.int64(1), 3, {}, 1),
    ],
)
def test_a_class_is_chosen_by_name_or_by_number(target, count, more, expected):
    assert choose(target, count, n=2, **more) == [expected] * 2


@one_test
@pytest.mark.parametrize(
    ("predictions", "count", "more", "message"),
    [
        (["a", "b"], 3, {}, "which of the 3 classes a, b are is not known: call faithkit.plugin.adapt"),
        ([1, 2], 3, {}, "which of the 3 classes 1, 2 are is not known"),  # 0…2, or 1…3?
        ([1, 2], 3, {"names": ["0", "1", "2"]}, "which of the 3 classes 1, 2 are is not known"),  # made up
        ([1, 2], 3, {"names": [f"Output {i}" for i in range(3)]}, "is not known"),
        (["a", 2, 3], 4, {}, "is not known"),
        (["high", "low", "mid"], 3, {"names": ["Low", "Mid", "High"]}, "is not known"),  # in another order
        ([0.31, 0.2], 3, {}, "is not known"),
        (["a", "x"], 3, {"classes": ABC}, "the label 'x' was predicted and is not among the classes"),
        (["a"], 3, {"classes": ["a", "b"]}, "values of 3 classes, and 2 labels .a, b.: give classes="),
        (["a", "b", "c"], 3, {"n": 2}, "numbers of 2 rows for 3 predictions"),
        ([[0.1, 0.2, 0.7]], 3, {}, "predictions of several numbers each do not say which of the 3 classes"),
        (None, 3, {"n": 2}, "and no predictions: give predictions="),
    ],
)
def test_what_is_not_known_is_asked_for(predictions, count, more, message):
    with pytest.raises(faithkit.errors.InputError, match=message) as error:
        choose("predicted", count, predictions, **more)
    assert "\n" not in str(error.value)


@one_test
@pytest.mark.parametrize(
    ("target", "count", "more"),
    [
        ("d", 3, {"classes": ABC}),
        (3, 3, {}),
        (-1, 3, {}),
        (0, 3, {"classes": [1, 2, 3]}),
        ("positive", 3, {}),
    ],
)
def test_a_class_that_does_not_exist_is_refused(target, count, more):
    with pytest.raises(
        faithkit.errors.InputError, match=f"target={target!r} is none of the 3 classes: there is "
    ):
        choose(target, count, n=2, **more)


def test_what_the_object_says_was_predicted_counts_where_nobody_else_says_it():
    assert choose("predicted", 3, n=2, reported=[2, 0]) == [2, 0]
    assert choose("predicted", 3, ["a", "b", "c"], reported=[2, 2, 2]) == [0, 1, 2]


@one_test
@pytest.mark.parametrize("adapter", ["shap-values", "lime-weights", "interpret-local"])
def test_a_target_of_another_type_is_refused(adapter):
    entry = faithkit.plugin.registry().find("adapter", adapter)
    if entry.component.missing_requirements():
        pytest.skip("its library is not installed")
    with pytest.raises(
        faithkit.errors.ParameterError, match=f"{adapter}: target must be positive, predicted, all, a"
    ):
        faithkit.plugin.registry().create("adapter", adapter, {"target": ["a"]})
