"""SHAP values of tree models by the interventional TreeSHAP of shap, with the exact splits of each model.

The compiled code of shap stores thresholds as float32, while models compare in float32 or float64. So values
and thresholds are replaced by their ranks, small integers that are exact in every precision: each value then
takes the same branch as in the model.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.errors import unreadable_trees_error
from faithkit_feature_importance.shap_values.explained_output import libraries_of

Floats = NDArray[np.float64]
MAX_VISITS = 200_000  # trees times pairs of rows in one call: after ten seconds shap prints a progress bar
_SHAP_OUTPUT_NAMES = {"prediction": "raw"}
MAX_NODES = 2**15 - 1  # per tree: the compiled code numbers nodes with 16 bits


class TreeShap:
    """SHAP values of decision trees, forests and boosted trees.

    Parameters
    ----------
    model : fitted model of scikit-learn, XGBoost or LightGBM
    output : str
        "probability", "raw" or "prediction".
    reference : array
        The codes of the reference rows.
    encoder : Encoder, optional
        The encoder of the codes. Without one, the codes are the numbers themselves.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0]])
    >>> trees = TreeShap(DecisionTreeClassifier().fit(X, [0, 1]), "probability", X)
    >>> trees.values(X)[:, :, 1]
    array([[-0.5,  0. ],
           [ 0.5,  0. ]])
    >>> trees.sums(X)
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """

    name = "tree"
    title = "TreeSHAP"
    background = "sample:100"
    takes_codes = True

    def __init__(self, model: Any, output: str, reference: Floats, encoder: Any = None) -> None:
        self._trees = _read_with_shap(model, output, reference)
        ensemble = self._trees.model
        self._thresholds_by_column = _thresholds_by_column(ensemble)
        ensemble.thresholds = _rank_thresholds(ensemble, self._thresholds_by_column)
        self._trees.data = self._rank_values(reference)
        self._mean = ensemble.predict(self._trees.data).mean(axis=0)

    def values(self, codes: Floats) -> Floats:
        """Return SHAP values (rows, columns, outputs). Two classes have one output, that of the second."""
        ranks, ensemble = self._rank_values(codes), self._trees.model
        rows_per_call = max(1, MAX_VISITS // (len(self._trees.data) * len(ensemble.values)))
        batches = [
            np.asarray(self._trees.shap_values(ranks[start : start + rows_per_call], check_additivity=False))
            for start in range(0, len(ranks), rows_per_call)
        ]
        values = np.concatenate(batches)
        return values[:, :, None] if values.ndim == 2 else values

    def sums(self, codes: Floats) -> Floats:
        """Return the sums of the values of each row, (rows, outputs), without computing the values."""
        sums = np.asarray(self._trees.model.predict(self._rank_values(codes)) - self._mean)
        return sums[:, None] if sums.ndim == 1 else sums

    def _rank_values(self, codes: Floats) -> Floats:
        """Return for each value how many thresholds of its column lie below it. NaN stays NaN."""
        values = codes.astype(self._trees.model.input_dtype)
        ranks = np.zeros(codes.shape)
        for j, cuts in self._thresholds_by_column.items():
            ranks[:, j] = np.searchsorted(cuts, values[:, j])
        ranks[np.isnan(codes)] = np.nan
        return ranks


def _read_with_shap(model: Any, output: str, reference: Floats) -> Any:
    """Let shap read the model, and reject models that shap would misread."""
    import shap

    if "catboost" in libraries_of(model):
        # shap writes trees of several classes beyond the end of an array, which kills the process
        raise unreadable_trees_error(model, "shap's own reader of CatBoost is not safe")
    # without the masker, shap would draw a hundred rows by position
    masker = shap.maskers.Independent(reference, max_samples=len(reference))
    try:
        trees = shap.TreeExplainer(
            model,
            data=masker,
            model_output=_SHAP_OUTPUT_NAMES.get(output, output),
            feature_perturbation="interventional",
        )
        problem = _find_problem(trees.model)
    except Exception as error:
        raise unreadable_trees_error(model, str(error)) from error
    if problem:
        raise unreadable_trees_error(model, problem)
    return trees


def _find_problem(ensemble: Any) -> str | None:
    if (ensemble.threshold_types == 1).any() or ensemble.cat_feature_indices is not None:
        return "it splits by category"
    if ensemble.thresholds.shape[1] > MAX_NODES:
        return f"a tree has more than {MAX_NODES} nodes"
    if ensemble.num_outputs > 1 and ensemble.get_transform() == "logistic":
        return "its probabilities of three classes or more are not a sum over trees"
    return None


def _thresholds_by_column(ensemble: Any) -> dict[int, Floats]:
    """Return the sorted distinct thresholds of every column that is split."""
    splits = ensemble.children_left >= 0
    columns, thresholds = ensemble.features[splits], ensemble.thresholds[splits]
    return {int(j): np.unique(thresholds[columns == j]) for j in np.unique(columns)}


def _rank_thresholds(ensemble: Any, thresholds: dict[int, Floats]) -> Floats:
    """Return the rank of each threshold: value ≤ threshold exactly if rank of value ≤ rank of threshold."""
    ranks = np.zeros(ensemble.thresholds.shape, dtype=ensemble.thresholds.dtype)
    for j, column_thresholds in thresholds.items():
        splits = (ensemble.children_left >= 0) & (ensemble.features == j)
        ranks[splits] = np.searchsorted(column_thresholds, ensemble.thresholds[splits])
    return ranks
