"""A gate against last week: what a sample is compared with, what is no comparison, and that nothing passes by accident."""

import functools
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
import pandas as pd
import pytest
from consoles import run
from looping import one_test

import faithkit
from faithkit.cli.shared.gates import enforce
from faithkit.errors import InputError
from faithkit.measure.difference import Difference
from faithkit.run.evaluation_report import EvaluationReport

COLUMNS = ("--prediction", "label", "--explanation", "phi_*", "--diagnose", "none", "--control-draws", "0")
TYPED = tuple("phi_a,phi_b" if word == "phi_*" else word for word in COLUMNS)  # in the order of the features
TREE = (
    *("--target", "y", "--model", "own_model:model", "--explainer", "tree:max_depth=2"),
    *("--background", "train.csv", "--diagnose", "none", "--control-draws", "0"),
)


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
    """Every month in every form, to be copied."""
    folder = tmp_path_factory.mktemp("months")
    for name, frame in MONTHS.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
        frame.to_parquet(folder / f"{name}.parquet", row_group_size=90)
        (folder / name).mkdir()
        for part in range(2):
            frame[part * 200 : part * 200 + 200].to_parquet(folder / name / f"{part}.parquet")
        score_month(name).write(folder / f"{name}.json")
    (folder / "same_without_suffix").write_text((folder / "january.json").read_text())
    return folder


