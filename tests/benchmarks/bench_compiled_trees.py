"""Compiled trees against XGBoost, and SHAP values from their leaves against asking them."""

import numpy as np
from harness import Contest, benchmark
from sklearn.datasets import make_classification

GOALS = 3.0, 4.0


@benchmark
def compiled_trees() -> list[Contest]:
    """Predict rows of which each column is drawn, and explain the number of the predicted class."""
    from faithkit_paper.class_number_shap import ClassNumberShap
    from faithkit_paper.compiled_trees import CompiledTrees
    from faithkit_paper.model_wrappers import ClassNumberModel
    from xgboost import XGBClassifier

    import faithkit

    X, y = make_classification(4000, 12, n_informative=12, n_redundant=0, n_classes=5, random_state=0)
    model = XGBClassifier(n_estimators=200, max_depth=6, n_jobs=1).fit(X, y)
    fast, rng = CompiledTrees(model), np.random.default_rng(0)
    drawn = np.column_stack([rng.permutation(column) for column in X.T])

    def explain(explainer: object) -> np.ndarray:
        result = faithkit.evaluate(ClassNumberModel(fast), X[:40], explainer=explainer, background=X[40:])
        values: np.ndarray = result.rows.explanations.values
        return values

    asking = "shap:target=positive,output=probability,background=sample:100,algorithm=permutation"
    return [
        Contest(
            f"{len(drawn):,} unrelated rows",
            lambda: fast.predict(drawn),
            "XGBoost, row by row",
            lambda: model.predict(drawn),
            goal=GOALS[0],
            same=lambda a, b: np.mean(a == b) > 0.9999,  # classes may tie but for rounding
        ),
        Contest(
            "SHAP values of 40 rows",
            lambda: explain(ClassNumberShap("sample:100")),
            "the same trees, asked about all mixtures",
            lambda: explain(asking),
            goal=GOALS[1],
            same=lambda a, b: np.abs(a - b).max() < 1e-9,
        ),
    ]
