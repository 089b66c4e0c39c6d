"""Log a result to MLflow: measures as metrics, the setup as parameters, the report as artefacts."""

import math
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import faithkit
from faithkit_integrations.report_files import report_file

SAMPLE_METRICS = ("n", "n_explanations", "unexplained", "uniqueness", "singletons", "chance")
MEASURE_METRICS = ("value", "estimate", "low", "high", "verified", "chance", "p_value")
PARAMETERS = ("explainer", "discretizer", "relation", "estimator", "seed", "model")


def log_result(result: faithkit.Evaluation, name: str = "faithkit") -> None:
    """Log a result to MLflow's active run, or to a new one, as `mlflow.log_metric` does.

    Values without a number are not logged. If nothing is known about a measure, only its verified share, 0,
    is logged, because a lower end of 0 would look like a measurement.

    Parameters
    ----------
    result : Evaluation
    name : str
        The prefix of all logged names: metrics as "faithkit/consistency/low", parameters as
        "faithkit/explainer", files as "faithkit/result.json" and "faithkit/report.html" (report.txt without
        faithkit-html). Results of several systems in one run need different names.
    """
    if not isinstance(result, faithkit.Evaluation):
        raise faithkit.errors.InputError(
            f"log_result takes what evaluate, score or load returned, got a {type(result).__name__}: log the "
            "results of a comparison one by one, each under its name."
        )
    mlflow, payload = _import_mlflow(), result.to_dict(include_data=False, include_steps=False)
    parameters = {key: payload[key] for key in PARAMETERS if payload[key] is not None} | {
        "outcome": payload["outcome"]["kind"]
    }
    mlflow.log_params({f"{name}/{key}": value for key, value in parameters.items()})
    mlflow.log_metrics({f"{name}/{key}": number for key, number in metrics(result).items()})
    with TemporaryDirectory() as folder:
        for file in ("result.json", report_file("report")):
            result.write(Path(folder, file))
        mlflow.log_artifacts(folder, name)


def metrics(result: faithkit.Evaluation) -> dict[str, float]:
    """Return the metrics of a result, by name.

    Examples
    --------
    >>> import faithkit
    >>> metrics(faithkit.score(["yes", "no", "yes"], ["a", "b", "a"]))["consistency/verified"]
    0.6666666666666666
    """
    payload = result.to_dict(include_data=False, include_steps=False)
    numbers = {name: payload[name] for name in SAMPLE_METRICS}
    for measure, estimate in payload["measures"].items():
        numbers |= {f"{measure}/{name}": estimate[name] for name in _meaningful_metrics(estimate)}
    return {
        name: float(number)
        for name, number in numbers.items()
        if number is not None and math.isfinite(number)
    }


def _meaningful_metrics(estimate: dict[str, Any] | None) -> tuple[str, ...]:
    """Return the metrics of an estimate to log: only the verified share if nothing could be checked."""
    if estimate is None:
        return ()
    is_checked = estimate["verified"] > 0 or estimate["finding"] == "above chance"
    return MEASURE_METRICS if is_checked else ("verified",)


def _import_mlflow() -> Any:
    try:
        return import_module("mlflow")
    except ImportError as error:
        raise faithkit.errors.PluginError(
            f"mlflow cannot be imported ({error}): pip install mlflow-skinny"
        ) from error
