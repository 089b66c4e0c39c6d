"""A new user's three situations, from files to exit code: a fitted Pipeline, a log, and a build that must fail."""

import functools
import json
import re
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from looping import one_test
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import faithkit
from faithkit.cli import main
from faithkit.inputs.embedded import make_loans

pytestmark = pytest.mark.xdist_group("workflows")  # its tests share a fitted model and a result


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A Pipeline on a mixed table in a pickle, its data, and a log of rules."""
    folder = tmp_path_factory.mktemp("user files")
    X, y = make_loans(210, seed=5)
    prepare = make_column_transformer(
        (SimpleImputer(), ["age", "income", "debt"]),
        (
            make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
            ["job", "housing", "region"],
        ),
        ("passthrough", ["arrears"]),
    )
    model = make_pipeline(prepare, GradientBoostingClassifier(n_estimators=5, random_state=0)).fit(
        X[:130], y[:130]
    )
    joblib.dump(model, folder / "model.joblib")
    X[:130].assign(granted=y[:130]).to_csv(folder / "train.csv", index=False)
    X[130:].assign(granted=y[130:]).to_csv(folder / "test.csv", index=False)
    X[130:].assign(granted=y[130:]).to_parquet(folder / "test.parquet")
    make_log(X[130:], model.predict(X[130:])).to_parquet(folder / "log.parquet")
    return folder


def make_log(X, predictions):
    low = faithkit.Rule([faithkit.plugin.Interval("debt", high=0.35)])
    high = faithkit.Rule([faithkit.plugin.Interval("debt", low=0.35)])
    rules = [json.dumps((low if debt <= 0.35 else high).to_json()) for debt in X["debt"]]
    importance = {
        "phi_debt": np.round(0.35 - X["debt"], 1),
        "phi_income": np.sign(X["income"].fillna(0) - 4e4),
    }
    return X.assign(prediction=predictions, rule=rules, **importance)


def run_on_files(verb, folder, *options, data="test.csv"):
    files = ("--data", folder / data, "--background", folder / "train.csv", "--target", "granted")
    return run(verb, *files, "--model", folder / "model.joblib", "--trust-pickle", *options)


def evaluate(folder, *options, **files):
    explainer = ("--explainer", "empirical-anchors:threshold=0.9,max_size=2")
    return run_on_files("evaluate", folder, *explainer, "--diagnose", "none", *options, **files)


DETAILS = ("--by", "housing", "--contradictions", 2)


@functools.cache
def evaluate_once(folder):
    """Return the JSON of a command; `text.txt` has what it prints, `r.csv` its table."""
    files = ("--out", folder / "r.json", "--out", folder / "r.csv")
    result = evaluate(folder, *DETAILS, *files)
    assert result.exit_code == 0, result.output
    (folder / "text.txt").write_text(result.stdout)
    return json.loads((folder / "r.json").read_text())


@pytest.fixture
def payload(folder):
    return evaluate_once(folder)


def test_a_fitted_pipeline_is_evaluated_from_files_with_groups_and_contradictions(folder, payload):
    text = (folder / "text.txt").read_text()
    assert max(map(len, text.splitlines())) <= 80
    for word in ("sufficiency", "housing", "holds for", "row ", "→"):
        assert word in text
    assert payload["model"] == "ColumnTransformer → GradientBoostingClassifier"
    assert set(payload["subgroups"]["groups"]["consistency"]) == {"family", "own", "rent"}
    assert payload["contradictions"][0]["pair"][0]["values"].keys() == set(
        pd.read_csv(folder / "test.csv")
    ) - {"granted"}
    table = pd.read_csv(folder / "r.csv")
    assert table["rows"].tolist()[:2] == ["all", "all"]
    assert table.loc[0, "value"] == payload["measures"]["consistency"]["value"]


def test_a_command_gives_the_same_result_whatever_the_file_format(folder, payload):
    parquet = evaluate(folder, *DETAILS, "--out", "-", "--format", "json", data="test.parquet")
    assert parquet.exit_code == 0, parquet.output
    result = json.loads(parquet.stdout)
    assert result["origin"]["data"] == "test.parquet"
    assert {**result, "origin": ...} == {**payload, "origin": ...}


def test_one_instance_can_be_looked_at(folder):
    row = ("--row", 17, "--explainer", "tree:max_depth=2")
    result = run_on_files("local", folder, *row)
    assert result.exit_code == 0, result.output
    assert "share it" in result.stdout or "No other row" in result.stdout
    payload = json.loads(run_on_files("local", folder, *row, "--out", "-", "--format", "json").stdout)
    in_rule = [name for name in payload["values"] if f"{name} " in payload["explanation"]]
    first = re.match(r"row 17: (.*?); also ", " ".join(result.stdout.split()))[1]
    assert in_rule == re.findall(r"(\w+) = ", first)  # the columns of its rule come first
    assert payload["consistency"]["holds_for"] == len(payload["shared_by"]) + 1


def test_explainers_are_compared_on_the_same_rows(folder, tmp_path):
    explainers = ("--explainer", "tree:max_depth=2", "--explainer", "tree:max_depth=1")
    result = run_on_files("compare", folder, *explainers, "--out", tmp_path / "c.csv")
    assert result.exit_code == 0, result.output
    assert "* " in result.stdout
    table = pd.read_csv(tmp_path / "c.csv")
    assert set(table["system"]) == {"tree:max_depth=2", "tree:max_depth=1"}
    assert (table["bracket_low"] <= table["bracket_high"]).all()


# --- nothing but a log -----------------------------------------------------------------------------------


def score(folder, *options):
    return run("score", folder / "log.parquet", "--prediction", "prediction", "--diagnose", "none", *options)


def test_a_log_of_importances_is_scored_without_a_model(folder):
    result = score(folder, "--explanation", "phi_*", "--by", "housing", "--contradictions", 1)
    assert result.exit_code == 0, result.output
    assert "sufficiency  –  not measured: " in result.stdout
    assert "housing" in result.stdout


def test_a_log_of_rules_and_features_has_sufficiency_and_pairs(folder):
    result = score(
        folder,
        "--explanation",
        "rule",
        "--features",
        "debt,income",
        "--contradictions",
        1,
        "--out",
        "-",
        "--format",
        "json",
    )
    assert result.exit_code == 0, result.output
    payload = json.loads(result.stdout)
    log = pd.read_parquet(folder / "log.parquet")
    agree = [
        (same["prediction"] == row["prediction"]).drop(i).mean()
        for i, row in log.iterrows()
        for same in [log[(log["debt"] <= 0.35) == (row["debt"] <= 0.35)]]
    ]
    assert payload["measures"]["sufficiency"]["value"] == pytest.approx(np.mean(agree), abs=1e-12)
    assert set(payload["contradictions"][0]["pair"][0]["values"]) == {"debt", "income"}


# --- a build that must fail when explanations get worse ---------------------------------------------------


def gate(folder, *gates, columns):
    """Score the log, and judge the result."""
    measured = score(folder, *columns, "--out", folder / "gated.json")
    assert measured.exit_code == 0, measured.output
    return run("gate", folder / "gated.json", *gates)


def test_a_build_passes_while_the_lower_end_is_high_enough_and_fails_below(folder):
    rules = ("--explanation", "rule", "--features", "debt,income", "--control-draws", 0)
    low = json.loads(score(folder, *rules, "--out", "-", "--format", "json").stdout)["measures"][
        "sufficiency"
    ]["low"]
    assert gate(folder, "--fail-under", f"sufficiency={low - 0.001}", columns=rules).exit_code == 0
    failed = gate(folder, "--fail-under", f"sufficiency={low + 0.001}", columns=rules)
    assert failed.exit_code == 3
    assert "failed: sufficiency may be as low as" in failed.stderr
    assert "sufficiency" in failed.stdout  # the table is there all the same


def test_every_limit_on_what_was_not_measured_is_an_error(folder):
    columns = ("--explanation", "phi_*", "--estimator", "majority")
    limits = ("--fail-under", "sufficiency=0.5", "--fail-under", "consistency=0.5")
    result = gate(folder, *limits, columns=columns)
    assert result.exit_code == 1
    assert "--fail-under sufficiency=0.5 cannot be checked" in result.stderr
    assert "consistency=0.5 cannot be checked" in result.stderr
    assert "has no interval" in result.stderr


@one_test
@pytest.mark.parametrize("limits", [("0.9", "0.1"), ("0.1", "0.9"), ("0.5", "0.5")])
def test_two_limits_for_one_measure_are_a_usage_error(limits):
    gates = [part for limit in limits for part in ("--fail-under", f"consistency={limit}")]
    result = run("gate", "gated.json", *gates)
    assert result.exit_code == 2
    assert f"consistency is given twice, {limits[0]} and {limits[1]}" in result.stderr


@one_test
@pytest.mark.parametrize("order", [1, -1])
def test_a_missed_limit_is_told_beside_one_that_cannot_be_checked(folder, order):
    limits = ("sufficiency=0.5", "consistency=0.9999")[::order]
    gates = [part for limit in limits for part in ("--fail-under", limit)]
    result = gate(folder, *gates, columns=("--explanation", "phi_*"))
    assert result.exit_code == 1
    assert "failed: consistency may be as low as" in result.stderr
    assert "--fail-under sufficiency=0.5 cannot be checked" in result.stderr


def test_a_reason_ends_with_one_full_stop(folder):
    result = gate(folder, "--fail-under", "sufficiency=0.5", columns=("--explanation", "rule"))
    assert result.exit_code == 1
    assert "pass X (CLI: --features)." in result.stderr
    assert "(CLI: --features).." not in " ".join(result.output.split())


# --- whatever can be wrong ------------------------------------------------------------------------------


@pytest.fixture
def faulty_files(folder, tmp_path):
    """Files that cannot be evaluated."""
    frame = pd.read_csv(folder / "test.csv")
    frame.to_csv(tmp_path / "semicolons.csv", sep=";", index=False)
    frame.drop(columns="income").to_csv(tmp_path / "lacking.csv", index=False)
    frame.assign(granted="yes").to_csv(tmp_path / "one-class.csv", index=False)
    frame.iloc[:0].to_csv(tmp_path / "empty.csv", index=False)
    pd.concat([frame, frame]).assign(place=range(2 * len(frame))).to_csv(tmp_path / "places.csv", index=False)
    frame.rename(columns={"income": "age"}).to_csv(tmp_path / "twice.csv", index=False)
    (tmp_path / "half.parquet").write_bytes((folder / "test.parquet").read_bytes()[:500])
    (tmp_path / "moody.py").write_text(
        "import numpy as np\n\n\ndef raises(X):\n"
        "    if (X['age'] > 70).any():\n        raise ValueError('too old')\n    return ['yes'] * len(X)\n\n\n"
        "def short(X):\n    return ['yes'] * (len(X) - 1)\n"
    )
    return tmp_path


TREE = ("--target", "granted", "--model", "tree", "--explainer", "tree")


@one_test
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--data", "semicolons.csv", *TREE), "semicolon"),
        (("--data", "{folder}/test.csv", "--target", "grant"), "Did you mean 'granted'?"),
        (
            (
                "--data",
                "lacking.csv",
                "--model",
                "{folder}/model.joblib",
                "--trust-pickle",
                "--explainer",
                "tree",
            ),
            "income",
        ),
        (("--data", "{folder}/test.csv", "--model", "{folder}/model.joblib"), "--trust-pickle"),
        (("--data", "half.parquet", *TREE), "not a whole Parquet file"),
        (("--data", "{folder}/test.csv", "--model", "moody:raises", "--explainer", "tree"), "too old"),
        (
            ("--data", "{folder}/test.csv", "--model", "moody:short", "--explainer", "tree"),
            "one label per row",
        ),
        (("--data", "one-class.csv", *TREE), "expected at least two classes"),
        (("--data", "empty.csv", *TREE), "0 rows"),
        (("--data", "places.csv", *TREE, "--by", "place"), "expected at most 50 groups"),
        (("--data", "{folder}/test.csv", *TREE, "--by", "plaice"), "no column matches 'plaice'"),
        (("--data", "twice.csv", *TREE), "several columns 'age': give each column a name of its own"),
        (
            ("--data", "{folder}/test.csv", *TREE, "--executor", "stored:folder="),
            "folder is '': name a folder",
        ),
        (("--data", "{folder}/test.csv", *TREE, "--out", "no/such/place.json"), "no folder no/such"),
        (("--data", "{folder}/test.csv", *TREE, "--out", ".", "--format", "csv"), "is a folder"),
        (("--data", "{folder}/test.csv", *TREE, "--pool", "lacking.csv"), "lacks columns"),
        (("--data", "{folder}/test.csv", *TREE, "--text", "jobb"), "Did you mean 'job'?"),
        (("--data", "{folder}/test.csv", *TREE, "--text", "job", "--columns", "age"), "exclude each other"),
    ],
)
def test_a_mistake_is_one_line_with_exit_code_1_and_nothing_is_written(
    arguments, message, faulty_files, folder, monkeypatch
):
    monkeypatch.chdir(faulty_files)
    monkeypatch.syspath_prepend(str(faulty_files))
    before = list_files(faulty_files)
    result = run("evaluate", *(str(argument).format(folder=folder) for argument in arguments))
    assert result.exit_code == 1, result.output
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert message in errors[0]
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert list_files(faulty_files) == before


def list_files(folder):
    """Return all files but those that Python compiles."""
    return [path for path in sorted(folder.rglob("*")) if "__pycache__" not in path.parts]


def test_texts_are_taken_from_a_column(tmp_path):
    words = ["good film", "bad film", "good plot", "bad plot"] * 20
    pd.DataFrame({"review": words, "mood": ["pos", "neg"] * 40}).to_csv(tmp_path / "films.csv", index=False)
    result = run(
        "evaluate", "--data", tmp_path / "films.csv", "--target", "mood", "--text", "review",
        "--model", "logistic", "--explainer", "first-word", "--out", "-", "--format", "json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["measures"]["sufficiency"]["value"] == 1


def test_the_help_says_what_it_means_to_trust_a_pickle():
    assert "RUNS ANY CODE" in " ".join(run("evaluate", "--help").stdout.split())


@pytest.mark.slow  # to import skops takes longer than all tests above; files of skops have tests of their own
def test_a_model_in_a_skops_file_needs_no_trust(folder, tmp_path):
    skops = pytest.importorskip("skops.io")
    skops.dump(joblib.load(folder / "model.joblib"), tmp_path / "model.skops")
    files = ("--data", folder / "test.csv", "--model", tmp_path / "model.skops", "--explainer", "tree")
    result = run("evaluate", *files, "--background", folder / "train.csv", "--target", "granted")
    assert result.exit_code == 0, result.output


@pytest.mark.slow  # a process; the exit code is tested above
def test_the_real_command_fails_a_real_build(folder):
    columns = ["--prediction", "prediction", "--explanation", "phi_*", "--diagnose", "none"]
    result = str(folder / "built.json")
    commands = {
        ("score", str(folder / "log.parquet"), *columns, "--out", result): 0,
        ("gate", result, "--fail-under", "consistency=0.999"): 3,
    }
    for words, code in commands.items():
        done = subprocess.run([sys.executable, "-m", "faithkit", *words], capture_output=True, text=True)
        assert done.returncode == code
        assert "Traceback" not in done.stderr
