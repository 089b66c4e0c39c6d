"""Models for the conformance kit: small ones of imodels, where it is installed."""

import importlib.util
from unittest import SkipTest

import numpy as np
import pandas as pd

from faithkit.testing import Kit, situation_of

_NAMES = ["age", "hours", "gain", "loss"]


def kit() -> Kit:
    """Return a rule list and two sums of rules, of labels and of numbers."""
    if importlib.util.find_spec("imodels") is None:
        raise SkipTest("imodels is not installed, and its models are what is explained: pip install imodels")
    import imodels

    X = np.random.default_rng(0).normal(size=(65, 4)).round(2)
    table, score = pd.DataFrame(X, columns=_NAMES), X[:, 0] + X[:, 1] * X[:, 2]
    labels = (score > 0).astype(int)
    return Kit(
        situations={
            "array": situation_of(imodels.GreedyRuleListClassifier(max_depth=3).fit(X, labels), X),
            "frame": situation_of(
                imodels.RuleFitClassifier(max_rules=5, random_state=0).fit(table, labels), table
            ),
            "frame_of_numbers": situation_of(
                imodels.RuleFitRegressor(max_rules=5, random_state=0).fit(table, score), table
            ),
        }
    )
