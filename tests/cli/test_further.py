"""`--exceedance` and `--encoding-gap`: printed as sentences, in JSON and on the page, or refused in a line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from faithkit.cli import main

ROLES = ["--prediction", "label", "--explanation", "phi_*", "--reader", "none"]
NEAR = ["--relation", "near-explanation:tau=0.6"]
ASKED = ["--exceedance", "0.7", "--encoding-gap"]


def run(*words):
    return CliRunner().invoke(main, list(words))


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Stand beside a log of 200 rows."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 20, 200)
    label = np.where(rng.random(200) < kind / 30, "yes", "no")
    frame = pd.DataFrame({"label": label, "phi_a": kind % 5 / 2, "phi_b": kind // 5, "weight": 1 + kind % 2})
    frame.to_csv("log.csv", index=False)
    return "log.csv"


def test_both_are_told_in_words_in_json_and_on_the_page(log):
    done = run("score", log, *ROLES, *NEAR, *ASKED, "--json", "result.json", "--html", "result.html")
    assert done.exit_code == 0, done.stderr
    told = json.loads(Path("result.json").read_text("utf-8"))
    assert told["exceedance"]["consistency"]["level"] == told["exceedance"]["sufficiency"]["level"] == 0.7
    assert told["encoding_gap"]["relation"] == "near-explanation:tau=0.6"
    page = Path("result.html").read_text("utf-8").replace("\u00a0", " ")
    for words in (
        "have a local consistency under 0.7",
        "have a local sufficiency under 0.7",
        "Encoding gap ",
    ):
        assert words in " ".join(done.stdout.split())
        assert words in page


def test_unasked_nothing_is_said_of_them(log):
    told = run("score", log, *ROLES, *NEAR, "--json", "-").stdout
    assert not {"exceedance", "encoding_gap"} & set(json.loads(told))


def test_without_sufficiency_only_consistency_has_exceedance(log):
    told = json.loads(run("score", log, *ROLES, "--exceedance", "0.7", "--json", "-").stdout)["exceedance"]
    assert told["sufficiency"] is None
    assert told["consistency"]["n"] == 200


REFUSED = {
    "a level above all": (["--exceedance", "1.5"], 1, "at most 1, got 1.5"),
    "a level that is a text": (["--exceedance", "high"], 2, "'high' is not a valid float"),
    "a gap of consistency": (["--encoding-gap"], 1, "consistency alone has no encoding gap: "),
    "exceedance by weight": (["--exceedance", "0.7", "--weights", "weight"], 1, "weights or clusters"),
    "a gap by weight": ([*NEAR, "--encoding-gap", "--weights", "weight"], 1, "weights or clusters"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_answered_is_refused_in_one_line(log, case):
    given, code, said = REFUSED[case]
    done = run("score", log, *ROLES, *given)
    assert (done.exit_code, done.stdout) == (code, "")
    assert said in done.stderr
    assert code == 2 or done.stderr.splitlines()[-1].startswith("error: ")  # whatever was warned of before
