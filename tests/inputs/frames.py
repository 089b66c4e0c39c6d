"""Mixed tables with missing values, as people have them; shared by the tests of this folder."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from faithkit.inputs.files.table_files import open_table

TEXT = st.text(alphabet="abcß é", max_size=3)
WHOLE = st.integers(-(2**40), 2**40)
FLOAT = st.floats(allow_nan=False, width=64)


def read_table(path):
    """Return all columns of a file as features, as those of `--data` are read."""
    return open_table(path).frame(categories=True)


def people():
    """Return one column of each kind that a table can have, with a missing value wherever it fits."""
    return pd.DataFrame(
        {
            "age": np.array([31, 45, 28, 31]),
            "height": [1.71, np.nan, 1.64, 1.71],
            "weight": np.array([71.5, 80.25, np.nan, 71.5], dtype=np.float32),
            "job": pd.Series(["smith", None, "clerk", "smith"], dtype="str"),
            "town": pd.Series(["Bonn", "Ulm", None, "Bonn"], dtype=object),
            "note": pd.Series(["x", None, "", "x"], dtype="string"),
            "size": pd.Categorical(["L", "S", None, "L"], categories=["XL", "S", "M", "L"]),
            "grade": pd.Categorical(["low", "high", None, "low"], ["low", "mid", "high"], ordered=True),
            "children": pd.array([2, None, 0, 2], dtype="Int64"),
            "member": pd.array([True, None, False, True], dtype="boolean"),
            "active": [True, False, True, True],
            "mixed": pd.Series([True, None, False, True], dtype=object),
        }
    )


def columns(n):
    """Return strategies of columns of n cells, each of another dtype."""

    def cells(values, missing=True):
        return st.lists(st.none() | values if missing else values, min_size=n, max_size=n)

    return {
        "int": cells(WHOLE, missing=False).map(lambda c: np.array(c, dtype=np.int64)),
        "small": cells(st.integers(0, 255), missing=False).map(lambda c: np.array(c, dtype=np.uint8)),
        "float": cells(FLOAT).map(lambda c: np.array(c, dtype=np.float64)),
        "single": cells(st.floats(width=32)).map(lambda c: np.array(c, dtype=np.float32)),
        "bool": cells(st.booleans(), missing=False).map(lambda c: np.array(c, dtype=bool)),
        "str": cells(TEXT).map(lambda c: pd.array(c, dtype="str")),
        "object": cells(TEXT).map(lambda c: pd.Series(c, dtype=object)),
        "string": cells(TEXT).map(lambda c: pd.array(c, dtype="string")),
        "category": cells(st.sampled_from("zyx")).map(lambda c: pd.Categorical(c, categories=list("xwzy"))),
        "ranks": cells(st.sampled_from([3, 10])).map(lambda c: pd.Categorical(c, [10, 5, 3], ordered=True)),
        "Int64": cells(WHOLE).map(lambda c: pd.array(c, dtype="Int64")),
        "Float64": cells(FLOAT).map(lambda c: pd.array(c, dtype="Float64")),
        "boolean": cells(st.booleans()).map(lambda c: pd.array(c, dtype="boolean")),
    }


def mixed_frames():
    """Return a strategy of DataFrames with every kind of column and 1 to 8 rows."""
    return st.integers(1, 8).flatmap(lambda n: st.fixed_dictionaries(columns(n)).map(pd.DataFrame))
