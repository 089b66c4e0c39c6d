"""For every check there is a component with one fault, for which that check fails and no other does."""

import re
import sys
from importlib.metadata import EntryPoint
from itertools import count
from types import SimpleNamespace

import pytest
from faithkit_conformance import check_targets, explanation_batches, run_checks, trials
from faithkit_conformance.checks import bind_all, check_name, checks_in, run
from faithkit_conformance.kinds import plugin_checks
from faithkit_conformance.kinds.plugin_checks import Plugin
from faithkit_conformance.situations import kit_situation
from faults import (
    ADAPTERS,
    COMMANDS,
    DATASETS,
    DIAGNOSTICS,
    DISCRETIZERS,
    ESTIMATORS,
    EXECUTORS,
    EXPLAINERS,
    LOADERS,
    MODULES,
    PLUGINS,
    RELATIONS,
    REMARKS,
    REPORTER_TYPES,
    REPORTERS,
    SUMMARIES,
    TABLES,
)
from faulty.discretizers import InAFrame, SideBySide
from looping import one_test

import faithkit
from faithkit.extension.entries import Entry
from faithkit.extension.hookspecs import KINDS
from faithkit.plugin import Component


def make_component(kind, name, **fields):
    kebab = re.sub("(?<!^)(?=[A-Z])", "-", name).lower().replace("_", "-")
    summary = fields.pop("summary", "Has one fault.")
    return Component(name=kebab, factory=f"faulty.{kind}s:{name}", summary=summary, **fields)


def assert_only(report, check, message):
    assert list(report.failed) == [check], str(report)
    begins, _, ends = message.partition(" … ")
    assert report.failed[check].startswith(begins)
    assert report.failed[check].endswith(ends)


TWO_TREES = ("array", "array_of_three_classes")
# where a fault shows: in an array, if nothing else is said
SITUATIONS = {
    "AssertsWithoutWords": TWO_TREES,
    "EndsTheProgram": TWO_TREES,
    "RefusesEverything": ("array", "frame"),
    "ReadsTheIndex": ("array", "frame"),
    "CrashesOnSomeFrames": ("array", "frame_of_three_classes"),
    "SaysNumbersAndRefusesThem": (
        *("array", "array_of_numbers"),
        *("linear_model_of_numbers", "mixed_frame_of_numbers"),
    ),
}


@one_test
@pytest.mark.parametrize("name", EXPLAINERS)
def test_an_explainers_fault_is_found_by_one_check(name):
    check, message = EXPLAINERS[name]
    declares = {"SaysAnotherKind": ("vector",)}.get(name, ())
    faulty = make_component("explainer", name, kinds=declares, inputs=("table",))
    situations = {name: kit_situation(name) for name in SITUATIONS.get(name, ("array",))}
    assert_only(run_checks(("explainer", faulty), situations=situations), f"{faulty.name}-{check}", message)


# the faults of each kind, and what a component of it declares
FAULTS = {
    "relation": (RELATIONS, {"kinds": ("vector",)}),
    "discretizer": (DISCRETIZERS, {"kinds": ("vector",)}),
    "estimator": (ESTIMATORS, {}),
    "diagnostic": (DIAGNOSTICS, {}),
    "executor": (EXECUTORS, {}),
    "reporter": (REPORTERS, {"types": (".line", "text/line")}),
    "dataset": (DATASETS, {}),
    "adapter": (ADAPTERS, {"types": ("faulty.Note",)}),
    "loader": (LOADERS, {"types": (".limit",)}),
    "command": (COMMANDS, {}),
}


@one_test
@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, (faults, _) in FAULTS.items() for name in faults]
)
def test_the_fault_of_another_component_is_found_by_one_check(kind, name):
    faults, fields = FAULTS[kind]
    check, message = faults[name]
    faulty = make_component(kind, name, **fields)
    assert_only(run_checks((kind, faulty)), f"{faulty.name}-{check}", message)


@one_test
@pytest.mark.parametrize("types", REPORTER_TYPES)
def test_types_that_no_reporter_has_are_found_by_one_check(types):
    check, message = REPORTER_TYPES[types]
    report = run_checks(("reporter", make_component("reporter", "Sound", types=types)))
    assert_only(report, f"sound-{check}", message)


@one_test
@pytest.mark.parametrize(
    ("kind", "name", "skipped"),
    [
        ("reporter", "WritesBytes", []),
        ("reporter", "RefusesWhatIsNoEvaluation", []),
        ("estimator", "ScoresParts", []),
        ("estimator", "ComparesWithTheMeanAndSaysSo", ["parts_of_the_tally_suffice"]),
        ("estimator", "Sound", ["parts_of_the_tally_suffice"]),
    ],
)
def test_what_the_contract_leaves_open_passes(kind, name, skipped):
    component = make_component(kind, name, types=(".line",) if kind == "reporter" else ())
    report = run_checks((kind, component))
    assert report.failed == {}
    assert list(report.skipped) == [f"{component.name}-{check}" for check in skipped]


