"""What is written as JSON is what its schema says, field by field."""

import copy
import functools
import json
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from jsonschema import Draft7Validator
from looping import one_test

import faithkit
from faithkit.cli import main
from faithkit.run.evaluation_report import EvaluationReport

pytestmark = pytest.mark.usefixtures("few_control_draws", "no_next_steps")

SCHEMA = json.loads(files("faithkit.run").joinpath("results.schema.json").read_text("utf-8"))
FRAME = pd.DataFrame({"age": [31, 45, 28, 60, 33, 51, 40, 22], "job": ["nurse", None] * 4})


def make_validator(definition):
    part = {"$ref": f"#/definitions/{definition}", "definitions": SCHEMA["definitions"]}
    return Draft7Validator(part)


def check_payload(definition, payload):
    json.dumps(payload, allow_nan=False)
    make_validator(definition).validate(payload)
    Draft7Validator(SCHEMA).validate(payload)


def model(X):
    return np.where(X["age"] > 30, "yes", "no")


def decades(X):
    return [None if age > 55 else age // 20 for age in X["age"]]


@functools.cache
def evaluate_decades(**options):
    return faithkit.evaluate(model, FRAME, explainer=decades, **options)


@faithkit.relation
def same_decade(x, decade):
    return x["age"] // 20 == decade


def test_the_schema_is_one():
    Draft7Validator.check_schema(SCHEMA)


@one_test
@pytest.mark.parametrize("estimator", faithkit.plugin.registry().names("estimator"))
def test_an_evaluation_with_each_estimator(estimator):
    check_payload(
        "evaluation", evaluate_decades(estimator=estimator, relation=same_decade, permutations=9).to_dict()
    )


def test_rows_with_weights_clusters_and_a_pool():
    design = {"weights": [1, 2, 3, 1], "clusters": ["a", "a", "b", "c"]}
    check_payload("evaluation", faithkit.score([0, 1, 0, 0], ["e"] * 4, **design, permutations=9).to_dict())
    X = pd.DataFrame({"age": [20, 30, 50, 70]})
    pool = (pd.DataFrame({"age": [25, 65]}), ["no", "yes"])
    result = faithkit.score(["no", "no", "yes", "yes"], [1, 1, 2, 3], X=X, relation=same_decade, pool=pool)
    check_payload("evaluation", result.to_dict())
    check_payload("evaluation", EvaluationReport.of(result, contradictions=2).to_dict())


@one_test
@pytest.mark.parametrize(
    ("predictions", "explanations"),
    [
        (["yes"], ["a"]),
        ([True, False, True], [[0.1, -0.0], [0.1, 0.0], [np.nan, 2.0]]),
        ([1, 2, 3], ["a", "b", "c"]),
        ([0.5, 1.5], [("age", 1), ("age", 2)]),
        (["yes", "no"], [None, None]),
    ],
    ids=["one row", "vectors", "nothing shared", "tuples", "nothing explained"],
)
def test_a_score_of_odd_logs(predictions, explanations):
    result = faithkit.score(predictions, explanations)
    check_payload("evaluation", result.to_dict())
    check_payload("local_result", result.local(0).to_dict())


def test_an_evaluation_with_contradictions_and_subgroups():
    result = evaluate_decades(relation=same_decade)
    payload = EvaluationReport.of(result, 3, by="job").to_dict()
    assert {"contradictions", "subgroups"} <= set(payload)
    assert payload["contradictions"]
    check_payload("evaluation", payload)


def test_a_comparison():
    check_payload(
        "comparison", faithkit.compare(model, FRAME, [decades, lambda X: ["same"] * len(X)]).to_dict()
    )


def test_the_instance_of_a_local_result():
    check_payload("local_result", evaluate_decades(relation=same_decade).local(1).to_dict())
    check_payload("local_result", evaluate_decades().local(FRAME.iloc[[1]]).to_dict())


@one_test
@pytest.mark.parametrize(
    ("definition", "command"),
    [
        (
            "evaluation",
            "evaluate --data iris --model tree --explainer tree --samples 30 --contradictions 2 --out - --format json",
        ),
        (
            "comparison",
            "compare --data iris --model tree --explainer tree --explainer tree:max_depth=1 --samples 30 --out - --format json",
        ),
        ("local_result", "local --row 3 --data iris --model tree --explainer tree --out - --format json"),
        ("plan", "plan --range 30 --out - --format json"),
        ("plan", "plan --pilot {pilot} --out - --format json"),
        ("plan", "plan --pilot {pilot} --range 30 --epsilon 0.001 --out - --format json"),
    ],
)
def test_json_of_the_command_line(definition, command, tmp_path):
    pilot = tmp_path / "pilot.json"
    evaluate_decades().write(pilot)
    run = CliRunner().invoke(main, command.format(pilot=pilot).split())
    assert run.exit_code == 0, run.stderr
    check_payload(definition, json.loads(run.stdout))


def test_json_of_the_command_line_about_a_log(tmp_path):
    log = pd.DataFrame(
        {"label": ["yes", "no", "yes"] * 3, "phi_a": [0.1, 0.1, 0.2] * 3, "sex": ["f", "m", "m"] * 3}
    )
    log.to_parquet(tmp_path / "log.parquet")
    options = "--prediction label --explanation phi_* --by sex --contradictions 1 --out - --format json"
    run = CliRunner().invoke(main, ["score", str(tmp_path / "log.parquet"), *options.split()])
    assert run.exit_code == 0, run.stderr
    check_payload("evaluation", json.loads(run.stdout))


@one_test
@pytest.mark.parametrize("field", lambda: evaluate_decades().to_dict())
def test_a_field_that_is_missing_or_unknown_is_noticed(field):
    payload = evaluate_decades().to_dict()
    lacking = copy.deepcopy(payload)
    lacking[f"{field}_2"] = lacking.pop(field)
    assert not make_validator("evaluation").is_valid(lacking)


@one_test
@pytest.mark.parametrize("name", list(SCHEMA["definitions"]))
def test_every_field_is_described(name):
    definition = SCHEMA["definitions"][name]
    assert definition["description"]
    for field, facts in definition.get("properties", {}).items():
        assert facts.get("description") or "$ref" in facts, field
