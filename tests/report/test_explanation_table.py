"""The explanations of a page: all of them on a map, the worst and the largest in a table to look through."""

import base64
import hashlib
import re

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from pages import Reader, page_of, read_explanations
from report.examples import make_rules

import faithkit
from faithkit import Rule
from faithkit.inputs.logs.log_files import open_log
from faithkit.plugin import Interval
from faithkit.run.comparisons.comparison import Comparison
from faithkit.run.populations.log_scoring import score_log

pytestmark = pytest.mark.usefixtures("no_pictures", "few_control_draws")

# "a": three "yes" and a "no"; "b": two "no"; "c" is alone
LABELS = ["yes", "yes", "no", "yes", "no", "no", "yes"]
REASONS = ["a", "a", "a", "a", "b", "b", "c"]


def test_each_explanation_has_its_rows_its_agreement_and_its_loss():
    frame = faithkit.score(LABELS, REASONS).to_frame("losses")
    assert frame["explanation"].tolist() == ["a", "b", "c"]
    assert frame["rows"].tolist() == [4, 2, 1]
    # of three others each, two agree with every "yes" of "a", and none with its "no"
    assert frame["agreement"].tolist() == pytest.approx([(3 * 2 / 3 + 0) / 4, 1.0, np.nan], nan_ok=True)
    assert frame["loss"].tolist() == pytest.approx([(3 * 1 / 3 + 1) / 7, 0.0, 0.0])
    assert frame["share"].tolist() == pytest.approx([4 / 7, 2 / 7, 1 / 7])


