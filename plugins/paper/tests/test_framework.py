"""What all experiments share: cells, pages, printed numbers, the store, models and the verb."""

import csv
import io
import json
import os
import stat
import subprocess
import sys
import time
from types import SimpleNamespace

import attrs
import joblib
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from faithkit_paper.boosters import Codes, Parameters, build_booster
from faithkit_paper.context import Context
from faithkit_paper.experiment_catalogue import EXPERIMENTS, select_experiments
from faithkit_paper.experiments import table_models
from faithkit_paper.figures import create_panels, draw_line, half_width, render_svg
from faithkit_paper.findings import Cell, Findings, cell_of_runs, cells_of_runs
from faithkit_paper.models import DATASETS, train_model
from faithkit_paper.printed_numbers import printed_numbers, with_printed_number
from faithkit_paper.report import Grid, Summary, format_csv, format_markdown, format_number, run_experiment
from looping import one_test
from paper.tables import load
from scipy import stats

import faithkit
from faithkit.cli import main

TINY = Context("tiny", load=load)


def build_cell(ours=0.5, paper=None, measure="consistency", **fields):
    names = {"dataset": "adult", "explainer": "shap", "setting": "1fp"}
    return Cell(**(names | fields), measure=measure, ours=ours, paper=paper)


# --- cells -------------------------------------------------------------------------------------------------


def test_a_cell_of_runs_has_their_mean_and_sample_deviation():
    result = cell_of_runs("adult", "shap", "1fp", "consistency", [0.2, 0.4, 0.9, None], n=50)
    assert result.ours == pytest.approx(0.5)
    assert result.std == pytest.approx(np.std([0.2, 0.4, 0.9], ddof=1))
    assert (result.runs, result.n) == (3, 50)


def test_a_cell_without_any_measured_run_has_no_number():
    result = cell_of_runs("adult", "shap", "1fp", "sufficiency", [None, None])
    assert (result.ours, result.std, result.runs, result.difference) == (None, None, 0, None)


def test_the_measures_of_evaluations_are_averaged_and_a_missing_measure_stays_missing():
    runs = [faithkit.score([0, 0, 1, 1], ["a", "a", "b", "b"]), faithkit.score([0, 0, 1, 1], list("abcd"))]
    values = {cell.measure: cell.ours for cell in cells_of_runs("made-up", "given", "original", runs)}
    assert values == {"consistency": 0.5, "sufficiency": None, "uniqueness": 0.75}


# --- printed numbers ---------------------------------------------------------------------------------------


def test_all_204_numbers_of_the_papers_four_tables_are_there():
    tables = {"table-text", "table-shap", "table-lime", "table-counterfactuals"}
    assert sum(key[0] in tables for key in printed_numbers()) == 204


@one_test
@pytest.mark.parametrize(
    ("experiment", "key", "value"),
    [
        ("table-text", ("rt-polarity", "top-coefficient", "original", "sufficiency"), 0.71),
        ("table-shap", ("covtype", "shap", "1fp", "uniqueness"), 0.36),
        ("table-lime", ("avila", "lime", "sign", "consistency"), 0.37),
        ("table-counterfactuals", ("heart", "dice", "delta-sign", "uniqueness"), 0.88),
        ("figure-trees", ("adult", "tree", "2048 leaves", "samples for 0.9"), 4300),
        ("figure-anchor-example", ("adult", "anchors", "threshold=0.5", "N^c"), 2364),
    ],
)
def test_a_number_stands_beside_the_one_that_the_paper_prints(experiment, key, value):
    assert with_printed_number(experiment, Cell(*key, ours=0.0)).paper == value


def test_an_accuracy_is_the_same_in_every_experiment():
    for experiment in ("table-shap", "figure-anchors"):
        accuracy = Cell("avila", "gradient-boosting", "", "accuracy", 1.0)
        assert with_printed_number(experiment, accuracy).paper == 0.99


def test_what_the_theory_says_is_kept_and_what_nobody_printed_stays_empty():
    assert with_printed_number("claims", build_cell(paper=0.25)).paper == 0.25
    assert with_printed_number("table-shap", build_cell(setting="3fp")).paper is None


