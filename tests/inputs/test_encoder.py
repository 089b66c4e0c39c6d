import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs.frames import mixed_frames, people
from looping import one_test
from scipy import sparse

from faithkit.errors import InputError
from faithkit.plugin import Encoder

NAN = np.nan


def test_every_kind_of_column_has_the_codes_worked_out_by_hand():
    encoder = Encoder(people())
    assert encoder.names == list(people())
    assert encoder.n_columns == 12
    assert encoder.categorical == (3, 4, 5, 6, 7, 9, 10, 11)
    assert encoder.categories == {
        3: ["clerk", "smith"],
        4: ["Bonn", "Ulm"],
        5: ["", "x"],
        6: ["L", "S"],  # sorted, and only those that occur
        7: ["low", "high"],  # an ordered dtype's own order
        9: [False, True],
        10: [False, True],
        11: [False, True],
    }
    codes = encoder.encode(people())
    assert codes.dtype == np.float64
    np.testing.assert_array_equal(
        codes[:3],
        [
            [31, 1.71, 71.5, 1, 0, 1, 0, 0, 2, 1, 1, 1],
            [45, NAN, 80.25, 2, 1, 2, 1, 1, NAN, 2, 0, 2],
            [28, 1.64, NAN, 0, 2, 0, 2, 2, 0, 0, 1, 0],
        ],
    )
    np.testing.assert_array_equal(codes[3], codes[0])


@given(mixed_frames(), st.data())
@settings(max_examples=5)
def test_decoding_the_codes_gives_the_rows_back(frame, data):
    encoder = Encoder(frame)
    pd.testing.assert_frame_equal(encoder.decode(encoder.encode(frame)), frame)
    rows = data.draw(st.lists(st.integers(0, len(frame) - 1)))
    chunk = frame.iloc[rows].reset_index(drop=True)
    pd.testing.assert_frame_equal(encoder.decode(encoder.encode(chunk)), chunk)


@given(mixed_frames())
@settings(max_examples=5)
def test_codes_are_the_same_in_any_column_order(frame):
    encoder = Encoder(frame)
    np.testing.assert_array_equal(encoder.encode(frame[frame.columns[::-1]]), encoder.encode(frame))


@given(mixed_frames())
@settings(max_examples=5)
def test_encoding_and_decoding_share_no_memory_with_their_input(frame):
    before = frame.copy(deep=True)
    encoder = Encoder(frame)
    codes = encoder.encode(frame)
    copy = codes.copy()
    decoded = encoder.decode(codes)
    codes[:] = 0.0
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(decoded, before)
    decoded["object"] = "overwritten"
    decoded.loc[:, "float"] = 0.0
    pd.testing.assert_frame_equal(encoder.decode(copy), before)


def test_a_pickled_encoder_is_the_same_encoder():
    encoder = pickle.loads(pickle.dumps(Encoder(people())))
    codes = encoder.encode(people())
    np.testing.assert_array_equal(codes, Encoder(people()).encode(people()))
    pd.testing.assert_frame_equal(encoder.decode(codes), people())


@one_test
@pytest.mark.parametrize(
    "array",
    [
        np.array([[1.5, NAN], [2.5, 3.0]]),
        np.array([[1.5, 2.5]], dtype=np.float32),
        np.array([[1, 2], [3, 4]]),
        np.array([[1, 2], [3, 4]], dtype=np.uint8),
        np.array([[True, False], [True, True]]),
        np.array([["smith", "x"], ["clerk", "yz"]]),
        np.array([[39, "smith", True, 0.5], [50, None, False, 1.5]], dtype=object),
    ],
)
def test_arrays_come_back_as_arrays_of_their_dtype(array):
    encoder = Encoder(array)
    decoded = encoder.decode(encoder.encode(array))
    assert decoded.dtype == array.dtype
    assert [[type(cell) for cell in row] for row in decoded.tolist()] == [
        [type(cell) for cell in row] for row in array.tolist()
    ]
    np.testing.assert_array_equal(decoded, array)


def test_numbers_in_an_object_array_are_numbers_and_its_strings_categories():
    encoder = Encoder(np.array([[39, "smith"], [None, "clerk"], [50.5, None]], dtype=object))
    assert encoder.names == ["x0", "x1"]
    assert encoder.categories == {1: ["clerk", "smith"]}
    np.testing.assert_array_equal(
        encoder.encode(np.array([[39, None], [None, "smith"]], dtype=object)), [[39, 2], [NAN, 1]]
    )


