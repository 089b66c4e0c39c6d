"""A gate against last week: what a result is compared with, what is no comparison, and that nothing passes by accident."""

import functools
import json
import shutil
from pathlib import Path

import attrs
import click
import numpy as np
import pandas as pd
import pytest
from consoles import run
from faithkit_integrations import judge
from faithkit_integrations.gate.command import enforce
from faithkit_integrations.gate.drift import Drift
from faithkit_integrations.gate.judgement import Judgement
from looping import one_test
from pages import page_of

import faithkit
from faithkit.errors import InputError
from faithkit.results import Difference

COLUMNS = ("--prediction", "label", "--explanation", "phi_*", "--diagnose", "none", "--control-draws", "0")
TYPED = tuple("phi_a,phi_b" if word == "phi_*" else word for word in COLUMNS)  # in the order of the features
TREE = (
    *("--target", "y", "--model", "own_model:model", "--explainer", "tree:max_depth=2"),
    *("--background", "train.csv", "--diagnose", "none", "--control-draws", "0"),
)
ALWAYS = ("--fail-if-worse", "consistency=1")  # a gate that passes whatever is measured


def make_month(seed, noise=0.05, n=400):
    rng = np.random.default_rng(seed)
    phi = rng.integers(-2, 3, size=(n, 2)) / 10
    label = np.where(phi.sum(axis=1) + rng.normal(0, noise, n) > 0, "yes", "no")
    x = rng.normal(size=n).round(2)
    return pd.DataFrame({"phi_a": phi[:, 0], "phi_b": phi[:, 1], "label": label, "x": x, "z": phi[:, 0] * 10})


MONTHS = {"january": make_month(1), "february": make_month(2), "march": make_month(3, noise=0.4)}


@functools.cache
def score_month(name):
    frame = MONTHS[name]
    return faithkit.score(frame["label"], frame[["phi_a", "phi_b"]])


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    """Every month as a log and as a result, to be copied."""
    folder = tmp_path_factory.mktemp("months")
    for name, frame in MONTHS.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
        frame.to_parquet(folder / f"{name}.parquet", row_group_size=90)
        (folder / name).mkdir()
        for part in range(2):
            frame[part * 200 : part * 200 + 200].to_parquet(folder / name / f"{part}.parquet")
        score_month(name).write(folder / f"{name}.json")
    return folder


@pytest.fixture
def here(months, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # to look for a row of each part of an explanation takes longer than to measure
    monkeypatch.setattr("faithkit.inputs.logs.log_files._warn_about_rows", lambda *_: None)
    return shutil.copytree(months, tmp_path, dirs_exist_ok=True)


def save(log, name, *options, columns=COLUMNS):
    """Measure a log, and save the result under a name."""
    done = run("score", log, *columns, *options, "--out", f"{name}.json")
    assert done.exit_code == 0, done.stderr


def gate(result, reference, *options):
    return run("gate", f"{result}.json", "--reference", f"{reference}.json", *options)


def read_difference(result, reference, *options):
    done = gate(result, reference, *(options or ALWAYS), "--out", "-", "--format", "json")
    assert done.exit_code in (0, 3), done.stderr
    return json.loads(done.stdout)["reference"]["difference"]["consistency"]


# --- what a reference can be -----------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("log", "reference"),
    [("february.csv", "january.csv"), ("february", "january.parquet"), ("february.parquet", "january.csv")],
)
def test_a_log_is_compared_with_an_earlier_one_in_any_form_it_may_have(here, log, reference):
    save(log, "now")
    save(reference, "before")
    expected = score_month("february").difference(score_month("january"), paired=False)
    result = read_difference("now", "before", "--fail-under", "consistency=0")
    for name in ("value", "low", "high", "p_value", "confidence"):
        assert result[name] == pytest.approx(getattr(expected, name), abs=1e-12)
    assert result["allowed"] is None


def test_what_python_saved_is_a_reference_too(here):
    save("february.csv", "now")
    assert read_difference("now", "january") == read_difference("february", "january")


