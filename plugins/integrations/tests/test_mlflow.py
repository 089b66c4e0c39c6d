"""A result in MLflow, with a store in a SQLite file: what is logged is what was measured, and nothing else."""

import json
import os

import pytest

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # nothing here talks to anybody
mlflow = pytest.importorskip("mlflow")

from faithkit_integrations.mlflow import log_result  # noqa: E402

import faithkit  # noqa: E402

LABELS = ["granted", "refused"] * 60
REASONS = ["income", "debt"] * 59 + ["debt", "debt"]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    mlflow.set_experiment(experiment_id=mlflow.create_experiment("loans", (folder / "files").as_uri()))
    return mlflow.MlflowClient()


def logged(client, **results):
    """Log results in one run, and return what the store has of it."""
    with mlflow.start_run() as run:
        for name, result in results.items():
            log_result(result, name)
    return client.get_run(run.info.run_id)


def text(run, path):
    return mlflow.artifacts.load_text(f"{run.info.artifact_uri}/{path}")


def test_measures_are_metrics_and_how_they_were_taken_parameters(client):
    result = faithkit.score(LABELS, REASONS)
    data = logged(client, faithkit=result).data
    found = result.consistency
    for name in ("value", "estimate", "low", "high", "verified", "chance"):
        assert data.metrics[f"faithkit/consistency/{name}"] == getattr(found, name)
    assert (data.metrics["faithkit/n"], data.metrics["faithkit/n_explanations"]) == (120, 2)
    assert data.params == {
        "faithkit/discretizer": "original",
        "faithkit/estimator": "leave-one-out",
        "faithkit/seed": "0",
        "faithkit/outcome": "labels",
    }
    assert not [name for name in data.metrics if "sufficiency" in name]


def test_the_result_and_its_report_are_artefacts(client, tmp_path):
    result = faithkit.score(LABELS, REASONS)
    run = logged(client, faithkit=result)
    assert json.loads(text(run, "faithkit/result.json")) == result.to_dict()
    assert text(run, "faithkit/report.html") == result.to_html()


def test_where_nothing_is_known_no_number_says_otherwise(client):
    data = logged(client, faithkit=faithkit.score(["yes", "no", "yes"], ["a", "b", "c"])).data
    of_measures = {name: value for name, value in data.metrics.items() if "consistency" in name}
    assert of_measures == {"faithkit/consistency/verified": 0.0}


def test_two_systems_have_room_in_one_run(client):
    one, other = faithkit.score(LABELS, REASONS), faithkit.score(LABELS, LABELS, estimator="plug-in")
    run = logged(client, reasons=one, labels=other)
    assert run.data.params["reasons/estimator"] == "leave-one-out"
    assert run.data.params["labels/estimator"] == "plug-in"
    assert run.data.metrics["labels/consistency/value"] == other.consistency.value
    assert json.loads(text(run, "labels/result.json")) == other.to_dict()


def test_other_parameters_under_one_name_are_refused_as_mlflow_does(client):
    one, other = faithkit.score(LABELS, REASONS), faithkit.score(LABELS, LABELS, estimator="plug-in")
    with mlflow.start_run():
        log_result(one)
        with pytest.raises(mlflow.MlflowException, match="leave-one-out"):
            log_result(other)


def test_without_a_run_one_is_begun_as_mlflow_does(client):
    log_result(faithkit.score(LABELS, REASONS))
    run = mlflow.active_run()
    mlflow.end_run()
    assert client.get_run(run.info.run_id).data.metrics["faithkit/n"] == 120


def test_a_loaded_result_is_logged_alike(client, tmp_path):
    result = faithkit.score(LABELS, REASONS)
    result.to_json(tmp_path / "r.json")
    again = faithkit.load(tmp_path / "r.json")
    assert logged(client, faithkit=again).data.metrics == logged(client, faithkit=result).data.metrics