def test_an_unseen_value_is_an_error_that_names_column_and_value():
    encoder = Encoder(pd.DataFrame({"job": ["smith", "clerk"]}))
    with pytest.raises(InputError, match=r"'job' has the value 'pilot'.*it has 'clerk', 'smith'.*background"):
        encoder.encode(pd.DataFrame({"job": ["smith", "pilot"]}))


def test_an_unseen_value_that_is_kept_has_a_code_of_its_own_and_decodes_as_missing():
    encoder = Encoder(pd.DataFrame({"job": ["smith", "clerk"]}))
    codes = encoder.encode(pd.DataFrame({"job": ["smith", "pilot", None]}), unseen="keep")
    assert codes.tolist() == [[1.0], [3.0], [2.0]]
    expected = pd.DataFrame({"job": ["smith", None, None]}, dtype="str")
    pd.testing.assert_frame_equal(encoder.decode(codes), expected)


def test_a_declared_category_that_never_occurs_is_unseen():
    sizes = pd.DataFrame({"size": pd.Categorical(["S"], categories=["S", "M"])})
    unseen = pd.DataFrame({"size": pd.Categorical(["M"], categories=["S", "M"])})
    with pytest.raises(InputError, match="'size' has the value 'M'"):
        Encoder(sizes).encode(unseen)
    decoded = Encoder(sizes).decode(Encoder(sizes).encode(unseen, unseen="keep"))
    assert decoded["size"].dtype == sizes["size"].dtype
    assert decoded["size"].isna().all()


def test_both_truth_values_are_known_even_if_the_background_has_one():
    encoder = Encoder(pd.DataFrame({"active": [True, True]}))
    assert encoder.encode(pd.DataFrame({"active": [False, True]})).tolist() == [[0.0], [1.0]]


def test_a_word_for_another_treatment_of_unseen_values_is_refused():
    with pytest.raises(InputError, match="unseen is 'ignore'; expected 'error' or 'keep'"):
        Encoder(people()).encode(people(), unseen="ignore")


def test_a_category_may_come_in_another_dtype_than_in_the_background():
    encoder = Encoder(pd.DataFrame({"job": pd.Categorical(["smith", "clerk"])}))
    for dtype in ("str", object, "string", "category"):
        assert encoder.encode(pd.DataFrame({"job": ["clerk", None]}, dtype=dtype)).tolist() == [[0.0], [2.0]]


def test_integers_come_back_as_floats_where_codes_have_fractions_or_gaps():
    encoder = Encoder(pd.DataFrame({"n": [1, 2], "k": pd.array([1, None], dtype="Int64")}))
    whole = encoder.decode(np.array([[3.0, NAN], [4.0, 5.0]]))
    assert whole.dtypes.astype(str).tolist() == ["int64", "Int64"]
    broken = encoder.decode(np.array([[3.5, 0.5], [4.0, NAN]]))
    assert broken.dtypes.astype(str).tolist() == ["float64", "Float64"]
    assert broken["n"].tolist() == [3.5, 4.0]
    gap = encoder.decode(np.array([[NAN, 1.0]]))
    assert gap["n"].dtype == np.float64


def test_integers_out_of_their_dtypes_range_come_back_as_floats():
    encoder = Encoder(np.array([[1]], dtype=np.int8))
    assert encoder.decode([[127.0]]).dtype == np.int8
    assert encoder.decode([[128.0]]).tolist() == [[128.0]]
    top = Encoder(np.array([[2**63 - 1]], dtype=np.int64))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert top.decode(top.encode(np.array([[2**63 - 1]]))).dtype == np.float64


def test_a_missing_truth_value_in_a_plain_bool_column_comes_back_as_missing():
    decoded = Encoder(pd.DataFrame({"active": [True, False]})).decode([[1.0], [2.0]])
    assert decoded["active"].tolist() == [True, None]


@one_test
@pytest.mark.parametrize("code", [0.5, -1.0, 4.0, NAN, np.inf])
def test_a_code_that_no_category_has_is_refused(code):
    encoder = Encoder(pd.DataFrame({"job": ["smith", "clerk"]}))
    with pytest.raises(InputError, match=r"'job' has the code .*; expected a whole number from 0 to 3"):
        encoder.decode([[code]])