@pytest.fixture
def model_files(here):
    (here / "own_model.py").write_text("def model(X):\n    return (X['x'] + X['z'] > 0).tolist()\n")
    for name in ("train", "test", "before"):
        frame = make_month(len(name))[["x", "z"]]
        frame.assign(y=frame["x"] > 0).to_csv(f"{name}.csv", index=False)
    return here


def evaluate(data, name, *options):
    done = run("evaluate", "--data", f"{data}.csv", *TREE, *options, "--out", f"{name}.json")
    assert done.exit_code == 0, done.stderr


def test_results_of_a_model_have_a_difference_of_both_measures(model_files):
    evaluate("test", "test")
    evaluate("before", "before")
    done = gate("test", "before", *ALWAYS, "--out", "-", "--format", "json")
    payload = json.loads(done.stdout)["reference"]
    test, before = faithkit.load("test.json"), faithkit.load("before.json")
    assert (list(payload["difference"]), payload["n"]) == (["consistency", "sufficiency"], 400)
    for measure, change in payload["difference"].items():
        assert change["low"] == test.difference(before, measure, paired=False).low


@one_test
@pytest.mark.parametrize("side", ["result", "reference"])
@pytest.mark.parametrize(
    "option",
    [
        ("--fail-under", "consistency=0"),
        ("--fail-if-worse", "consistency=1"),
        ("--fail-unless-as-good", "consistency=1"),
    ],
)
def test_no_gate_passes_on_what_another_version_wrote(here, option, side):
    save("january.csv", "old")
    payload = json.loads(Path("old.json").read_text())
    payload["versions"]["faithkit"] = "0.2.0"
    Path("old.json").write_text(json.dumps(payload))
    files = ("old", "february") if side == "result" else ("february", "old")
    done = gate(*files, *option)
    assert (done.exit_code, done.stdout) == (1, "")
    error = done.stderr.splitlines()[-1]
    assert f"was written by faithkit 0.2.0, and this is {faithkit.__version__}:" in error
    assert "faithkit score january.csv" in error


# --- what it says ----------------------------------------------------------------------------------------


def test_table_page_csv_and_json_have_the_difference_and_the_sentence(here):
    options = ("--fail-unless-as-good", "consistency=0.1", "--out", "r.json", "--out", "r.html")
    done = gate("february", "january", *options, "--out", "r.csv")
    assert (done.exit_code, done.stderr) == (0, "")
    payload = json.loads((here / "r.json").read_text())["reference"]["difference"]["consistency"]
    assert payload["allowed"] == 0.1
    assert payload["finding"].startswith(
        "consistency is not worse than in the reference by more than 0.1 (diff"
    )
    for text in (done.stdout, (here / "r.html").read_text()):
        plain = " ".join(text.replace("\u00a0", " ").split())
        assert f"C{payload['finding'][1:]}." in plain
        assert "ompared with the reference, 400 instances" in plain
    table = pd.read_csv("r.csv").set_index("gate")
    assert table.index.tolist() == ["fail-unless-as-good", "minus the reference"]
    assert table.loc["minus the reference", ["value", "low", "high"]].tolist() == [
        payload[name] for name in ("value", "low", "high")
    ]
    assert table["words"].tolist() == [payload["finding"]] * 2


def test_without_a_limit_the_sentence_says_how_much_worse_it_may_be(here):
    done = gate("february", "january", "--fail-under", "consistency=0")
    low = score_month("february").difference(score_month("january"), paired=False).low
    margin = np.ceil(-low * 1000) / 1000
    assert f"not worse than in the reference by more than {margin:g} " in " ".join(done.stdout.split())


def test_a_measure_of_one_result_only_is_told_as_such(here):
    save("february.csv", "now", "--relation", "near-explanation:tau=0.1")
    done = gate("now", "january", *ALWAYS, "--out", "r.json")
    assert "Sufficiency was not compared: the reference has none (" in " ".join(done.stdout.split())
    assert list(json.loads((here / "r.json").read_text())["reference"]["not_compared"]) == ["sufficiency"]


