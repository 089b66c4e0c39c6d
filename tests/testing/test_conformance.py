"""The project's own plugins keep the contract that third parties are asked to keep."""

import faithkit_attacks
import faithkit_example_based
import faithkit_feature_importance
import faithkit_paper
import faithkit_scoped_rules
from faithkit_integrations import plugin as faithkit_integrations

from faithkit.extension import builtins
from faithkit.testing import parametrize_with_checks
from faithkit.testing.fixtures import given_situations, situation

# some take long: they are tried in every situation, and asked again and again in these
FEW = ("array_of_three_classes", "mixed_frame", "linear_model_of_numbers", "texts")


def situations_of(check, takes_long):
    """Return where a check is tried; None is everywhere."""
    asked_again = takes_long and not check.name.startswith("explains_")
    return {name: situation(name) for name in FEW} if asked_again else None


@parametrize_with_checks(builtins)
def test_the_kernel_keeps_its_own_contract(check):
    check.run()


@parametrize_with_checks(faithkit_feature_importance)
def test_feature_importance_keeps_the_contract(check):
    check.run()


@parametrize_with_checks(faithkit_scoped_rules)
def test_scoped_rules_keep_the_contract(check):
    with given_situations(situations_of(check, check.component in ("anchors", "in-scope"))):
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
    with given_situations(situations_of(check, takes_long=True)):
        check.run()
