"""How plugin authors call the kit, and what it tells them."""

import subprocess
import sys
from importlib.metadata import EntryPoint, entry_points
from types import SimpleNamespace
from unittest import SkipTest

import attrs
import pytest
from contract import in_parts, keep_contract
from faithkit_conformance import (
    Check,
    Report,
    check_targets,
    checks_for,
    explanation_batches,
    parametrize_with_checks,
    run_checks,
)
from faithkit_conformance.checks import check_name, checks_in, run
from faithkit_conformance.kinds import explainer_checks
from faithkit_conformance.kit import Candidate
from faithkit_conformance.situations import kit_situation
from looping import one_test

from faithkit.errors import FaithkitWarning, InputError
from faithkit.extension import builtins
from faithkit.extension.registry import Registry
from faithkit.plugin import Component

MAJORITY = Component(
    name="majority", factory="faithkit.measure.estimators:Majority", summary="The commonest label."
)


@pytest.fixture
def installed(monkeypatch):
    point = EntryPoint("main", "sound.plugin", "faithkit")
    vars(point).update(
        dist=SimpleNamespace(name="Sound_Plugin", metadata={"Name": "Sound_Plugin", "Version": "1.0"})
    )
    result = Registry(entry_points=[point])
    verb = EntryPoint("audit", "sound.prototypes:audit", "faithkit.commands")
    vars(verb).update(dist=point.dist)
    points = {"faithkit": [point], "faithkit.commands": [verb]}
    monkeypatch.setattr("faithkit_conformance.check_targets.entry_points", lambda group: points[group])
    monkeypatch.setattr("faithkit_conformance.explanation_batches.registry", lambda: result)
    everything = Registry(entry_points=[point, *entry_points(group="faithkit")])
    monkeypatch.setattr("faithkit.run.components.resolution.registry", lambda: everything)


def list_ids(checks):
    return [check.id for check in checks]


def read_parameters(decorator):
    return {parameter.id: parameter for parameter in decorator.args[1]}


def test_a_plugin_is_given_by_its_module_or_by_its_distribution():
    assert (
        list_ids(checks_for(builtins)) == list_ids(checks_for("faithkit")) == list_ids(checks_for("Faithkit"))
    )


def test_every_component_of_a_plugin_is_checked():
    kinds = {(check.kind, check.component) for check in checks_for(builtins)}
    assert ("plugin", "faithkit.extension.builtins") in kinds
    assert {name for kind, name in kinds if kind == "relation"} == {
        "same-explanation",
        "near-explanation",
        "in-scope",
    }
    assert len([name for kind, name in kinds if kind == "estimator"]) == 4


def test_no_two_checks_of_the_kit_share_a_name():
    names = [check_name(check) for module in check_targets.CHECK_MODULES for check in checks_in(module)]
    assert len(names) == len(set(names)) > 40


def test_every_check_says_what_it_checks_and_why():
    for check in [
        *(check for module in check_targets.CHECK_MODULES for check in checks_in(module)),
        explainer_checks.explains,
    ]:
        first, blank, why, *_ = check.__doc__.splitlines()
        assert first.startswith("Check")
        assert blank == ""
        assert why.strip()


def test_a_single_component_is_checked_without_its_plugin():
    assert {check.kind for check in checks_for(("estimator", MAJORITY))} == {"estimator"}


def test_an_unknown_distribution_is_answered_with_a_guess():
    with pytest.raises(InputError, match="Did you mean 'faithkit-scoped-rules'"):
        checks_for("faithkit-scoped-rulez")


@one_test
@pytest.mark.parametrize("target", [("estimator", "majority"), ("estimatr", MAJORITY)])
def test_a_component_needs_its_kind(target):
    with pytest.raises(InputError, match=r"as \(kind, Component\), with a kind out of explainer, relation,"):
        checks_for(target)


def test_anything_else_is_refused():
    with pytest.raises(InputError, match="the target is a int: give a plugin's module, the name of"):
        checks_for(3)


def find_xfail_marks(parameter):
    return [mark for mark in parameter.marks if mark.name == "xfail"]


def test_the_decorator_makes_one_test_of_each_check():
    tests = read_parameters(parametrize_with_checks(("estimator", MAJORITY)))
    assert list(tests) == list_ids(checks_for(("estimator", MAJORITY)))
    assert "majority-scores_are_shares" in tests
    assert not any(map(find_xfail_marks, tests.values()))


def test_an_expected_failure_must_fail_and_has_a_reason():
    checks = [
        attrs.evolve(check, expected="They are percentages." if check.name == "scores_are_shares" else "")
        for check in checks_for(("estimator", MAJORITY))
    ]
    tests = read_parameters(parametrize_with_checks(checks))
    (mark,) = find_xfail_marks(tests["majority-scores_are_shares"])
    assert (mark.name, mark.kwargs) == ("xfail", {"reason": "They are percentages.", "strict": True})
    assert sum(len(find_xfail_marks(parameter)) for parameter in tests.values()) == 1


