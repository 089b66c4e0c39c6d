import numpy as np
import pandas as pd
import pytest
from looping import one_test
from scipy import sparse

from faithkit.arrays.containers import concat_rows, n_rows, take_rows
from faithkit.errors import InputError
from faithkit.inputs.rows import as_texts, check_columns, check_X, column_names, input_kind

ARRAY = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
FRAME = pd.DataFrame({"age": [31, 45, 28], "job": pd.Categorical(["smith", None, "clerk"])})
TEXTS = ["good", "bad", "so so"]
SAMPLES = [ARRAY, FRAME, sparse.csr_array(ARRAY), sparse.coo_matrix(ARRAY), TEXTS]


def read_cells(X):
    """Return the content as nested lists, None for missing."""
    if isinstance(X, list):
        return [[text] for text in X]
    if isinstance(X, pd.DataFrame):
        return X.astype(object).where(X.notna(), None).to_numpy().tolist()
    return (X.toarray() if sparse.issparse(X) else X).tolist()


@one_test
@pytest.mark.parametrize("X", SAMPLES, ids=lambda X: type(X).__name__)
def test_rows_are_counted_and_taken_alike_in_every_container(X):
    every = read_cells(X)
    assert n_rows(X) == 3
    assert read_cells(take_rows(X, [2, 0, 2])) == [every[2], every[0], every[2]]
    assert read_cells(take_rows(X, slice(1, None))) == every[1:]
    assert read_cells(take_rows(X, np.array([True, False, True]))) == [every[0], every[2]]
    assert n_rows(take_rows(X, [])) == 0


@one_test
@pytest.mark.parametrize("X", SAMPLES, ids=lambda X: type(X).__name__)
def test_parts_put_together_give_the_whole(X):
    whole = concat_rows([take_rows(X, slice(0, 1)), take_rows(X, slice(1, 3))])
    assert read_cells(whole) == read_cells(X)


def test_putting_frames_together_keeps_dtypes_and_index():
    whole = concat_rows([FRAME.iloc[:1], FRAME.iloc[1:]])
    pd.testing.assert_frame_equal(whole, FRAME)


def test_parts_of_different_kinds_are_refused():
    with pytest.raises(InputError, match=r"different kinds \(DataFrame, ndarray\)"):
        concat_rows([FRAME, ARRAY])


def test_parts_with_different_columns_are_refused():
    with pytest.raises(InputError, match=r"different columns: age, job; and age\. Give"):
        concat_rows([FRAME, FRAME[["age"]]])


def test_no_parts_at_all_are_refused():
    with pytest.raises(InputError, match="no parts"):
        concat_rows([])


def test_the_kind_of_input_is_the_word_components_use():
    assert [input_kind(X) for X in SAMPLES] == ["table", "table", "sparse", "sparse", "text"]


def test_column_names_are_strings_in_every_container():
    assert column_names(pd.DataFrame({7: [1], "age": [2]})) == ["7", "age"]
    assert column_names(ARRAY) == column_names(sparse.csr_array(ARRAY)) == ["x0", "x1"]
    assert column_names(TEXTS) == ["text"]


@one_test
@pytest.mark.parametrize("X", SAMPLES, ids=lambda X: type(X).__name__)
def test_a_usable_sample_passes_the_check(X):
    checked = check_X(X)
    assert read_cells(checked) == read_cells(X)
    assert checked is X or checked.format == "csr"


@one_test
@pytest.mark.parametrize(
    "X",
    [
        pd.Series(["good", "bad"], index=[7, 7]),
        pd.Series(["good", "bad"], dtype="string"),
        pd.Series(["good", "bad"], dtype="category"),
        np.array(["good", "bad"]),
        np.array(["good", "bad"], dtype=object),
    ],
    ids=lambda X: f"{type(X).__name__} of {X.dtype}",
)
def test_texts_are_a_list_whatever_they_come_in(X):
    assert check_X(X) == ["good", "bad"]


@one_test
@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[1, 2], [3, 4]], r"type list; expected .* Use numpy\.asarray\(X\)"),
        (["good", None], "X has no text in row 1: drop such rows, or fill them"),
        ((1, 2), r"type tuple; expected .* numpy\.asarray"),
        (
            pd.Series([1.5, 2.5]),
            r"type Series; expected .* pandas\.DataFrame\(X\) for mixed columns or a single",
        ),
        (pd.Series(["good", None, "bad"]), "X has no text in row 1: drop such rows, or fill them"),
        ("good", "type str; expected a NumPy array"),
        (None, "type NoneType; expected"),
        (np.array([1.5, 2.5]), r"shape \(2,\); expected one row .*reshape\(-1, 1\).*reshape\(1, -1\)"),
        (np.array(1.5), r"shape \(\); expected one row per instance"),
        (np.zeros((2, 3, 0)), "no columns; expected at least one feature"),
        (np.full((2, 3, 4), "a"), r"shape \(2, 3, 4\) and holds <U1; expected numbers in such an array"),
        (np.zeros((2, 0)), "no columns; expected at least one feature"),
        (np.ma.masked_array(ARRAY, ARRAY > 2), r"masked array.*filled\(numpy.nan\)"),
        (np.zeros((0, 3)), "sample is empty"),
        (FRAME.iloc[:0], "sample is empty"),
        (sparse.csr_array((0, 3)), "sample is empty"),
        ([], "sample is empty"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), "more than one column named 'a'"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "more than one column named '1'"),
    ],
)
def test_an_unusable_sample_is_refused_with_what_to_do(X, words):
    with pytest.raises(InputError, match=words):
        check_X(X)
    with pytest.raises(InputError, match=r"^the background "):
        check_X(X, "the background")


@one_test
@pytest.mark.parametrize(
    ("X", "background"),
    [
        (FRAME, FRAME.iloc[:, ::-1]),
        (FRAME, FRAME.to_numpy()),
        (ARRAY, sparse.csr_array(ARRAY)),
        (TEXTS, TEXTS[:1]),
    ],
)
def test_the_same_columns_in_any_order_and_container_are_accepted(X, background):
    check_columns(X, background)


@one_test
@pytest.mark.parametrize(
    ("X", "background", "words"),
    [
        (
            pd.DataFrame({"a": [1], "c": [2]}),
            pd.DataFrame({"a": [1], "b": [2]}),
            "X lacks 'b' and has 'c' beside",
        ),
        (
            pd.DataFrame({"a": [1]}),
            pd.DataFrame({"a": [1], "b": [2]}),
            "X lacks 'b'; expected the columns of",
        ),
        (
            pd.DataFrame({"a": [1], "b": [2]}),
            pd.DataFrame({"a": [1]}),
            "X has 'b' beside; expected the columns",
        ),
        (ARRAY, ARRAY[:, :1], r"X has shape .*; expected 1 columns, as in the background"),
        (TEXTS, ARRAY, "X has texts, and the background has the rows of a table"),
        (ARRAY, TEXTS, "X has the rows of a table, and the background has texts"),
    ],
)
def test_other_columns_than_the_backgrounds_are_named(X, background, words):
    with pytest.raises(InputError, match=words):
        check_columns(X, background)


def test_only_a_column_of_texts_is_taken_for_texts():
    assert as_texts(np.array(TEXTS)) == as_texts(pd.Series(TEXTS)) == TEXTS
    for X in (np.array([1, "two", None], dtype=object), np.array([None, None], dtype=object), ARRAY):
        assert as_texts(X) is X
    with pytest.raises(InputError, match="X has no text in row 1"):
        as_texts(np.array(["good", None], dtype=object))
