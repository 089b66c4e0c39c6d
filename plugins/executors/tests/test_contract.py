"""The components of this plugin keep the contract that third parties are asked to keep."""

from contract import in_parts, keep_contract


@in_parts("quick")
def test_the_executors_keep_the_contract(part, subtests):
    keep_contract("faithkit-executors", part, subtests)