@pytest.mark.slow
def test_pytest_is_needed_by_nobody_but_the_decorator():
    code = (
        "import sys; sys.modules['pytest'] = None; import faithkit_conformance as t; t.run_checks('faithkit')"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_report_counts_what_ran_and_tells_the_rest():
    def skip():
        raise SkipTest("there is nothing to compare.")

    def fail():
        raise AssertionError("it is odd. Add 1.")

    checks = [Check("a", "estimator", "m", lambda: None), Check("b", "estimator", "m", fail)]
    report = run([*checks, Check("c", "estimator", "m", skip)])
    assert report == Report(("m-a",), {"m-b": "it is odd. Add 1."}, {"m-c": "there is nothing to compare."})
    assert str(report) == (
        "2 checks ran: 1 passed, 1 failed. 1 skipped.\n"
        "failed   m-b: it is odd. Add 1.\n"
        "skipped  m-c: there is nothing to compare."
    )


def test_a_remark_is_a_warning_of_pytest():
    slow = Check("is_quick", "explainer", "m", lambda: "m: a row takes 0.5 s.")
    ((check,),) = (p.values for p in read_parameters(parametrize_with_checks([slow])).values())
    with pytest.warns(FaithkitWarning, match=r"^m: a row takes 0\.5 s\.$"):
        check.run()
    assert run([slow]).remarks == {"m-is_quick": "m: a row takes 0.5 s."}


def test_one_check_is_not_called_checks():
    assert str(Report(("m-a",), {}, {})) == "1 check ran: 1 passed, 0 failed. 0 skipped."


def test_the_kernels_required_number_is_given_a_value():
    near = Component(
        name="near",
        factory="faithkit.explanations.relations:NearExplanation",
        summary="Near.",
        kinds=("vector",),
    )
    report = run_checks(("relation", near))
    assert report.failed == {}
    assert sorted(report.skipped) == [
        "near-control_depends_on_seeds_alone",
        "near-control_has_the_same_form",
        "near-instance_only_reads_no_explanations",
        "near-objections_depend_on_content_alone",
        "near-objections_name_a_verdict",
        "near-packed_equals_holds",
    ]


def test_a_parameter_that_only_the_author_knows_skips_what_needs_it():
    odd = Component(name="odd", factory="faulty.relations:decorated", summary="Odd.")
    report = run_checks(("relation", odd))
    assert report.failed == {}
    assert report.skipped["odd-composes"] == (
        "odd needs the parameter limit, and only one that is annotated as float, int or bool is given a value "
        "here: register it with presets, or give defaults."
    )


def test_a_missing_requirement_skips_what_needs_it():
    lost = Component(
        name="lost", factory="faulty.estimators:Sound", summary="Lost.", requires=("no_such_library",)
    )
    report = run_checks(("estimator", lost))
    assert report.failed == {}
    assert report.skipped["lost-scores_are_shares"] == "lost needs no_such_library, not installed."


def test_a_kind_of_explanation_that_nobody_makes_skips_what_needs_it():
    maps = Component(name="maps", factory="faulty.relations:Sound", summary="Maps.", kinds=("saliency-map",))
    report = run_checks(("relation", maps))
    assert report.failed == {}
    assert (
        report.skipped["maps-composes"]
        == "There are no explanations of kind saliency-map to try it on: give some, as samples of a faithkit_conformance.Kit."
    )


def test_a_refused_situation_is_skipped_with_the_explainers_own_words():
    sound = Component(name="sound", factory="faulty.explainers:Sound", summary="Sound.", inputs=("table",))
    situations = {name: kit_situation(name) for name in ("array", "mixed_frame", "array_of_numbers")}
    checks = checks_for(("explainer", sound), situations=situations)
    report = run([check for check in checks if check.name.startswith("explains")])
    assert report.failed == {}
    assert report.skipped["sound-explains_mixed_frame"] == (
        "sound refuses it: only arrays are explained: convert it with to_numpy()."
    )
    assert report.skipped["sound-explains_array_of_numbers"].startswith(
        "sound refuses it: sound explains labels, and the model predicts numbers."
    )


def test_a_relation_is_tried_on_what_the_explainers_of_its_plugin_make(installed):
    checks = checks_for("sound-plugin", situations={"mixed_frame": kit_situation("mixed_frame")})
    report = run([check for check in checks if check.component == "near-prototype"])
    assert report.failed == {}
    assert "near-prototype-pieces_of_instances_are_irrelevant" in report.passed
    (entry,) = explanation_batches.registry().entries("relation")
    assert "prototype on mixed_frame's explanations" in [
        batch.name for batch in explanation_batches.batches_for(Candidate(entry))
    ]


def test_a_command_has_only_the_checks_of_its_import_summary_and_help(installed):
    names = [check.name for check in checks_for("sound-plugin") if check.component == "audit"]
    assert names == ["factory_can_be_imported", "summary_is_one_line", "parameters_are_documented"]


# --- the kernel's own components; plugins have tests of their own -----------------------------------------


@in_parts("quick", "slow")
def test_the_kernel_keeps_its_own_contract(part, subtests):
    keep_contract(builtins, part, subtests)
