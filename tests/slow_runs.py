"""Runs of the slow plugin's explainer on forty rows: what tests of stores, workers and time limits have in common."""

import sys
from pathlib import Path

import numpy as np

import faithkit

PLUGIN = Path(__file__).parent / "fixtures" / "slow_plugin"
sys.path.insert(0, str(PLUGIN))  # the workers inherit the path
from slow_explainer import Slow  # noqa: E402

X = np.column_stack([np.arange(40.0), np.arange(40.0) % 3])


def parity(X):
    return (np.asarray(X)[:, 0] % 2).astype(int)


def modulo(explanations):
    """Compare by the first value modulo 5, so that rows share explanations."""
    return explanations.values[:, :1] % 5


def evaluated(X=X, explainer=None, model=parity, **options):
    return faithkit.evaluate(model, X, explainer=explainer or Slow(), discretizer=modulo, **options)


def missing(result):
    """Which rows have no explanation."""
    return np.flatnonzero(result.rows.explanations.missing).tolist()
