"""A result in MLflow: its measures as metrics, how they were taken as parameters, its report as artefacts."""

import math
from importlib import import_module
from typing import Any

import faithkit

OF_SAMPLE = ("n", "n_explanations", "unexplained", "uniqueness", "singletons", "chance")
OF_MEASURE = ("value", "estimate", "low", "high", "verified", "chance", "p_value")
HOW = ("explainer", "discretizer", "relation", "estimator", "seed", "model")


def log_result(result: faithkit.Evaluation, name: str = "faithkit") -> None:
    """Log a result to MLflow's active run, or to a new one, as `mlflow.log_metric` does.

    What there is no number for is no metric. Of a measure of which nothing is known there is only the share
    that was verified, 0: a lower end of 0 would be taken for a measurement.

    Parameters
    ----------
    result : Evaluation
    name : str
        What everything is logged under: metrics as "faithkit/consistency/low", parameters as
        "faithkit/explainer", files as "faithkit/report.html" and "faithkit/result.json". Results of several
        systems in one run need names of their own.
    """
    if not isinstance(result, faithkit.Evaluation):
        raise faithkit.errors.InputError(
            f"log_result takes what evaluate, score or load returned, got a {type(result).__name__}: log the "
            "results of a comparison one by one, each under its name."
        )
    mlflow, told = _mlflow(), result.to_dict(data=False, steps=False)
    how = {key: told[key] for key in HOW if told[key] is not None} | {"outcome": told["outcome"]["kind"]}
    mlflow.log_params({f"{name}/{key}": given for key, given in how.items()})
    mlflow.log_metrics({f"{name}/{key}": number for key, number in metrics(result).items()})
    mlflow.log_text(result.to_json(), f"{name}/result.json")
    mlflow.log_text(result.to_html(), f"{name}/report.html")


def metrics(result: faithkit.Evaluation) -> dict[str, float]:
    """Return the numbers of a result by their names.

    Examples
    --------
    >>> import faithkit
    >>> metrics(faithkit.score(["yes", "no", "yes"], ["a", "b", "a"]))["consistency/verified"]
    0.6666666666666666
    """
    told = result.to_dict(data=False, steps=False)
    found = {name: told[name] for name in OF_SAMPLE}
    for measure, estimate in told["measures"].items():
        found |= {f"{measure}/{name}": estimate[name] for name in _known(estimate)}
    return {name: float(one) for name, one in found.items() if one is not None and math.isfinite(one)}


def _known(estimate: dict[str, Any] | None) -> tuple[str, ...]:
    """Return what of an estimate says something: where nothing is known, that nothing could be checked."""
    if estimate is None:
        return ()
    checked = estimate["verified"] > 0 or estimate["finding"] == "above chance"
    return OF_MEASURE if checked else ("verified",)


def _mlflow() -> Any:
    try:
        return import_module("mlflow")
    except ImportError as error:
        raise faithkit.errors.PluginError(
            f"mlflow cannot be imported ({error}): pip install mlflow-skinny"
        ) from error