# --- the gate --------------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("log", "by", "code"), [("february", 0.1, 0), ("february", 0.01, 3), ("march", 0.1, 3)]
)
def test_the_lower_end_of_the_difference_decides(here, log, by, code):
    change = score_month(log).difference(score_month("january"), paired=False)
    assert (change.low >= -by) == (code == 0)
    done = gate(log, "january", "--fail-unless-as-good", f"consistency={by}")
    assert done.exit_code == code
    claim = "is worse" if change.high < -by else "may be worse"
    line = f"failed: consistency {claim} than in the reference by more than {by} (difference "
    assert done.stderr.startswith(line) if code else done.stderr == ""


@one_test
@pytest.mark.parametrize(("log", "by", "code"), [("february", 0, 0), ("march", 0.1, 3), ("march", 0.9, 0)])
def test_the_upper_end_of_the_difference_decides_an_alarm(here, log, by, code):
    change = score_month(log).difference(score_month("january"), paired=False)
    assert (change.high < -by) == (code == 3)
    done = gate(log, "january", "--fail-if-worse", f"consistency={by}")
    assert done.exit_code == code
    line = f"failed: consistency is worse than in the reference by more than {by} (difference "
    assert done.stderr.startswith(line) if code else done.stderr == ""


def test_each_gate_against_a_reference_has_its_own_margin(here):
    gates = ("--fail-unless-as-good", "consistency=0.01", "--fail-if-worse", "consistency=0.05")
    done = gate("march", "january", *gates)
    assert done.exit_code == 3
    assert [line.split(" (")[0] for line in done.stderr.splitlines()] == [
        "failed: consistency is worse than in the reference by more than 0.01",
        "failed: consistency is worse than in the reference by more than 0.05",
    ]


def test_rows_without_an_explanation_do_not_hide_that_a_measure_is_worse(here):
    frame = MONTHS["february"]
    words = np.where(frame["phi_a"] + frame["phi_b"] > 0, "much", "little")
    faithkit.score(frame["label"], words).write("explained.json")
    some = np.where(np.arange(400) < 20, words, None)
    faithkit.score(frame["label"], some).write("unexplained.json")
    done = gate("unexplained", "explained", "--fail-if-worse", "consistency=0.5")
    assert done.exit_code == 3
    assert "failed: consistency is worse than in the reference by more than 0.5 (difference" in done.stderr
    assert done.stderr.endswith(", if rows without an explanation count as not agreeing.\n")
    assert gate("unexplained", "explained", "--fail-if-worse", "consistency=0.99").exit_code == 0
    assert gate("explained", "unexplained", "--fail-if-worse", "consistency=0").exit_code == 0
    assert gate("unexplained", "unexplained", "--fail-if-worse", "consistency=0").exit_code == 0


