"""Explanations in every accepted form, their identities and missing rows."""

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from scipy import sparse

from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample, object_array
from faithkit.explanations.relations import SameExplanation
from faithkit.inputs.objects.explanation_forms import as_explanations
from faithkit.measure.counting.count import count

NAN = float("nan")


def group_rows(rows):
    """Return the number of the explanation that each row is counted under."""
    explanations = as_explanations(rows)
    sample, labels = Sample(None, explanations), np.zeros(len(explanations), int)
    return count(SameExplanation(), sample, labels, 1).owned.tolist()


# --- forms ---------------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.int8, np.uint8, bool])
def test_a_2d_array_of_numbers_is_vectors_of_its_own_dtype(dtype):
    array = np.array([[0, 1], [1, 1], [0, 1]], dtype=dtype)
    explanations = as_explanations(array)
    assert explanations.kind == "vector"
    assert explanations.values.dtype == dtype
    assert explanations.values.tolist() == array.tolist()
    assert explanations.missing.tolist() == [False, False, False]
    assert group_rows(array) == [0, 1, 0]


def test_a_frame_of_numbers_is_vectors_with_names():
    explanations = as_explanations(pd.DataFrame({"age": [0.5, 1.0], 7: [1.5, 2.0]}))
    assert explanations.kind == "vector"
    assert explanations.values.tolist() == [[0.5, 1.5], [1.0, 2.0]]
    assert explanations.shared == {"names": ["age", "7"]}


@one_test
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int16, bool])
def test_a_frame_of_one_dtype_keeps_it(dtype):
    frame = pd.DataFrame({"a": [1, 0], "b": [1, 1]}).astype(dtype)
    assert as_explanations(frame).values.dtype == dtype


def test_a_frame_of_several_numeric_dtypes_becomes_float64():
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 0.5], "c": [True, False]})
    explanations = as_explanations(frame)
    assert (explanations.kind, explanations.values.dtype) == ("vector", np.float64)
    assert explanations.values.tolist() == [[1.0, 0.5, 1.0], [2.0, 0.5, 0.0]]


def test_a_nullable_frame_becomes_float64_with_nan_for_its_missing_cells():
    frame = pd.DataFrame(
        {"a": pd.array([1, None, None], dtype="Int64"), "b": pd.array([True, False, False], dtype="boolean")}
    )
    explanations = as_explanations(frame)
    assert (explanations.kind, explanations.values.dtype) == ("vector", np.float64)
    assert np.isnan(explanations.values[1, 0])
    assert not explanations.missing.any()  # a vector with an unknown entry is still an explanation
    assert group_rows(frame) == [0, 1, 1]


def test_a_mixed_frame_is_compared_cell_by_cell_whatever_its_index():
    rules, values = ["a", "a", None, None, "a", "a"], [1.0, 2.0, 3.0, 3.0, NAN, NAN]
    frame = pd.DataFrame({"rule": rules, "value": values}, index=[9, 9, 3, 1, 1, 9])
    explanations = as_explanations(frame)
    assert explanations.kind == "value"
    assert explanations.shared == {"names": ["rule", "value"]}
    assert not explanations.missing.any()
    assert group_rows(frame) == [0, 1, 2, 2, 3, 3]


@one_test
@pytest.mark.parametrize("dtype", ["str", "object", "category"])
def test_a_frame_of_one_column_of_words_is_a_list_of_words(dtype):
    frame = pd.DataFrame({"word": pd.Series(["good", None, "good", None], dtype=dtype)})
    explanations = as_explanations(frame)
    assert explanations.kind == "value"
    assert explanations.values.tolist() == ["good", None, "good", None]
    assert explanations.missing.tolist() == [False, True, False, True]
    assert explanations.shared == {"names": ["word"]}
    assert group_rows(frame) == [0, 1, 0, 2]  # what is missing is shared with nobody


def test_a_series_of_words_is_a_list_of_words():
    explanations = as_explanations(pd.Series(["good", None, NAN], index=[5, 5, 5], dtype=object))
    assert explanations.values.tolist() == ["good", None, None]
    assert explanations.missing.tolist() == [False, True, True]


