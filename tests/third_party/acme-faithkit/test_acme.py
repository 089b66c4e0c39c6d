"""Acme's own test of conformance: what its continuous integration runs."""

import acme_faithkit
from faithkit_conformance import parametrize_with_checks


@parametrize_with_checks(acme_faithkit)
def test_acme_keeps_the_contract(check):
    check.run()
