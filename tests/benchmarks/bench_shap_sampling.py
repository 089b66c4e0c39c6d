"""Kernel and Permutation SHAP of a forest on Adult against shap, row by row: the same model and reference rows."""

import numpy as np
from bench_empirical_anchors import adult
from harness import Contest, benchmark
from sklearn.ensemble import RandomForestClassifier

import faithkit

ROWS, PEER_ROWS = 16, 4
GOAL = {"kernel": 2.5, "permutation": 1.5}


@benchmark
def shap_sampling() -> list[Contest]:
    """Explain codes of Adult's words; shap explains some of the rows, and is scaled up."""
    import shap as package

    model, train, test = adult()
    encoder = faithkit.plugin.Encoder(train)
    codes, rows = encoder.encode(train), encoder.encode(test[:ROWS], unseen="keep")
    forest = RandomForestClassifier(100, random_state=0).fit(codes, model.predict(train))

    def kernel(reference, rows):
        peer = package.KernelExplainer(forest.predict_proba, reference)
        return lambda: peer.shap_values(rows, silent=True, l1_reg=False)[:, :, 1]

    def permutation(reference, rows):
        peer = package.PermutationExplainer(forest.predict_proba, package.maskers.Independent(reference))
        peer(rows[:1], silent=True)  # its code is compiled at first use
        return lambda: peer(rows, max_evals=20 * (2 * rows.shape[1] + 1), silent=True).values[:, :, 1]

    peers = {"kernel": kernel, "permutation": permutation}
    return [contest(algorithm, peer, forest, codes, rows) for algorithm, peer in peers.items()]


def contest(algorithm, peer, forest, codes, rows):
    """Both sides are fitted beforehand; estimates lie some way apart, but add up to the same."""
    params = {"algorithm": algorithm, "background": "sample:100"}
    explainer = (
        faithkit.plugin.registry().create("explainer", "shap", params).fit(faithkit.Predictor(forest), codes)
    )
    seeds = faithkit.plugin.row_seeds(rows, 0)
    return Contest(
        f"{ROWS} rows of Adult, algorithm={algorithm}",
        lambda: explainer.explain(rows, seeds).values[:PEER_ROWS],
        "shap, row by row",
        peer(explainer.sampler_.reference, rows[:PEER_ROWS]),
        goal=GOAL[algorithm],
        same=lambda a, b: np.abs(a - b).max() < 0.1 and np.allclose(a.sum(axis=1), b.sum(axis=1), atol=1e-6),
        repeat=1,
        peer_share=PEER_ROWS / ROWS,
    )