def test_a_list_of_hashables_is_values_and_none_is_missing():
    values = ["a", None, ("b", 1), frozenset({1, 2}), 3, 2.5, ("b", 1), None]
    explanations = as_explanations(values)
    assert explanations.kind == "value"
    assert explanations.values.dtype == object
    assert explanations.values.tolist() == values
    assert explanations.missing.tolist() == [False, True, False, False, False, False, False, True]
    assert group_rows(values) == [0, 1, 2, 3, 4, 5, 2, 6]


def test_tuples_stay_tuples_and_are_not_taken_for_vectors():
    explanations = as_explanations([("age", "sex"), ("age", "job")])
    assert explanations.values.shape == (2,)
    assert explanations.values[0] == ("age", "sex")
    numbers = as_explanations([(0.5, 1.0), (0.5, 1.0)])
    assert numbers.kind == "value"
    assert numbers.values[1] == (0.5, 1.0)


def test_nan_equals_nan_also_inside_tuples():
    assert group_rows([(1, NAN), (1, float("nan")), (NAN, 1)]) == [0, 0, 1]


@one_test
@pytest.mark.parametrize(
    "words",
    [
        ("a", "b", "a"),
        (word for word in "aba"),
        iter(["a", "b", "a"]),
        np.array(["a", "b", "a"]),
    ],
    ids=["tuple", "generator", "iterator", "1-D array"],
)
def test_any_sequence_of_words_will_do(words):
    explanations = as_explanations(words)
    assert explanations.kind == "value"
    assert explanations.values.tolist() == ["a", "b", "a"]


def test_a_1d_array_of_numbers_is_one_value_per_row():
    explanations = as_explanations(np.array([3, 1, 3]))
    assert explanations.kind == "value"
    assert explanations.values.tolist() == [3, 1, 3]
    assert all(type(value) is int for value in explanations.values)


def test_lists_of_numbers_are_vectors():
    for lists in (
        [[1.0, 2.0], [3.0, 4.0]],
        [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
        ([1.0, 2.0], [3.0, 4.0]),
    ):
        explanations = as_explanations(lists)
        assert explanations.kind == "vector"
        assert explanations.values.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_2d_array_of_objects_is_read_column_by_column():
    mixed = as_explanations(np.array([[1.0, "a"], [2.0, None]], dtype=object))
    assert mixed.kind == "value"
    assert mixed.values.shape == (2, 2)
    numbers = as_explanations(np.array([[1.0, 2], [0.5, 3]], dtype=object))
    assert (numbers.kind, numbers.values.tolist()) == ("vector", [[1.0, 2.0], [0.5, 3.0]])
    words = np.array([["a", "b"], ["a", "c"], ["a", "b"]])
    assert as_explanations(words).kind == "value"
    assert group_rows(words) == [0, 1, 0]


def test_explanations_are_returned_as_they_are():
    explanations = Explanations.of(["a"])
    assert as_explanations(explanations) is explanations


@one_test
@pytest.mark.parametrize(
    "rows", [[], (), np.empty((0, 3)), pd.DataFrame({"a": []}), pd.Series([], dtype=object)]
)
def test_no_rows_are_no_explanations(rows):
    assert len(as_explanations(rows)) == 0


def test_vectors_of_no_numbers_are_all_the_same():
    assert group_rows(Explanations.vectors(np.empty((3, 0)))) == [0, 0, 0]


def test_an_input_array_is_not_changed():
    array = np.array([[-0.0, NAN]])
    group_rows(array)
    assert np.signbit(array[0, 0])
    assert np.isnan(array[0, 1])


@one_test
@pytest.mark.parametrize(
    "other",
    [pd.Series([0.5, 0.5]), pd.Series([1, 1], dtype=np.int32), pd.array([1, 1], dtype="Int64")],
    ids=["with float64", "with int32", "with Int64"],
)
def test_large_integers_in_a_frame_stay_different(other):
    frame = pd.DataFrame({"id": [2**53, 2**53 + 1], "other": other})
    assert group_rows(frame) == [0, 1]


def test_large_integers_of_one_dtype_stay_different():
    assert group_rows(pd.DataFrame({"id": [2**53, 2**53 + 1]})) == [0, 1]
    assert group_rows(np.array([[2**63, 2**63 + 1], [2**63, 2**63]], dtype=np.uint64)) == [0, 1]
    assert group_rows([2**53, 2**53 + 1, float(2**53)]) == [0, 1, 0]


# --- what is refused -----------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("argument", "name"),
    [
        ("good", "str"),
        (b"good", "bytes"),
        ({"a": 1}, "dict"),
        (7, "int"),
        (None, "NoneType"),
        (object(), "object"),
    ],
)
def test_what_is_no_collection_of_explanations_is_refused(argument, name):
    with pytest.raises(InputError, match=f"explanations of type {name} are not understood: give a 2-D array"):
        as_explanations(argument)