@one_test
@pytest.mark.parametrize("design", ["equal", "weights", "clusters"])
def test_as_many_rows_without_an_explanation_as_before_seldom_raise_an_alarm(design):
    rng, n_alarms = np.random.default_rng(0), 0

    def sample():
        words = rng.choice(["much", "little"], 300)
        labels = np.where((words == "much") ^ (rng.random(300) < 0.1), "yes", "no")
        is_explained = rng.random(300 if design != "clusters" else 100) < 0.5
        is_explained = np.repeat(is_explained, 300 // len(is_explained))
        options = {"weights": rng.choice([1, 4], 300), "clusters": np.arange(300) // 3}
        drawn = {name: values for name, values in options.items() if name == design}
        return faithkit.score(labels, np.where(is_explained, words, None), **drawn)

    for _ in range(100):
        [alarm] = judge(sample(), reference=sample(), worse={"consistency": 0.0})
        n_alarms += alarm.is_kept is False
    assert n_alarms <= 7  # of 100; at most 2.5 are expected


@one_test
@pytest.mark.parametrize(
    ("option", "side"), [("--fail-unless-as-good", "here"), ("--fail-if-worse", "in the reference")]
)
def test_where_nothing_was_tested_there_is_nothing_to_compare(here, option, side):
    frame = MONTHS["january"]
    frame = frame[frame["label"] == "no"]
    faithkit.score(frame["label"], frame[["phi_a", "phi_b"]]).write("declined.json")
    done = gate(
        *(("declined", "january") if side == "here" else ("january", "declined")), option, "consistency=1"
    )
    assert done.exit_code == 1
    why = f"{side} all explained predictions are the same, so nothing was tested"
    assert f"error: {option} consistency=1 cannot be checked: {why}" in done.stderr


def enforce_gate(change, limit=0.02, why=None, **facts):
    """Judge a difference to a reference of which so much could be checked."""
    here, there = score_month("february"), score_month("january")
    if facts:
        there = attrs.evolve(there, measures={"consistency": attrs.evolve(there.consistency, **facts)})
    differences = {} if change is None else {"consistency": change}
    drift = Drift(here, there, differences, {} if why is None else {"consistency": why})
    gates = drift.judge_as_good({"consistency": limit})
    enforce(Judgement(tuple(gates), drift), here, lambda judgement: None)


def test_the_end_itself_keeps_the_limit_and_a_lower_one_does_not(capsys):
    enforce_gate(Difference(0.0, -0.02, 0.02, 0.95, 1.0))
    with pytest.raises(click.exceptions.Exit) as ended:
        enforce_gate(Difference(0.0, -0.02 - 1e-8, 0.02, 0.95, 1.0))
    assert ended.value.exit_code == 3
    assert "interval −0.021 to" in capsys.readouterr().err


@one_test
@pytest.mark.parametrize(
    ("change", "facts", "reason"),
    [
        (None, {"why": "the reference has none (there is no relation)"}, "the reference has none"),
        (
            Difference(0.4, -0.01, 0.4, 0.95, 1.0),
            {"verified": 0.0, "finding": "unknown"},
            "in the reference no explanation holds for any other instance, and nothing else",
        ),
        (Difference(0.0, float("nan"), 0.1, 0.95, 1.0), {}, "its interval could not be computed"),
    ],
    ids=["not compared", "nothing known", "no number"],
)
def test_what_cannot_be_compared_does_not_pass_whatever_is_allowed(change, facts, reason):
    with pytest.raises(
        InputError, match=f"--fail-unless-as-good consistency=1 cannot be checked: .*{reason}"
    ):
        enforce_gate(change, 1.0, **facts)


def test_where_nothing_could_be_checked_a_bound_decides_and_that_is_told(capsys):
    enforce_gate(Difference(0.0, -0.01, 0.1, 0.95, 1.0), verified=0.0)
    with pytest.raises(click.exceptions.Exit):
        enforce_gate(Difference(0.0, -0.03, 0.1, 0.95, 1.0), verified=0.0)
    message = capsys.readouterr().err
    assert "may be worse than in the reference by more than 0.02" in message
    assert message.endswith("; nothing could be checked in the reference.\n")


def test_both_gates_are_judged_and_both_are_told(here):
    gates = ("--fail-under", "consistency=0.99", "--fail-unless-as-good", "consistency=0.02")
    done = gate("march", "january", *gates)
    assert done.exit_code == 3
    assert [line.split(" than")[0] for line in done.stderr.splitlines()][1:] == [
        "failed: consistency is worse"
    ]
    assert done.stderr.startswith("failed: consistency may be as low as")


def test_a_gate_that_cannot_be_checked_comes_before_one_that_was_missed(here):
    gates = ("--fail-unless-as-good", "consistency=0", "--fail-unless-as-good", "sufficiency=0.5")
    done = gate("march", "january", *gates)
    assert done.exit_code == 1
    assert "failed: consistency is worse than in the reference (" in done.stderr
    assert "error: --fail-unless-as-good sufficiency=0.5 cannot be checked: " in done.stderr


@one_test
@pytest.mark.parametrize(
    "value", ["0.02", "consistency", "consistency=-0.1", "consistency=2", "uniqueness=0.1"]
)
def test_a_limit_that_is_none_is_a_usage_error(here, value):
    done = gate("march", "january", "--fail-unless-as-good", value)
    assert done.exit_code == 2
    assert "is no limit" in done.stderr


@one_test
@pytest.mark.parametrize("option", ["--fail-unless-as-good", "--fail-if-worse"])
def test_a_margin_without_a_reference_is_a_usage_error(here, option):
    done = run("gate", "march.json", option, "consistency=0.1")
    assert done.exit_code == 2
    assert f"{option} needs something to compare with: add --reference RESULT." in done.stderr


def test_a_reference_alone_is_no_gate(here):
    done = gate("march", "january")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "there is no gate: add --fail-under, --fail-unless, --fail-unless-as-good or --fail" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("before", "allowed", "n"), [(0.9, 0.05, 300), (0.99, 0.02, 300), (1.0, 0.02, 400)])
def test_what_is_worse_by_all_that_is_allowed_passes_seldom(before, allowed, n):
    """Balanced labels, told right with probability r: m = r² + (1 − r)². A two-sided 95 % promises 2.5 %."""
    rng = np.random.default_rng(9)

    def sample(measure):
        labels = rng.integers(0, 2, n)
        right = rng.random(n) < (1 + np.sqrt(2 * measure - 1)) / 2
        return faithkit.score(labels, np.where(right, labels, 1 - labels).tolist())

    changes = [sample(before - allowed).difference(sample(before), paired=False) for _ in range(300)]
    assert np.mean([change.low >= -allowed for change in changes]) <= 0.05


# --- what is no reference --------------------------------------------------------------------------------


def make_older(payload):
    for name in ("moments", "others"):
        del payload["measures"]["consistency"][name]


def damage(payload):
    payload["measures"]["consistency"]["moments"]["value"] = "high"


def make_comparison(payload):
    system = dict(payload)
    payload.clear()
    names = ("ranked", "best", "differences")
    payload.update(
        {
            "schema": 1,
            "systems": {"a": system},
            "left_out": [],
            "recommendation": {"system": None, "reason": "There is none.", "tied": []},
            "not_comparable": [],
            **{name: {"consistency": [], "sufficiency": []} for name in names},
        }
    )


REFUSED = [
    (
        make_older,
        "is no result as faithkit writes it (ValueError: measures.consistency 'moments' is a required property)",
    ),
    (
        damage,
        "is no result as faithkit writes it (ValueError: measures.consistency.moments.value is 'high')",
    ),
    (make_comparison, "has several systems; expected the result of one"),
    (
        lambda payload: payload.clear(),
        "is no result as faithkit writes it (ValueError: 'schema' is a required property)",
    ),
]


@one_test
@pytest.mark.parametrize(("change", "message"), REFUSED, ids=[words for _, words in REFUSED])
@pytest.mark.parametrize("side", ["result", "reference"])
def test_what_is_no_result_passes_no_gate(here, change, message, side):
    payload = json.loads((here / "january.json").read_text())
    change(payload)
    (here / "other.json").write_text(json.dumps(payload))
    files = ("other", "february") if side == "result" else ("february", "other")
    done = gate(*files, "--fail-unless-as-good", "consistency=1")
    assert (done.exit_code, done.stdout) == (1, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@one_test
@pytest.mark.parametrize("kind", ["explainer", "discretizer"])
def test_a_result_of_another_system_is_refused(model_files, kind):
    other = {"explainer": ("--explainer", "tree:max_depth=3"), "discretizer": ("--discretize", "modulo:n=3")}
    (model_files / "modulo.py").write_text("def n(explanations):\n    return explanations.values\n")
    other["discretizer"] = ("--discretize", "modulo:n")
    evaluate("test", "test")
    evaluate("before", "before", *other[kind])
    done = gate("test", "before", *ALWAYS)
    assert (done.exit_code, done.stdout) == (1, "")
    names = {"explainer": ("tree:max_depth=3", "tree:max_depth=2"), "discretizer": ("modulo:n", "original")}
    there, here = names[kind]
    message = f"the reference was measured with the {kind} {there}, and this is {here}: give a reference of"
    assert message in done.stderr


@one_test
@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        (
            "--estimator",
            "plug-in",
            "with the estimator leave-one-out, and this is plug-in: their difference is of",
        ),
        (
            "--confidence",
            "0.9",
            "with the confidence 0.95, and this is 0.9: their difference is of leave-one-out, at",
        ),
    ],
)
def test_what_does_not_matter_to_the_difference_is_a_warning_and_the_gate_stands(here, option, value, words):
    save("march.csv", "now", option, value)
    done = gate("now", "january", "--fail-unless-as-good", "consistency=0.1")
    assert done.exit_code == 3
    assert f"warning: the reference was measured {words}" in done.stderr