def test_codes_of_the_wrong_shape_are_refused():
    with pytest.raises(InputError, match=r"shape \(1, 2\); expected \(n, 12\)"):
        Encoder(people()).decode([[1.0, 2.0]])


def test_missing_and_extra_columns_are_named():
    encoder = Encoder(people())
    with pytest.raises(InputError, match="X lacks 'age', 'job' and has 'years' beside"):
        encoder.encode(people().drop(columns="job").rename(columns={"age": "years"}))
    with pytest.raises(InputError, match="X has 'id' beside; expected the columns of the background"):
        encoder.encode(people().assign(id=1))


def test_an_array_of_another_width_is_refused():
    with pytest.raises(InputError, match=r"shape \(2, 4\); expected 3 columns"):
        Encoder(np.zeros((2, 3))).encode(np.zeros((2, 4)))
    with pytest.raises(InputError, match=r"shape \(3,\); expected 3 columns"):
        Encoder(np.zeros((2, 3))).encode(np.zeros(3))


def test_an_array_is_read_by_position_against_a_frame():
    encoder = Encoder(pd.DataFrame({"age": [31, 45], "job": ["smith", "clerk"]}))
    assert encoder.encode(np.array([[28, "clerk"]], dtype=object)).tolist() == [[28.0, 0.0]]


def test_a_string_among_numbers_is_refused_even_if_it_reads_as_one():
    encoder = Encoder(pd.DataFrame({"age": [31, 45]}))
    with pytest.raises(InputError, match="'age' has the value '28'; the background has only numbers"):
        encoder.encode(pd.DataFrame({"age": ["28"]}))


def test_durations_are_refused_with_what_to_do():
    with pytest.raises(
        InputError, match=r"'wait' is timedelta64.*; expected numbers, dates, strings.*days as numbers"
    ):
        Encoder(pd.DataFrame({"wait": pd.to_timedelta([1], "D")}))


def test_cells_that_are_lists_are_refused():
    with pytest.raises(InputError, match=r"'tags' has values that cannot be compared.*list"):
        Encoder(pd.DataFrame({"tags": [["a"], ["b"]]}))
    with pytest.raises(InputError, match=r"'tags' has values that cannot be compared.*list"):
        Encoder(pd.DataFrame({"tags": ["a"]})).encode(pd.DataFrame({"tags": [["a"]]}))


@one_test
@pytest.mark.parametrize("X", [["good", "bad"], sparse.csr_array((2, 2))], ids=["text", "sparse"])
def test_what_is_no_table_is_refused(X):
    with pytest.raises(InputError, match=r"given (text|sparse) input; expected a 2-D array or a DataFrame"):
        Encoder(X)


def test_an_empty_background_is_refused():
    with pytest.raises(InputError, match="sample is empty"):
        Encoder(people().iloc[:0])


def test_no_rows_have_no_codes_and_back():
    encoder = Encoder(people())
    codes = encoder.encode(people().iloc[:0])
    assert codes.shape == (0, 12)
    pd.testing.assert_frame_equal(encoder.decode(codes), people().iloc[:0])


def test_a_column_without_any_value_is_a_category_without_values():
    frame = pd.DataFrame({"void": pd.Series([None, None], dtype=object), "nan": [NAN, NAN]})
    encoder = Encoder(frame)
    assert encoder.categories == {0: []}
    pd.testing.assert_frame_equal(encoder.decode(encoder.encode(frame)), frame)


def test_values_of_several_types_in_one_column_are_all_kept():
    frame = pd.DataFrame({"code": pd.Series(["a", 7, "b", 3], dtype=object)})
    encoder = Encoder(frame)
    assert encoder.categories == {0: [3, 7, "a", "b"]}
    pd.testing.assert_frame_equal(encoder.decode(encoder.encode(frame)), frame)


def test_arrow_columns_keep_their_dtype():
    frame = pd.DataFrame(
        {
            "n": pd.Series([1, None], dtype="int64[pyarrow]"),
            "x": pd.Series([0.5, None], dtype="double[pyarrow]"),
            "s": pd.Series(["a", None], dtype="string[pyarrow]"),
        }
    )
    encoder = Encoder(frame)
    assert encoder.categorical == (2,)
    pd.testing.assert_frame_equal(encoder.decode(encoder.encode(frame)), frame)