@one_test
@pytest.mark.parametrize("array", [np.array(3.0), np.zeros((2, 2, 2))])
def test_arrays_of_other_dimensions_are_refused(array):
    with pytest.raises(
        InputError, match=f"a {array.ndim}-D array are not understood: give one row per instance"
    ):
        as_explanations(array)


@one_test
@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([[1.0, 2.0], [3.0]], r"got rows of \[1, 2\] values: give every row the same number of values"),
        ([np.zeros(2), np.zeros(3)], r"got rows of \[2, 3\] values"),
        ([[1, "a"], [2, "b"]], r"got 2-D <U21: give every row one number for each feature"),
        ([["a"], "b"], r"explanation 1 is 'b'; expected a list of texts"),
        ([[[1.0]], [[2.0]]], "vectors must form a 2-D array of numbers, got 3-D float64"),
    ],
)
def test_lists_that_form_no_matrix_are_refused(lists, message):
    with pytest.raises(InputError, match=message):
        as_explanations(lists)


def test_none_in_a_list_of_vectors_is_a_missing_one():
    explanations = as_explanations([[1.0, 2.0], None])
    assert explanations.missing.tolist() == [False, True]
    assert explanations.values.shape == (2, 2)


@one_test
@pytest.mark.parametrize("value", [{"age": 1}, {1, 2}, bytearray(b"a"), (1, [2])], ids=repr)
def test_values_without_a_hash_are_refused_when_they_are_compared(value):
    explanations = as_explanations(["a", value])
    with pytest.raises(
        InputError, match=f"explanation 1 is a {type(value).__name__} and has no hash.*str, tuple"
    ):
        count(SameExplanation(), Sample(None, explanations), np.zeros(2, int), 1)


def test_a_sparse_matrix_of_explanations_is_that_of_its_rows():
    assert group_rows(sparse.csr_matrix([[1, 0], [0, 1], [1, 0]])) == group_rows([[1, 0], [0, 1], [1, 0]])


def test_complex_vectors_are_refused():
    with pytest.raises(InputError, match="need a 2-D numeric array, got 2-D complex128"):
        as_explanations(np.zeros((2, 2), dtype=complex))


@one_test
@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(2), "got 1-D float64"),
        (np.array([["a"]]), "got 2-D object"),
        (np.zeros((1, 1), dtype=object), "got 2-D object"),
    ],
)
def test_the_kind_vector_needs_a_numeric_matrix(values, message):
    with pytest.raises(InputError, match=message):
        Explanations(kind="vector", values=values)


@one_test
@pytest.mark.parametrize(
    ("values", "message"), [([1.0, 2.0], "got 1-D"), ([[1], [2, 3]], r"rows of \[1, 2\]")]
)
def test_vectors_of_anything_else_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        Explanations.vectors(values)


@one_test
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"missing": np.zeros(3, bool)},
            "missing has 3 rows where there are 2 explanations: give one per row",
        ),
        ({"instances": ["text"]}, "instances has 1 rows where there are 2 explanations"),
        ({"instances": np.zeros((3, 1))}, "instances has 3 rows where there are 2 explanations"),
        ({"instances": sparse.csr_matrix((1, 4))}, "instances has 1 rows where there are 2 explanations"),
        ({"identity": pd.DataFrame({"a": [1]})}, "identity has 1 rows where there are 2 explanations"),
        ({"identity": (np.zeros(1), np.zeros(1))}, "identity has 1 rows where there are 2 explanations"),
    ],
)
def test_columns_of_different_lengths_are_refused(fields, message):
    with pytest.raises(InputError, match=message):
        Explanations(kind="value", values=np.array(["a", "b"], dtype=object), **fields)


