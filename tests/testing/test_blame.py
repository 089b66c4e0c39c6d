"""A component is failed for its own faults, and not for those of its plugin's explainer."""

from types import SimpleNamespace

import pytest
from testing.test_kit_finds_faults import component

from faithkit.extension.entries import Entry
from faithkit.testing import batches, run_checks
from faithkit.testing.fixtures import situation

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
    monkeypatch.setattr(batches, "registry", lambda: SimpleNamespace(entries=lambda kind: [faulty]))
    sound = component(kind, name, kinds=("vector",))
    report = run_checks((kind, sound), situations={"array": situation("array")})
    assert report.failed == {}
    assert report.passed