def score_sample(kind):
    """Return a result whose rows are of a kind, with explanations that are partly right."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"age": rng.integers(20, 60, 90), "row": np.arange(90)})
    labels = np.where(X["age"] + rng.normal(0, 9, 90) > 40, "yes", "no")
    names = rng.choice(list("abcdefgh"), 90)
    limits = [Rule([Interval("age", low=age // 10 * 10 - 1)]) for age in X["age"].tolist()]
    options = {
        "labels": {},
        "numbers": {},
        "weights": {"weights": rng.integers(1, 5, 90)},
        "clusters": {"clusters": rng.integers(0, 30, 90)},
        "blocks": {"blocks": np.arange(90) // 9},
    }
    if kind == "rules":
        return faithkit.score(labels, make_rules(limits), X=X)
    if kind == "pool":
        return faithkit.score(labels[:60], make_rules(limits[:60]), X=X[:60], pool=(X[60:], labels[60:]))
    return faithkit.score(rng.normal(size=90) if kind == "numbers" else labels, names, **options[kind])


@one_test
@pytest.mark.parametrize("kind", ["labels", "numbers", "weights", "clusters", "blocks", "rules", "pool"])
def test_losses_add_up_to_what_disagreement_takes_from_the_measure(kind):
    result = score_sample(kind)
    measure, frame = result.sufficiency or result.consistency, result.to_frame("losses")
    assert frame["loss"].sum() == pytest.approx(measure.verified - measure.value, abs=1e-12)
    assert frame["loss"].sum() > 0.1
    assert frame["rows"].sum() == result.n
    assert frame["share"].sum() == pytest.approx(1)
    assert frame["explanation"].is_unique
    assert len(read_explanations(page_of(result))) == len(frame)


def test_the_table_is_worst_first_and_shows_the_instances_of_each_prediction():
    X = pd.DataFrame({"customer": [f"C{i}" for i in range(7)]})
    rows = read_explanations(page_of(faithkit.score(LABELS, REASONS, X=X, ids=X["customer"])))
    assert rows == [
        ["a", "4", "57\u00a0%", "0.500", "0.286", "3 get yes: C0, C1, C3\n1 gets no: C2"],
        ["b", "2", "29\u00a0%", "1.000", "0.000", "2 get no: C4, C5"],
        ["c", "1", "14\u00a0%", "–", "–", "1 gets yes: C6"],
    ]


def test_rows_without_an_explanation_are_one_line():
    text = page_of(faithkit.score(["yes", "yes", "no", "no", "yes"], ["a", "a", None, None, None]))
    assert read_explanations(text) == [
        ["a", "2", "40\u00a0%", "1.000", "0.000", "2 get yes: 0, 1"],
        ["no explanation", "3", "60\u00a0%", "–", "–", "2 get no: 2, 3\n1 gets yes: 4"],
    ]


def test_a_log_in_pieces_has_the_same_table(tmp_path):
    log = pd.DataFrame({"label": LABELS, "why": REASONS})
    log.to_parquet(tmp_path / "log.parquet")
    rows = read_explanations(page_of(score_log(open_log(str(tmp_path / "log.parquet"), "label", ("why",)))))
    assert [row[:5] for row in rows] == [
        row[:5] for row in read_explanations(page_of(faithkit.score(LABELS, REASONS)))
    ]
    assert rows[0][5] == "3 get yes: 0, …\n1 gets no: 2"  # it knows the first row of each prediction


def test_the_worst_and_the_largest_are_shown_and_the_others_counted():
    # 600 pairs that disagree, and 600 of three rows that agree
    reasons = [f"split {i}" for i in range(600) for _ in "yn"] + [
        f"pure {i}" for i in range(600) for _ in "yyy"
    ]
    labels = ["y", "n"] * 600 + ["y"] * 1800
    text = page_of(faithkit.score(labels, reasons))
    names = [row[0] for row in read_explanations(text)]
    assert names == [f"split {i}" for i in range(250)] + [f"pure {i}" for i in range(250)]
    # each of 700 hidden ones: 350 pairs lose both of their rows of 3,000
    assert "The other 700 cost 0.233 together." in Reader(text).text


def test_thousands_of_explanations_are_a_small_page(draw_only):
    draw_only("map of")
    reasons = [f"{'<&>' * 800} {i // 2}" for i in range(2_400)]
    text = page_of(faithkit.score(["yes", "no"] * 1_200, reasons))
    assert len(text.encode()) < 3_000_000
    assert "The table has 250 of 1,200 explanations" in Reader(text).text


def test_the_policy_allows_the_pages_own_script_and_style_by_their_fingerprints():
    text = page_of(faithkit.score(LABELS, REASONS))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', text)[1]
    allowed = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert allowed["default-src"] == "'none'"
    for tag, rule in (("script", "script-src"), ("style", "style-src-elem")):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        digest = hashlib.sha256(content.encode()).digest()
        assert allowed[rule] == f"'sha256-{base64.b64encode(digest).decode()}'"


@one_test
@pytest.mark.parametrize(
    "make_page",
    [
        lambda: page_of(faithkit.score(["yes", "no"], ["a", "b"])),  # nothing could be checked
        lambda: page_of(Comparison({"one": faithkit.score(LABELS, REASONS)})),
    ],
    ids=["nothing checked", "a comparison"],
)
def test_a_page_with_nothing_to_explore_has_no_script_and_allows_none(make_page):
    text = make_page()
    assert "<script" not in text
    assert "script-src" not in text


def test_a_result_from_a_file_has_no_rows_to_explore(tmp_path):
    faithkit.score(LABELS, REASONS).write(tmp_path / "result.json")
    loaded = faithkit.load(tmp_path / "result.json")
    assert 'class="explore"' not in page_of(loaded)
    with pytest.raises(faithkit.errors.InputError, match="loaded from a file"):
        loaded.to_frame("losses")


def test_points_of_the_map_have_titles_one_for_several_alike(draw_only):
    draw_only("map of")
    # "pure": three explanations of two rows each; "split": one of four
    reasons = ["p", "p", "q", "q", "r", "r", "split", "split", "split", "split"]
    text = page_of(faithkit.score(["y"] * 6 + ["y", "y", "n", "n"], reasons))
    assert re.findall(r"<use [^<>]*><title>(.*?)</title></use>", text) == [
        "3 explanations of 2 rows, agreement 1.000",
        "split: 4 rows, agreement 0.333",
    ]


def test_labels_have_a_plot_with_their_intervals(draw_only):
    draw_only("consistency by predicted label")
    text = page_of(faithkit.score(["ok"] * 40 + ["fraud"] * 8, ["a"] * 35 + ["b"] * 13))
    svg = re.search(r'<svg role="img" aria-label="consistency by predicted label.*?</svg>', text, re.S)[0]
    drawn = re.findall(r"<text [^>]*>(.*?)</text>", svg)
    assert "0.583 (0.162 – 1.000)" in drawn  # as the table says
    assert {"ok", "fraud"} <= set(drawn)
