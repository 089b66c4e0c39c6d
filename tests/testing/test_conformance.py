"""The project's own plugins keep the contract that third parties are asked to keep."""

import faithkit_attacks
import faithkit_diagnostics
import faithkit_example_based
import faithkit_feature_importance
import faithkit_glass_box
import faithkit_model_files
import faithkit_paper
import faithkit_scoped_rules
import pytest
from faithkit_integrations import plugin as faithkit_integrations

from faithkit.extension import builtins
from faithkit.testing import checks_for
from faithkit.testing.checks import run
from faithkit.testing.situations import kit_situation

# every explainer is asked in every situation whether it explains it. The rest of the contract one explainer of
# each kind keeps everywhere: shap, tree, nearest-neighbor, and those of texts; all others, and what is tried on
# what they explain, keep it in these: a table of numbers and a mixed one, labels and numbers, two classes and more
FEW = ("linear_model_of_three_classes", "mixed_frame", "array_of_numbers", "texts")
SITUATIONS = {name: kit_situation(name) for name in FEW}
IN_FEW = {"anchors", "dice", "empirical-anchors", "gradient", "lime", "nearest-counterfactual"}
IN_FEW |= {"encoder", "flatterer", "parrot", "same-for-all", "cherry-picker", "out-of-reach"}


# an anchor or a counterfactual takes long, and the kit asks for hundreds: of the explainers, and of the
# relations that it tries on all that they explain
SLOW = {"anchors", "anchors-text", "in-scope", "dice", "in-ball", "covtype"}


def contract(target):
    """Parametrize with the components of a plugin: each with all its checks, of which long ones are apart."""
    few = {check.id: check for check in checks_for(target, situations=SITUATIONS)}
    groups = {}
    for check in checks_for(target):
        group = check.kind, check.component, part_of(check)
        groups.setdefault(group, []).append(few.get(check.id, check) if is_in_few(check) else check)
    parameters = [
        pytest.param(
            checks, id="-".join(filter(None, group)), marks=[pytest.mark.slow] * (group[2] == "slow")
        )
        for group, checks in groups.items()
    ]
    return pytest.mark.parametrize("checks", parameters)


def part_of(check):
    """Return which checks of a component are run apart: those that take long, or need another process."""
    if check.component in SLOW or check.id.startswith("nearest-relates"):
        return "slow"
    return "worker" if "worker" in check.name else ""


def is_in_few(check):
    everywhere = check.kind == "explainer" and check.component not in IN_FEW
    return not everywhere and check.component != "rules-hold"  # whose plugin has situations of its own


def keep(checks):
    """Run all checks of a component, and show the traceback of each that fails."""
    report = run(checks)
    if report.errors:
        raise ExceptionGroup(str(report), list(report.errors.values()))
    assert not report.failed, report
    if not report.passed and not report.expected:
        pytest.skip(str(report))


@contract(builtins)
def test_the_kernel_keeps_its_own_contract(checks):
    keep(checks)


@contract(faithkit_feature_importance)
def test_feature_importance_keeps_the_contract(checks):
    keep(checks)


@contract(faithkit_scoped_rules)
def test_scoped_rules_keep_the_contract(checks):
    keep(checks)


@contract(faithkit_example_based)
def test_example_based_keeps_the_contract(checks):
    keep(checks)


@contract(faithkit_paper)
def test_the_papers_datasets_and_verb_keep_the_contract(checks):
    keep(checks)


@contract(faithkit_integrations)
def test_the_adapters_of_integrations_keep_the_contract(checks):
    keep(checks)


@contract(faithkit_attacks)
def test_liars_keep_the_contract(checks):
    keep(checks)


@contract(faithkit_glass_box)
def test_glass_boxes_keep_the_contract_on_models_of_their_own(checks):
    keep(checks)


@contract(faithkit_diagnostics)
def test_diagnostics_keep_the_contract(checks):
    keep(checks)


@contract(faithkit_model_files)
def test_loaders_of_model_files_keep_the_contract(checks):
    keep(checks)


@contract("faithkit-monitor")
def test_the_monitors_verb_keeps_the_contract(checks):
    keep(checks)
