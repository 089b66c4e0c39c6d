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
from faithkit.run import diagnostics
from faithkit.run.components import resolution
from faithkit.run.evaluation_report import EvaluationReport


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
        yield faithkit.plugin.Component(name=name.lower(), factory=f"{__name__}:{name}", summary="…")

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
    def is_automatic(self, result):
        return True

class Never(Named):
    def is_automatic(self, result):
        return False

class Broken(Named):
    def is_automatic(self, result):
        raise KeyError("rows")
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Install four diagnostics, and no others."""
    (tmp_path / "acme_diagnostics.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    registry = Registry(entry_points=[EntryPoint("acme", "acme_diagnostics", "faithkit")])
    for module in (resolution, diagnostics):
        monkeypatch.setattr(module, "registry", lambda: registry)


def test_automatic_diagnostics_run_unasked_and_those_that_fail_are_left_out_with_a_warning(plugin):
    with pytest.warns(FaithkitWarning, match="the diagnostic broken is left out: .*KeyError"):
        findings = EvaluationReport.of(RESULT, diagnostics=None)
    assert [diagnosis.name for diagnosis in findings.result.diagnoses] == ["always"]
    assert findings.to_dict()["diagnostics"][0]["result"] == {"rows": 12}


def test_findings_stand_in_the_text_the_page_and_the_notebook(plugin):
    findings = EvaluationReport.of(RESULT, diagnostics=diagnostics.requested_diagnostics(["named"]))
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


def test_a_diagnosis_is_printed_where_it_was_asked_for_and_kept_elsewhere(tmp_path):
    log = pd.DataFrame({"label": ["yes", "no", "no"] * 20, "why": ["a", "b", "c"] * 20})
    log.to_csv(tmp_path / "log.csv", index=False)
    arguments = ("score", tmp_path / "log.csv", "--prediction", "label", "--explanation", "why")
    reader = "A classifier that sees only the explanation"
    assert reader not in run(*arguments, "--out", tmp_path / "log.json").stdout
    assert json.loads((tmp_path / "log.json").read_text("utf-8"))["diagnostics"][0]["name"] == "reader"
    assert reader in run(*arguments, "--verbose").stdout
    assert reader in run(*arguments, "--diagnose", "reader").stdout


def test_a_reader_that_learns_nothing_about_numbers_says_nothing_about_consistency():
    numbers = np.random.default_rng(0).normal(size=80)
    text = " ".join(str(faithkit.score(numbers, ["a", "b"] * 40).diagnose("reader")).split())
    assert re.search(r"The reader has an R² of −0\.\d+, which says nothing about consistency\.", text)