# --- pages -------------------------------------------------------------------------------------------------


def test_the_summary_counts_differences_within_5_and_10_hundredths():
    result = Summary.of(
        [
            build_cell(0.50, 0.55),
            build_cell(0.52, 0.60),
            build_cell(0.1, 0.3),
            build_cell(7.0, 4.0, "N^s"),
            build_cell(0.4),
        ]
    )
    assert result.cells == 3
    assert result.mean == pytest.approx((0.05 + 0.08 + 0.2) / 3)
    assert result.near == pytest.approx((1 / 3, 2 / 3))
    assert Summary.of([build_cell(0.4)]) is None


def test_the_csv_has_every_cell_and_empty_fields_where_there_is_no_number():
    text = format_csv("table-shap", [build_cell(0.93, 0.95, n=200), build_cell(None, measure="sufficiency")])
    first, second = csv.DictReader(io.StringIO(text))
    assert first["experiment"] == "table-shap"
    assert (first["paper"], first["ours"], first["n"]) == ("0.95", "0.93", "200")
    assert float(first["difference"]) == pytest.approx(-0.02)
    assert (second["ours"], second["difference"]) == ("", "")


def test_a_table_has_a_line_for_each_system_and_three_columns_for_each_printed_measure():
    cells = [
        build_cell(0.9, 0.95),
        build_cell(0.1, 0.08, "uniqueness"),
        build_cell(0.3, setting="sign"),
        build_cell(0.7, measure="singletons"),
    ]
    head, _, first, second = Grid.of(cells).markdown().splitlines()
    assert head == (
        "| dataset | explainer | setting | consistency: paper | ours | difference | "
        "uniqueness: paper | ours | difference | singletons |"
    )
    assert first == "| adult | shap | 1fp | 0.95 | 0.90 | -0.05 | 0.08 | 0.10 | +0.02 | 0.70 |"
    assert second == "| adult | shap | sign |  | 0.30 |  |  |  |  |  |"


def test_many_measures_make_a_long_table():
    lines = Grid.of([build_cell(1.0, 2.0, measure=name) for name in "abcd"]).markdown().splitlines()
    assert lines[0] == "| dataset | explainer | setting | measure | paper | ours | difference |"
    assert len(lines) == 2 + 4


def test_a_page_tells_models_measures_summary_and_remarks():
    accuracy = Cell("adult", "gradient-boosting", "", "accuracy", 0.87, paper=0.87)
    findings = Findings((accuracy, build_cell(0.9, 0.95)), ("Anchors: 20 rows.",))
    page = format_markdown("table-shap", "Profile tiny.", findings, findings.cells[1:], "table-shap.svg")
    order = [
        "# table-shap",
        "![table-shap](table-shap.svg)",
        "## Models",
        "0.87",
        "## Measures",
        "-0.05",
        "1 cell",
        "- Anchors",
    ]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    assert "accuracy" not in page[page.index("## Measures") :]


@one_test
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.50"),
        (7438.0, "7,438"),
        (3.0, "3"),
        (1.0, "1.00"),
        (0.0042, "0.004"),
        (-0.0001, "0.00"),
        (None, ""),
    ],
)
def test_numbers_are_written_as_the_paper_writes_them(value, text):
    assert format_number(value) == text


def test_the_band_is_students_interval_of_a_mean():
    values = [0.1, 0.4, 0.2, 0.7, 0.3]
    low, high = stats.t.interval(0.95, 4, loc=np.mean(values), scale=stats.sem(values))
    assert half_width(np.std(values, ddof=1), 5) == pytest.approx((high - low) / 2)


def test_the_same_figure_is_the_same_svg():
    def draw():
        figure, axes = create_panels(["panel"])
        draw_line(axes["panel"], 0, "a line", [1, 2], [0.1, 0.2], [0.01, 0.02])
        return render_svg(figure)

    svg = draw()
    assert svg == draw()
    assert "a line" not in svg  # no legend was asked for
    assert svg.lstrip().startswith("<?xml")


# --- the context -------------------------------------------------------------------------------------------


def test_another_seed_and_another_name_give_other_random_numbers():
    draws = {
        Context(seed=seed).rng(*names).integers(2**60)
        for seed in (0, 1)
        for names in (("a",), ("a", 1), ("b",))
    }
    assert len(draws) == 6


