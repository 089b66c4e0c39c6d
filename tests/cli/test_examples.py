"""Every command that README and documentation show is run, as it is printed."""

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import faithkit
from faithkit.cli import main

ROOT = Path(__file__).parents[2]


def commands():
    """Yield every `faithkit …` of the README and of the documentation's console blocks."""
    for line in (ROOT / "README.md").read_text().splitlines():
        found = re.match(r" {4}.*?(faithkit \w.*)", line)
        if found:
            yield "README.md", found[1]
    for page in sorted((ROOT / "docs").glob("*.rst")):
        text = page.read_text().replace("\\\n", " ")
        for line in re.findall(r"^ +\$ (faithkit .*)$", text, flags=re.M):
            yield page.name, line


def people(n, seed):
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the examples speak of."""
    folder = tmp_path_factory.mktemp("examples")
    X, y = people(200, 0)
    X.assign(income=y).to_csv(folder / "train.csv", index=False)
    for name, seed in (("test", 1), ("earlier", 2)):
        rows, labels = people(120, seed)
        rows.assign(income=labels).to_csv(folder / f"{name}.csv", index=False)
    words = make_column_transformer((OneHotEncoder(), ["sex", "job"]), remainder="passthrough")
    model = make_pipeline(words, GradientBoostingClassifier(n_estimators=20, random_state=0)).fit(X, y)
    pytest.importorskip("skops.io").dump(model, folder / "model.skops")
    (folder / "mine.py").write_text(
        "from pathlib import Path\n\nimport skops.io\n\n"
        "file = Path(__file__).with_name('model.skops')\n"
        "model = skops.io.load(file, trusted=skops.io.get_untrusted_types(file=file))\n"
    )
    rule = faithkit.Rule([faithkit.Interval("hours", high=35)])
    log = X.assign(label=model.predict(X), phi_age=0.1, phi_hours=(X["hours"] > 35) * 0.2)
    log["rule"] = [rule_text(rule) for _ in range(len(log))]
    log.to_parquet(folder / "log.parquet")
    return folder


def rule_text(rule):
    import json

    return json.dumps(rule.to_json())


FOUND = sorted(set(commands()))


def test_there_are_examples_to_run():
    assert {"README.md", "own.rst", "running.rst"} <= {page for page, _ in FOUND}


@pytest.mark.parametrize(("page", "line"), FOUND)
def test_the_example_works(page, line, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "mine", raising=False)  # other tests have a model of that name
    line = line.split(" #")[0].split("&&")[-1].strip()
    result = CliRunner().invoke(main, shlex.split(line)[1:])
    assert result.exit_code in (0, 3), result.output + result.stderr
    if result.exit_code == 3:
        assert "--fail-under" in line
    assert result.stdout
