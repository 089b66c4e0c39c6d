"""The shap explainer against shap itself, on the same array, model and reference rows."""

import numpy as np
from harness import Contest, benchmark
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier

import faithkit

ROWS = 1000
ROWS_ASKED = 10  # Kernel and Permutation SHAP ask the model a hundred thousand times a row
WANTED = 0.95  # at most 5 % on top


@benchmark
def shap() -> list[Contest]:
    """Explain P(y = 1) by every algorithm; the answers agree."""
    import shap as package

    X, y = make_classification(6000, 14, n_informative=8, random_state=0)
    train, test = X[:5000], X[5000 : 5000 + ROWS]
    model = GradientBoostingClassifier(learning_rate=0.25, n_estimators=50, max_depth=5, random_state=0)
    model.fit(train, y[:5000])
    some = test[:ROWS_ASKED]

    def tree(reference):
        masker = package.maskers.Independent(reference, max_samples=len(reference))
        peer = package.TreeExplainer(model, masker, model_output="probability")
        return lambda: peer.shap_values(test)

    def kernel(reference):
        peer = package.KernelExplainer(model.predict_proba, reference)
        return lambda: peer.shap_values(some, silent=True, l1_reg=False)[:, :, 1]

    def permutation(reference):
        peer = package.PermutationExplainer(model.predict_proba, package.maskers.Independent(reference))
        return lambda: peer(some, max_evals=20 * (2 * 14 + 1), silent=True).values[:, :, 1]

    return [
        contest("tree", model, train, test, tree, 1e-6),
        contest("kernel", model, train, some, kernel, 0.1),
        contest("permutation", model, train, some, permutation, 0.1),
    ]


def contest(algorithm, model, train, test, peer, apart):
    """Both sides are fitted beforehand; estimates lie some way apart, but add up to the same."""
    seeds = faithkit.row_seeds(test, 0)
    mine = faithkit.registry().create("explainer", "shap", {"algorithm": algorithm})
    mine.fit(faithkit.Predictor(model), train)

    def ours():
        return mine.explain(test, seeds).values

    return Contest(
        f"{len(test):,} rows, algorithm={algorithm}, 100 reference rows",
        ours,
        "shap",
        peer(mine.asking_.reference),
        wanted=WANTED,
        same=lambda a, b: (
            np.abs(a - b).max() < apart and np.allclose(a.sum(axis=1), b.sum(axis=1), atol=1e-6)
        ),
    )
