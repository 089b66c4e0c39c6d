"""The shap explainer against shap itself, on the same array, model and reference rows; and its growth."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
from harness import Contest, Curve, benchmark
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import faithkit

ROWS = 1000
ROWS_ASKED = 10  # Kernel and Permutation SHAP ask the model a hundred thousand times a row
GOAL = 0.95  # at most 5 % on top
ADULT_ROWS = 16_000
FEW, MANY = 100, 10_000  # reference rows
PAIRS = 10_000  # of a row and a reference row, that shap is given; its time is scaled up
GROWTH = (1_000, 2_000, 4_000, 8_000, 16_000)


@benchmark
def shap() -> list[Contest]:
    """Explain P(y = 1) by every algorithm; the answers agree."""
    import shap as package

    X, y = make_classification(6000, 14, n_informative=8, random_state=0)
    train, test = X[:5000], X[5000 : 5000 + ROWS]
    model = GradientBoostingClassifier(learning_rate=0.25, n_estimators=50, max_depth=5, random_state=0)
    model.fit(train, y[:5000])
    few = test[:ROWS_ASKED]

    def tree(reference):
        masker = package.maskers.Independent(reference, max_samples=len(reference))
        peer = package.TreeExplainer(model, masker, model_output="probability")
        return lambda: peer.shap_values(test)

    def kernel(reference):
        peer = package.KernelExplainer(model.predict_proba, reference)
        return lambda: peer.shap_values(few, silent=True, l1_reg=False)[:, :, 1]

    def permutation(reference):
        peer = package.PermutationExplainer(model.predict_proba, package.maskers.Independent(reference))
        return lambda: peer(few, max_evals=20 * (2 * 14 + 1), silent=True).values[:, :, 1]

    return [
        contest("tree", model, train, test, tree, 1e-6),
        contest("kernel", model, train, few, kernel, 0.1),
        contest("permutation", model, train, few, permutation, 0.1),
    ]


def contest(algorithm, model, train, test, peer, apart):
    """Both sides are fitted beforehand; estimates lie some way apart, but add up to the same."""
    seeds = faithkit.plugin.row_seeds(test, 0)
    explainer = faithkit.plugin.registry().create(
        "explainer", "shap", {"algorithm": algorithm, "background": "sample:100"}
    )
    explainer.fit(faithkit.Predictor(model), train)

    def ours():
        return explainer.explain(test, seeds).values

    return Contest(
        f"{len(test):,} rows, algorithm={algorithm}, 100 reference rows",
        ours,
        "shap",
        peer(explainer.sampler_.reference),
        goal=GOAL,
        same=lambda a, b: (
            np.abs(a - b).max() < apart and np.allclose(a.sum(axis=1), b.sum(axis=1), atol=1e-6)
        ),
    )


@benchmark
def shap_of_pipelines() -> list[Contest | Curve]:
    """Explain raw columns of Adult through one-hot encoding; shap explains the encoded columns."""
    model, train, test = adult()
    return [
        adult_contest(model, train, test, FEW, 25.0),
        adult_contest(model, train, test, MANY, 1000.0),
        Curve(
            "SHAP of Adult",
            "faithkit",
            "rows and reference rows each",
            GROWTH,
            explain_more(model, train, test),
        ),
    ]


@benchmark
def shap_woodelf() -> list[Contest]:
    """Explain log-odds against WOODELF, whose time grows with rows plus reference rows, too."""
    import contextlib
    import io

    import woodelf

    model, train, test = adult()
    prepare, boosting = model.steps[0][1], model.steps[1][1]
    encoded, rows = (pd.DataFrame(prepare.transform(part)).add_prefix("x") for part in (train[:MANY], test))

    def explain_by_peer():
        with contextlib.redirect_stdout(io.StringIO()):
            return woodelf.WoodelfExplainer(boosting, encoded).shap_values(rows, verbose=False).sum(axis=1)

    return [
        Contest(
            f"{len(test):,} rows of Adult, {MANY:,} reference rows",
            lambda: explain(model, train[:MANY], test, output="raw").sum(axis=1),
            "woodelf, encoded columns",
            explain_by_peer,
            goal=0.0,
            same=lambda a, b: np.allclose(a, b, rtol=0, atol=1e-6),
        )
    ]


def adult():
    """Gradient boosting on Adult's words, one-hot encoded, and numbers."""
    folder = os.environ.get("FAITHKIT_DATA")
    if not folder:
        raise ImportError("FAITHKIT_DATA", name="the paper's data (set FAITHKIT_DATA)")
    table = pd.read_csv(Path(folder) / "adult.csv.gz", keep_default_na=False)
    X, y = table.drop(columns="target"), table["target"].to_numpy(object)
    words = (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number"))
    prepare = make_column_transformer(words, remainder="passthrough", sparse_threshold=0)
    model = make_pipeline(prepare, GradientBoostingClassifier(random_state=0))
    train, test = slice(0, 30_000), slice(30_000, 30_000 + ADULT_ROWS)
    return model.fit(X[train], y[train]), X[train], X[test]


def adult_contest(model, train, test, references, goal):
    """Ours includes the counting of reference rows; both add up to the same."""
    import shap as package

    few = test[: PAIRS // references]
    prepare, boosting = model.steps[0][1], model.steps[1][1]
    encoded = prepare.transform(train[:references])
    masker = package.maskers.Independent(encoded, max_samples=references)
    peer = package.TreeExplainer(boosting, masker, model_output="probability")

    def explain_by_peer():
        return peer.shap_values(prepare.transform(few)).sum(axis=1)

    return Contest(
        f"{len(test):,} rows of Adult, {references:,} reference rows",
        lambda: explain(model, train[:references], test).sum(axis=1)[: len(few)],
        "shap, encoded columns",
        explain_by_peer,
        goal=goal,
        same=lambda a, b: np.allclose(a, b, rtol=0, atol=1e-6),
        peer_share=len(few) / len(test),
    )


def explain(model, reference, rows, **params):
    """Fit and explain, exact by raw column."""
    params = {"algorithm": "tree", "background": "rows", **params}
    explainer = faithkit.plugin.registry().create("explainer", "shap", params)
    explanations = explainer.fit(faithkit.Predictor(model), reference).explain(
        rows, faithkit.plugin.row_seeds(rows, 0)
    )
    assert explanations.shared["algorithm"] == "leaves"
    return explanations.values


def explain_more(model, train, test):
    """Return how to explain n rows against n reference rows."""
    return lambda n: lambda: len(explain(model, train[:n], test[:n]))
