"""Values that differ stay different, in whatever form Python has a column: 2**53 and 2**53 + 1, 1 and "1"."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from faithkit_logged_reasons import parse_rule
from looping import one_test

import faithkit
from faithkit.errors import InputError
from faithkit.explanations.rules import Rule
from faithkit.inputs.logs.log_files import open_log
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.objects.conversion import as_rows
from faithkit.run.populations.log_scoring import score_log

LOW, HIGH = 2**53, 2**53 + 1  # as floats they are one number
IDS = [LOW, HIGH] * 3 + [None]
LABELS = ["yes", "no"] * 3 + ["yes"]
BESIDE_A_FRACTION = [*IDS[:-1], 0.5]
CATEGORIES = pd.Categorical.from_codes([0, 1] * 3 + [-1], categories=[LOW, HIGH])

EXPLANATIONS = {
    "polars frame": lambda pl: pl.DataFrame({"id": IDS, "weight": [0.5] * 7}),
    "polars frame with words": lambda pl: pl.DataFrame({"id": IDS, "word": ["a"] * 7}),
    "polars column": lambda pl: pl.Series(IDS),
    "polars lists": lambda pl: pl.Series([[number, 1] for number in IDS]),
    "polars structs": lambda pl: pl.Series([{"id": number, "weight": 1} for number in IDS]),
    "Arrow table": pa.table({"id": IDS, "weight": [0.5] * 7}),
    "Arrow column": pa.array(IDS),
    "Arrow dictionary": pa.array(IDS).dictionary_encode(),
    "rows": [[number] for number in IDS],
    "rows of several dtypes": [[number, 0.5] for number in IDS],
    "rows and none": [[LOW, 0.5], [HIGH, 0.5]] * 3 + [None],
    "rows with a fraction": [[number] for number in BESIDE_A_FRACTION],
    "arrays with a fraction": [np.array([number]) for number in BESIDE_A_FRACTION],
    "column of categories": pd.Series(CATEGORIES),
    "table of categories": pd.DataFrame({"id": CATEGORIES, "weight": 0.5}),
    "table with Arrow's dtype": pd.DataFrame({"id": pd.array(IDS, pd.ArrowDtype(pa.int64())), "weight": 0.5}),
    "array of objects": np.array([[number, 0.5] for number in IDS], dtype=object),
    "array of objects with words": np.array([[number, "a"] for number in IDS], dtype=object),
    "vectors": faithkit.Explanations.vectors([[number, 0.5] for number in BESIDE_A_FRACTION]),
}


def build(form):
    """Return an object as it is; those of polars, which may not be installed, are functions of it."""
    return form(pytest.importorskip("polars")) if callable(form) else form


@one_test
@pytest.mark.parametrize("form", EXPLANATIONS)
def test_explanations_that_differ_stay_different(form):
    result = faithkit.score(LABELS, build(EXPLANATIONS[form]))
    assert result.n_explanations == 3
    assert result.consistency.value == pytest.approx(6 / 7)  # of seven rows one has an explanation of its own


def write_json_lines(path, cells):
    lines = [json.dumps({"label": label, "why": cell}) for label, cell in zip(LABELS, cells, strict=True)]
    path.write_text("\n".join(lines))
    return open_log(str(path), "label", ("why",))


def test_ids_in_json_lines_stay_different(tmp_path):
    result = score_log(write_json_lines(tmp_path / "log.jsonl", IDS)).result
    assert result.n_explanations == 3
    assert result.consistency.value == pytest.approx(6 / 7)


CELLS = {
    "numbers with a fraction": BESIDE_A_FRACTION,
    "lists": [[number] for number in IDS],
    "objects": [{"id": number, "weight": 0.5} for number in IDS],
}


@one_test
@pytest.mark.parametrize("form", CELLS)
def test_integers_that_floats_would_round_are_refused(tmp_path, form):
    with pytest.raises(InputError, match=r"the column 'why' failed .* Write large integers as texts"):
        write_json_lines(tmp_path / "log.jsonl", CELLS[form])


PREDICTIONS = {
    "list": BESIDE_A_FRACTION,
    "array of objects": np.array(BESIDE_A_FRACTION, dtype=object),
    "numbers of NumPy": [np.int64(number) if number > 1 else number for number in BESIDE_A_FRACTION],
    "numbers and texts": [1, "1"] * 3 + [2],
}


@one_test
@pytest.mark.parametrize("form", PREDICTIONS)
def test_labels_that_differ_stay_different(form):
    result = faithkit.score(PREDICTIONS[form], ["a"] * 7, outcome="labels")
    assert result.consistency.value == pytest.approx(
        6 * 2 / 6 / 7
    )  # each of six agrees with two of six others


CLUSTERS = {name: PREDICTIONS[name] for name in ("list", "array of objects", "numbers and texts")}


@one_test
@pytest.mark.parametrize("form", CLUSTERS)
def test_clusters_that_differ_stay_different(form):
    result = faithkit.score(LABELS, ["a"] * 7, clusters=CLUSTERS[form])
    assert result.to_dict()["clusters"] == 3


GROUPS = {
    "list": IDS,
    "column": pd.Series(IDS, dtype="Int64"),
    "polars column": lambda pl: pl.Series(IDS),
    "categories": pd.Series(CATEGORIES),
}


@one_test
@pytest.mark.parametrize("form", GROUPS)
def test_groups_that_differ_stay_different(form):
    with pytest.warns(faithkit.errors.FaithkitWarning):  # each group has one label
        subgroups = faithkit.score(LABELS, ["a"] * 7).by(build(GROUPS[form]))
    assert [subgroups[group].n for group in (LOW, HIGH, "missing")] == [3, 3, 1]


def test_ids_are_shown_as_they_are():
    result = faithkit.score(["a", "b"] * 3 + ["a"], ["x"] * 7, ids=IDS)
    assert [str(result.evidence.population.metadata.ids.name(row)) for row in (0, 1)] == [
        f"id {LOW}",
        f"id {HIGH}",
    ]


TABLES = {
    "pandas": pd.DataFrame({"id": pd.array(IDS, "Int64")}),
    "polars": lambda pl: pl.DataFrame({"id": IDS}),
    "categories": pd.DataFrame({"id": CATEGORIES}),
    "objects": np.array(IDS, dtype=object)[:, None],
}
CONDITIONS = {  # the rows of ids LOW and HIGH that each covers, with LOW in it and with HIGH in it
    "{} = {}": ([LOW], [HIGH]),
    "{} ≠ {}": ([HIGH], [LOW]),
    "{} in {{{}, 0.5}}": ([LOW], [HIGH]),
    "{} ≤ {}": ([LOW], [LOW, HIGH]),
    "{} < {}": ([], [LOW]),
    "{} > {}": ([HIGH], []),
    "{} >= {}.0": ([LOW, HIGH], [HIGH]),
}


@one_test
@pytest.mark.parametrize("form", TABLES)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_numbers_in_rules_stay_different(form, condition):
    X = as_rows(build(TABLES[form]))
    name = "x0" if form == "objects" else "id"
    rules = [parse_rule(condition.format(name, limit), X) for limit in (LOW, HIGH)]
    assert rules[0] != rules[1]
    for rule, expected in zip(rules, CONDITIONS[condition], strict=True):
        assert rule.covers(X).tolist() == [number in expected for number in IDS]
        assert Rule.from_json(rule.to_json()) == rule


def test_below_an_even_limit_lies_the_odd_integer_before_it():
    X = pd.DataFrame({"id": [LOW, HIGH, LOW + 2]})
    rule = parse_rule(f"id < {LOW + 2}", X)
    assert rule.covers(X).tolist() == [True, True, False]


@one_test
@pytest.mark.parametrize("answer", [[LOW, HIGH, 0.0], [[LOW], [HIGH], [0.0]]], ids=str)
def test_the_labels_of_a_model_stay_different(answer):
    X = np.zeros((3, 1))
    predictor = Predictor(lambda X: answer, background=X, outcome="labels")
    assert predictor.classes.tolist() == [0, LOW, HIGH]
    assert predictor.predict(X).tolist() == [LOW, HIGH, 0]


@one_test
@pytest.mark.parametrize("answer", [[1, "1"], [["1"], [1]]], ids=str)
def test_a_model_that_answers_numbers_and_texts_is_refused(answer):
    with pytest.raises(
        InputError, match="labels are of type int, str; expected all str, all bool or all num"
    ):
        Predictor(lambda X: answer).predict(np.zeros((2, 1)))
