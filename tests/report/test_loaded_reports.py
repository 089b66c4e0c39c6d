"""A result from a file looks as it did: nothing that is shown is missing in its JSON."""

import json
import re

import pytest
from looping import one_test
from pages import page_of
from report.examples import score_ordinary

import faithkit
from faithkit.run.comparisons.comparison import Comparison
from faithkit.run.evaluation import Evaluation
from faithkit.run.evaluation_report import EvaluationReport

LABELS = ["low", "middle", "high"] * 20
WORDS = ["a", "a", "b", None] * 15

CONTRADICTIONS = re.compile(r"<section>\n<h2>Contradictions</h2>.*?</section>\n", re.S)
EXPLANATIONS = re.compile(r"<section>\n<h2>Explanations</h2>.*?</section>\n", re.S)
SCRIPT = re.compile(r"<script>.*?</script>\n", re.S)
SCRIPT_PERMISSION = re.compile(r"; script-src '[^']*'")
SCORES = re.compile(r"<figure>\n<figcaption>Local \w+</figcaption>.*?</figure>\n", re.S)

RESULTS = {
    "three labels": lambda: faithkit.score(LABELS, WORDS),
    "permutations": lambda: faithkit.score(LABELS, WORDS, permutations=9),
    "another estimator": lambda: faithkit.score(LABELS, WORDS, estimator="plug-in", confidence=0.9),
    "no interval": lambda: faithkit.score(LABELS, WORDS, estimator="majority"),
    "nothing checked": lambda: faithkit.score(LABELS, range(60)),
    "rules": score_ordinary,
    "one row": lambda: faithkit.score(["yes"], ["a"]),
    "subgroups": lambda: EvaluationReport.of(score_ordinary(), by="sex"),
    "a group that is everybody": lambda: EvaluationReport.of(score_ordinary(), by=["all"] * 60),
}


def to_payload(result):
    """Return what a file of a result would hold."""
    return json.loads(json.dumps(result.to_dict()))


@one_test
@pytest.mark.parametrize("name", ["another estimator", "nothing checked", "rules"])
def test_the_page_of_a_loaded_result_lacks_only_what_needs_rows(name, draw_only, monkeypatch, tmp_path):
    monkeypatch.setattr("faithkit.report.writing.add_needed", lambda report, reporters: report)
    draw_only(("Measures", "consistency by sample size") if name == "another estimator" else "none of them")
    result = RESULTS[name]()
    result.write(tmp_path / "result.json")
    page = page_of(result)
    for part in (CONTRADICTIONS, EXPLANATIONS, SCORES, SCRIPT, SCRIPT_PERMISSION):
        page = part.sub("", page)
    assert page_of(faithkit.load(tmp_path / "result.json")) == page


@one_test
@pytest.mark.parametrize("name", [name for name in RESULTS if "group" not in name])
def test_a_result_that_was_loaded_looks_as_it_did(name, tmp_path):
    result = RESULTS[name]()
    result.write(tmp_path / "result.json")
    loaded = faithkit.load(tmp_path / "result.json")
    assert loaded.to_dict() == to_payload(result)
    assert str(loaded) == str(result)
    assert loaded._repr_html_() == result._repr_html_()


@pytest.mark.usefixtures("no_pictures")
def test_the_page_of_a_result_that_was_loaded_has_neither_pairs_nor_local_scores(tmp_path):
    score_ordinary().write(tmp_path / "result.json")
    loaded = faithkit.load(tmp_path / "result.json")
    page = page_of(loaded)
    assert page == page_of(EvaluationReport(loaded))
    assert "Consistency by sample size" in page
    assert "Local consistency" not in page
    assert "Contradictions" not in page
    assert "<h2>Explanations</h2>" not in page


@pytest.fixture(scope="module")
def compared():
    words = faithkit.score(LABELS, WORDS, X=score_ordinary().rows.X, estimator="plug-in")
    return Comparison({"words": words, "rules": score_ordinary()}, left_out=("sign for rules (no vectors)",))


@pytest.mark.usefixtures("no_pictures")
def test_a_comparison_that_was_loaded_looks_as_it_did(compared, tmp_path):
    compared.write(tmp_path / "compared.json")
    loaded = faithkit.load(tmp_path / "compared.json")
    assert loaded.to_dict() == to_payload(compared)
    assert str(loaded) == str(compared)
    assert loaded._repr_html_() == compared._repr_html_()
    assert "Local consistency" not in page_of(loaded)


def test_the_json_of_a_comparison_has_the_order_and_what_was_left_out(compared):
    payload = compared.to_dict()
    assert payload["ranked"] == {"consistency": ["rules"], "sufficiency": ["rules"]}
    assert payload["not_comparable"] == ["words"]
    assert payload["left_out"] == ["sign for rules (no vectors)"]


def test_groups_with_one_text_can_be_told_apart():
    groups = faithkit.score(["y", "n", "n"] * 20, ["a"] * 60).by([1, "1"] * 30)
    assert [line.split()[0] for line in str(groups).splitlines()[4:6]] == ["1", "'1'"]


def test_groups_of_numbers_are_printed_with_six_digits_and_told_with_all():
    groups = faithkit.score(["a", "b"] * 6, ["u"] * 12).by([0.1 + 0.2, 1 / 3, -2 / 3] * 4)
    assert list(groups.to_dict()["groups"]["consistency"])[1] == "0.30000000000000004"
    for shown in (str(groups), repr(groups), groups._repr_html_()):
        assert "-0.666667" in shown
        assert "0.333333" in shown
        assert "0.3333333" not in shown
        assert "0.30000" not in shown


@one_test
@pytest.mark.parametrize(
    "show",
    [
        repr,
        str,
        Evaluation._repr_html_,
        lambda result: str(EvaluationReport.of(result, by=WORDS)),
        lambda result: str(result.by(WORDS)),
        lambda result: str(Comparison({"one": result})),
        lambda result: Comparison({"one": result})._repr_html_(),
    ],
)
def test_to_look_at_a_result_does_not_read_its_rows_again(show, monkeypatch):
    result = faithkit.score(LABELS, WORDS)
    monkeypatch.setattr(
        "faithkit.run.populations.in_memory.describe_data", lambda *_: pytest.fail("rows were read")
    )
    show(result)


@one_test
@pytest.mark.parametrize(
    ("name", "has_differences"), [("a group that is everybody", False), ("subgroups", True)]
)
@pytest.mark.usefixtures("no_pictures")
def test_differences_are_mentioned_only_where_groups_differ_from_others(name, has_differences):
    result = RESULTS[name]()
    for text in (str(result), page_of(result)):
        assert ("minus the rest" in text) == has_differences
        assert ("p is corrected for the number of groups" in text) == has_differences


def test_a_system_that_is_worse_than_its_control_has_a_worth_below_0(compared, tmp_path):
    payload = compared.to_dict()
    payload["systems"]["rules"]["control"]["worth"] = {"value": -0.3, "low": -0.6, "high": -0.1}
    (tmp_path / "compared.json").write_text(json.dumps(payload))
    loaded = faithkit.load(tmp_path / "compared.json")
    assert "−30 %" in " ".join(line for line in str(loaded).splitlines() if "rules" in line)