def test_a_sample_has_distinct_rows_and_no_more_than_there_are():
    X = pd.DataFrame({"x": range(50)})
    assert TINY.sample(X, 20, "some")["x"].nunique() == 20
    assert sorted(TINY.sample(X, 500, "some")["x"]) == list(range(50))
    assert sorted(TINY.sample(X, None, "some")["x"]) == list(range(50))


def build_measure(findings, calls):
    """Return a function that notes which datasets it measures."""

    def measure(context, dataset):
        calls.append(dataset)
        return findings

    return measure


def test_findings_in_the_store_are_not_measured_again(tmp_path):
    findings, calls = Findings((build_cell(0.25, n=3),), ("said",)), []
    for _ in range(2):
        context = Context("tiny", load=load, store=tmp_path)
        result = context.measure_each("table-shap", ["adult", "heart"], build_measure(findings, calls))
        assert result.cells == findings.cells * 2
    assert calls == ["adult", "heart"]


def test_an_interrupted_experiment_keeps_what_was_finished(tmp_path):
    calls = []

    def measure(context, dataset):
        calls.append(dataset)
        if calls == ["adult", "heart"]:
            raise KeyboardInterrupt
        return Findings((build_cell(0.5, dataset=dataset),))

    with pytest.raises(KeyboardInterrupt):
        Context("tiny", load=load, store=tmp_path).measure_each("table-shap", ["adult", "heart"], measure)
    result = Context("tiny", load=load, store=tmp_path).measure_each(
        "table-shap", ["adult", "heart"], measure
    )
    assert [cell.dataset for cell in result.cells] == ["adult", "heart"]
    assert calls == ["adult", "heart", "heart"]


def test_cpu_time_adds_up_over_interruptions(tmp_path):
    def measure(context, dataset):
        total = sum(i * i for i in range(400_000))
        if not (tmp_path / "cpu").exists():
            raise KeyboardInterrupt
        return Findings((build_cell(float(total)),))

    with pytest.raises(KeyboardInterrupt):
        Context("tiny", load=load, store=tmp_path).measure_each("table-shap", ["heart"], measure)
    (timed,) = (tmp_path / "cpu").iterdir()
    interrupted = float(timed.read_text())
    result = Context("tiny", load=load, store=tmp_path).measure_each("table-shap", ["heart"], measure)
    assert result.cpu_seconds > interrupted > 0


