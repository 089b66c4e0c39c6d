"""SHAP values of tree models by shap's interventional TreeSHAP, made to take each model's own turns.

Its compiled code keeps thresholds as float32, while models compare in float32 or float64. So cells and
thresholds are replaced by ranks, small whole numbers that every precision holds: a value goes where
the model itself sends it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.outputs import libraries_of
from faithkit_feature_importance.shap_values.refusals import refusal

Floats = NDArray[np.float64]
VISITS = 200_000  # of trees by pairs of rows in one call: after ten seconds the compiled code prints a bar
_OF_SHAP = {"prediction": "raw"}  # what shap calls it
MOST_NODES = 2**15 - 1  # of one tree: the compiled code numbers nodes with 16 bits


class TreeShap:
    """SHAP values of decision trees, forests and boosted trees.

    Parameters
    ----------
    model : fitted model of scikit-learn, XGBoost or LightGBM
    output : str
        "probability", "raw" or "prediction".
    reference : array
        The codes of the rows to compare with.
    encoder : Encoder, optional
        What the codes stand for; numbers are their own codes.

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
        self._trees = _read(model, output, reference)
        ensemble = self._trees.model
        self._cuts = _cuts(ensemble)
        ensemble.thresholds = _ranks_of_thresholds(ensemble, self._cuts)
        self._trees.data = self._ranks(reference)
        self._mean = ensemble.predict(self._trees.data).mean(axis=0)

    def values(self, codes: Floats) -> Floats:
        """Return SHAP values (rows, columns, classes); one for two classes, of the second, or none."""
        ranks, ensemble = self._ranks(codes), self._trees.model
        rows = max(1, VISITS // (len(self._trees.data) * len(ensemble.values)))
        parts = [
            np.asarray(self._trees.shap_values(ranks[start : start + rows], check_additivity=False))
            for start in range(0, len(ranks), rows)
        ]
        found = np.concatenate(parts)
        return found[:, :, None] if found.ndim == 2 else found

    def sums(self, codes: Floats) -> Floats:
        """Return what the values of rows add up to, (rows, classes), without working them out."""
        found = np.asarray(self._trees.model.predict(self._ranks(codes)) - self._mean)
        return found[:, None] if found.ndim == 1 else found

    def _ranks(self, codes: Floats) -> Floats:
        """Return how many of its column's thresholds lie below each cell; NaN stays NaN."""
        cells = codes.astype(self._trees.model.input_dtype)
        ranks = np.zeros(codes.shape)
        for j, cuts in self._cuts.items():
            ranks[:, j] = np.searchsorted(cuts, cells[:, j])
        ranks[np.isnan(codes)] = np.nan
        return ranks


def _read(model: Any, output: str, reference: Floats) -> Any:
    """Let shap read the model; what it reads wrongly without noticing is refused here."""
    import shap

    if "catboost" in libraries_of(model):
        # whose trees of several classes it writes beyond the end of an array: the process dies
        raise refusal(model, "shap's own reader of CatBoost is not safe")
    # without the masker shap would draw a hundred of the rows, by their position
    masker = shap.maskers.Independent(reference, max_samples=len(reference))
    try:
        trees = shap.TreeExplainer(
            model,
            data=masker,
            model_output=_OF_SHAP.get(output, output),
            feature_perturbation="interventional",
        )
        problem = _problem(trees.model)
    except Exception as error:
        raise refusal(model, str(error)) from error
    if problem:
        raise refusal(model, problem)
    return trees


def _problem(ensemble: Any) -> str | None:
    if (ensemble.threshold_types == 1).any() or ensemble.cat_feature_indices is not None:
        return "it splits by category"
    if ensemble.thresholds.shape[1] > MOST_NODES:
        return f"a tree has more than {MOST_NODES} nodes"
    if ensemble.num_outputs > 1 and ensemble.get_transform() == "logistic":
        return "its probabilities of three classes or more are no sum over trees"
    return None


def _cuts(ensemble: Any) -> dict[int, Floats]:
    """Return the distinct thresholds of every column that is split, in order."""
    splits = ensemble.children_left >= 0
    columns, thresholds = ensemble.features[splits], ensemble.thresholds[splits]
    return {int(j): np.unique(thresholds[columns == j]) for j in np.unique(columns)}


def _ranks_of_thresholds(ensemble: Any, cuts: dict[int, Floats]) -> Floats:
    """Return each threshold's place: a cell is at most a threshold just where its rank is at most this."""
    ranks = np.zeros(ensemble.thresholds.shape, dtype=ensemble.thresholds.dtype)
    for j, places in cuts.items():
        splits = (ensemble.children_left >= 0) & (ensemble.features == j)
        ranks[splits] = np.searchsorted(places, ensemble.thresholds[splits])
    return ranks
