"""The components of this plugin keep the contract that third parties are asked to keep."""

import faithkit_logged_reasons
from contract import in_parts, keep_contract


@in_parts("quick")
def test_adapters_of_texts_keep_the_contract(part, subtests):
    keep_contract(faithkit_logged_reasons, part, subtests)