def test_another_relation_leaves_sufficiency_out_and_fails_its_gate(here):
    near = "near-explanation:tau=0.1"
    save("january.csv", "near", "--relation", near)
    save("february.csv", "now", "--relation", "near-explanation:tau=0.2")
    done = gate("now", "near", "--fail-unless-as-good", "sufficiency=1", "--out", "r.json")
    assert done.exit_code == 1
    why = f"its relation is near-explanation:tau=0.2 here and {near} in the reference"
    assert f"--fail-unless-as-good sufficiency=1 cannot be checked: {why}." in done.stderr
    payload = json.loads((here / "r.json").read_text())["reference"]
    assert payload["not_compared"] == {"sufficiency": why}
    assert list(payload["difference"]) == ["consistency"]


def test_a_relation_that_learnt_from_each_log_by_itself_is_not_one_relation(here):
    learning = ("--features", "x,z", "--relation", "same-top-features:k=1,bins=2")
    for month in ("january", "february"):
        save(f"{month}.csv", f"{month}-learnt", *learning, columns=TYPED)
    done = gate("february-learnt", "january-learnt", "--fail-unless-as-good", "sufficiency=1")
    assert done.exit_code == 1
    why = "same-top-features:k=1,bins=2 learns from the rows it is judged on, which for the reference were others"
    assert f"--fail-unless-as-good sufficiency=1 cannot be checked: {why}" in done.stderr
    assert f"Sufficiency was not compared: {why}" in " ".join(done.stdout.split())


