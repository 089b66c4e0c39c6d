"""Empirical anchors against the published algorithm, on Adult, the same model and the same rows."""

import os
from collections.abc import Callable
from pathlib import Path

import anchor_exp
import numpy as np
import pandas as pd
from harness import Contest, benchmark
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import faithkit

PEER_ROWS = 20


def adult_parts():
    """Adult as a frame with string columns: 66 % of it for training, the rest, and the labels of the first."""
    folder = os.environ.get("FAITHKIT_DATA")
    if not folder:
        raise ImportError("FAITHKIT_DATA", name="the paper's data (set FAITHKIT_DATA)")
    table = pd.read_csv(Path(folder) / "adult.csv.gz", keep_default_na=False)
    X, y = table.drop(columns="target"), table["target"].to_numpy(object)
    train, test, y_train, _ = train_test_split(X, y, test_size=0.33, random_state=0)
    return train, test, y_train


def adult(classifier=None):
    """The paper's model on Adult, or another, and the two parts of the table."""
    train, test, y = adult_parts()
    boosting = GradientBoostingClassifier(learning_rate=0.25, n_estimators=50, max_depth=5, random_state=0)
    encode = FunctionTransformer(faithkit.plugin.Encoder(pd.concat([train, test])).encode)
    return make_pipeline(encode, classifier or boosting).fit(train, y), train, test


def on_adult(
    explainer: str,
    peer: str,
    peer_params: dict,
    peer_name: str,
    peer_rows: int,
    goal: float,
    peer_way: Callable = lambda fitted, X, seeds: fitted.explain(X, seeds),
) -> Contest:
    """Explain all of Adult's test part; the peer explains a few rows of it, and is scaled up."""
    model, train, test = adult()
    predictor, seeds = faithkit.Predictor(model), faithkit.plugin.row_seeds(test, 0)
    registry = faithkit.plugin.registry()
    fitted = registry.create("explainer", explainer).fit(predictor, train)
    fitted_peer = registry.create("explainer", peer, peer_params).fit(predictor, train)
    rows = np.random.default_rng(0).choice(len(test), peer_rows, replace=False)
    return Contest(
        f"{len(test):,} rows of Adult",
        lambda: len(fitted.explain(test, seeds)),
        peer_name,
        lambda: len(peer_way(fitted_peer, test.iloc[rows], seeds[rows])),
        goal,
        same=lambda a, b: True,
        repeat=1,
        peer_share=peer_rows / len(test),
    )


@benchmark
def empirical_anchors() -> list[Contest]:
    """Empirical anchors against the published search."""
    import anchor  # noqa: F401 (so that a missing anchor-exp leaves this benchmark out)

    peer = ("anchors", {"beam_size": 1}, "anchor-exp, beam 1", PEER_ROWS)
    return [on_adult("empirical-anchors", *peer, goal=300.0, peer_way=anchor_exp.rules_of)]