@pytest.fixture
def here(months, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # to look for a row of each part of an explanation takes longer than to measure
    monkeypatch.setattr("faithkit.inputs.logs.log_files._warn_about_rows", lambda *_: None)
    return shutil.copytree(months, tmp_path, dirs_exist_ok=True)


def score(*arguments):
    return run("score", *arguments, *COLUMNS)


def read_difference(done):
    assert done.exit_code in (0, 3), done.stderr
    return json.loads(done.stdout)["reference"]["difference"]["consistency"]


# --- what a reference can be -----------------------------------------------------------------------------

# every form of a log, and every form of a reference
PAIRS = [
    ("february.csv", "january.csv"),
    ("february", "january.parquet"),
    ("february.parquet", "january"),
    ("february", "january.json"),
    ("february.csv", "same_without_suffix"),
]


@one_test
@pytest.mark.parametrize(("log", "reference"), PAIRS)
def test_a_log_is_compared_with_an_earlier_one_in_any_form_it_may_have(here, log, reference):
    expected = score_month("february").difference(score_month("january"), paired=False)
    result = read_difference(score(log, "--reference", reference, "--out", "-", "--format", "json"))
    for name in ("value", "low", "high", "p_value", "confidence"):
        assert result[name] == pytest.approx(getattr(expected, name), abs=1e-12)
    assert result["allowed"] is None


def test_a_log_in_pieces_is_compared_without_being_read_whole(here, monkeypatch):
    monkeypatch.setattr(
        "faithkit.inputs.logs.log_files.ParquetLog.read", lambda self: pytest.fail("was read whole")
    )
    assert score("february", "--reference", "january.parquet").exit_code == 0


def test_the_groups_of_the_log_need_not_be_in_the_reference(here):
    MONTHS["february"].assign(sex=["f", "m"] * 200).to_csv("grouped.csv", index=False)
    done = score("grouped.csv", "--reference", "january.csv", "--by", "sex", "--out", "-", "--format", "json")
    assert set(json.loads(done.stdout)["subgroups"]["groups"]["consistency"]) == {"f", "m"}
    assert read_difference(done)["value"] is not None


@pytest.fixture
def model_files(here):
    (here / "own_model.py").write_text("def model(X):\n    return (X['x'] + X['z'] > 0).tolist()\n")
    for name in ("train", "test", "before"):
        frame = make_month(len(name))[["x", "z"]]
        frame.assign(y=frame["x"] > 0).to_csv(f"{name}.csv", index=False)
    return here


def evaluate(*arguments):
    return run("evaluate", "--data", "test.csv", *TREE, *arguments)


def test_a_saved_result_stands_for_its_rows(model_files):
    assert run("evaluate", "--data", "before.csv", *TREE, "--out", "before.json").exit_code == 0
    by_rows, by_result = (
        json.loads(evaluate("--reference", f"before.{suffix}", "--out", "-", "--format", "json").stdout)[
            "reference"
        ]
        for suffix in ("csv", "json")
    )
    assert set(by_rows["difference"]) == {"consistency", "sufficiency"}
    assert by_rows["difference"] == by_result["difference"]
    assert by_rows["measures"] == by_result["measures"]


# gates that pass whatever is measured
OLD_FILES = {
    "a gate on what is worse": ("--reference", "old.json", "--fail-if-worse", "consistency=1"),
    "a gate on what is as good": ("--reference", "old.json", "--fail-unless-as-good", "consistency=1"),
    "no gate": ("--reference", "old.json"),
    "a store": ("--store", "old-store", "--fail-under", "consistency=0"),
}


@one_test
@pytest.mark.parametrize("case", OLD_FILES)
def test_no_gate_passes_on_what_another_version_wrote(model_files, case):
    shutil.rmtree("old-store", ignore_errors=True)
    made = run("evaluate", "--data", "before.csv", *TREE, "--out", "old.json", "--store", "old-store")
    assert made.exit_code == 0, made.stderr
    payload = json.loads(Path("old.json").read_text())
    payload["versions"]["faithkit"] = "0.2.0"
    Path("old.json").write_text(json.dumps(payload))
    Path("old-store", "faithkit-version.txt").write_text("0.2.0")
    done = evaluate(*OLD_FILES[case])
    assert (done.exit_code, done.stdout) == (1, "")
    error = done.stderr.splitlines()[-1]
    assert f"was written by faithkit 0.2.0, and this is {faithkit.__version__}:" in error
    assert ("--data before.csv" if "old.json" in OLD_FILES[case] else "the same command explains") in error


def test_no_plan_is_made_of_a_pilot_that_another_version_wrote(here):
    payload = json.loads(Path("january.json").read_text())
    payload["versions"]["faithkit"] = "0.2.0"
    Path("january.json").write_text(json.dumps(payload))
    done = run("plan", "--pilot", "january.json")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "january.json was written by faithkit 0.2.0, and this is" in done.stderr


# --- what it says ----------------------------------------------------------------------------------------


def test_table_page_csv_and_json_have_the_reference_the_difference_and_the_sentence(here):
    options = ("--reference", "january.json", "--fail-unless-as-good", "consistency=0.1")
    done = score("february.csv", *options, "--out", "r.json", "--out", "r.html", "--out", "r.csv")
    assert (done.exit_code, done.stderr) == (0, "")
    payload = json.loads((here / "r.json").read_text())["reference"]["difference"]["consistency"]
    assert payload["allowed"] == 0.1
    assert payload["finding"].startswith(
        "consistency is not worse than in the reference by more than 0.1 (diff"
    )
    for text in (done.stdout, (here / "r.html").read_text()):
        plain = " ".join(text.replace("\u00a0", " ").split())
        assert f"C{payload['finding'][1:]}." in plain
    table = pd.read_csv("r.csv").set_index("rows")
    assert table.index.tolist() == ["all", "reference", "minus the reference"]
    assert table.loc["minus the reference", ["value", "low", "high"]].tolist() == [
        payload[name] for name in ("value", "low", "high")
    ]
    assert table.loc["minus the reference", "finding"] == payload["finding"]
    assert table["n"].tolist()[:2] == [400, 400]


def test_without_a_limit_the_sentence_says_how_much_worse_it_may_be(here):
    done = score("february.csv", "--reference", "january.csv")
    low = score_month("february").difference(score_month("january"), paired=False).low
    margin = np.ceil(-low * 1000) / 1000
    assert f"not worse than in the reference by more than {margin:g} " in " ".join(done.stdout.split())


def test_a_measure_of_one_sample_only_is_told_as_such(here):
    relation = ("--relation", "near-explanation:tau=0.1")
    done = score("february.csv", "--reference", "january.json", *relation, "--out", "r.json")
    assert "Sufficiency was not compared: the reference has none (" in " ".join(done.stdout.split())
    assert list(json.loads((here / "r.json").read_text())["reference"]["not_compared"]) == ["sufficiency"]


# --- the gate --------------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("log", "by", "code", "reference"),
    [
        ("february", 0.1, 0, "january.csv"),
        ("february", 0.01, 3, "january.csv"),
        ("march", 0.1, 3, "january.json"),
        ("february", 0.01, 3, "january"),
    ],
)
def test_the_lower_end_of_the_difference_decides(here, log, by, code, reference):
    change = score_month(log).difference(score_month("january"), paired=False)
    assert (change.low >= -by) == (code == 0)
    done = score(f"{log}.csv", "--reference", reference, "--fail-unless-as-good", f"consistency={by}")
    assert done.exit_code == code
    claim = "is worse" if change.high < -by else "may be worse"
    line = f"failed: consistency {claim} than in the reference by more than {by} (difference "
    assert done.stderr.startswith(line) if code else done.stderr == ""


