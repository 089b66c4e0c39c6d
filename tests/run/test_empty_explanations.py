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
    "vectors": lambda: faithkit.Explanations.vectors(ROWS),
    "vectors by kind": lambda: faithkit.Explanations(kind="vector", values=np.array(ROWS)),
    "array without a mask": lambda: np.ma.array(ROWS),
    "array of objects": lambda: np.array(ROWS, dtype=object),
    "dicts": lambda: [dict(zip("ab", row, strict=True)) for row in ROWS],
    "frame": lambda: pd.DataFrame(ROWS, columns=["phi_a", "phi_b"]),
    "frame of Float64": lambda: pd.DataFrame(ROWS, columns=["phi_a", "phi_b"]).astype("Float64"),
    "words": lambda: WORDS,
    "words in a Series": lambda: pd.Series(WORDS, dtype="string"),
    "words with NaN": lambda: [np.nan if word is None else word for word in WORDS],
    "words with NA": lambda: [pd.NA if word is None else word for word in WORDS],
    "words in an array": lambda: np.array(WORDS, dtype=object),
    "words by hand": lambda: faithkit.Explanations.of([word or np.nan for word in WORDS]),
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
    assert read.to_dict() == faithkit.score(log["label"], log[["phi_a", "phi_b"]]).to_dict()


def test_batches_that_are_joined_and_spread_keep_their_rows_without_a_value():
    batch = faithkit.Explanations.vectors(ROWS)
    assert (
        faithkit.Explanations.concat([batch, batch]).missing.tolist() == [False, True, False, True, False] * 2
    )
    spread = batch.spread(np.arange(5) + 1, 6, np.full(6, None))
    assert spread.missing.tolist() == [True, False, True, False, True, False]
    assert batch.remarked.tolist() == [None, "no explanation", None, "no explanation", None]


def test_vectors_with_some_nan_are_equal_where_the_same_numbers_are_missing():
    values = [[np.nan, 1.0], [np.nan, 1.0], [1.0, np.nan], [np.nan, 2.0]]
    result = faithkit.score(["yes", "yes", "no", "no"], faithkit.Explanations.vectors(values))
    assert (result.unexplained, result.n_explanations) == (0, 3)


def test_other_kinds_decide_themselves_what_is_missing():
    example = faithkit.Explanations(kind="example", values=np.full((2, 2), np.nan))
    assert not example.missing.any()


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
    assert rows.contradictions()[0].pair[1].values == {"text": "good night"}
    assert (
        rows.to_dict() == faithkit.score(["yes", "no", "no"], ["good", "bad", "good"], X=[*texts]).to_dict()
    )
