"""The components of this plugin keep the contract that third parties are asked to keep."""

import faithkit_html
from contract import in_parts, keep_contract


@in_parts("quick")
def test_the_reporter_keeps_the_contract(part, subtests):
    keep_contract(faithkit_html, part, subtests)
