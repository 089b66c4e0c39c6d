"""Adapters of texts: one that takes the texts is used by itself, others by name, and each gets what it asks for."""

import json
from importlib.metadata import EntryPoint

import numpy as np
import pandas as pd
import pytest
from consoles import run
from looping import one_test
from nearly import assert_nearly

import faithkit
from faithkit.errors import ContractError, FaithkitWarning, InputError, ParameterError, PluginError
from faithkit.extension.known_plugins import pip_command
from faithkit.extension.registry import Registry, registry
from faithkit.inputs.files import parquet
from faithkit.inputs.logs.log_files import ParquetLog, open_log
from faithkit.inputs.objects import text_adapters
from faithkit.run.populations.log_scoring import score_log

N = 30
ROWS = np.arange(N)
X = pd.DataFrame({"age": 20 + ROWS % 5, "debt": (ROWS % 7) / 8})
LABELS = np.where(ROWS % 3, "yes", "no")
LISTS = np.array(["a;b", "b;a", "c;a"], dtype=object)[ROWS % 3]
MARKS = np.array(["#1", "#2", None], dtype=object)[ROWS % 3]


@pytest.fixture(autouse=True)
def _plugin():
    with registry().with_plugin("texts_plugin"):
        yield


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(parquet, "VALUES_PER_BATCH", 20)


def read(texts, **options):
    """Return the explanations that `score` makes of texts."""
    return faithkit.score(LABELS, texts, X, **options).rows.explanations


def write_log(texts, path):
    X.assign(label=LABELS, why=texts, row=ROWS).to_parquet(path, row_group_size=7)
    return str(path)


# --- which adapter reads -----------------------------------------------------------------------------------


def test_the_only_adapter_that_takes_the_texts_reads_them():
    explanations = read(LISTS)
    assert explanations.values[:3].tolist() == [("a", "b"), ("a", "b"), ("a", "c")]
    assert set(explanations.remarks) == {"beside 2 columns"}


def test_texts_that_nobody_takes_stay_texts():
    assert read(["a", "b", "a;b"] * 10).values[:3].tolist() == ["a", "b", "a;b"]


def test_without_instances_texts_stay_texts():
    explanations = faithkit.score(LABELS, LISTS).rows.explanations
    assert explanations.values[0] == "a;b"


def test_none_leaves_texts_as_they_are():
    assert read(LISTS, adapter="none").values[0] == "a;b"


def test_texts_that_two_adapters_take_are_read_by_the_one_that_is_named():
    texts = [f"#{row % 2};" for row in ROWS]
    with pytest.raises(
        InputError, match=r"such as '#0;' are taken by \S+/lists and \S+/marks: name one of them"
    ):
        read(texts)
    assert read(texts, adapter="lists").values[0] == ("", "#0")
    assert read(texts, adapter="none").values[0] == "#0;"


def test_an_adapter_with_a_required_parameter_reads_only_if_it_is_named():
    texts = ["a+b"] * N
    assert read(texts).values[0] == "a+b"
    assert read(texts, adapter="required:separator=+").values[0] == ("a", "b")
    with pytest.raises(ParameterError, match="needs the parameter 'separator'"):
        read(texts, adapter="required")


def test_adapt_takes_parameters_in_the_name_or_beside_it():
    by_name = faithkit.plugin.adapt(["b+a"], adapter="lists:separator=+")
    assert (
        by_name.values.tolist()
        == faithkit.plugin.adapt(["b+a"], adapter="lists", separator="+").values.tolist()
    )
    assert by_name.remarks.tolist() == ["beside None columns"]


def test_explainers_that_say_texts_are_read_too_and_further_rows_alike():
    result = faithkit.evaluate(lambda rows: LABELS[: len(rows)], X, explainer=lambda rows: LISTS[: len(rows)])
    assert result.rows.explanations.values[1] == ("a", "b")
    assert result.on(X[:2]).rows.explanations.values.tolist() == [("a", "b"), ("a", "b")]


# --- what adapters get -------------------------------------------------------------------------------------


def test_an_adapter_that_learns_the_rows_gets_each_text_once_and_remarks_on_rows():
    explanations = read(MARKS)
    assert explanations.kind == "vector"
    assert explanations.values[:2].tolist() == [[1], [2]]
    assert explanations.missing.tolist() == [text is None for text in MARKS]
    assert explanations.remarked[:3].tolist() == ["one, of 2", None, "no explanation"]
    assert read(["#31", "#1"] * 15).remarks[:2].tolist() == ["too large", "one, of 2"]


def test_further_rows_are_read_with_the_first_ones():
    def explain(rows):
        return [f"#{row}" for row in range(len(rows), len(rows) + len(rows))]

    result = faithkit.evaluate(lambda rows: LABELS[: len(rows)], X, explainer=explain)
    assert result.remarks == {"too large": 29}
    for _ in range(2):  # 30 and 5 rows are seen: what the second call sees is no more
        assert result.on(X[:5]).remarks == {}
    assert result.on(X[:5].assign(age=1)).rows.explanations.values.ravel().tolist() == [5, 6, 7, 8, 9]


