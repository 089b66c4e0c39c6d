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
from faithkit.testing import parametrize_with_checks
from faithkit.testing.situations import kit_situation, use_situations

# every explainer is asked in every situation whether it explains it. The rest of the contract one explainer of
# each kind keeps everywhere: shap, tree, nearest-neighbor, and those of texts; all others, and what is tried on
# what they explain, keep it in these: a table of numbers and a mixed one, labels and numbers, two classes and more
FEW = ("linear_model_of_three_classes", "mixed_frame", "array_of_numbers", "texts")
IN_FEW = {"anchors", "dice", "empirical-anchors", "gradient", "lime", "nearest-counterfactual"}
IN_FEW |= {"encoder", "flatterer", "parrot", "same-for-all", "cherry-picker", "out-of-reach"}


def situations_of(check):
    """Return where a check is tried; None is everywhere."""
    everywhere = check.name.startswith("explains_") or (
        check.kind == "explainer" and check.component not in IN_FEW
    )
    everywhere = everywhere or check.component == "rules-hold"  # whose plugin has situations of its own
    return None if everywhere else {name: kit_situation(name) for name in FEW}


@pytest.fixture(autouse=True)
def _where_it_is_tried(check):
    with use_situations(situations_of(check)):
        yield


@parametrize_with_checks(builtins)
def test_the_kernel_keeps_its_own_contract(check):
    check.run()


@parametrize_with_checks(faithkit_feature_importance)
def test_feature_importance_keeps_the_contract(check):
    check.run()


@parametrize_with_checks(faithkit_scoped_rules)
def test_scoped_rules_keep_the_contract(check):
    check.run()


@parametrize_with_checks(faithkit_example_based)
def test_example_based_keeps_the_contract(check):
    check.run()


@parametrize_with_checks(faithkit_paper)
def test_the_papers_datasets_and_verb_keep_the_contract(check):
    check.run()


@parametrize_with_checks(faithkit_integrations)
def test_the_adapters_of_integrations_keep_the_contract(check):
    check.run()


@parametrize_with_checks(faithkit_attacks)
def test_liars_keep_the_contract(check):
    check.run()


@parametrize_with_checks(faithkit_glass_box)
def test_glass_boxes_keep_the_contract_on_models_of_their_own(check):
    check.run()


@parametrize_with_checks(faithkit_diagnostics)
def test_diagnostics_keep_the_contract(check):
    check.run()


@parametrize_with_checks(faithkit_model_files)
def test_loaders_of_model_files_keep_the_contract(check):
    check.run()


@parametrize_with_checks("faithkit-monitor")
def test_the_monitors_verb_keeps_the_contract(check):
    check.run()