def test_a_relation_that_learnt_from_the_background_is_one_relation(here):
    learning = ("--explainer", "gradient", "--relation", "same-top-features:k=1,bins=2")
    command = ("evaluate", "--data", "iris", "--model", "logistic", "--control-draws", "0", *learning)
    assert run(*command, "--samples", "30", "--out", "learnt.json").exit_code == 0
    assert run(*command, "--out", "now.json").exit_code == 0
    done = gate("now", "learnt", "--fail-unless-as-good", "sufficiency=1")
    assert done.exit_code == 0, done.stderr


def test_a_discretizer_that_learnt_from_each_log_by_itself_is_not_one_discretizer(here):
    for month in ("january", "february"):
        save(f"{month}.csv", f"{month}-learnt", "--discretize", "quantile:bins=2")
    done = gate("february-learnt", "january-learnt", *ALWAYS)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "quantile:bins=2 learns from the rows it is judged on" in done.stderr


def test_a_discretizer_that_learnt_from_the_background_is_one_discretizer(here):
    command = ("evaluate", "--data", "iris", "--model", "logistic", "--explainer", "gradient")
    learning = ("--control-draws", "0", "--discretize", "quantile:bins=2", "--out")
    assert run(*command, "--samples", "30", *learning, "learnt.json").exit_code == 0
    assert run(*command, *learning, "now.json").exit_code == 0
    done = gate("now", "learnt", *ALWAYS)
    assert done.exit_code == 0, done.stderr


DRAWN = [("--weights", "w"), ("--clusters", "person")]


