"""Explanations, rows and predictions in every form that people have them in."""

from importlib.metadata import EntryPoint

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from looping import one_test
from reasons_plugin import Box, LateReason, Reason
from scipy.sparse import csr_matrix

import faithkit
from faithkit.errors import ContractError, InputError, ParameterError
from faithkit.extension.registry import Registry
from faithkit.inputs.objects import adapters, explanation_forms
from faithkit.inputs.objects.conversion import as_column, as_rows

LABELS = ["yes", "no", "yes", "no", "yes", "yes"]
REASONS = ["debt", "age", "debt", "age", "age", "debt"]


@pytest.fixture(autouse=True)
def _plugin(monkeypatch):
    """Install the plugin, beside the kernel's own."""
    points = [("kernel", "faithkit.extension.builtins"), ("reasons", "reasons_plugin")]
    registry = Registry(entry_points=[EntryPoint(*point, "faithkit") for point in points])
    for module in (adapters, explanation_forms):
        monkeypatch.setattr(module, "registry", lambda: registry)


def measure_consistency(explanations, predictions=LABELS, **options):
    return faithkit.score(predictions, explanations, **options).consistency.value


# --- objects of other libraries ----------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("kind", [Reason, LateReason])
@pytest.mark.parametrize(
    "form", [list, lambda rows: pd.Series(rows), lambda rows: np.array(rows, dtype=object)]
)
def test_objects_are_taken_by_the_name_of_their_class_or_of_one_that_it_derives_from(kind, form):
    assert measure_consistency(form([kind(reason) for reason in REASONS])) == measure_consistency(REASONS)


def test_rows_without_an_object_have_no_explanation():
    explanations = faithkit.plugin.adapt([Reason("a"), None, Reason("b")])
    assert explanations.missing.tolist() == [False, True, False]
    assert explanations.values[[0, 2]].tolist() == ["a", "b"]


def test_a_function_may_return_them_as_an_explainer():
    X = np.arange(6.0)[:, None]

    def explain(rows):
        return [Reason(REASONS[int(row[0])]) for row in rows]

    result = faithkit.evaluate(lambda rows: [LABELS[int(row[0])] for row in rows], X, explainer=explain)
    assert result.consistency.value == measure_consistency(REASONS)


def test_an_adapter_is_told_the_predictions_of_rows():
    assert measure_consistency([Reason("by prediction")] * 6) == 1.0
    X = np.arange(6.0)[:, None]
    result = faithkit.evaluate(
        lambda rows: [LABELS[int(row[0])] for row in rows],
        X,
        explainer=lambda X: [Reason("by prediction")] * len(X),
    )
    assert result.consistency.value == 1.0


def test_a_model_is_made_by_an_adapter():
    X = np.array([[1.0], [-1.0], [2.0], [-3.0]])
    result = faithkit.evaluate(Box(), X, explainer=lambda rows: (rows[:, 0] > 0).tolist())
    assert result.consistency.value == 1.0


def test_parameters_of_an_adapter_are_given_to_adapt():
    assert faithkit.plugin.adapt([Reason("a")], upper=True).values.tolist() == ["A"]
    assert faithkit.plugin.adapt([Reason("a")], adapter="reasons", upper=True).values.tolist() == ["A"]


class Stranger:
    pass


