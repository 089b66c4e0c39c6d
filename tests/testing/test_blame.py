"""A component is failed for its own faults, and not for those of its plugin's explainer."""

from types import SimpleNamespace

import pytest
from testing.faulty.discretizers import InAFrame, SideBySide
from testing.test_kit_finds_faults import component

import faithkit
from faithkit.extension.entries import Entry
from faithkit.testing import explanation_batches, run_checks
from faithkit.testing.situations import kit_situation

FAULTY = [
    *("DropsARow", "ReturnsAnArray", "ReversesInstances", "DividesByZero", "EndsTheProgram", "LacksExplain"),
    *("IsNotThere", "HasABadDefault", "AssertsWithoutWords"),
]


@pytest.mark.parametrize("explainer", FAULTY)
@pytest.mark.parametrize(("kind", "name"), [("discretizer", "NeedsFiniteNumbers"), ("relation", "Sound")])
def test_the_fault_of_a_plugins_explainer_is_no_fault_of_what_reads_its_explanations(
    explainer, kind, name, monkeypatch
):
    faulty = Entry("explainer", component("explainer", explainer, inputs=("table",)), "your plugin", "1.0")
    monkeypatch.setattr(
        explanation_batches, "registry", lambda: SimpleNamespace(entries=lambda kind: [faulty])
    )
    sound = component(kind, name, kinds=("vector",))
    report = run_checks((kind, sound), situations={"array": kit_situation("array")})
    assert report.failed == {}
    assert report.passed


@pytest.mark.parametrize("name", ["SideBySide", "InAFrame"])
def test_identities_may_have_any_form_of_the_contract(name):
    report = run_checks(("discretizer", component("discretizer", name, kinds=("vector",))))
    assert report.failed == report.skipped == {}


@pytest.mark.parametrize(("discretizer", "told"), [(SideBySide(), "1.0 of 1"), (InAFrame(), "1.0")])
def test_they_are_told_row_by_row(discretizer, told):
    result = faithkit.score(["yes", "no"], [[0.2], [0.1]], discretizer=discretizer)
    assert result.violations(1)[0].explanation == told
