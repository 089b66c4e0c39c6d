""" "faithful" is said of no useless explainer."""

import numpy as np
import pytest
from explainer_catalogue.catalogue import broken_rules, entries, run_entry
from explainer_catalogue.entry import USELESS


@pytest.mark.slow
def test_the_verdict_is_true_of_useless_explainers():
    # their truths decide nothing
    here = [entry for entry in entries if entry.kind == USELESS and entry.is_here]
    assert broken_rules([run_entry(entry, truth=np.nan) for entry in here]) == []
