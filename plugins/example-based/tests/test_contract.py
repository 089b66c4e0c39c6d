"""The components of this plugin keep the contract that third parties are asked to keep."""

import faithkit_example_based
from contract import in_parts, keep_contract


@in_parts("quick", "worker", "slow")
def test_example_based_keeps_the_contract(part, subtests):
    keep_contract(faithkit_example_based, part, subtests)
