"""A row without any value has no explanation, whatever the explanations come in."""

import numpy as np
import pandas as pd
import pytest
from looping import one_test

import faithkit
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.populations.log_scoring import score_log

LABELS = ["yes", "no", "yes", "no", "yes"]
ROWS = [[1.0, 2.0], [np.nan, np.nan], [1.0, np.nan], [np.nan, np.nan], [1.0, 2.0]]
WORDS = ["a", None, "b", None, "a"]

FORMS = {
    "array": lambda: np.array(ROWS),
    "array of float32": lambda: np.array(ROWS, dtype=np.float32),
    "list of rows": lambda: ROWS,
    "list with None": lambda: [None if np.isnan(row).all() else row for row in ROWS],
    "frame": lambda: pd.DataFrame(ROWS, columns=["phi_a", "phi_b"]),
    "frame of Float64": lambda: pd.DataFrame(ROWS, columns=["phi_a", "phi_b"]).astype("Float64"),
    "words": lambda: WORDS,
    "words in a Series": lambda: pd.Series(WORDS, dtype="string"),
    "words with NaN": lambda: [np.nan if word is None else word for word in WORDS],
    "words with NA": lambda: [pd.NA if word is None else word for word in WORDS],
    "words in an array": lambda: np.array(WORDS, dtype=object),
    "words in two columns": lambda: pd.DataFrame({"one": WORDS, "two": WORDS}),
    "numbers": lambda: pd.Series([1.0, np.nan, 2.0, np.nan, 1.0]),
}


@one_test
@pytest.mark.parametrize("form", FORMS)
def test_rows_without_a_value_are_unexplained_in_every_form(form):
    result = faithkit.score(LABELS, FORMS[form]())
    assert (result.unexplained, result.n_explanations) == (2, 4)
    assert result.consistency.value == 2 / 5  # the first and the last row, which share theirs
    assert result.consistency.verified == 2 / 5


@one_test
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_log_and_its_columns_in_python_give_the_same_result(suffix, tmp_path):
    log = pd.DataFrame(ROWS, columns=["phi_a", "phi_b"]).assign(label=LABELS)
    path = tmp_path / f"log.{suffix}"
    log.to_csv(path, index=False) if suffix == "csv" else log.to_parquet(path)
    read = score_log(open_log(str(path), "label", ("phi_*",))).result
    assert read.to_json() == faithkit.score(log["label"], log[["phi_a", "phi_b"]]).to_json()


def test_a_function_that_explains_by_nothing_but_nan_does_not_explain():
    X = np.arange(4.0).reshape(-1, 1)
    result = faithkit.evaluate(lambda X: X[:, 0] > 1, X, explainer=lambda X: np.where(X > 2, np.nan, 1.0))
    assert result.unexplained == 1


def test_a_row_of_no_columns_is_not_taken_for_one_without_a_value():
    explanations = faithkit.Explanations.vectors(np.zeros((2, 0)))
    assert not explanations.missing.any()
    assert faithkit.score(["yes", "no"], explanations).unexplained == 0


def test_numbers_in_a_series_are_no_instances():
    with pytest.raises(
        faithkit.errors.InputError,
        match=r"X is of type Series; .* pandas\.DataFrame\(X\) for mixed columns or a single",
    ):
        faithkit.score(["yes", "no"], ["a", "a"], X=pd.Series([1.5, 2.5]))


def test_texts_in_a_series_are_instances():
    texts = pd.Series(["good day", "bad day", "good night"])
    rows = faithkit.score(["yes", "no", "no"], ["good", "bad", "good"], X=texts)
    assert rows.violations()[0].witnesses[1].values == {"text": "good night"}
    assert (
        rows.to_json() == faithkit.score(["yes", "no", "no"], ["good", "bad", "good"], X=[*texts]).to_json()
    )
