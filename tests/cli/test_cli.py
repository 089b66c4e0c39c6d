"""The command line as a person meets it: output, exit codes, and how fast it answers."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import attrs
import numpy as np
import pandas as pd
import pytest
from consoles import run
from looping import one_test

import faithkit
from faithkit.cli import show
from faithkit.extension.entry_points import VERBS


@pytest.fixture
def log(tmp_path):
    frame = pd.DataFrame(
        {
            "label": ["yes", "yes", "no", "no", "yes"],
            "phi_age": [0.5, 0.5, 0.1, 0.5, np.nan],
            "phi_job": [0.0, -0.0, 0.3, 0.0, np.nan],
            "rule": [
                json.dumps(faithkit.Rule([faithkit.plugin.Interval("age", high=limit)]).to_json())
                for limit in (40, 40, 70, 40, 70)
            ],
            "age": [30, 35, 60, 38, 65],
        }
    )
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_parquet(tmp_path / "log.parquet")
    return tmp_path


def test_the_first_command_works_at_once():
    result = run("evaluate", "--explainer", "shap", "--discretize", "1fp")
    assert result.exit_code == 0
    assert "consistency" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    text = " ".join(result.stdout.split())
    assert "on loans (680 test rows, 7 columns" in text
    assert "Consistency: all 680 instances could be checked" in text  # five trees give few explanations


@one_test
@pytest.mark.parametrize("file", ["log.csv", "log.parquet"])
def test_score_reads_a_log_and_counts_empty_rows_as_unexplained(log, file):
    result = run(
        "score",
        log / file,
        "--prediction",
        "label",
        "--explanation",
        "phi_*",
        "--out",
        "-",
        "--format",
        "json",
    )
    assert result.exit_code == 0, result.output
    payload = json.loads(result.stdout)
    assert (payload["n"], payload["unexplained"], payload["n_explanations"]) == (5, 1, 3)
    # rows 0, 1 and 3 share (0.5, 0): two yes and a no, so 1/2 + 1/2 + 0 over five rows
    assert payload["measures"]["consistency"]["value"] == pytest.approx(0.2)


def test_score_measures_the_sufficiency_of_logged_rules(log):
    columns = ("--prediction", "label", "--explanation", "rule", "--features", "age")
    payload = json.loads(run("score", log / "log.csv", *columns, "--out", "-", "--format", "json").stdout)
    # age ≤ 40 covers rows 0, 1, 3 (yes, yes, no); age ≤ 70 covers all (3 yes, 2 no)
    expected = (0.5 + 0.5 + 1 / 4 + 0 + 2 / 4) / 5
    assert payload["measures"]["sufficiency"]["value"] == pytest.approx(expected)
    assert payload["relation"] == "in-scope"


def test_json_to_a_file_leaves_the_table_on_stdout(log):
    path = log / "out.json"
    result = run("score", log / "log.csv", "--prediction", "label", "--explanation", "phi_*", "--out", path)
    assert "consistency" in result.stdout
    assert json.loads(path.read_text())["n"] == 5
    assert [file.name for file in log.iterdir() if file.name.startswith(".")] == []


def test_evaluate_takes_a_persons_own_files_and_model(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "y": rng.integers(0, 2, 60)})
    frame.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "user_model.py").write_text(
        "import numpy as np\n\ndef model(X):\n    return np.where(X['a'] > 0, 'up', 'down')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    data = ("evaluate", "--data", "data.csv", "--target", "y")
    result = run(*data, "--model", "user_model:model", "--explainer", "shap")
    assert result.exit_code == 1
    assert "error: " in result.stderr
    assert "Traceback" not in result.output
    model = ("--model", "random-forest", "--discretize", "1fp", "--samples", "15")
    payload = json.loads(run(*data, *model, "--out", "-", "--format", "json").stdout)
    assert payload["n"] == 15
    assert payload["data"]["columns"] == 2


def test_plugins_lists_every_component_with_its_distribution():
    result = run("plugins")
    for name in ("shap", "in-scope", "within", "same-explanation", "1fp", "leave-one-out"):
        assert f"  {name} " in result.stdout
    assert "[faithkit-feature-importance]" in result.stdout
    listed = json.loads(run("plugins", "--json").stdout)
    assert {entry["name"] for entry in listed["components"]} >= {"shap", "in-scope", "original"}
    assert listed["broken"] == []


def test_show_tells_a_components_parameters():
    result = run("show", "discretizer", "1fp")
    assert "digits = 1" in result.stdout
    assert "how = 'floor'" in result.stdout
    assert "tau (required)" in run("show", "relation", "within").stdout
    assert json.loads(run("show", "discretizer", "1fp", "--json").stdout)["parameters"]["digits"] == 1


SHOWN = {
    "shap": "explainer shap: ",
    "faithkit-feature-importance/shap": "explainer shap: ",
    "within": "relation within: ",
    "iris": "dataset iris: 150 irises",
    "evaluate": "command evaluate: Measure",
}


@one_test
@pytest.mark.parametrize(("name", "begins"), SHOWN.items())
def test_show_needs_no_kind_where_only_one_has_the_name(name, begins):
    assert run("show", name).stdout.startswith(begins)


def test_show_asks_for_the_kind_where_several_have_the_name(monkeypatch):
    tree = faithkit.plugin.registry().find("explainer", "tree")
    both = SimpleNamespace(entries=lambda: (tree, attrs.evolve(tree, kind="relation")))
    monkeypatch.setattr(show, "registry", lambda: both)
    result = run("show", "tree")
    assert result.exit_code == 1
    assert result.stderr == (
        "error: 'tree' is the name of several kinds of component: write `faithkit show explainer tree` or "
        "`faithkit show relation tree`.\n"
    )


def test_show_finds_what_is_called_like_a_kind(monkeypatch):
    tree = faithkit.plugin.registry().find("explainer", "tree")
    monkeypatch.setattr(show, "registry", lambda: SimpleNamespace(find=lambda *_: tree))
    assert run("show", "explainer", "relation").stdout.startswith("explainer tree: ")


def test_show_prints_the_help_of_a_command():
    assert "Every explainer explains once." in run("show", "command", "compare").stdout


BROKEN = {
    "import-error": ("import a_library_that_nobody_has", "a_library_that_nobody_has"),
    "no-api": ("import faithkit", "FAITHKIT_API"),
    "other-api": ("FAITHKIT_API = 99", "99"),
    "wrong-hook": (
        "import faithkit\nFAITHKIT_API = 1\n@faithkit.plugin.hookimpl\ndef faithkit_explainer():\n    return []",
        "faithkit_explainers",
    ),
    "raises": (
        "import faithkit\nFAITHKIT_API = 1\n@faithkit.plugin.hookimpl\ndef faithkit_explainers():\n    raise OSError('no luck')",
        "no luck",
    ),
    "reserved": (
        "import faithkit\nFAITHKIT_API = 1\n@faithkit.plugin.hookimpl\ndef faithkit_relations():\n"
        "    yield faithkit.plugin.Component(name='same-explanation', factory='os:getcwd', summary='Mine.')",
        "same-explanation",
    ),
}


def test_plugins_shows_every_broken_plugin_in_a_readable_line(tmp_path):
    for name, (code, _) in BROKEN.items():
        module = f"broken_{name.replace('-', '_')}"
        (tmp_path / f"{module}.py").write_text(code)
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[faithkit]\n{name} = {module}\n")
    done = subprocess.run(
        [sys.executable, "-m", "faithkit", "plugins"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    problems = done.stdout.partition("problems\n")[2].splitlines()
    for name, (_, word) in BROKEN.items():
        (line,) = [line for line in problems if f"broken-{name}" in line]
        assert word in line
    assert "shap" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_negative_seed_draws_a_sample_as_any_other_does():
    command = ("evaluate", "--data", "iris", "--model", "tree", "--explainer", "tree", "--samples", "5")
    first, again = (run(*command, "--seed", "-1", "--out", "-", "--format", "json") for _ in range(2))
    assert (first.exit_code, json.loads(first.stdout)["n"]) == (0, 5)
    assert again.stdout == first.stdout


@one_test
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("evaluate", "--data", "nope"), 1, "there is no file 'nope', and no dataset 'nope' is installed"),
        (("evaluate", "--data", "nope.csv"), 1, "no file nope.csv"),
        (("evaluate", "--explainer", "shapp"), 1, "Did you mean 'shap'?"),
        (("evaluate", "--explainer", "nobody"), 1, "no explainer 'nobody' is installed"),
        (("evaluate", "--explainer", "shap:output=odds"), 1, "'probability' or 'raw'"),
        (("evaluate", "--discretize", "1fp:digit=2"), 1, "Did you mean 'digits'?"),
        (("evaluate", "--data", "hert"), 1, "Did you mean 'heart'?"),
        (
            ("evaluate", "--model", "deep"),
            1,
            "gradient-boosting, random-forest, logistic, linear, tree or knn",
        ),
        (("evaluate", "--model", "logistik"), 1, "Did you mean 'logistic'?"),
        (("evaluate", "--samples", "0"), 2, "--samples"),
        (("evaluate", "--confidence", "2"), 1, "between 0 and 1"),
        (("score",), 2, "LOG"),
        (("scor",), 2, "Did you mean 'score'?"),
        (("show", "explainer", "shapp"), 1, "Did you mean 'shap'?"),
        (("show", "shapp"), 1, "Did you mean 'shap'?"),
        (("show", "qqqqqq"), 1, "no component 'qqqqqq' is installed: `faithkit plugins` lists all."),
        (("show", "explanier", "shap"), 1, "Did you mean 'explainer'?"),
        (("show", "explainer"), 2, "give a component's name, with or without its kind: explainer shap."),
        (("show", "explainer", "shap", "lime"), 2, "give a component's name"),
        (("local", "--row", "-1"), 2, "-1 is neither a row's number, of which the first is 0"),
        (("local", "--row", "age=31", "--data", "iris"), 1, "no column matches 'age'"),
        # one row is counted, not estimated, so these would change nothing
        (("local", "--row", "0", "--estimator", "majority"), 2, "--estimator"),
        (("local", "--row", "0", "--permutations", "9"), 2, "--permutations"),
    ],
)
def test_mistakes_get_one_readable_line_and_an_exit_code(arguments, code, message):
    result = run(*arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""
    if code == 1:
        assert len(result.stderr.splitlines()) == 1


def test_spaces_in_the_names_of_columns_are_seen(tmp_path):
    (tmp_path / "log.csv").write_text("label, a\n1,2\n")
    result = run("score", tmp_path / "log.csv", "--prediction", "label", "--explanation", "a*")
    assert "Available: 'label', ' a'." in result.stderr


@one_test
@pytest.mark.parametrize("missing", ["label2", "ph_*"])
def test_a_column_that_is_not_there_is_named(log, missing):
    options = {"--prediction": "label", "--explanation": "phi_*"}
    options["--prediction" if missing == "label2" else "--explanation"] = missing
    result = run("score", log / "log.csv", *[part for pair in options.items() for part in pair])
    assert result.exit_code == 1
    assert missing in result.stderr


@one_test
@pytest.mark.parametrize(
    ("arguments", "misspelt"),
    [
        (("evaluate", "--explainer", "shp"), "shp"),
        (("compare", "--explainer", "tree", "--discretize", "1fpp"), "1fpp"),
        (("local", "--row", 0, "--relation", "within:tua=1"), "tua"),
    ],
)
def test_a_misspelt_name_is_told_before_any_data_is_read(arguments, misspelt):
    result = run(*arguments, "--data", "no-such-file.csv")
    assert result.exit_code == 1
    assert repr(misspelt) in result.stderr
    assert "no-such-file" not in result.stderr


def test_debug_shows_the_traceback(tmp_path):
    result = run("evaluate", "--data", "nope", "--debug")
    assert result.exit_code == 1
    assert result.stderr.startswith("Traceback (most recent call last):")
    assert "InputError: there is no file 'nope', and no dataset 'nope' is installed" in result.stderr


LISTING = """
import json, sys
from faithkit.cli import main

