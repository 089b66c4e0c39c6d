"""Diagnostics: which of them run, what they may return, and where their findings are shown."""

import json
import re
from importlib.metadata import EntryPoint

import faithkit_html
import numpy as np
import pandas as pd
import pytest
from consoles import run
from looping import one_test
from pages import page_of

import faithkit
from faithkit.errors import ContractError, FaithkitWarning, InputError
from faithkit.extension.registry import Registry
from faithkit.plugin import Component, Entry
from faithkit.report.writing import render_report
from faithkit.run import diagnostics
from faithkit.run.comparisons.controls import ControlComparison
from faithkit.run.components import resolution


@pytest.fixture(autouse=True)
def no_diagnostic_runs_unasked():
    """Let diagnostics run unasked: that is tested here."""


RESULT = faithkit.score(["yes", "no", "yes"] * 4, ["a", "b", "a"] * 4)
PLUGIN = """
import faithkit
FAITHKIT_API = 1

@faithkit.plugin.hookimpl
def faithkit_diagnostics():
    for name in ("Always", "Never", "Named", "Broken"):
        yield faithkit.plugin.Component(
            name=name.lower(), factory=f"{__name__}:{name}", summary="…", automatic=name != "Named"
        )

class Rows(faithkit.plugin.Report):
    def __init__(self, n):
        self.n = n
    def to_dict(self):
        return {"rows": self.n}
    def line(self):
        return f"of {self.n} rows"
    def sheet(self):
        table = faithkit.plugin.Table.of(["what", "rows"], [["all <b>", self.n]])
        return faithkit.plugin.Sheet.of("Number of rows", table, "That is all.")

class Named:
    def diagnose(self, result):
        return Rows(result.n)

class Always(Named):
    def __init__(self, times=1):
        self.times = times
    def diagnose(self, result):
        return Rows(self.times * result.n)

class Never(Named):
    def applies(self, result):
        return False

class Broken(Named):
    def applies(self, result):
        raise KeyError("rows")
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Install four diagnostics, and no others."""
    (tmp_path / "acme_diagnostics.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    entries = {"kernel": "faithkit.extension.builtins", "acme": "acme_diagnostics"}
    registry = Registry(entry_points=[EntryPoint(*entry, "faithkit") for entry in entries.items()])
    for module in (resolution, diagnostics):
        monkeypatch.setattr(module, "registry", lambda: registry)


def score(**options):
    return faithkit.score(["yes", "no", "yes"] * 4, ["a", "b", "a"] * 4, **options)


def test_automatic_diagnostics_run_unasked_and_those_that_fail_are_left_out_with_a_warning(plugin):
    with pytest.warns(FaithkitWarning, match="the diagnostic broken is left out: .*KeyError"):
        result = score()
    assert [diagnosis.component for diagnosis in result.diagnoses] == ["always"]
    assert result.to_dict()["diagnostics"][0]["result"] == {"rows": 12}
    assert "Number of rows" in str(result)


@pytest.mark.filterwarnings("ignore::faithkit.errors.FaithkitWarning")
def test_who_asks_gets_it_beside_the_automatic_ones_and_other_parameters_replace_those(plugin):
    def names(diagnose):
        return [(one.component, one.to_dict()["rows"]) for one in score(diagnose=diagnose).diagnoses]

    assert names("named") == [("named", 12), ("always", 12)]
    assert names("always:times=3") == [("always", 36)]
    assert names(()) == names("none") == []
    assert names(["named", "none"]) == [("named", 12)]


def test_one_that_was_asked_for_and_fails_is_an_error(plugin):
    def fail(result):
        raise InputError("no rows.")

    with pytest.raises(InputError, match="no rows"):
        score(diagnose=fail)


class Needy:
    """A page that shows two diagnoses, one of them of no plugin."""

    needs = ("named", "raeder:depth=2")

    def write(self, report):
        return "\n".join(diagnosis.sheet().text() for diagnosis in report.diagnoses)


def write_needy(result):
    needy = Component(name="needy", factory=f"{__name__}:Needy", summary="…")
    entry = Entry("reporter", needy, "acme", "1.0")
    return render_report(entry, result)


def test_a_reporter_gets_what_it_needs_or_a_sentence_that_says_why_not(plugin, tmp_path):
    result = score(diagnose=())
    page = write_needy(result)
    assert "Number of rows" in page
    assert "Without the diagnostic raeder: no diagnostic 'raeder' is installed" in page
    assert result.diagnoses == ()
    assert "Number of rows" not in str(result)
    result.write(tmp_path / "r.json")
    loaded = write_needy(faithkit.load(tmp_path / "r.json"))
    assert "Without the diagnostic named: the result has no rows" in loaded


def test_what_a_saved_result_was_asked_is_there_again(plugin, tmp_path):
    score(diagnose=["named", "none"]).write(tmp_path / "r.json")
    loaded = faithkit.load(tmp_path / "r.json")
    assert "Number of rows" in str(loaded)
    assert "has no rows" not in write_needy(loaded)


def test_findings_stand_in_the_text_the_page_and_the_notebook(plugin):
    findings = score(diagnose=["named", "none"])
    for shown in (str(findings), page_of(findings), findings._repr_html_()):
        assert "Number of rows" in shown
        assert "That is all." in shown
        assert "12" in shown
    assert "all <b>" in str(findings)
    assert "all <b>" not in page_of(findings) + findings._repr_html_()


def test_a_result_answers_with_the_report_itself(plugin):
    report = RESULT.diagnose("named")
    assert (report.n, repr(report)) == (12, "<Rows of 12 rows>")
    with pytest.raises(InputError, match="a Rows has no plot: print it"):
        faithkit_html.plots.draw(report)


@one_test
@pytest.mark.parametrize("answer", [3, None, {"rows": 3}])
def test_what_is_no_report_is_refused(answer):
    with pytest.raises(ContractError, match=r"diagnostic <lambda>.* Return a faithkit\.plugin\.Report"):
        RESULT.diagnose(lambda result: answer)


def test_the_rows_of_a_log_on_disk_are_those_in_memory(tmp_path):
    from faithkit.inputs.logs.log_files import open_log
    from faithkit.run.populations.log_scoring import score_log

    frame = pd.DataFrame({"label": ["yes", "no", "yes"] * 4, "why": ["a", "b", "a"] * 4})
    frame.to_parquet(tmp_path / "log.parquet")
    report = score_log(open_log(str(tmp_path / "log.parquet"), "label", ("why",)), discretizer="original")
    for result in (RESULT, report.result):
        rows = result.rows
        pairs = zip(rows.explanations.values, (rows.predictions[code] for code in rows.codes), strict=True)
        assert sorted(pairs) == [("a", "yes")] * 8 + [("b", "no")] * 4
        assert (rows.trials, rows.weights, rows.clusters, rows.outcome) == (12.0, None, None, "labels")


def test_a_page_has_the_reader_and_a_text_where_it_was_asked_for(tmp_path):
    log = pd.DataFrame({"label": ["yes", "no", "no"] * 20, "why": ["a", "b", "c"] * 20})
    log.to_csv(tmp_path / "log.csv", index=False)
    arguments = ("score", tmp_path / "log.csv", "--prediction", "label", "--explanation", "why")
    reader = "A classifier that sees only the explanation"
    files = ("--out", tmp_path / "log.html", "--out", tmp_path / "log.json")
    assert reader not in run(*arguments, *files).stdout
    assert reader in (tmp_path / "log.html").read_text("utf-8")
    kept = json.loads((tmp_path / "log.json").read_text("utf-8"))["diagnostics"]
    assert [(one["name"], one["printed"]) for one in kept] == [("reader", False)]
    assert reader in run(*arguments, "--diagnose", "reader").stdout


def test_a_reader_that_learns_nothing_about_numbers_says_nothing_about_consistency():
    numbers = np.random.default_rng(0).normal(size=80)
    text = " ".join(str(faithkit.score(numbers, ["a", "b"] * 40).diagnose("reader")).split())
    assert re.search(r"The reader has an R² of −0\.\d+, which says nothing about consistency\.", text)


def test_what_a_result_knows_is_not_computed_again_when_a_diagnosis_joins_it(monkeypatch):
    drawn, draw = [], ControlComparison.of
    monkeypatch.setattr(ControlComparison, "of", lambda *rows: drawn.append(rows) or draw(*rows))
    result = score()
    with_reader = result.with_needed(("reader",))
    assert (result.control, with_reader.control) == (None, None)
    assert len(drawn) == 1
