"""The components of this plugin keep the contract that third parties are asked to keep."""

import faithkit_scoped_rules
from contract import in_parts, keep_contract


@in_parts("quick", "worker", "slow")
def test_scoped_rules_keep_the_contract(part, subtests):
    keep_contract(faithkit_scoped_rules, part, subtests)
