"""Every command that README, documentation and help show is run, as it is printed."""

import json
import re
import runpy
import shlex
import shutil
import sys
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from documented import DOCS, FOLLOWED, ROOT, blocks, pages
from faithkit_diagnostics.reader import crossfit
from looping import one_test
from on_path import install_house
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import faithkit
from faithkit.cli import main
from faithkit.extension.entry_points import VERBS


def find_commands():
    """Yield every `faithkit …` of the README, of console blocks, of a workflow's steps, and of the help."""
    yield from find_epilogues()
    for line in (ROOT / "README.md").read_text().splitlines():
        result = re.match(r" {4}.*?(faithkit \w.*)", line)
        if result:
            yield "README.md", result[1]
    for page, text in pages():
        if page in FOLLOWED:
            continue
        for block in blocks(page, text):
            if (block.name, block.argument) == ("code-block", "console"):
                yield from ((page, line) for line in block.commands if line.startswith("faithkit "))
            if (block.name, block.argument) == ("code-block", "yaml"):
                yield from ((page, line) for line in find_steps(block.body) if line.startswith("faithkit "))


def find_epilogues():
    """Yield every example that the help of a verb ends with."""
    for verb in VERBS:
        epilogue = import_module(f"faithkit.cli.{verb}").command.epilog or ""
        lines = map(str.strip, epilogue.splitlines())
        yield from ((f"faithkit {verb} --help", line) for line in lines if line.startswith("faithkit "))


def find_steps(workflow):
    """Return the commands of a workflow's steps, those that our action makes of its arguments included."""
    import yaml

    all_steps = yaml.safe_load(workflow)
    inputs = [step["with"] for step in all_steps if "/.github/actions/faithkit@" in step.get("uses", "")]
    of_action = [f"faithkit {words.get('command', 'evaluate')} {words['arguments']}" for words in inputs]
    gates = [f"faithkit gate result.json {words['gates']}" for words in inputs]
    return [step["run"].strip() for step in all_steps if "run" in step] + of_action + gates


def make_people(n, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "hours": rng.integers(10, 60, n),
            "sex": rng.choice(["Female", "Male"], n),
            "job": rng.choice(["clerk", "nurse"], n),
        }
    )
    return X, np.where((X["hours"] > 35) & (X["age"] > 30), ">50K", "<=50K")


