"""The components of this plugin keep the contract that third parties are asked to keep."""

import faithkit_glass_box
from contract import in_parts, keep_contract


@in_parts("quick", "worker")
def test_glass_boxes_keep_the_contract_on_models_of_their_own(part, subtests):
    keep_contract(faithkit_glass_box, part, subtests)
