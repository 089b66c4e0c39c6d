"""The project's own plugins keep the contract that third parties are asked to keep."""

import faithkit_attacks
import faithkit_diagnostics
import faithkit_example_based
import faithkit_feature_importance
import faithkit_glass_box
import faithkit_model_files
import faithkit_paper
import faithkit_scoped_rules
from faithkit_integrations import plugin as faithkit_integrations

from faithkit.extension import builtins
from faithkit.testing import checks_for, parametrize_with_checks
from faithkit.testing.situations import kit_situation

# every explainer is asked in every situation whether it explains it. The rest of the contract one explainer of
# each kind keeps everywhere: shap, tree, nearest-neighbor, and those of texts; all others, and what is tried on
# what they explain, keep it in these: a table of numbers and a mixed one, labels and numbers, two classes and more
FEW = ("linear_model_of_three_classes", "mixed_frame", "array_of_numbers", "texts")
SITUATIONS = {name: kit_situation(name) for name in FEW}
IN_FEW = {"anchors", "dice", "empirical-anchors", "gradient", "lime", "nearest-counterfactual"}
IN_FEW |= {"encoder", "flatterer", "parrot", "same-for-all", "cherry-picker", "out-of-reach"}


def contract(target):
    """Parametrize with the checks of a plugin: those that take long are tried in few situations."""
    few = {check.id: check for check in checks_for(target, situations=SITUATIONS)}
    return parametrize_with_checks(
        [few.get(check.id, check) if is_in_few(check) else check for check in checks_for(target)]
    )


def is_in_few(check):
    everywhere = check.kind == "explainer" and check.component not in IN_FEW
    return not everywhere and check.component != "rules-hold"  # whose plugin has situations of its own


@contract(builtins)
def test_the_kernel_keeps_its_own_contract(check):
    check.run()


@contract(faithkit_feature_importance)
def test_feature_importance_keeps_the_contract(check):
    check.run()


@contract(faithkit_scoped_rules)
def test_scoped_rules_keep_the_contract(check):
    check.run()


@contract(faithkit_example_based)
def test_example_based_keeps_the_contract(check):
    check.run()


@contract(faithkit_paper)
def test_the_papers_datasets_and_verb_keep_the_contract(check):
    check.run()


@contract(faithkit_integrations)
def test_the_adapters_of_integrations_keep_the_contract(check):
    check.run()


@contract(faithkit_attacks)
def test_liars_keep_the_contract(check):
    check.run()


@contract(faithkit_glass_box)
def test_glass_boxes_keep_the_contract_on_models_of_their_own(check):
    check.run()


@contract(faithkit_diagnostics)
def test_diagnostics_keep_the_contract(check):
    check.run()


@contract(faithkit_model_files)
def test_loaders_of_model_files_keep_the_contract(check):
    check.run()


@contract("faithkit-monitor")
def test_the_monitors_verb_keeps_the_contract(check):
    check.run()