@one_test
@pytest.mark.parametrize(("log", "by", "code"), [("february", 0, 0), ("march", 0.1, 3), ("march", 0.9, 0)])
def test_the_upper_end_of_the_difference_decides_an_alarm(here, log, by, code):
    change = score_month(log).difference(score_month("january"), paired=False)
    assert (change.high < -by) == (code == 3)
    done = score(f"{log}.csv", "--reference", "january.csv", "--fail-if-worse", f"consistency={by}")
    assert done.exit_code == code
    line = f"failed: consistency is worse than in the reference by more than {by} (difference "
    assert done.stderr.startswith(line) if code else done.stderr == ""


def test_each_gate_against_a_reference_has_its_own_margin(here):
    gates = ("--fail-unless-as-good", "consistency=0.01", "--fail-if-worse", "consistency=0.05")
    done = score("march.csv", "--reference", "january.csv", *gates)
    assert done.exit_code == 3
    assert [line.split(" (")[0] for line in done.stderr.splitlines()] == [
        "failed: consistency is worse than in the reference by more than 0.01",
        "failed: consistency is worse than in the reference by more than 0.05",
    ]


def test_rows_without_an_explanation_do_not_hide_that_a_measure_is_worse(here):
    frame = MONTHS["february"]
    words = np.where(frame["phi_a"] + frame["phi_b"] > 0, "much", "little")
    frame.assign(why=words).to_csv("explained.csv", index=False)
    frame.assign(why=np.where(np.arange(400) < 20, words, None)).to_csv("unexplained.csv", index=False)

    def judge(log, reference, margin):
        columns = ("--prediction", "label", "--explanation", "why", "--diagnose", "none")
        gate = ("--fail-if-worse", f"consistency={margin}")
        return run("score", f"{log}.csv", "--reference", f"{reference}.csv", *columns, *gate)

    done = judge("unexplained", "explained", 0.5)
    assert done.exit_code == 3
    assert "failed: consistency is worse than in the reference by more than 0.5 (difference" in done.stderr
    assert done.stderr.endswith(", if rows without an explanation count as not agreeing.\n")
    assert judge("unexplained", "explained", 0.99).exit_code == 0
    assert judge("explained", "unexplained", 0).exit_code == 0
    assert judge("unexplained", "unexplained", 0).exit_code == 0


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
        report = EvaluationReport(sample(), reference=sample())
        [gate] = report.judge_worse({"consistency": 0.0})
        n_alarms += gate.is_kept is False
    assert n_alarms <= 7  # of 100; at most 2.5 are expected


@one_test
@pytest.mark.parametrize(
    ("gate", "side"), [("--fail-unless-as-good", "here"), ("--fail-if-worse", "in the reference")]
)
def test_where_nothing_was_tested_there_is_nothing_to_compare(here, gate, side):
    frame = MONTHS["january"]
    frame[frame["label"] == "no"].to_csv("declined.csv", index=False)
    logs = ("declined.csv", "january.csv") if side == "here" else ("january.csv", "declined.csv")
    done = score(logs[0], "--reference", logs[1], gate, "consistency=1")
    assert done.exit_code == 1
    why = f"{side} all explained predictions are the same, so nothing was tested"
    assert f"error: {gate} consistency=1 cannot be checked: {why}" in done.stderr


