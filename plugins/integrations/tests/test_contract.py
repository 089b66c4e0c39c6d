"""The components of this plugin keep the contract that third parties are asked to keep."""

from contract import in_parts, keep_contract
from faithkit_integrations import plugin


@in_parts("quick")
def test_adapters_keep_the_contract(part, subtests):
    keep_contract(plugin, part, subtests)
