""" "faithful" is said of nearly all honest explainers whose explanations are true, and no objection is made."""

import pytest
from explainer_catalogue.catalogue import broken_rules, entries, run_entry
from explainer_catalogue.entry import HONEST


@pytest.mark.slow
def test_the_verdict_is_true_of_honest_explainers():
    # their truths are found anew, because these decide what is expected
    here = [entry for entry in entries if entry.kind == HONEST and entry.is_here]
    assert broken_rules([run_entry(entry) for entry in here]) == []