def enforce_gate(change, limit=0.02, why=None, verified=1.0, finding="above chance"):
    """Judge a difference to a reference of which so much could be checked."""
    estimates = (SimpleNamespace(verified=share, finding=finding) for share in (1.0, verified))
    here, there = (
        SimpleNamespace(
            consistency=estimate,
            measures={"consistency": estimate},
            **{"n": 9, "unexplained": 0, "leaks_prediction": False},
        )
        for estimate in estimates
    )

    class ChangedReport(EvaluationReport):
        def drift(self):
            return {} if change is None else {"consistency": change}

        def why_not_compared(self, measure):
            return why

    report = ChangedReport(
        here,
        reference=there,
        allowed={"consistency": limit},
    )
    enforce("--fail-unless-as-good", report.judge_as_good({"consistency": limit}))


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
    done = score("march.csv", "--reference", "january.csv", *gates)
    assert done.exit_code == 3
    assert [line.split(" than")[0] for line in done.stderr.splitlines()][1:] == [
        "failed: consistency is worse"
    ]
    assert done.stderr.startswith("failed: consistency may be as low as")


def test_a_gate_that_cannot_be_checked_comes_before_one_that_was_missed(here):
    gates = ("--fail-unless-as-good", "consistency=0", "--fail-unless-as-good", "sufficiency=0.5")
    done = score("march.csv", "--reference", "january.csv", *gates)
    assert done.exit_code == 1
    assert "failed: consistency is worse than in the reference (" in done.stderr
    assert "error: --fail-unless-as-good sufficiency=0.5 cannot be checked: " in done.stderr


@one_test
@pytest.mark.parametrize(
    "value", ["0.02", "consistency", "consistency=-0.1", "consistency=2", "uniqueness=0.1"]
)
def test_a_limit_that_is_none_is_a_usage_error(here, value):
    done = score("march.csv", "--reference", "january.csv", "--fail-unless-as-good", value)
    assert done.exit_code == 2
    assert "is no limit" in done.stderr


@one_test
@pytest.mark.parametrize("verb", [("score", "march.csv", *COLUMNS), ("evaluate", "--data", "iris")])
def test_a_gate_without_a_reference_is_a_usage_error(here, verb):
    done = run(*verb, "--fail-unless-as-good", "consistency=0.1")
    assert done.exit_code == 2
    assert "--fail-unless-as-good needs something to compare with: add --reference FILE." in done.stderr


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


def set_fields(**fields):
    return lambda payload: payload.update(fields)


REFUSED = [
    (
        set_fields(discretizer="sign"),
        (),
        "was measured with the discretizer sign, and this is original: give a ref",
    ),
    (
        None,
        ("--discretize", "sign"),
        "was measured with the discretizer original, and this is sign: give a ref",
    ),
    (
        set_fields(discretizer="quantile"),
        ("--discretize", "quantile"),
        "quantile learns from the rows it is judged on",
    ),
    (
        make_older,
        (),
        "is no result as faithkit writes it (ValueError: measures.consistency 'moments' is a required property)",
    ),
    (
        damage,
        (),
        "is no result as faithkit writes it (ValueError: measures.consistency.moments.value is 'high')",
    ),
    (make_comparison, (), "has several systems; expected the result of one"),
    (
        lambda payload: payload.clear(),
        (),
        "is no result as faithkit writes it (ValueError: 'schema' is a required property)",
    ),
]