def test_a_sample_without_instances_names_the_relation_that_needs_them():
    sample = Sample(None, Explanations.of(["a"]))
    with pytest.raises(InputError, match=r"in-scope reads the instances, and none were given: pass X"):
        sample.instances("in-scope")
    assert Sample(["x"], Explanations.of(["a"])).instances("in-scope") == ["x"]


# --- taking, joining, identities -----------------------------------------------------------------------

INSTANCES = {
    "array": np.arange(8.0).reshape(4, 2),
    "frame": pd.DataFrame({"age": [0, 1, 2, 3], "job": list("abcd")}, index=[5, 5, 0, 1]),
    "sparse": sparse.csr_matrix(np.arange(8.0).reshape(4, 2)),
    "texts": ["zero", "one", "two", "three"],
}


def to_lists(X):
    if isinstance(X, pd.DataFrame):
        return X.to_numpy().tolist()
    if sparse.issparse(X):
        return X.toarray().tolist()
    return X.tolist() if isinstance(X, np.ndarray) else X


@one_test
@pytest.mark.parametrize("form", INSTANCES)
@pytest.mark.parametrize(
    "rows", [[2, 0, 2], np.array([2, 0, 2]), slice(1, 3), [True, False, False, True], []]
)
def test_taking_rows_takes_them_from_every_column(form, rows):
    picked = np.arange(4)[np.array(rows, dtype=int) if isinstance(rows, list) and not rows else rows].tolist()
    whole = Explanations.of(
        ["a", "b", None, "d"], instances=INSTANCES[form], shared={"names": ["w"]}, relation="in-scope"
    ).identified(np.array([[1.0], [2.0], [3.0], [4.0]]))
    part = whole.take(rows)
    assert part.values.tolist() == [whole.values[i] for i in picked]
    assert part.missing.tolist() == [i == 2 for i in picked]
    assert part.identity[:, 0].tolist() == [i + 1.0 for i in picked]
    assert to_lists(part.instances) == [to_lists(INSTANCES[form])[i] for i in picked]
    assert (part.kind, part.shared, part.relation) == ("value", {"names": ["w"]}, "in-scope")
    assert len(whole) == 4


@one_test
@pytest.mark.parametrize("form", INSTANCES)
def test_parts_join_to_the_whole_in_order(form):
    whole = Explanations.of(["a", None, "c", "a"], instances=INSTANCES[form], relation="in-scope").identified(
        ["A", "B", "C", "A"]
    )
    again = Explanations.concat([whole.take(slice(0, 1)), whole.take(slice(1, 1)), whole.take(slice(1, 4))])
    assert again.values.tolist() == whole.values.tolist()
    assert again.identity.tolist() == whole.identity.tolist()
    assert again.missing.tolist() == whole.missing.tolist()
    assert to_lists(again.instances) == to_lists(whole.instances)
    assert again.relation == "in-scope"


def test_vectors_and_frames_join_too():
    vectors = [Explanations.vectors([[1.0, 2.0]]), Explanations.vectors([[3.0, 4.0]])]
    assert Explanations.concat(vectors).values.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    frames = [as_explanations(pd.DataFrame({"a": ["x"], "b": [value]})) for value in (1, 2)]
    joined = Explanations.concat(frames)
    assert joined.values.to_numpy().tolist() == [["x", 1], ["x", 2]]
    assert group_rows(joined) == [0, 1]


def test_one_part_alone_is_itself():
    assert Explanations.concat([Explanations.of(["a"])]).values.tolist() == ["a"]