@one_test
@pytest.mark.parametrize("texts", [LISTS, MARKS], ids=["all rows at once", "distinct texts"])
@pytest.mark.parametrize("adapter", [None, "lists", "marks"])
def test_a_log_in_parquet_gives_the_numbers_of_memory(tmp_path, texts, adapter):
    name = "lists" if texts is LISTS else "marks"
    if adapter not in (None, name):
        return
    log = open_log(
        write_log(texts, tmp_path / "log.parquet"),
        "label",
        ("why",),
        ("age", "debt"),
        id="row",
        adapter=adapter,
    )
    assert isinstance(log, ParquetLog) == (name == "marks" or adapter is None)
    result = score_log(log).result
    expected = faithkit.score(LABELS, texts, X)
    assert_nearly(result.measures, expected.measures)
    assert result.remarks == expected.remarks
    if name == "marks":
        assert log.read().text_adapter.notes(log.read().explanations, log.read().ids) == ("30 marks of row",)


def test_all_columns_of_a_log_go_to_the_adapter_that_is_named(tmp_path):
    path = tmp_path / "log.csv"
    X.assign(label=LABELS, why=LISTS).to_csv(path, index=False)
    roles = [
        "--prediction",
        "label",
        "--features",
        "age,debt",
        "--diagnose",
        "none",
        "--out",
        "-",
        "--format",
        "json",
    ]
    shown = run("score", str(path), *roles, "--explanation", "why", "--as", "lists")
    payload = json.loads(shown.stdout)
    assert payload["remarks"] == {"beside 2 columns": N}
    texts = json.loads(run("score", str(path), *roles, "--explanation", "why", "--as", "none").stdout)
    assert (texts["n_explanations"], payload["n_explanations"]) == (3, 2)


# --- refusals ----------------------------------------------------------------------------------------------


def test_adapters_of_other_objects_are_no_adapters_of_texts(tmp_path):
    with pytest.raises(
        InputError, match=r"'shap-values' .* takes shap.Explanation, no texts: choose .* or none"
    ):
        open_log(write_log(LISTS, tmp_path / "log.parquet"), "label", ("why",), adapter="shap-values")


@one_test
@pytest.mark.parametrize("path", ["log.parquet", "log.csv"])
def test_an_adapter_of_one_column_refuses_several(tmp_path, path):
    log = X.assign(label=LABELS, why=MARKS, other=MARKS)
    getattr(log, {"log.parquet": "to_parquet", "log.csv": "to_csv"}[path])(tmp_path / path)
    with pytest.raises(InputError, match=r"'marks' .* reads one column of texts"):
        open_log(str(tmp_path / path), "label", ("why", "other"), ("age",), adapter="marks")


def test_explanations_and_rows_of_different_numbers_are_refused():
    with pytest.raises(InputError, match="2 explanations for 30 rows of X"):
        faithkit.plugin.adapt(["a;b", "c;d"], X=X, adapter="lists")


@one_test
@pytest.mark.parametrize(
    ("n", "error", "message"),
    [
        (2, ContractError, "'short' .* made a list of texts; expected faithkit.Explanations"),
        (3, ContractError, "'short' .* made 2 explanations of 3; expected one each"),
        (4, PluginError, r"'short' .*, in explanations, failed with ValueError: too many"),
    ],
)
def test_an_adapter_that_breaks_its_contract_is_named(n, error, message):
    with pytest.raises(error, match=message):
        faithkit.score(LABELS[:n], ["?"] * n, X[:n])


# --- rules without what reads them -------------------------------------------------------------------------


@pytest.fixture
def _kernel_alone(monkeypatch):
    kernel = Registry(entry_points=[EntryPoint("kernel", "faithkit.extension.builtins", "faithkit")])
    monkeypatch.setattr(text_adapters, "registry", lambda: kernel)


@pytest.mark.usefixtures("_kernel_alone")
def test_without_the_distribution_texts_stay_texts_and_a_warning_says_what_reads_rules():
    command = pip_command("faithkit-logged-reasons")
    with pytest.warns(FaithkitWarning) as caught:
        result = faithkit.score(["yes", "no"], ["age <= 37", "too old"], X[:2])
    assert [str(warning.message) for warning in caught] == [
        f"explanations look like rules ('age <= 37'), and are compared as texts: {command} reads them, for sufficiency."
    ]
    assert result.sufficiency is None


@pytest.mark.usefixtures("_kernel_alone")
def test_no_warning_is_given_about_words(recwarn):
    faithkit.score(["yes", "no"], ["too young", "too old"], X[:2])
    faithkit.score(["yes", "no"], ["age <= 37", "age > 37"])
    faithkit.score(["yes", "no"], ["age <= 37", "age > 37"], X[:2], adapter="none")
    assert not list(recwarn)
