"""The project's own plugins keep the contract that third parties are asked to keep."""

import faithkit_attacks
import faithkit_diagnostics
import faithkit_example_based
import faithkit_feature_importance
import faithkit_glass_box
import faithkit_model_files
import faithkit_paper
import faithkit_scoped_rules
from contract import in_parts, keep_contract
from faithkit_integrations import plugin as faithkit_integrations

from faithkit.extension import builtins


@in_parts("quick", "slow")
def test_the_kernel_keeps_its_own_contract(part, subtests):
    keep_contract(builtins, part, subtests)


@in_parts("quick", "worker", "slow")
def test_feature_importance_keeps_the_contract(part, subtests):
    keep_contract(faithkit_feature_importance, part, subtests)


@in_parts("quick", "worker", "slow")
def test_scoped_rules_keep_the_contract(part, subtests):
    keep_contract(faithkit_scoped_rules, part, subtests)


@in_parts("quick", "worker", "slow")
def test_example_based_keeps_the_contract(part, subtests):
    keep_contract(faithkit_example_based, part, subtests)


@in_parts("quick", "slow")
def test_the_papers_datasets_and_verb_keep_the_contract(part, subtests):
    keep_contract(faithkit_paper, part, subtests)


@in_parts("quick")
def test_the_adapters_of_integrations_keep_the_contract(part, subtests):
    keep_contract(faithkit_integrations, part, subtests)


@in_parts("quick", "worker", "slow")
def test_liars_keep_the_contract(part, subtests):
    keep_contract(faithkit_attacks, part, subtests)


@in_parts("quick", "worker")
def test_glass_boxes_keep_the_contract_on_models_of_their_own(part, subtests):
    keep_contract(faithkit_glass_box, part, subtests)


@in_parts("quick", "slow")
def test_diagnostics_keep_the_contract(part, subtests):
    keep_contract(faithkit_diagnostics, part, subtests)


@in_parts("quick")
def test_loaders_of_model_files_keep_the_contract(part, subtests):
    keep_contract(faithkit_model_files, part, subtests)


@in_parts("quick")
def test_the_monitors_verb_keeps_the_contract(part, subtests):
    keep_contract("faithkit-monitor", part, subtests)