for verb in ("--help", "plugins", "datasets"):
    try:
        main([verb])
    except SystemExit:
        pass
    print(json.dumps(list(sys.modules)), file=sys.stderr)

import faithkit

faithkit.score(["y", "n"], ["a", "a"]).consistency
print(json.dumps(list(sys.modules)), file=sys.stderr)
"""


def test_help_plugins_datasets_and_scores_import_no_more_than_they_need():
    done = subprocess.run([sys.executable, "-c", LISTING], capture_output=True, text=True, check=True)
    by_help, by_plugins, by_datasets, by_score = map(set, map(json.loads, done.stderr.splitlines()))
    assert not by_help & {"numpy", "pandas", "sklearn", "scipy", "rich", "shap"}
    assert not by_plugins & {"sklearn", "scipy", "pandas", "shap", "lime", "anchor", "dice_ml"}
    assert not by_datasets & {"sklearn", "scipy", "shap", "lime", "anchor", "dice_ml"}
    assert not by_score & {"matplotlib", "jinja2", "rich"}  # to measure imports nothing that draws
    for word in (*VERBS, "shap", "loans"):
        assert word in done.stdout


def test_the_verbs_are_those_of_the_contract():
    assert sorted(VERBS) == [
        "compare",
        "datasets",
        "evaluate",
        "local",
        "plan",
        "plugins",
        "score",
        "show",
    ]
