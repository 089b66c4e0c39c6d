"""Many groups, many pairs: whose correction p-values have is a choice, and every output says which it was."""

import json

import numpy as np
import pandas as pd
import pytest
from consoles import run

import faithkit
from faithkit.measure.adjustment import ADJUSTMENTS
from faithkit.report.formats import corrected
from faithkit.run.findings import Findings

RNG = np.random.default_rng(3)
N = 1200
GROUPS = RNG.integers(0, 6, N)
LABELS = RNG.choice(["no", "yes"], N)
# explained well in every group but the first, where it is not, and the second, where it is nearly not
RIGHT = np.array([0.5, 0.9, 0.97, 0.97, 0.97, 0.97])[GROUPS]
WORDS = np.where(RNG.random(N) < RIGHT, LABELS, RNG.choice(["no", "yes"], N)).tolist()
WORSE = np.where(RNG.random(N) < 0.7, LABELS, RNG.choice(["no", "yes"], N)).tolist()
NAMES = {"holm": "Holm", "benjamini-hochberg": "Benjamini–Hochberg"}


@pytest.fixture(scope="module")
def result():
    return faithkit.score(LABELS, WORDS)


def comparison(adjust="holm"):
    said = {"good": WORDS, "worse": WORSE, "same": ["same"] * N}
    results = {name: faithkit.score(LABELS, words) for name, words in said.items()}
    return faithkit.Comparison(results, adjust=adjust)


@pytest.mark.parametrize("adjust", ADJUSTMENTS)
def test_groups_have_the_p_values_of_the_adjustment_that_was_asked_for(result, adjust):
    parts = result.by(GROUPS, adjust=adjust)
    raw = [parts.difference(group).p_value for group in parts]
    assert parts.to_frame()["p_value"].tolist() == ADJUSTMENTS[adjust](raw)
    told = parts.to_dict()
    assert told["adjust"] == adjust
    found = [group["p_value"] for group in told["groups"]["consistency"].values()]
    assert found == pytest.approx(ADJUSTMENTS[adjust](raw))


def test_holm_is_what_is_done_unless_asked_otherwise(result):
    assert result.by(GROUPS).to_dict() == result.by(GROUPS, adjust="holm").to_dict()
    assert comparison().to_dict()["adjust"] == "holm"


@pytest.mark.parametrize("adjust", ADJUSTMENTS)
def test_pairs_have_the_p_values_of_the_adjustment_that_was_asked_for(adjust):
    found = comparison(adjust)
    raw = [pair.difference.p_value for pair in found.pairs()]
    assert [pair.adjusted for pair in found.pairs()] == ADJUSTMENTS[adjust](raw)


def test_compare_hands_the_adjustment_on():
    X = RNG.normal(size=(50, 2))
    explainers = [lambda X: (X[:, 0] > 0).tolist(), lambda X: (X[:, 1] > 0).tolist()]
    found = faithkit.compare(lambda X: X[:, 0] > 0, X, explainers, adjust="benjamini-hochberg")
    assert found.adjust == "benjamini-hochberg"


def nobody(X):
    raise AssertionError("an option that is wrong is told before anybody explains")


@pytest.mark.parametrize(
    "question",
    [
        lambda: faithkit.score(LABELS, WORDS).by(GROUPS, adjust="none"),
        lambda: faithkit.Comparison({}, adjust="none"),
        lambda: faithkit.compare(lambda X: X[:, 0] > 0, np.ones((3, 1)), [nobody], adjust="none"),
    ],
    ids=["by", "Comparison", "compare"],
)
def test_another_word_is_refused(question):
    with pytest.raises(
        faithkit.InputError, match="no adjustment 'none'; expected holm or benjamini-hochberg"
    ):
        question()


@pytest.mark.parametrize("adjust", ADJUSTMENTS)
@pytest.mark.usefixtures("no_pictures")
def test_every_report_names_the_adjustment(result, adjust):
    found = Findings.of(result, by=GROUPS, adjust=adjust)
    assert corrected({"adjust": adjust}) == NAMES[adjust]
    for text in (str(found), str(found.subgroups), found.to_html(), comparison(adjust).to_html()):
        assert f"({NAMES[adjust]})" in " ".join(text.split())
    assert f"(paired differences, {NAMES[adjust]}'s correction)" in str(comparison(adjust))


@pytest.mark.parametrize("adjust", ADJUSTMENTS)
def test_a_saved_comparison_says_it(adjust, tmp_path):
    path, found = tmp_path / "compared.json", comparison(adjust)
    found.to_json(path)
    loaded = faithkit.load(path)
    assert loaded.to_dict() == found.to_dict()


def test_a_saved_comparison_with_another_word_is_no_result(tmp_path):
    path = tmp_path / "compared.json"
    path.write_text(json.dumps(comparison().to_dict() | {"adjust": "bonferroni"}))
    with pytest.raises(
        faithkit.InputError, match=r"is no result as faithkit writes it .*adjust is 'bonferroni'"
    ):
        faithkit.load(path)


@pytest.mark.parametrize(
    "command",
    [
        ("score", "log.csv", "--prediction", "label", "--explanation", "why", "--by", "group"),
        (
            "compare",
            "--data",
            "iris",
            "--model",
            "tree",
            "--explainer",
            "tree",
            "--explainer",
            "empirical-anchors",
        ),
        ("evaluate", "--data", "loans", "--model", "tree", "--explainer", "tree", "--by", "housing"),
    ],
    ids=lambda command: command[0],
)
def test_the_command_line_takes_the_word_and_writes_it(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"label": LABELS, "why": WORDS, "group": GROUPS}).to_csv("log.csv", index=False)
    done = run(*command, "--adjust", "benjamini-hochberg", "--json", "-")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told.get("subgroups", told)["adjust"] == "benjamini-hochberg"
    assert run(*command, "--adjust", "bonferroni").exit_code == 2
