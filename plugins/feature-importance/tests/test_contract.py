"""The components of this plugin keep the contract that third parties are asked to keep."""

import faithkit_feature_importance
from contract import in_parts, keep_contract


@in_parts("quick", "worker", "slow")
def test_feature_importance_keeps_the_contract(part, subtests):
    keep_contract(faithkit_feature_importance, part, subtests)