@pytest.fixture(autouse=True)
def _no_slow_extras():
    """Run all that a user's command runs: pictures, advice and controls."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the examples speak of."""
    folder = tmp_path_factory.mktemp("examples")
    X, y = make_people(200, 0)
    X.assign(income=y).to_csv(folder / "train.csv", index=False)
    for name, seed in (("test", 1), ("earlier", 2)):
        rows, labels = make_people(90, seed)
        rows.assign(income=labels).to_csv(folder / f"{name}.csv", index=False)
    words = make_column_transformer((OneHotEncoder(), ["sex", "job"]), remainder="passthrough")
    model = make_pipeline(words, GradientBoostingClassifier(n_estimators=5, random_state=0)).fit(X, y)
    pytest.importorskip("skops.io").dump(model, folder / "model.skops")
    (folder / "mine.py").write_text(
        "from pathlib import Path\n\nimport faithkit\nimport skops.io\n\n"
        "file = Path(__file__).with_name('model.skops')\n"
        "model = skops.io.load(file, trusted=skops.io.get_untrusted_types(file=file))\n\n\n"
        "def chances(X):\n    return model.predict_proba(X)\n\n\n"
        "def brightness(X):\n    return X.mean(axis=(1, 2))\n\n\n"
        "@faithkit.relation\ndef retired(person, rule):\n    return person['age'] > 67\n"
    )
    rule = json.dumps(faithkit.Rule([faithkit.plugin.Interval("hours", high=35)]).to_json())
    log = X.assign(label=model.predict(X), phi_age=0.1, phi_hours=(X["hours"] > 35) * 0.2, rule=rule)
    for name in ("log", "this_week", "last_week"):
        log.to_parquet(folder / f"{name}.parquet")
    earlier = faithkit.evaluate(model, make_people(120, 2)[0], explainer="tree:max_depth=3", background=X)
    earlier.write(folder / "saved.json")
    faithkit.score(log["label"], log[["phi_hours"]]).write(folder / "pilot.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        runpy.run_path(str(DOCS / "tutorials" / "make_log.py"))
        runpy.run_path(str(DOCS / "tutorials" / "make_reasons.py"))
    shutil.copy(DOCS / "tutorials" / "reasons.toml", folder)
    _write_stream(folder)
    _write_applications(folder)
    scores = {"risk": np.linspace(0.1, 0.9, 40).round(3), "reason": ["debt"] * 20 + ["income"] * 20}
    pd.DataFrame(scores).to_csv(folder / "scores.csv", index=False)
    audit = {"label": ["refused", "granted"] * 20, "reason": ["debt", "income"] * 20, "loans": [1, 19] * 20}
    pd.DataFrame(audit).to_csv(folder / "audit.csv", index=False)
    answers = {
        "question": [1, 1, 1, 2, 2, 2, 3, 3, 3],
        "fact": ["a", "a", "b"] * 3,
        "answer": ["yes", "yes", "no"] * 3,
    }
    pd.DataFrame(answers).to_csv(folder / "answers.csv", index=False)
    images = np.random.default_rng(0).random((60, 4, 4))
    np.save(folder / "images.npy", images[:40])
    np.save(folder / "others.npy", images[40:])
    (folder / "logs").mkdir()
    shutil.copy(folder / "loans.csv", folder / "logs" / "loans.csv")
    shutil.copytree(DOCS / "howto" / "house", folder / "house")
    install_house(folder)
    return folder


def _write_stream(folder):
    """Divide the log into a reference and days, and begin to monitor them."""
    log = pd.read_parquet(folder / "loans.parquet")
    log[:900].to_parquet(folder / "reference.parquet")
    for number in range(4):
        day = folder / "decisions" / f"date=2026-11-{14 + number}"
        day.mkdir(parents=True)
        log[900 + 100 * number :][:100].to_parquet(day / "part-00000.snappy.parquet")
    files = [str(folder / "loans.state"), "--reference", str(folder / "reference.parquet")]
    roles = ["--prediction", "decision", "--explanation", "phi_*", "--discretize", "sign"]
    CliRunner().invoke(main, ["monitor", *files, *roles])


def _write_applications(folder):
    """Write a table with columns that no model should see, and prices with their explanations."""
    n = 120
    rows = pd.DataFrame({"customer": np.arange(4700, 4700 + n), "opened_date": ["2026-11-01"] * n})
    rows["branch"], rows["debt"] = ["north", "south"] * (n // 2), np.arange(n) % 10 / 10
    rows["phi_debt"], rows["phi_branch"] = 0.5 - rows["debt"], 0.0
    rows["decision"] = np.where(rows["debt"] < 0.5, "approved", "declined")
    rows.to_parquet(folder / "applications.parquet")
    rows.to_csv(folder / "applications.csv", index=False)
    rows["price"] = 200_000.5 + 1_000 * (np.arange(n) % 7)
    rows.to_parquet(folder / "sold.parquet")
    (folder / "sales").mkdir()
    rows[:60].to_parquet(folder / "sales" / "today.parquet")


@pytest.fixture
def inside(folder, monkeypatch):
    """Work in that folder, where the house's plugin is installed."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "mine", raising=False)  # other tests have a model of that name
    monkeypatch.setattr(
        crossfit, "MIN_CHOICE_ROWS", 10**6
    )  # that readers may choose trees is tested elsewhere
    faithkit.plugin.registry.cache_clear()
    yield
    faithkit.plugin.registry.cache_clear()


EXAMPLES = sorted(set(find_commands()))


def test_there_are_examples_to_run():
    assert {"README.md", "tutorials/own_model.rst", "howto/build_gates.rst"} <= {page for page, _ in EXAMPLES}


@one_test
@pytest.mark.parametrize("verb", ["evaluate", "score", "compare", "local", "plan"])
def test_the_help_of_a_measuring_verb_ends_with_examples_of_it(verb):
    lines = [line for page, line in find_epilogues() if page == f"faithkit {verb} --help"]
    assert len(lines) >= 2
    assert all(line.startswith(f"faithkit {verb} ") for line in lines)


def extract_command(line):
    """Return a command without the comment behind it and what runs before it."""
    return line.split(" #")[0].split("&&")[-1].strip()


@pytest.mark.examples
@pytest.mark.parametrize("line", sorted({extract_command(line) for _, line in EXAMPLES}))
def test_the_example_works(line, inside):
    if "mlruns/" in line:
        pytest.skip("folders of MLflow have tests of their own")
    if line.startswith("faithkit gate "):  # other examples write results under the same names
        for name in re.findall(r"(\w+\.json)", line):
            shutil.copy("saved.json", name)
    result = CliRunner().invoke(main, shlex.split(line)[1:])
    assert result.exit_code in (0, 3), result.output + result.stderr
    if result.exit_code == 3:
        assert "--fail-" in line or line.startswith("faithkit monitor")
    assert result.stdout or line.startswith("faithkit report")  # which writes a page and prints nothing


@one_test
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_as_the_tutorial_says(shell):
    assert f"{shell}_source" in (DOCS / "tutorials" / "own_model.rst").read_text()
    variables = {"_FAITHKIT_COMPLETE": f"{shell}_source"}
    result = CliRunner().invoke(main, prog_name="faithkit", env=variables)
    assert result.exit_code == 0
    assert "faithkit" in result.stdout
    assert f"{shell}_complete" in result.stdout