REFUSED = {
    "objects that equal nothing": (
        lambda: measure_consistency([Stranger() for _ in LABELS]),
        "explanations of type .*Stranger are equal to nothing but themselves.*write an adapter",
    ),
    "mixed types in one list": (
        lambda: measure_consistency([Reason("a"), Stranger(), *map(Reason, REASONS[2:])]),
        "row 1 of the list is a Stranger among reasons_plugin.Reason: give objects of one type",
    ),
    "a function": (
        lambda: measure_consistency([measure_consistency] * 6),
        "type builtins.function are equal to nothing but",
    ),
    "a parameter where there is no adapter": (
        lambda: faithkit.plugin.adapt(["a"], upper=True),
        "explanations of type list need no adapter, which upper would be for",
    ),
    "an object that is no explanation": (
        lambda: faithkit.score([True], Box()),
        "does not take a Box as explanations",
    ),
    "a weight that is no number": (
        lambda: measure_consistency([{"age": "high"}] * 6),
        "explanation 0: the weight of 'age' is 'high'; give a number",
    ),
    "a dict among words": (
        lambda: measure_consistency([{"age": 1}, "age", *REASONS[2:]]),
        "explanation 1 is a str among dicts",
    ),
    "a feature twice": (
        lambda: measure_consistency([[("age", 1), ("age", 2)]] * 6),
        "explanation 0 has more than one weight of 'age': add them up",
    ),
    "a feature without a name": (
        lambda: measure_consistency([{3: 1.0}] * 6),
        "explanation 0 names the feature 3",
    ),
    "no pair": (
        lambda: measure_consistency([[("age", 1)], [1, 2, 3]] * 3),
        r"explanation 1 is \[1, 2, 3\]; expected pairs",
    ),
    "rows that are none": (
        lambda: measure_consistency(REASONS, X=Stranger()),
        "X is of type Stranger; expected a NumPy array",
    ),
    "one dict for all": (
        lambda: measure_consistency({"age": [1] * 6}),
        "explanations of type dict are not understood",
    ),
}


@one_test
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_taken_is_refused(name):
    call, message = REFUSED[name]
    with pytest.raises(InputError, match=message):
        call()


def test_an_adapter_that_makes_too_few_is_named():
    with pytest.raises(ContractError, match=r"adapter 'reasons' .* made 2 explanations for 6 rows"):
        faithkit.plugin.adapt([Reason(reason) for reason in REASONS], most=2)


def test_a_parameter_that_the_adapter_does_not_have_is_refused():
    with pytest.raises(ParameterError, match="has no parameter 'loud'"):
        faithkit.plugin.adapt([Reason("a")], loud=True)


def test_an_adapter_that_does_not_take_it_is_named():
    with pytest.raises(InputError, match=r"adapter 'boxes' .* takes reasons_plugin\.Box, no list"):
        faithkit.plugin.adapt([Reason("a")], adapter="boxes")


# --- dicts and pairs ---------------------------------------------------------------------------------------

PHI = pd.DataFrame({"age": [0.5, 0.0, 0.5, 0.0, 0.0, 0.5], "debt": [0.0, -1.0, 0.0, -1.0, 2.0, 0.0]})
WEIGHTS = {
    "a table": PHI,
    "columns in another order": PHI[["debt", "age"]],
    "dicts": PHI.to_dict("records"),
    "dicts that name what is not 0": [
        {name: weight for name, weight in row.items() if weight} for row in PHI.to_dict("records")
    ],
    "pairs": [list(row.items()) for row in PHI.to_dict("records")],
    "lists of pairs, some empty": [
        [[name, weight] for name, weight in row.items() if weight] for row in PHI.to_dict("records")
    ],
    "a column of dicts": pd.Series(PHI.to_dict("records"), index=[7] * 6),
    "a frame of one column of dicts": pd.DataFrame({"phi": PHI.to_dict("records")}),
    "rows of a frame": [row for _, row in PHI.iterrows()],
    "an Arrow table": pa.Table.from_pandas(PHI),
    "record batches": pa.Table.from_pandas(PHI).to_reader(),
}


@one_test
@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_in_every_form_give_the_same_numbers(name):
    result, expected = (
        faithkit.score(LABELS, weights, X=PHI, relation="near-explanation:tau=0.6")
        for weights in (WEIGHTS[name], PHI)
    )
    assert result.consistency == expected.consistency
    assert result.sufficiency == expected.sufficiency