@one_test
@pytest.mark.parametrize("drawn", DRAWN, ids=lambda drawn: drawn[0])
def test_weights_and_clusters_are_part_of_both_results(here, drawn):
    both = {
        name: MONTHS[name].assign(w=[1, 2] * 200, person=np.arange(400) // 2)
        for name in ("january", "february")
    }
    for name, frame in both.items():
        frame.to_csv(f"{name}.csv", index=False)
        save(f"{name}.csv", f"{name}-drawn", *drawn)
    expected = [
        faithkit.score(frame["label"], frame[["phi_a", "phi_b"]], **{drawn[0][2:]: frame[drawn[1]]})
        for frame in both.values()
    ]
    change = expected[1].difference(expected[0], paired=False)
    result = read_difference("february-drawn", "january-drawn")
    assert (result["value"], result["low"]) == (change.value, change.low)


@one_test
@pytest.mark.parametrize("drawn", DRAWN, ids=lambda drawn: drawn[0])
def test_a_weighted_sample_is_not_compared_with_one_that_is_not(here, drawn):
    role = "weights or clusters" if drawn[1] == "w" else "clusters"
    MONTHS["february"].assign(w=[1, 2] * 200, person=np.arange(400) // 2).to_csv("drawn.csv", index=False)
    save("drawn.csv", "drawn", *drawn)
    for files, side in {("drawn", "january"): "this sample", ("january", "drawn"): "the reference"}.items():
        done = gate(*files, "--fail-unless-as-good", "consistency=1")
        assert (done.exit_code, done.stdout) == (1, "")
        assert f"{side} alone has {role}, which make it another measure" in done.stderr


OTHER_LOGS = [
    (
        lambda log: log.rename(columns={"phi_b": "phi_c"}),
        "the columns are phi_a, phi_b here, and phi_a, phi_c in the reference: give a reference of the same",
    ),
    (
        lambda log: log.assign(phi_c=1.0),
        "the columns are phi_a, phi_b here, and phi_a, phi_b, phi_c in the reference",
    ),
    (lambda log: log.assign(phi_a="high"), "of kind 'vector' here, and 'value' in the reference: write both"),
]


@one_test
@pytest.mark.parametrize(("change", "words"), OTHER_LOGS, ids=[words for _, words in OTHER_LOGS])
def test_a_result_of_other_explanation_columns_is_refused(here, change, words):
    change(MONTHS["january"]).to_csv("other.csv", index=False)
    save("other.csv", "other")
    save("february.csv", "now")
    done = gate("now", "other", "--fail-unless-as-good", "consistency=1")
    assert (done.exit_code, done.stdout) == (1, "")
    assert words in done.stderr


def test_a_log_may_have_the_result_of_a_model_as_its_reference(model_files):
    evaluate("test", "test")
    save("january.csv", "now", "--discretize", "original")
    assert gate("now", "test", *ALWAYS).exit_code == 0


@one_test
@pytest.mark.parametrize("has_names", [True, False])
def test_a_result_of_another_table_is_refused(model_files, has_names):
    (model_files / "own_model.py").write_text("def model(X):\n    return (X['x'] > 0).tolist()\n")
    evaluate("test", "narrow", "--columns", "x")
    evaluate("before", "also-narrow", "--columns", "x")
    evaluate("test", "wide", "--columns", "x,z")
    payload = json.loads((model_files / "narrow.json").read_text())
    assert payload["origin"]["columns"] == ["x"]
    if not has_names:  # as in results that Python saved
        payload["origin"]["columns"] = None
        (model_files / "narrow.json").write_text(json.dumps(payload))
    assert gate("also-narrow", "narrow", "--fail-if-worse", "sufficiency=1").exit_code == 0
    words = {
        ("wide", "narrow"): ("x, z here, and x in", "2 here, and 1 in"),
        ("narrow", "wide"): ("x here, and x, z in", "1 here, and 2 in"),
    }
    for files, (names, numbers) in words.items():
        done = gate(*files, *ALWAYS)
        assert (done.exit_code, done.stdout) == (1, "")
        expected = f"the columns are {names}" if has_names else f"the number of columns is {numbers}"
        assert expected in done.stderr


@one_test
@pytest.mark.parametrize(
    ("name", "reason"), [("none", "there is no file none.json"), ("february.csv", "is no result as faithkit")]
)
def test_a_reference_that_is_none_is_told(here, name, reason):
    path = name if name.endswith("csv") else f"{name}.json"
    done = run("gate", "february.json", "--reference", path, "--fail-unless-as-good", "consistency=1")
    assert (done.exit_code, done.stdout) == (1, "")
    assert reason in done.stderr


def test_nothing_checked_in_the_reference_is_no_pass_however_good_this_sample_is(here):
    faithkit.score(["yes", "no"], [[1.0], [2.0]]).write("alone.json")
    faithkit.score(["yes", "no", "no"] * 300, [[0.1], [0.2], [0.3]] * 300).write("perfect.json")
    done = gate("perfect", "alone", "--fail-unless-as-good", "consistency=0.02")
    assert done.exit_code == 1
    assert "in the reference no explanation holds for any other instance" in done.stderr
    done = gate("perfect", "alone", "--fail-under", "consistency=0")
    assert "nothing could be checked in the reference" in " ".join(done.stdout.split())


def test_the_very_same_rows_are_compared_as_others_and_that_is_told(model_files):
    evaluate("test", "test")
    evaluate("test", "again")
    evaluate("before", "before")
    done = gate("again", "test", "--fail-unless-as-good", "consistency=0.001")
    assert done.exit_code == 3
    assert "warning: the reference has the very rows of this sample" in done.stderr
    assert "very rows" not in gate("test", "before", *ALWAYS).stderr


def test_the_very_same_rows_are_told_of_logs_on_disk_too(here):
    for log in ("february.parquet", "february", "january"):
        save(log, log.replace(".", "-"))
    assert "the reference has the very rows" in gate("february-parquet", "february", *ALWAYS).stderr
    assert "very rows" not in gate("february-parquet", "january", *ALWAYS).stderr  # as many rows


# --- in Python -------------------------------------------------------------------------------------------


def test_findings_know_what_was_allowed():
    judgement = judge(score_month("february"), reference=score_month("january"), as_good={"consistency": 0.1})
    assert "by more than 0.1 (" in str(judgement)
    assert judgement.to_dict()["reference"]["difference"]["consistency"]["allowed"] == 0.1
    assert bool(judgement) is True


def test_a_reference_without_a_margin_shows_the_difference_and_keeps_no_gate():
    judgement = judge(score_month("march"), reference=score_month("january"))
    assert "Consistency is worse than in the reference (difference −" in str(judgement)
    assert (len(judgement), judgement.is_kept, bool(judgement)) == (0, None, False)


def test_drift_from_a_reference_that_could_not_be_checked_says_so():
    labels = ["yes", "no", "no"]
    judgement = judge(
        faithkit.score(labels, ["a", "b", "b"]), reference=faithkit.score(labels, ["a", "b", "c"])
    )
    # two of three rows share an explanation and agree; of the reference, one of three pairs agrees in one block
    assert judgement.drift.differences["consistency"].value == pytest.approx(2 / 3 - 1 / 3)
    assert "); nothing could be checked in the reference." in " ".join(str(judgement).split())
    assert "); nothing could be checked in the reference." in page_of(judgement)


def test_a_discretizer_that_explanations_name_is_that_of_the_result():
    signs = faithkit.Explanations.vectors(score_month("january").rows.explanations.values, discretizer="sign")
    plain = faithkit.Explanations.vectors(signs.values)
    labels = MONTHS["january"]["label"]
    named = faithkit.score(labels, signs)
    asked = faithkit.score(labels[:-1], plain.take(range(399)), discretizer="sign")
    assert judge(asked, reference=named, worse={"consistency": 0.5})
    with pytest.raises(InputError, match="was measured with the discretizer sign, and this is original"):
        judge(faithkit.score(labels, plain), reference=named)


def test_results_with_rows_and_from_files_are_judged_alike(here):
    options = {"as_good": {"consistency": 0.01}, "worse": {"consistency": 0.0}}
    with_rows = judge(score_month("march"), reference=score_month("january"), **options)
    from_files = judge(faithkit.load("march.json"), reference=faithkit.load("january.json"), **options)
    assert from_files.to_dict() == with_rows.to_dict()
    assert [gate.is_kept for gate in from_files] == [False, False]


@one_test
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "nothing is judged: give a limit, such as consistency=0.8"),
        ({"worse": {"consistency": 0.1}}, "a margin needs something to compare with: give a reference"),
        ({"reference": "january.json"}, "the reference is what evaluate, score or load returned, got a str"),
        ({"reference": 1, "worse": {"honesty": 0.1}}, "there is no measure 'honesty': give a margin of"),
        ({"reference": 1, "as_good": {"consistency": 2}}, "a number from 0 to 1, as a margin, got 2"),
    ],
)
def test_a_question_that_is_none_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        judge(score_month("january"), **options)
