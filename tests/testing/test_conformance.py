"""The kernel's own components keep the contract that third parties are asked to keep; plugins have tests of their own."""

from contract import in_parts, keep_contract

from faithkit.extension import builtins


@in_parts("quick", "slow")
def test_the_kernel_keeps_its_own_contract(part, subtests):
    keep_contract(builtins, part, subtests)
