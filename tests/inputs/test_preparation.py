"""What default models are given of a table: words as `str` writes them, a gap as NaN."""

import numpy as np
import pandas as pd
import pytest

from faithkit.inputs.preparation import as_words

COLUMNS = {
    "strings": pd.Series(["a", None, "b", "a"], dtype="str"),
    "objects of several types": pd.Series([1, True, None, 1.0], dtype=object),
    "gaps of several kinds": pd.Series([pd.NA, "x", np.nan, None], dtype=object),
    "categories": pd.Series(pd.Categorical(["u", None, "v", "u"])),
    "categories that are numbers": pd.Series(pd.Categorical([3.5, None, 1.0, 3.5])),
    "booleans with a gap": pd.Series([True, None, False, True], dtype="boolean"),
    "gaps alone": pd.Series([None, None, None, None], dtype="str"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_cell_is_written_as_str_writes_it(name):
    column = COLUMNS[name]
    found = as_words(pd.DataFrame({"other": ["x"] * 4, "column": column}))
    assert found.dtype == object
    assert found[:, 0].tolist() == ["x"] * 4
    for cell, word in zip(column, found[:, 1], strict=True):
        assert np.isnan(word) if pd.isna(cell) else word == str(cell)


def test_a_table_without_rows_has_no_words():
    assert as_words(pd.DataFrame(COLUMNS)[:0]).shape == (0, len(COLUMNS))
