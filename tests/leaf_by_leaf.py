"""SHAP values of tree models, explained leaf by leaf and by their definition."""

import numpy as np
import pandas as pd
from shapley_values import shapley_values
from sklearn.pipeline import Pipeline

import faithkit

RAW = {
    "xgboost": {"output_margin": True},
    "lightgbm": {"raw_score": True},
    "catboost": {"prediction_type": "RawFormulaVal"},
}


def explained(model, table, rows, **params):
    """Fit on a table and explain rows, with the seeds that the kernel gives them."""
    shap = faithkit.plugin.registry().create("explainer", "shap", {"background": "rows", **params})
    return shap.fit(faithkit.Predictor(model), table).explain(rows, faithkit.plugin.row_seeds(rows, 0))


def per_class(explanations):
    """Return values (rows, columns, classes) of target=all."""
    classes = len(explanations.shared["base_value"])
    return explanations.values.reshape(len(explanations), classes, -1).transpose(0, 2, 1)


def raw_scores(model, rows):
    """What a model adds up, two classes as −d and d; forests add up probabilities."""
    last = model[-1] if isinstance(model, Pipeline) else model
    library = type(last).__module__.partition(".")[0]
    if library in RAW:
        result = np.asarray(model.predict(rows, **RAW[library]), dtype=float)
    elif hasattr(model, "decision_function"):
        result = model.decision_function(rows)
    else:
        return model.predict_proba(rows)
    return np.column_stack([-result, result]) if result.ndim == 1 else result


def by_definition(model, table, reference, rows):
    """Values (rows, columns, classes) of raw scores, from all coalitions of the table's own columns."""

    def score(cells):
        if isinstance(table, pd.DataFrame):
            cells = pd.DataFrame(cells, columns=table.columns).astype(table.dtypes.to_dict())
        else:
            cells = np.array(cells, dtype=table.dtype)
        return raw_scores(model, cells)

    reference, rows = (np.asarray(part.astype(object)) for part in (reference, rows))
    return np.array([shapley_values(score, row, reference) for row in rows])


def check_by_definition(model, table, precision=1e-9):
    """Explain two rows against five, leaf by leaf, and return what their values are by definition."""
    reference, rows = table[:5], table[40:42]
    explanations = explained(model, reference, rows, output="raw", target="all", algorithm="tree")
    assert explanations.shared["algorithm"] == "leaves"
    expected = by_definition(model, table, reference, rows)
    np.testing.assert_allclose(per_class(explanations), expected, rtol=0, atol=precision)
    return expected