ROWS_OF_NUMBERS = [[0.5, 0.0], [0.0, np.nan], None, [0.5, 0.0], [0.0, np.nan], None]
NUMBERS = {
    "an array": np.array([[np.nan] * 2 if row is None else row for row in ROWS_OF_NUMBERS]),
    "lists with None for what is missing": [
        row and [None if weight != weight else weight for weight in row] for row in ROWS_OF_NUMBERS
    ],
    "NaN among lists": [np.nan if row is None else row for row in ROWS_OF_NUMBERS],
    "NA among lists": [pd.NA if row is None else row for row in ROWS_OF_NUMBERS],
    "NaN among dicts": [
        np.nan if row is None else dict(zip("ab", row, strict=True)) for row in ROWS_OF_NUMBERS
    ],
    "None as a weight": [
        row and {"a": row[0], "b": None if row[1] != row[1] else row[1]} for row in ROWS_OF_NUMBERS
    ],
    "empty lists": [row or [] for row in ROWS_OF_NUMBERS],
    "a column of lists": pd.Series(ROWS_OF_NUMBERS),
    "a column of arrays": pd.Series([row and np.array(row) for row in ROWS_OF_NUMBERS]),
    "an Arrow column of lists": pa.array(ROWS_OF_NUMBERS),
}


@one_test
@pytest.mark.parametrize("name", NUMBERS)
def test_what_is_missing_is_missing_in_every_form(name):
    result = faithkit.score(LABELS, NUMBERS[name])
    assert result.unexplained == 2
    assert result.consistency == faithkit.score(LABELS, NUMBERS["an array"]).consistency


def test_nan_among_objects_is_a_row_without_one():
    reasons = [Reason(REASONS[0]), np.nan, *map(Reason, REASONS[2:])]
    assert faithkit.score(LABELS, reasons).unexplained == 1


def test_lists_of_conditions_are_rules():
    X = pd.DataFrame({"age": [31, 45, 50, 20], "debt": [0, 1, 2, 3]})
    conditions = [["age <= 40", "debt < 4"], ["age > 40"], ["age > 40.0"], []]
    result = faithkit.score(["yes", "no", "no", "yes"], conditions, X=X)
    assert (result.consistency.value, result.sufficiency.value, result.unexplained) == (0.5, 0.75, 1)


@one_test
@pytest.mark.parametrize(
    "explanation", [[0.5, 1.0], {"a": 1.0}, faithkit.Rule([faithkit.plugin.Interval(0, 3)])]
)
def test_a_chunk_in_which_nothing_is_explained_fits_the_others(explanation):
    X = np.arange(80.0)[:, None]
    result = faithkit.evaluate(
        lambda rows: rows[:, 0] >= 40,
        X,
        explainer=lambda rows: [explanation if row[0] < 3 else None for row in rows],
    )
    assert (result.unexplained, result.consistency.verified) == (77, 3 / 80)


def test_a_function_may_name_other_features_in_every_chunk_of_rows():
    X = np.arange(80.0)[:, None]

    def explain(rows):
        return [{f"feature {int(row[0]) // 20}": 1.0} for row in rows]

    result = faithkit.evaluate(lambda rows: rows[:, 0] >= 40, X, explainer=explain)
    assert (result.n_explanations, result.consistency.value) == (4, 1.0)


def test_tensors_in_a_list_are_vectors():
    rows = [[1.0, 0.0], [0.0, 1.0]] * 3
    assert measure_consistency([Tensor(row) for row in rows]) == measure_consistency(rows)


# --- tables and columns of other libraries -----------------------------------------------------------------

ROWS = pd.DataFrame({"age": [31, 40, 25], "job": ["clerk", None, "cook"], "score": [0.5, np.nan, 2.5]})


def test_an_arrow_table_is_the_frame_that_it_was_made_of():
    pd.testing.assert_frame_equal(as_rows(pa.Table.from_pandas(ROWS)), ROWS)


class Tensor:
    """Has a gradient, and lies elsewhere."""

    def __init__(self, values, steps=()):
        self.values, self.steps = values, steps

    def detach(self):
        return Tensor(self.values, (*self.steps, "detached"))

    def cpu(self):
        return Tensor(self.values, (*self.steps, "here"))

    def __array__(self, dtype=None, copy=None):
        assert self.steps == ("detached", "here")
        return np.array(self.values)


