"""Results in MLflow, with a store in a SQLite file: the log has what was measured, and nothing else."""

import json
import sys

import pytest
from faithkit_integrations.mlflow import log_result, metrics
from looping import one_test
from pages import page_of

import faithkit

LABELS = ["granted", "refused"] * 60
REASONS = ["income", "debt"] * 59 + ["debt", "debt"]


@pytest.fixture(scope="module")
def mlflow(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        mlflow = pytest.importorskip("mlflow")
        folder = tmp_path_factory.mktemp("mlflow")
        mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
        mlflow.set_experiment(experiment_id=mlflow.create_experiment("loans", (folder / "files").as_uri()))
        yield mlflow


def log_in_one_run(mlflow, **results):
    """Log results, and return the run from the store."""
    with mlflow.start_run() as run:
        for name, result in results.items():
            log_result(result, name)
    return mlflow.MlflowClient().get_run(run.info.run_id)


def read_artifact(mlflow, run, path):
    return mlflow.artifacts.load_text(f"{run.info.artifact_uri}/{path}")


def test_measures_are_metrics_and_how_they_were_taken_parameters(mlflow):
    result = faithkit.score(LABELS, REASONS)
    data = log_in_one_run(mlflow, faithkit=result).data
    for name in ("value", "estimate", "low", "high", "verified", "chance"):
        assert data.metrics[f"faithkit/consistency/{name}"] == getattr(result.consistency, name)
    assert (data.metrics["faithkit/n"], data.metrics["faithkit/n_explanations"]) == (120, 2)
    assert data.params == {
        "faithkit/discretizer": "original",
        "faithkit/estimator": "leave-one-out",
        "faithkit/seed": "0",
        "faithkit/outcome": "labels",
    }
    assert not [name for name in data.metrics if "sufficiency" in name]


def test_the_result_and_its_report_are_artefacts(mlflow, tmp_path):
    result = faithkit.score(LABELS, REASONS)
    run = log_in_one_run(mlflow, faithkit=result)
    assert json.loads(read_artifact(mlflow, run, "faithkit/result.json")) == result.to_dict()
    assert read_artifact(mlflow, run, "faithkit/report.html") == page_of(result)


def test_two_systems_have_room_in_one_run(mlflow):
    first, second = faithkit.score(LABELS, REASONS), faithkit.score(LABELS, LABELS, estimator="plug-in")
    run = log_in_one_run(mlflow, reasons=first, labels=second)
    assert run.data.params["reasons/estimator"] == "leave-one-out"
    assert run.data.params["labels/estimator"] == "plug-in"
    assert run.data.metrics["labels/consistency/value"] == second.consistency.value
    assert json.loads(read_artifact(mlflow, run, "labels/result.json")) == second.to_dict()


def test_other_parameters_under_one_name_are_refused_as_mlflow_does(mlflow):
    first, second = faithkit.score(LABELS, REASONS), faithkit.score(LABELS, LABELS, estimator="plug-in")
    with mlflow.start_run():
        log_result(first)
        with pytest.raises(mlflow.MlflowException, match="leave-one-out"):
            log_result(second)


def test_without_a_run_one_is_begun_as_mlflow_does(mlflow):
    log_result(faithkit.score(LABELS, REASONS))
    run = mlflow.active_run()
    mlflow.end_run()
    assert mlflow.MlflowClient().get_run(run.info.run_id).data.metrics["faithkit/n"] == 120


def test_a_loaded_result_is_logged_alike(mlflow, tmp_path):
    result = faithkit.score(LABELS, REASONS)
    result.write(tmp_path / "r.json")
    loaded = faithkit.load(tmp_path / "r.json")
    first, second = (log_in_one_run(mlflow, faithkit=each).data.metrics for each in (result, loaded))
    assert first == second


# --- without MLflow --------------------------------------------------------------------------------------

RESULT = faithkit.score(["yes", "no", "yes"], ["a", "b", "c"])


def test_logging_without_mlflow_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(faithkit.errors.PluginError, match=r"pip install mlflow-skinny"):
        log_result(RESULT)


@one_test
@pytest.mark.parametrize("value", [None, RESULT.consistency, "result.json"])
def test_what_is_no_result_is_refused(value):
    with pytest.raises(faithkit.errors.InputError, match=f"got a {type(value).__name__}: log the results"):
        log_result(value)


@one_test
@pytest.mark.parametrize(
    ("labels", "reasons", "expected"),
    [
        (["yes", "no", "yes"], ["a", "b", "c"], {"verified"}),  # nothing is known
        (["yes", "no"] * 50, ["a", "b"] * 50, {"value", "estimate", "low", "high", "verified", "chance"}),
    ],
)
def test_only_measured_values_are_metrics(labels, reasons, expected):
    result = metrics(faithkit.score(labels, reasons))
    names = {name for name in result if name.startswith("consistency/")}
    assert names == {f"consistency/{name}" for name in expected}
    assert not [name for name in result if name.startswith("sufficiency/")]
