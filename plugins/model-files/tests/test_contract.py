"""The components of this plugin keep the contract that third parties are asked to keep."""

import faithkit_model_files
from contract import in_parts, keep_contract


@in_parts("quick")
def test_loaders_keep_the_contract(part, subtests):
    keep_contract(faithkit_model_files, part, subtests)
