"""Where a result comes from: names without folders, the command, the model's accuracy, and the user's own words."""

import hashlib
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.metrics import accuracy_score, r2_score
from sklearn.tree import DecisionTreeClassifier

import faithkit
from faithkit.cli import main
from faithkit.cli.evaluate import command
from faithkit.cli.shared.origin import command_text

HOSTILE = '<script>alert("1")</script>\x1b[31m{{ 7 * 7 }}'


def run(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.fixture
def folder(tmp_path):
    """Write rows, their target and a model that is wrong about some of them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 80, 120), "hours": rng.integers(0, 60, 120)})
    y = np.where((X["age"] > 40) ^ (rng.random(120) < 0.2), "yes", "no")
    X.assign(income=y).to_csv(tmp_path / "people.csv", index=False)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    return tmp_path


def evaluate(folder, *options):
    inputs = ("--data", folder / "people.csv", "--target", "income", "--background", folder / "people.csv")
    inputs += ("--model", folder / "model.pkl", "--trust-pickle", "--explainer", "tree:max_depth=3")
    run("evaluate", *inputs, "--out", folder / "out.json", "--out", folder / "out.html", *options)
    return json.loads((folder / "out.json").read_text("utf-8"))


def test_a_result_names_its_files_without_folders_and_knows_how_good_the_model_is(folder):
    origin = evaluate(folder)["origin"]
    result_files = [(folder / name).read_bytes() for name in ("out.json", "out.html")]
    assert (origin["data"], origin["model_file"]) == ("people.csv", "model.pkl")
    assert origin["command"] == (
        "faithkit evaluate --explainer tree:max_depth=3 --data people.csv --target income --model model.pkl "
        "--trust-pickle --background people.csv"
    )
    content = (folder / "model.pkl").read_bytes()
    assert origin["model_fingerprint"] == hashlib.sha256(content).hexdigest()[:32]
    people = pd.read_csv(folder / "people.csv")
    predictions = pickle.loads(content).predict(people[["age", "hours"]])
    assert origin["accuracy"] == pytest.approx(accuracy_score(people["income"], predictions))
    assert 0.7 < origin["accuracy"] < 1
    assert origin["r2"] is None
    assert not origin["is_held_out"]
    assert not any(str(folder).encode() in content for content in result_files)
    copy = folder / "copy"
    copy.mkdir()
    for name in ("people.csv", "model.pkl"):
        (copy / name).write_bytes((folder / name).read_bytes())
    evaluate(copy, "--executor", "threads:workers=2")
    assert [(copy / name).read_bytes() for name in ("out.json", "out.html")] == result_files


def test_the_command_has_no_folders_executor_and_outputs(folder):
    inputs = ("--data", folder / "people.csv", "--model", folder / "model.pkl", "--explainer", "tree")
    stored = f"stored:folder={folder / 'store'}"
    running = ("--n-jobs", "1", "--executor", stored, "--seed", "3")
    measuring = ("--confidence", "0.9", "--on-error", "record")
    words = [str(word) for word in (*inputs, *running, *measuring, "--out", folder / "out.json")]
    with command.make_context("evaluate", words) as context:
        assert command_text(context) == (
            "faithkit evaluate --explainer tree --data people.csv --model model.pkl --seed 3 "
            "--confidence 0.9 --on-error record"
        )


def test_words_of_the_user_are_text_wherever_they_are_shown(folder):
    texts = [part for name in ("title", "note", "author", "date") for part in (f"--{name}", HOSTILE)]
    out = folder / "out.html"
    (folder / "<b>&'.csv").write_bytes((folder / "people.csv").read_bytes())
    printed = run(
        "evaluate", "--data", folder / "<b>&'.csv", "--target", "income", "--explainer", "tree", "--control-draws", "0",
        "--out", folder / "out.json",
    )  # fmt: skip
    printed += run("report", folder / "out.json", out, *texts)
    page = out.read_text("utf-8")
    assert page.count("&lt;script&gt;alert") >= 5  # the title is also that of the tab
    for text in (page, printed):
        assert "\x1b" not in text
    assert "<script>alert" not in page
    assert "<b>&" not in page
    assert "{{ 7 * 7 }}" in page
    assert "on &lt;b&gt;&amp;&#39;.csv" in page
    assert "on <b>&'.csv (" in " ".join(printed.split())


def test_a_model_that_is_trained_here_is_judged_on_other_rows(tmp_path):
    printed = run("evaluate", "--data", "iris", "--explainer", "tree", "--out", tmp_path / "r.json")
    payload = json.loads((tmp_path / "r.json").read_text())
    assert payload["origin"]["is_held_out"]
    assert payload["origin"]["data"] == "iris"
    assert "on iris (51 test rows, 4 columns; the model is right on 9" in " ".join(printed.split())


def test_numbers_have_r2_instead_of_accuracy():
    result = faithkit.score([1.5, 2.5, 3.5, 6.5], ["a", "a", "b", "b"])
    target = [1.0, 3.0, 3.0, 6.0]
    origin = result.with_target(target).origin
    assert origin.r2 == pytest.approx(r2_score(target, [1.5, 2.5, 3.5, 6.5]))
    assert origin.accuracy is None


def test_a_target_of_other_labels_or_of_scores_says_nothing():
    result = faithkit.score(["yes", "no"], ["a", "b"])
    assert result.with_target([1, 0]).origin.accuracy is None
    with pytest.raises(faithkit.errors.InputError, match="3 targets for 2 rows: give one for each"):
        result.with_target([1, 0, 1])


def test_one_column_of_targets_says_nothing_of_a_model_of_several_numbers():
    result = faithkit.score(np.ones((3, 2)) * [[1.5], [2.5], [3.5]], ["a", "a", "b"], outcome="numbers")
    assert result.with_target([1.0, 2.0, 3.0]).origin.r2 is None


def test_a_log_names_its_file_and_a_loaded_result_keeps_its_origin(tmp_path):
    log = pd.DataFrame({"label": ["yes", "no", "no"] * 20, "why": ["a", "b", "c"] * 20})
    log.to_csv(tmp_path / "may.csv", index=False)
    arguments = (tmp_path / "may.csv", "--prediction", "label", "--explanation", "why")
    printed = run("score", *arguments, "--out", tmp_path / "may.json")
    assert printed.startswith("logged explanations in may.csv (60 rows)\nVerdict: explanations")
    loaded = faithkit.load(tmp_path / "may.json")
    assert loaded.origin.data == "may.csv"
    assert str(loaded) == printed.rstrip("\n")
    loaded.with_origin(date="May 2026").write(tmp_path / "dated.json")
    assert faithkit.load(tmp_path / "dated.json").origin.date == "May 2026"


def test_the_level_of_the_verdict_is_an_option(tmp_path):
    log = pd.DataFrame({"label": ["yes", "no", "no"] * 20, "why": ["a", "b", "c"] * 20})
    log.to_csv(tmp_path / "log.csv", index=False)
    arguments = ("score", tmp_path / "log.csv", "--prediction", "label", "--explanation", "why")
    assert "Verdict: better than chance: consistency may be below 0.99." in run(
        *arguments, "--faithful-at", "0.99"
    )