@one_test
@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            [Explanations.of(["a"]), Explanations.vectors([[1.0]])],
            r"kinds \['value', 'vector'\] cannot be joined",
        ),
        ([], "cannot be joined"),
        ([Explanations.vectors(np.zeros((1, 1), t)) for t in (np.float32, np.float64)], "one dtype"),
        ([Explanations.vectors(np.zeros((1, d))) for d in (1, 2)], "different columns"),
        (
            [as_explanations(pd.DataFrame({name: ["x"], "b": [1]})) for name in ("a", "A")],
            "different columns",
        ),
        (
            [Explanations.of(["a"], instances=["text"]), Explanations.of(["a"], instances=np.zeros((1, 1)))],
            "different kinds",
        ),
    ],
)
def test_parts_that_do_not_fit_are_not_joined(parts, message):
    with pytest.raises(InputError, match=message):
        Explanations.concat(parts)


def test_a_part_without_any_explanation_is_of_the_kind_of_the_others():
    parts = [Explanations.of([None], remarks=object_array(["why"])), Explanations.vectors([[1.0, 2.0]])]
    joint = Explanations.concat(parts)
    assert (joint.kind, joint.missing.tolist(), joint.remarked[0]) == ("vector", [True, False], "why")


def test_a_part_without_an_identity_joins_with_its_values():
    joint = Explanations.concat([Explanations.of(["a"]), Explanations.of(["b"]).identified(["B"])])
    assert joint.identities.tolist() == ["a", "B"]


def test_parts_of_which_only_one_has_instances_are_not_joined():
    with pytest.raises(InputError, match="different kinds"):
        Explanations.concat([Explanations.of(["a"]), Explanations.of(["b"], instances=["text"])])


@one_test
@pytest.mark.parametrize(
    "identity",
    [
        ["x", "y", "x"],
        (word for word in "xyx"),
        np.array([1.0, 2.0, 1.0]),
        np.array([[1], [2], [1]]),
        pd.DataFrame({"a": ["x", "y", "x"]}),
        pd.Series(["x", "y", "x"]),
        (np.array([1, 2, 1]), np.array(["x", "x", "x"], dtype=object)),
    ],
    ids=["list", "generator", "vector", "matrix", "frame", "series", "columns"],
)
def test_an_identity_replaces_what_equality_compares_and_nothing_else(identity):
    original = Explanations.vectors([[0.1], [0.2], [0.3]], shared={"names": ["age"]})
    result = original.identified(identity)
    assert group_rows(original) == [0, 1, 2]
    assert group_rows(result) == [0, 1, 0]
    assert result.values.tolist() == original.values.tolist()
    assert (result.kind, result.shared) == ("vector", {"names": ["age"]})
    assert original.identity is None


def test_without_an_identity_the_values_are_compared():
    result = Explanations.of(["a", "b"])
    assert result.identities is result.values
    assert result.identified([1, 1]).identities.tolist() == [1, 1]


@one_test
@pytest.mark.parametrize(
    "identity", [["x"], np.zeros((3, 1)), pd.DataFrame({"a": [1]}), (np.zeros(3), np.zeros(3))]
)
def test_an_identity_of_another_length_is_refused(identity):
    with pytest.raises(
        InputError, match=r"identities for \d rows where there are 2 explanations: give one per row"
    ):
        Explanations.of(["a", "b"]).identified(identity)


def test_missing_rows_can_be_marked_beside_their_values():
    result = Explanations.of(["a", None, "a", "a"], missing=np.array([False, False, True, False]))
    assert result.missing.tolist() == [False, True, True, False]
    assert group_rows(result) == [0, 1, 2, 0]


def test_the_kind_of_values_can_be_any_word():
    assert Explanations.of(["a"], kind="rule").kind == "rule"
    assert Explanations(kind="picture", values=np.zeros((2, 2, 2))).values.shape == (2, 2, 2)


def test_remarks_may_be_a_list():
    batch = Explanations.of(["a", None, None], remarks=["below the threshold", "no rule", None])
    assert batch.remarked.tolist() == ["below the threshold", "no rule", "no explanation"]
    assert batch.take(np.array([True, False, True])).remarked.tolist() == [
        "below the threshold",
        "no explanation",
    ]
