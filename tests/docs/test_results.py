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

SCHEMA = json.loads(files("faithkit.run").joinpath("results.schema.json").read_text("utf-8"))
FRAME = pd.DataFrame({"age": [31, 45, 28, 60, 33, 51, 40, 22], "job": ["nurse", None] * 4})


def validator(definition):
    part = {"$ref": f"#/definitions/{definition}", "definitions": SCHEMA["definitions"]}
    return Draft7Validator(part)


def check(definition, found):
    json.dumps(found, allow_nan=False)
    validator(definition).validate(found)
    Draft7Validator(SCHEMA).validate(found)


def model(X):
    return np.where(X["age"] > 30, "yes", "no")


def decades(X):
    return [None if age > 55 else age // 20 for age in X["age"]]


@functools.cache
def evaluated(**options):
    return faithkit.evaluate(model, FRAME, explainer=decades, **options)


@faithkit.relation
def same_decade(x, decade):
    return x["age"] // 20 == decade


def test_the_schema_is_one():
    Draft7Validator.check_schema(SCHEMA)


@one_test
@pytest.mark.parametrize("estimator", faithkit.plugin.registry().names("estimator"))
def test_an_evaluation_with_each_estimator(estimator):
    check("evaluation", evaluated(estimator=estimator, relation=same_decade, permutations=9).to_dict())


def test_rows_with_weights_clusters_and_a_pool():
    drawn = {"weights": [1, 2, 3, 1], "clusters": ["a", "a", "b", "c"]}
    check("evaluation", faithkit.score([0, 1, 0, 0], ["e"] * 4, **drawn, permutations=9).to_dict())
    X = pd.DataFrame({"age": [20, 30, 50, 70]})
    pool = (pd.DataFrame({"age": [25, 65]}), ["no", "yes"])
    result = faithkit.score(["no", "no", "yes", "yes"], [1, 1, 2, 3], X=X, relation=same_decade, pool=pool)
    check("evaluation", result.to_dict())
    check("evaluation", EvaluationReport.of(result, violations=2).to_dict())


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
    check("evaluation", result.to_dict())
    check("local_result", result.local(0).to_dict())


def test_what_else_can_be_asked_about_an_evaluation():
    result = evaluated(relation=same_decade)
    payload = EvaluationReport.of(result, 3, by="job", reference=result.on(FRAME.iloc[:5])).to_dict()
    assert {"violations", "subgroups", "reference"} <= set(payload)
    assert payload["violations"]
    check("evaluation", payload)


def test_a_comparison():
    check("comparison", faithkit.compare(model, FRAME, [decades, lambda X: ["same"] * len(X)]).to_dict())


def test_the_instance_of_a_local_result():
    check("local_result", evaluated(relation=same_decade).local(1).to_dict())
    check("local_result", evaluated().local(FRAME.iloc[[1]]).to_dict())


@one_test
@pytest.mark.parametrize(
    ("definition", "command"),
    [
        (
            "evaluation",
            "evaluate --data iris --model tree --explainer tree --violations 2 --json -",
        ),
        (
            "comparison",
            "compare --data iris --model tree --explainer tree --explainer empirical-anchors --json -",
        ),
        ("local_result", "local --row 3 --data iris --model tree --explainer tree --json"),
        ("plan", "plan --range 30 --json -"),
        ("plan", "plan --pilot {pilot} --json -"),
        ("plan", "plan --pilot {pilot} --range 30 --epsilon 0.001 --json -"),
    ],
)
def test_what_the_command_line_writes(definition, command, tmp_path):
    pilot = tmp_path / "pilot.json"
    evaluated().to_json(pilot)
    done = CliRunner().invoke(main, command.format(pilot=pilot).split())
    assert done.exit_code == 0, done.stderr
    check(definition, json.loads(done.stdout))


def test_what_the_command_line_writes_about_a_log(tmp_path):
    log = pd.DataFrame(
        {"label": ["yes", "no", "yes"] * 3, "phi_a": [0.1, 0.1, 0.2] * 3, "sex": ["f", "m", "m"] * 3}
    )
    log.to_parquet(tmp_path / "log.parquet")
    options = [
        "--prediction",
        "label",
        "--explanation",
        "phi_*",
        "--by",
        "sex",
        "--violations",
        "1",
        "--json",
        "-",
    ]
    done = CliRunner().invoke(main, ["score", str(tmp_path / "log.parquet"), *options])
    assert done.exit_code == 0, done.stderr
    check("evaluation", json.loads(done.stdout))


@one_test
@pytest.mark.parametrize("field", lambda: evaluated().to_dict())
def test_a_field_that_is_missing_or_unknown_is_noticed(field):
    payload = evaluated().to_dict()
    lacking = copy.deepcopy(payload)
    lacking[f"{field}_2"] = lacking.pop(field)
    assert not validator("evaluation").is_valid(lacking)


@one_test
@pytest.mark.parametrize("name", list(SCHEMA["definitions"]))
def test_every_field_is_described(name):
    definition = SCHEMA["definitions"][name]
    assert definition["description"]
    for field, facts in definition.get("properties", {}).items():
        assert facts.get("description") or "$ref" in facts, field