def use_cpu(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_the_cpu_time_of_workers_counts(tmp_path):
    def measure(context, dataset):
        joblib.Parallel(n_jobs=2)(joblib.delayed(use_cpu)(1.0) for _ in range(3))
        return Findings((build_cell(0.5),))

    context = Context("tiny", load=load, store=tmp_path)
    assert context.measure_each("table-shap", ["heart"], measure).cpu_seconds > 3


def test_a_stored_model_is_not_fitted_again_and_is_always_what_the_store_reads_back(tmp_path):
    first, second = (train_model(Context("tiny", load=load, store=tmp_path), "heart") for _ in range(2))
    assert joblib.hash(first.model) == joblib.hash(second.model)
    (file,) = (tmp_path / "models").iterdir()
    assert joblib.hash(joblib.load(file)) == joblib.hash(first.model)


def test_only_the_named_datasets_are_measured():
    calls = []
    context = Context("tiny", load=load, datasets=("heart",))
    context.measure_each("table-shap", ["adult", "heart"], build_measure(Findings(()), calls))
    assert calls == ["heart"]
    with pytest.raises(faithkit.errors.InputError, match="table-text does not use heart"):
        context.measure_each("table-text", ["rt-polarity"], build_measure(Findings(()), calls))


@one_test
@pytest.mark.parametrize("change", [{"seed": 1}, {"profile": "quick"}, {"search": True}, {"load": None}])
def test_another_question_is_measured_anew(tmp_path, change):
    def load_other_labels(name):
        data = load(name)
        return type(data)(name=name, X=data.X, y=data.y[::-1].copy())

    calls = []
    change = {"load": load_other_labels} if "load" in change else change
    for options in ({}, change):
        context = Context(**{"profile": "tiny", "load": load, "store": tmp_path, **options})
        context.measure_each("table-shap", ["heart"], build_measure(Findings(()), calls))
    assert len(calls) == 2


# --- models ------------------------------------------------------------------------------------------------


def test_the_hyper_parameters_are_those_of_the_appendix():
    assert attrs.astuple(Parameters.from_paper("heart")) == (0.0625, 250, 3)
    assert attrs.astuple(Parameters.from_paper("covtype")) == (0.125, 300, 7)


def test_codes_are_ordinal_and_missing_numbers_become_the_median():
    X = pd.DataFrame({"x": [1.0, np.nan, 3.0, 9.0], "job": ["smith", "clerk", None, "smith"]})
    codes = Codes().fit(X)
    assert codes.transform(X).tolist() == [[1, 1], [3, 0], [3, 2], [9, 1]]
    assert codes.transform(pd.DataFrame({"x": [2.0], "job": ["nurse"]})).tolist() == [[2, 3]]


@one_test
@pytest.mark.parametrize("dataset", ["heart", "chess"])
def test_a_model_takes_the_published_table_and_its_codes_alike(dataset):
    trained = train_model(TINY, dataset)
    coded = trained.with_codes()
    np.testing.assert_array_equal(trained.model.predict(trained.test), coded.model.predict(coded.test))
    assert trained.accuracy == np.mean(coded.model.predict(coded.test) == coded.y_test)
    assert (
        trained.accuracy > np.unique(trained.y_test, return_counts=True)[1].max() / len(trained.y_test) - 0.1
    )
    assert not np.isnan(coded.test).any()


def test_xgboost_makes_the_steps_of_scikit_learn():
    """After one round of stumps on the same rows both move the raw scores alike."""
    X = np.repeat(np.arange(3.0), 40)[:, None]
    y = np.repeat([0, 1, 2], 40)
    after = []
    for dataset in ("heart", "avila"):  # the first is scikit-learn's, the second XGBoost's
        model = build_booster(dataset, Parameters(0.1, 1, 2), 3, seed=0).fit(X, y)
        scores = np.log(model.predict_proba(X))
        after.append(scores - scores.mean(axis=1, keepdims=True))
    np.testing.assert_allclose(*after, atol=1e-3)


def test_another_seed_trains_another_model():
    first, second = (
        [
            cell.ours
            for cell in table_models.measure_dataset(context, "chess").cells
            if cell.measure == "accuracy"
        ]
        for context in (TINY, Context("tiny", load=load, seed=1))
    )
    assert first != second


def test_a_model_is_trained_once_for_all_experiments():
    assert train_model(TINY, "heart") is train_model(TINY, "heart")


def test_a_rare_class_that_no_training_row_has_is_never_right():
    y = np.array(["common"] * 400 + ["often"] * 200 + ["rare"] * 1, dtype=object)
    X = pd.DataFrame({"x": np.r_[np.zeros(400), np.ones(200), 2.0]})
    table = SimpleNamespace(X=X, y=y)
    test_labels = set()
    for seed in range(4):
        trained = train_model(Context("tiny", seed=seed, load=lambda _: table), "avila")
        test_labels |= set(np.unique(trained.y_test).tolist())
        assert trained.accuracy >= 0.99
    assert -1 in test_labels


def test_the_search_finds_other_hyper_parameters_and_the_store_remembers_them(tmp_path):
    first, second = (
        train_model(Context("tiny", load=load, store=tmp_path, search=True), "heart").parameters
        for _ in range(2)
    )
    assert first.learning_rate in (0.25, 1.0)
    assert first.n_estimators in (5, 10)
    assert second == first
    assert len(list((tmp_path / "findings").iterdir())) == 1


# --- the verb ----------------------------------------------------------------------------------------------


def run(*words):
    return CliRunner().invoke(main, ["reproduce", *words])


def test_the_list_has_every_experiment_with_its_summary():
    result = run("--list")
    assert result.exit_code == 0
    for experiment in EXPERIMENTS.values():
        assert f"{experiment.name}" in result.stdout
        assert experiment.summary in result.stdout


def test_every_experiment_can_be_imported_and_run():
    for experiment in EXPERIMENTS.values():
        assert callable(experiment.module.run)


def test_listing_imports_neither_numpy_nor_an_experiment():
    code = (
        "import sys; from click.testing import CliRunner; from faithkit.cli import main;"
        "result = CliRunner().invoke(main, ['reproduce', '--list']); assert result.exit_code == 0, result.output;"
        "print([name for name in ('numpy', 'sklearn', 'matplotlib') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_an_unknown_experiment_is_asked_back_about(tmp_path):
    result = run("table-txt", "--output", str(tmp_path))
    assert result.exit_code == 1
    assert "there is no experiment 'table-txt'. Did you mean 'table-text'?" in result.stderr
    assert "Available: table-text" in run("zzz").stderr


def test_experiments_named_twice_run_once():
    assert [experiment.name for experiment in select_experiments(["claims", "table-text", "claims"])] == [
        "claims",
        "table-text",
    ]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_an_output_that_cannot_be_written_is_said_before_anything_runs(tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    result = run("claims", "--output", str(tmp_path / "out"))
    tmp_path.chmod(stat.S_IRWXU)
    assert result.exit_code == 1
    assert "cannot write to" in result.stderr


@one_test
@pytest.mark.parametrize("option", ["--output", "--store"])
def test_a_file_in_the_place_of_a_folder_is_said_before_anything_runs(tmp_path, option):
    (tmp_path / "file").write_text("")
    options = {"--output": str(tmp_path / "out"), option: str(tmp_path / "file")}
    result = run("claims", *(word for pair in options.items() for word in pair))
    assert result.exit_code == 1
    assert "cannot write to" in result.stderr
    assert "Name a folder" in result.stderr
    assert "claims" not in result.stderr.replace("faithkit", "").split("error")[0]


def test_an_experiment_writes_its_files_and_a_second_run_writes_the_same_from_the_store(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("faithkit_paper.report.render_svg", lambda figure: f"{len(figure.axes)} panels")
    output = tmp_path / "out"
    options = "--profile", "tiny", "--store", str(tmp_path / "store"), "--output", str(output)
    first = run("figure-lime-xor", *options)
    assert first.exit_code == 0, first.output
    assert "figure-lime-xor.md" in first.stdout
    files = {path.name: path.read_bytes() for path in output.iterdir()}
    assert sorted(files) == [
        "figure-lime-xor-shown.csv", "figure-lime-xor.csv", "figure-lime-xor.md", "figure-lime-xor.svg",
        "summary.csv",
    ]  # fmt: skip
    second = run("figure-lime-xor", *options)
    assert files["figure-lime-xor.svg"] == b"3 panels"
    assert "from the store" not in first.stderr
    assert "from the store" in second.stderr
    assert {path.name: path.read_bytes() for path in output.iterdir()} == files


def test_a_damaged_finding_in_the_store_is_measured_again(tmp_path):
    context, calls = Context("tiny", load=load, store=tmp_path), []
    context.measure_each("table-shap", ["heart"], build_measure(Findings((build_cell(0.5),)), []))
    (file,) = (tmp_path / "findings").iterdir()
    file.write_text(file.read_text()[:20])
    measure = build_measure(Findings((build_cell(0.75),)), calls)
    assert context.measure_each("table-shap", ["heart"], measure).cells[0].ours == 0.75
    assert calls == ["heart"]
    assert json.loads(file.read_text())["cells"][0]["ours"] == 0.75


@pytest.mark.slow
def test_files_are_the_same_whatever_the_folder_and_other_with_another_seed(tmp_path):
    def write_files(seed, folder):
        (tmp_path / folder).mkdir()
        run_experiment(EXPERIMENTS["figure-lime-xor"], Context("tiny", seed=seed), tmp_path / folder)
        return {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()}

    first = write_files(0, "a")
    assert write_files(0, "b") == first
    other = write_files(1, "c")
    assert all(other[name] != first[name] for name in ("figure-lime-xor.csv", "figure-lime-xor.md"))


def test_there_is_a_model_for_each_of_the_six_datasets():
    assert all(Parameters.from_paper(dataset).n_estimators >= 50 for dataset in DATASETS)