def test_an_adapter_that_names_no_types_is_found_by_one_check():
    faulty = make_component("adapter", "Sound")
    message = "sound: it names no types. Name the classes, as in types="
    check = "sound-takes_objects_of_the_types_that_it_names"
    assert_only(run_checks(("adapter", faulty)), check, message)


@one_test
@pytest.mark.parametrize("name", PLUGINS)
def test_a_modules_fault_is_found_by_one_check(name, tmp_path, monkeypatch):
    check, message = PLUGINS[name]
    (tmp_path / f"{name}.py").write_text(MODULES[name])
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    plugin = Plugin(EntryPoint("main", name, "faithkit"), "demo")
    assert_only(run(bind_all(plugin_checks, "plugin", name, plugin)), f"{name}-{check}", message)


@one_test
@pytest.mark.parametrize("summary", SUMMARIES)
def test_a_summarys_fault_is_found_by_one_check(summary):
    check, message = SUMMARIES[summary]
    faulty = make_component("estimator", "Sound", summary=summary)
    assert_only(run_checks(("estimator", faulty)), f"sound-{check}", message)


@one_test
@pytest.mark.parametrize("kind", sorted({*KINDS, "reporter"}))
def test_a_sound_component_passes_every_check(kind):
    types = {"adapter": ("faulty.Note",), "loader": (".limit",), "reporter": (".line",)}.get(kind, ())
    sound = make_component(
        kind, "sound" if kind == "command" else "Sound", kinds=("vector",), inputs=("table",), types=types
    )
    assert run_checks((kind, sound)).failed == {}


def test_a_slow_explainer_gets_a_remark_and_passes(monkeypatch):
    (name,) = REMARKS
    check, message = REMARKS[name]
    clock = count(step=3.0)  # seconds between two looks, in which six rows are explained
    monkeypatch.setattr(trials, "perf_counter", lambda: next(clock))
    slow = make_component("explainer", name, inputs=("table",))
    report = run_checks(("explainer", slow), situations={"array": kit_situation("array")})
    assert report.failed == {}
    assert report.remarks == {f"{slow.name}-{check}": message}
    assert f"{slow.name}-{check}" in report.passed
    assert str(report).splitlines()[-1] == f"remark   {slow.name}-{check}: {message}"


def test_nothing_of_what_an_explainer_prints_is_shown(capfd):
    chatty = make_component("explainer", "PrintsEverywhere", inputs=("table",))
    report = run_checks(("explainer", chatty), situations={"array": kit_situation("array")})
    assert list(report.failed) == ["prints-everywhere-global_state_is_untouched"]
    assert capfd.readouterr() == ("", "")


def test_there_is_a_fault_for_every_check():
    written = {check_name(check) for module in check_targets.CHECK_MODULES for check in checks_in(module)}
    shown = {check for table in TABLES for check, _ in table.values()}
    assert written - shown == set()
    assert shown - written == {"explains_array", "explains_frame_of_three_classes"}  # made from situations


# explainers whose faults are none of the components that read their explanations
BROKEN = [
    *("DropsARow", "ReturnsAnArray", "ReversesInstances", "EndsTheProgram", "LacksExplain"),
    *("IsNotThere", "HasABadDefault", "AssertsWithoutWords"),
]


@one_test
@pytest.mark.parametrize(
    ("explainer", "kind", "name"),
    [
        *((explainer, "discretizer", "NeedsFiniteNumbers") for explainer in BROKEN),
        *((explainer, "relation", "Sound") for explainer in BROKEN[:4]),
    ],
)
def test_the_fault_of_a_plugins_explainer_is_no_fault_of_what_reads_its_explanations(
    explainer, kind, name, monkeypatch
):
    faulty = Entry(
        "explainer", make_component("explainer", explainer, inputs=("table",)), "your plugin", "1.0"
    )
    monkeypatch.setattr(
        explanation_batches, "registry", lambda: SimpleNamespace(entries=lambda kind: [faulty])
    )
    sound = make_component(kind, name, kinds=("vector",))
    report = run_checks((kind, sound), situations={"array": kit_situation("array")})
    assert report.failed == {}
    assert report.passed


@one_test
@pytest.mark.parametrize(("discretizer", "sentence"), [(SideBySide, "1.0 of 1"), (InAFrame, "1.0")])
def test_identities_may_have_any_form_of_the_contract_and_are_described_row_by_row(discretizer, sentence):
    name = discretizer.__name__
    report = run_checks(("discretizer", make_component("discretizer", name, kinds=("vector",))))
    assert report.failed == report.skipped == {}
    result = faithkit.score(["yes", "no"], [[0.2], [0.1]], discretizer=discretizer())
    assert result.contradictions(1)[0].explanation == sentence