def test_a_tensor_is_an_array():
    assert as_rows(Tensor([[1.0, 2.0]])).tolist() == [[1.0, 2.0]]
    assert as_column(Tensor([1, 0])).tolist() == [1, 0]
    assert measure_consistency(Tensor([[1.0], [0.0]] * 3)) == measure_consistency(
        np.array([[1.0], [0.0]] * 3)
    )


@one_test
@pytest.mark.parametrize("form", [pd.Series, np.array, pa.array, lambda texts: pa.chunked_array([texts])])
def test_texts_in_a_column_are_a_list_of_texts(form):
    assert as_rows(form(["good film", "bad film"])) == ["good film", "bad film"]


@one_test
@pytest.mark.parametrize("form", [pd.Series, np.array, pa.array, tuple])
def test_predictions_weights_and_clusters_come_in_every_form(form):
    drawn = {"weights": [1.0, 2.0] * 3, "clusters": [0, 0, 1, 1, 2, 3]}
    plain = measure_consistency(REASONS, **drawn)
    taken = {name: form(values) for name, values in drawn.items()}
    assert measure_consistency(REASONS, predictions=form(LABELS), **taken) == plain


@one_test
@pytest.mark.parametrize(
    "form",
    [
        lambda values: pd.DataFrame({"label": values}, index=[3] * 6),
        lambda values: np.array(values)[:, None],
        lambda values: [[label] for label in values],
        lambda values: pa.table({"label": values}),
    ],
)
@pytest.mark.parametrize("labels", [LABELS, [0, 1, 0, 1, 2, 0], [0.5, 1.0, 0.5, 1.0, 2.0, 0.25]])
def test_predictions_in_one_column_are_that_column(form, labels):
    result, expected = faithkit.score(form(labels), REASONS), faithkit.score(labels, REASONS)
    assert (result.setup.outcome, result.consistency) == (expected.setup.outcome, expected.consistency)


@one_test
@pytest.mark.parametrize("outcome", ["labels", "numbers", "scores"])
def test_a_model_may_answer_with_tensors(outcome):
    class Model:
        classes_ = np.arange(2)
        predict = staticmethod(lambda rows: Tensor((rows[:, 0] > 2).astype(int)))
        predict_proba = staticmethod(lambda rows: Tensor(np.eye(2)[(rows[:, 0] > 2).astype(int)]))

    X = np.arange(6.0)[:, None]
    result = faithkit.evaluate(Model(), X, lambda rows: (rows > 3).tolist(), outcome=outcome)
    plain = faithkit.score((X[:, 0] > 2).astype(int), (X > 3).tolist(), outcome="labels")
    if outcome != "numbers":  # two certain probabilities agree as labels do
        assert result.consistency.value == plain.consistency.value
    assert result.setup.outcome.kind == outcome


def test_polars_is_read_as_pandas():
    polars = pytest.importorskip("polars")
    frame = polars.from_pandas(ROWS)
    assert as_rows(frame)["job"].fillna("none").tolist() == ["clerk", "none", "cook"]
    assert measure_consistency(
        polars.from_pandas(PHI), predictions=polars.Series(LABELS)
    ) == measure_consistency(PHI)
    with pytest.raises(InputError, match="X is of type LazyFrame; expected"):
        measure_consistency(PHI, X=frame.lazy())


# --- explanations without columns --------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    "explanations",
    [pd.DataFrame(index=range(6)), np.zeros((6, 0)), np.zeros((6, 0), dtype=object), csr_matrix((6, 0))],
)
def test_explanations_without_columns_are_refused(explanations):
    with pytest.raises(
        InputError, match=r"explanations have shape \(6, 0\): no columns; expected at least one"
    ):
        faithkit.score(LABELS, explanations)


@one_test
@pytest.mark.parametrize("nothing", [{}, [], np.zeros(0)], ids=str)
def test_empty_explanations_of_all_rows_are_missing(nothing):
    assert faithkit.plugin.adapt([nothing] * 6).missing.all()
    assert measure_consistency([nothing] * 6) is None
