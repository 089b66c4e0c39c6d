"""The contract of components as tests: run all checks of a plugin, or of one component, and report each failure."""

import contextlib
from itertools import groupby
from unittest import mock

import pytest
from faithkit_conformance import checks_for
from faithkit_conformance.checks import run
from faithkit_conformance.situations import kit_situation
from faithkit_conformance.worker_process import unexpected_outcome

# Explainers of tables keep the contract in a few situations: a mixed table and an array, labels and numbers. Slow tests
# add a linear model of three classes, and ask every explainer in every situation whether it explains it.
QUICK = ("mixed_frame", "array_of_numbers")
FEW = (*QUICK, "linear_model_of_three_classes")
# what is tried on explanations: on those of these
EXPLAINED = ("mixed_frame", "texts")
IN_FEW = {"anchors", "dice", "empirical-anchors", "gradient", "lime", "nearest-counterfactual"}
IN_FEW |= {"encoder", "flatterer", "parrot", "same-for-all", "cherry-picker"}
IN_FEW |= {"label-codes", "cut-rules", "false-rules", "random-signs", "inverted-signs"}
# explainers of tables that keep it everywhere, in slow tests; others always do
EVERYWHERE = {"shap", "tree", "nearest-neighbor"}
# an anchor or a counterfactual takes long, and the kit asks for hundreds: of the explainers, and of the
# relations that it tries on all that they explain; a reader learns a classifier again and again
SLOW = {"anchors", "anchors-text", "in-scope", "dice", "in-ball", "cherry-picker", "reader", "covtype"}
SLOW |= {
    "parrot",
    "flatterer",
    "inverted-signs",
}  # liars of the same classes as same-for-all and random-signs


def in_parts(*parts):
    """Parametrize with parts of a plugin's contract: "quick", "worker" for other processes, and "slow"."""
    return pytest.mark.parametrize(
        "part", [pytest.param(part, marks=() if part == "quick" else pytest.mark.slow) for part in parts]
    )


def keep_contract(target, part, subtests):
    """Run a part of the checks of a plugin, each component in a subtest."""
    checks_in = {names: find_checks(target, names) for names in (FEW if part == "slow" else QUICK, EXPLAINED)}
    checks = []
    for check in checks_for(target):
        fewer = checks_in.get(situations_of(check, part), {})
        if part in parts_of(check) and (part == "slow" or not fewer or check.id in fewer):
            checks.append(fewer.get(check.id, check))
    assert checks, f"the part {part} has no checks"
    for (kind, component), group in groupby(checks, lambda check: (check.kind, check.component)):
        with subtests.test(kind=kind, component=component), check_here_if(part == "quick"):
            keep(group)


def check_here_if(is_quick):
    """In the quick part, check here what the kit checks in a worker, whose imports take longer than the checks."""
    check = "faithkit_conformance.kinds.explainer_side_effect_checks.unexpected_outcome_in_worker"
    return mock.patch(check, unexpected_outcome) if is_quick else contextlib.nullcontext()


def find_checks(target, situations):
    """Return the checks of a plugin in these situations alone, by their ids."""
    return {
        check.id: check
        for check in checks_for(target, situations={name: kit_situation(name) for name in situations})
    }


def parts_of(check):
    """Return the parts in which a check is run."""
    if check.component in SLOW or check.id.startswith("nearest-relates"):
        return ["slow"]
    parts = ["worker" if "worker" in check.name else "quick"]
    if "width" in check.name:  # which the quick part checks in this process
        parts.append("worker")
    return [*parts, "slow"] if check.component in EVERYWHERE | IN_FEW else parts


def situations_of(check, part):
    """Return the names of the situations in which a check is run; None for all."""
    if check.kind != "explainer":
        return None if check.component == "rules-hold" else EXPLAINED  # whose plugin has its own situations
    if check.component in IN_FEW or (check.component in EVERYWHERE and part != "slow"):
        return FEW if part == "slow" else QUICK
    return None


def keep(checks):
    """Run checks of a component, and show the traceback of each that fails."""
    report = run(checks)
    if report.errors:
        raise ExceptionGroup(str(report), list(report.errors.values()))
    assert not report.failed, report
    if not report.passed and not report.expected:
        pytest.skip(str(report))