@one_test
@pytest.mark.parametrize(("change", "options", "message"), REFUSED, ids=[words for *_, words in REFUSED])
def test_a_result_of_another_system_or_none_is_refused_before_anything_is_measured(
    here, change, options, message, monkeypatch
):
    monkeypatch.setattr(
        "faithkit.run.populations.log_scoring.score", lambda *_, **__: pytest.fail("was measured")
    )
    payload = json.loads((here / "january.json").read_text())
    if change is not None:
        change(payload)
    (here / "other.json").write_text(json.dumps(payload))
    gate = ("--fail-unless-as-good", "consistency=1")
    done = score("february.csv", "--reference", "other.json", *options, *gate)
    assert (done.exit_code, done.stdout) == (1, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_result_of_another_explainer_is_refused_before_anybody_explains(model_files, monkeypatch):
    assert evaluate("--out", "test.json").exit_code == 0
    monkeypatch.setattr("faithkit.run.api.evaluate", lambda *_, **__: pytest.fail("was explained"))
    done = evaluate("--reference", "test.json", "--explainer", "tree:max_depth=3")
    assert done.exit_code == 1
    message = "test.json was measured with the explainer tree:max_depth=2, and this is tree:max_depth=3: give"
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
    done = score(
        "march.csv", "--reference", "january.json", option, value, "--fail-unless-as-good", "consistency=0.1"
    )
    assert done.exit_code == 3
    assert f"warning: the reference was measured {words}" in done.stderr


def test_another_relation_leaves_sufficiency_out_and_fails_its_gate(here):
    near = "near-explanation:tau=0.1"
    assert score("january.csv", "--relation", near, "--out", "near.json").exit_code == 0
    options = ("--reference", "near.json", "--relation", "near-explanation:tau=0.2")
    done = score("february.csv", *options, "--fail-unless-as-good", "sufficiency=1", "--out", "r.json")
    assert done.exit_code == 1
    why = f"its relation is near-explanation:tau=0.2 here and {near} in the reference"
    assert f"--fail-unless-as-good sufficiency=1 cannot be checked: {why}." in done.stderr
    payload = json.loads((here / "r.json").read_text())["reference"]
    assert payload["not_compared"] == {"sufficiency": why}
    assert list(payload["difference"]) == ["consistency"]


def test_a_relation_that_learnt_from_each_log_by_itself_is_not_one_relation(here):
    learning = ("--features", "x,z", "--relation", "same-top-features:k=1,bins=2")
    assert run("score", "january.csv", *TYPED, *learning, "--out", "learnt.json").exit_code == 0
    gate = ("--reference", "learnt.json", "--fail-unless-as-good", "sufficiency=1")
    done = run("score", "february.csv", *TYPED, *learning, *gate)
    assert done.exit_code == 1
    why = "same-top-features:k=1,bins=2 learns from the rows it is judged on, which for the reference were others"
    assert f"--fail-unless-as-good sufficiency=1 cannot be checked: {why}" in done.stderr
    assert f"Sufficiency was not compared: {why}" in " ".join(done.stdout.split())


def test_a_relation_that_learnt_from_the_background_is_one_relation(here):
    learning = ("--explainer", "gradient", "--relation", "same-top-features:k=1,bins=2")
    command = ("evaluate", "--data", "iris", "--model", "logistic", "--control-draws", "0", *learning)
    assert run(*command, "--samples", "30", "--out", "learnt.json").exit_code == 0
    done = run(*command, "--reference", "learnt.json", "--fail-unless-as-good", "sufficiency=1")
    assert done.exit_code == 0, done.stderr


DRAWN = [("--weights", "w"), ("--clusters", "person")]


@one_test
@pytest.mark.parametrize("drawn", DRAWN, ids=lambda drawn: drawn[0])
def test_weights_and_clusters_are_read_from_both_logs(here, drawn):
    both = {
        name: MONTHS[name].assign(w=[1, 2] * 200, person=np.arange(400) // 2)
        for name in ("january", "february")
    }
    for name, frame in both.items():
        frame.to_csv(f"{name}.csv", index=False)
    expected = [
        faithkit.score(frame["label"], frame[["phi_a", "phi_b"]], **{drawn[0][2:]: frame[drawn[1]]})
        for frame in both.values()
    ]
    change = expected[1].difference(expected[0], paired=False)
    result = read_difference(
        score("february.csv", "--reference", "january.csv", *drawn, "--out", "-", "--format", "json")
    )
    assert (result["value"], result["low"]) == (change.value, change.low)
    expected[0].write("drawn.json")
    by_result = read_difference(
        score("february.csv", "--reference", "drawn.json", *drawn, "--out", "-", "--format", "json")
    )
    assert by_result == result


@one_test
@pytest.mark.parametrize("drawn", DRAWN, ids=lambda drawn: drawn[0])
def test_a_weighted_sample_is_not_compared_with_the_result_of_one_that_is_not(here, drawn):
    role = "weights or clusters" if drawn[1] == "w" else "clusters"
    MONTHS["february"].assign(w=[1, 2] * 200, person=np.arange(400) // 2).to_csv("drawn.csv", index=False)
    done = score("drawn.csv", "--reference", "january.json", *drawn, "--fail-unless-as-good", "consistency=1")
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"this sample alone has {role}, which make it another measure" in done.stderr
    assert score("drawn.csv", *drawn, "--out", "drawn.json").exit_code == 0
    done = score("january.csv", "--reference", "drawn.json", "--fail-unless-as-good", "consistency=1")
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"the reference alone has {role}, which make it another measure" in done.stderr


@one_test
@pytest.mark.parametrize("drawn", DRAWN, ids=lambda drawn: drawn[0])
def test_weights_that_happen_to_be_alike_in_one_log_are_no_obstacle(here, drawn):
    MONTHS["february"].assign(w=1, person=np.arange(400)).to_csv("alike.csv", index=False)
    MONTHS["january"].assign(w=[1, 2] * 200, person=np.arange(400) // 2).to_csv("drawn.csv", index=False)
    assert score("alike.csv", "--reference", "drawn.csv", *drawn).exit_code == 0


def test_rows_without_weights_are_no_reference_of_a_weighted_sample(model_files, monkeypatch):
    weighted = ("--weights", "w", "--columns", "x,z")
    pd.read_csv("test.csv").assign(w=[1, 2] * 200).to_csv("test.csv", index=False)
    assert evaluate(*weighted, "--out", "test.json").exit_code == 0
    assert (
        evaluate(*weighted, "--reference", "test.json", "--fail-unless-as-good", "consistency=1").exit_code
        == 0
    )
    monkeypatch.setattr("faithkit.run.api.evaluate", lambda *_, **__: pytest.fail("was explained"))
    done = evaluate(*weighted, "--reference", "before.csv")
    assert done.exit_code == 1
    assert "the rows of --reference have no weights, clusters or blocks" in done.stderr


def test_rows_without_an_explanation_are_a_pool_in_both_logs(here):
    rule = json.dumps([faithkit.Interval("x", low=0.0).to_json()])
    for name in ("january", "february"):
        logged = MONTHS[name][["label", "x"]].assign(phi_rule=[rule, None] * 200)
        logged.to_csv(f"{name}.csv", index=False)
    pools = ("--features", "x", "--unexplained", "pool")
    done = score("february.csv", *pools, "--reference", "january.csv", "--out", "-", "--format", "json")
    assert done.exit_code == 0, done.stderr
    payload = json.loads(done.stdout)
    assert [(part["n"], part["pool"]) for part in (payload, payload["reference"])] == [(200, 200)] * 2
    assert "sufficiency" in payload["reference"]["difference"]


OTHER_LOGS = [
    (
        lambda log: log.rename(columns={"phi_b": "phi_c"}),
        "are phi_a, phi_b in the log, and phi_a, phi_c in the ref",
    ),
    (
        lambda log: log.assign(phi_c=1.0),
        "are phi_a, phi_b in the log, and phi_a, phi_b, phi_c in the reference",
    ),
    (
        lambda log: log[["label", "phi_b", "phi_a"]],
        "are phi_a, phi_b in the log, and phi_b, phi_a in the reference",
    ),
    (lambda log: log.drop(columns="label"), "no column matches 'label'"),
    (lambda log: log.assign(phi_a="high"), "of kind 'vector' in the log, and 'value' in the reference"),
]


@one_test
@pytest.mark.parametrize(
    ("change", "words", "suffix"),
    [(*OTHER_LOGS[0], "csv"), *((*case, "parquet") for case in OTHER_LOGS)],
    ids=lambda case: case[1],
)
def test_a_log_of_other_columns_is_no_reference(here, change, words, suffix):
    table = change(MONTHS["january"])
    table.to_csv("other.csv", index=False) if suffix == "csv" else table.to_parquet("other.parquet")
    done = score("february.csv", "--reference", f"other.{suffix}", "--fail-unless-as-good", "consistency=1")
    assert (done.exit_code, done.stdout) == (1, "")
    assert words in done.stderr


def test_a_saved_result_of_other_explanation_columns_is_refused_before_anything_is_measured(
    here, monkeypatch
):
    one_column = ("--prediction", "label", "--diagnose", "none", "--control-draws", "0", "--explanation")
    assert run("score", "january.csv", *one_column, "phi_b", "--out", "b.json").exit_code == 0
    gate = ("--reference", "b.json", "--fail-if-worse", "consistency=1")
    assert run("score", "february.csv", *one_column, "phi_b", *gate).exit_code == 0
    monkeypatch.setattr(
        "faithkit.run.populations.log_scoring.score", lambda *_, **__: pytest.fail("was measured")
    )
    done = run("score", "february.csv", *one_column, "phi_a", *gate)
    assert (done.exit_code, done.stdout) == (1, "")
    assert (
        "the columns are phi_a here, and phi_b in the reference: give a reference of the same" in done.stderr
    )


def test_a_log_may_have_the_result_of_a_model_as_its_reference(model_files):
    assert evaluate("--out", "test.json").exit_code == 0
    assert score("january.csv", "--reference", "test.json", "--discretize", "original").exit_code == 0


@one_test
@pytest.mark.parametrize("has_names", [True, False])
def test_a_saved_result_of_another_table_is_refused_before_anybody_explains(
    model_files, monkeypatch, has_names
):
    (model_files / "own_model.py").write_text("def model(X):\n    return (X['x'] > 0).tolist()\n")
    assert evaluate("--columns", "x", "--out", "narrow.json").exit_code == 0
    payload = json.loads((model_files / "narrow.json").read_text())
    assert payload["origin"]["columns"] == ["x"]
    if not has_names:  # as in results that Python saved
        payload["origin"]["columns"] = None
        (model_files / "narrow.json").write_text(json.dumps(payload))
    assert evaluate("--columns", "x", "--reference", "narrow.json").exit_code == 0
    monkeypatch.setattr("faithkit.run.api.evaluate", lambda *_, **__: pytest.fail("was explained"))
    done = evaluate("--columns", "x,z", "--reference", "narrow.json")
    assert (done.exit_code, done.stdout) == (1, "")
    words = (
        "the columns are x, z here, and x in" if has_names else "the number of columns is 2 here, and 1 in"
    )
    assert words in done.stderr


def test_a_reference_that_is_not_there_is_told(here):
    done = score("february.csv", "--reference", "none.json", "--fail-unless-as-good", "consistency=1")
    assert done.exit_code == 1
    assert "there is no file none.json" in done.stderr


def test_nothing_checked_in_the_reference_is_no_pass_however_good_this_sample_is(here):
    faithkit.score(["yes", "no"], [[1.0], [2.0]]).write("alone.json")
    perfect = pd.DataFrame({"label": ["yes", "no", "no"] * 300, "phi_a": [0.1, 0.2, 0.3] * 300})
    perfect.to_csv("perfect.csv", index=False)
    done = score("perfect.csv", "--reference", "alone.json", "--fail-unless-as-good", "consistency=0.02")
    assert done.exit_code == 1
    assert "in the reference no explanation holds for any other instance" in done.stderr
    assert "nothing could be checked in the reference" in " ".join(done.stdout.split())


def test_the_very_same_rows_are_compared_as_others_and_that_is_told(model_files):
    assert evaluate("--out", "test.json").exit_code == 0
    for reference in ("test.json", "test.csv"):
        done = evaluate("--reference", reference, "--fail-unless-as-good", "consistency=0.001")
        assert done.exit_code == 3
        assert "warning: the reference has the very rows of this sample" in done.stderr
    assert "very rows" not in evaluate("--reference", "before.csv").stderr


def test_the_very_same_rows_are_told_of_logs_on_disk_too(here):
    shutil.copy("february.parquet", "again.parquet")
    assert "the reference has the very rows" in score("again.parquet", "--reference", "february").stderr
    assert "very rows" not in score("february.parquet", "--reference", "january").stderr  # as many rows


# --- what learns -----------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_discretizer_learns_from_the_reference_for_both(here, suffix):
    """Values that are all different: two bins are cut at the median of the earlier log, wherever the later one lies."""
    rng = np.random.default_rng(5)
    phi = {"before": rng.normal(size=(300, 1)), "now": rng.normal(0.5, 1, size=(300, 1))}
    expected = {}
    for name, values in phi.items():
        labels = np.where(values[:, 0] > 0.3, "yes", "no")
        frame = pd.DataFrame({"phi_a": values[:, 0], "label": labels})
        frame.to_csv(f"{name}.csv", index=False) if suffix == "csv" else frame.to_parquet(f"{name}.parquet")
        expected[name] = faithkit.score(
            labels, (values[:, 0] > np.median(phi["before"])).tolist()
        ).consistency.value
    options = ("--discretize", "quantile:bins=2", "--out", "-", "--format", "json", "--violations", "1")
    done = score(f"now.{suffix}", "--reference", f"before.{suffix}", *options)
    assert (done.exit_code, done.stderr) == (0, "")
    payload = json.loads(done.stdout)
    assert payload["measures"]["consistency"]["value"] == pytest.approx(expected["now"])
    assert payload["reference"]["measures"]["consistency"]["value"] == pytest.approx(expected["before"])
    assert (payload["background"], payload["reference"]["background"]) == ("given", "the sample itself")
    assert payload["discretizer"] == payload["reference"]["discretizer"] == "quantile:bins=2"
    assert "in bin" in payload["violations"][0]["explanation"]


def test_a_relation_learns_from_the_reference_for_both(here):
    """`same-top-features` cuts columns at quantiles: those of the earlier log, also where the later one has moved."""
    later = MONTHS["february"].assign(x=MONTHS["february"]["x"] + 5.0)
    later.to_csv("later.csv", index=False)
    options = (
        "--features",
        "x,z",
        "--relation",
        "same-top-features:k=1,bins=2",
        "--out",
        "-",
        "--format",
        "json",
    )
    done = run("score", "later.csv", *TYPED, "--reference", "january.csv", *options)
    assert done.exit_code == 0, done.stderr
    payload = json.loads(done.stdout)
    relation = faithkit.relation("same-top-features:k=1,bins=2").fit(
        MONTHS["january"][["x", "z"]], len(MONTHS["january"])
    )
    sample = faithkit.Explanations.vectors(later[["phi_a", "phi_b"]].to_numpy(), instances=later[["x", "z"]])
    holds = relation.holds(faithkit.plugin.Sample(later[["x", "z"]], sample), sample)
    same = later["label"].to_numpy()[:, None] == later["label"].to_numpy()
    other_rows = ~np.eye(len(later), dtype=bool)
    agree, number = (holds & same & other_rows).sum(axis=1), (holds & other_rows).sum(axis=1)
    value = np.where(number, agree / np.maximum(number, 1), 0).mean()
    assert payload["measures"]["sufficiency"]["value"] == pytest.approx(value)
    assert payload["relation"] == payload["reference"]["relation"]
    alone = json.loads(run("score", "january.csv", *TYPED, *options).stdout)
    assert payload["reference"]["measures"] == alone["measures"]


# --- in Python -------------------------------------------------------------------------------------------


def test_findings_know_what_was_allowed():
    result = EvaluationReport.of(
        score_month("february"), reference=score_month("january"), allowed={"consistency": 0.1}
    )
    assert "by more than 0.1 (" in str(result)
    assert result.to_dict()["reference"]["difference"]["consistency"]["allowed"] == 0.1
