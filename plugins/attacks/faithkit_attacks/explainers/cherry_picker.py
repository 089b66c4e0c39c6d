"""`CherryPicker`: runs several explainers, and shows the clearest importances."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

import faithkit

NAME = "cherry-picker"


class CherryPicker:
    """The clearest feature importances of several explainers, chosen for each row.

    Importances are clear if the largest weight is a large share of all weights: a single reason stands out.
    Each explanation comes from a known method, but readers do not learn how many methods were tried.

    Parameters
    ----------
    explainers : list
        Names of explainers of feature importances, or explainers themselves. Ties go to the first.

    Notes
    -----
    Choosing among explanations until one looks right is fairwashing: Aïvodji, Arai, Fortineau, Gambs, Hara,
    Tapp: Fairwashing: the risk of rationalization (ICML 2019). Explainers disagree, so there is a choice:
    Krishna, Han, Gu, Wu, Jabbari, Lakkaraju: The disagreement problem in explainable machine learning (TMLR
    2024).

    Examples
    --------
    >>> class Says:
    ...     def __init__(self, *weights): self.weights = weights
    ...     def fit(self, predictor, background): return self
    ...     def explain(self, X, seeds): return faithkit.Explanations.vectors([self.weights] * len(X))
    >>> picker = CherryPicker([Says(0.5, 0.4), Says(-0.1, 0.0)])
    >>> picker.fit(None, [[1.0, 2.0]]).explain([[1.0, 2.0]], seeds=[0]).values
    array([[-0.1,  0. ]])
    """

    outcomes = ("labels", "numbers")
    rows_per_chunk = 32

    def __init__(self, explainers: Sequence[Any] = ("shap", "lime")) -> None:
        if isinstance(explainers, str) or len(explainers) < 2:
            raise faithkit.errors.ParameterError(
                f"{NAME}: explainers must be a list of at least two, such as ['shap', 'lime'], got "
                f"{explainers!r}."
            )
        self.explainers = list(explainers)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "CherryPicker":
        """Fit all explainers."""
        explainers = [_create_explainer(explainer) for explainer in self.explainers]
        self.fitted_ = [explainer.fit(predictor, background) for explainer in explainers]
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Run all explainers, and choose the clearest explanation of each row."""
        candidates = [explainer.explain(X, seeds) for explainer in self.fitted_]
        shapes = {np.shape(explanations.values) for explanations in candidates}
        if any(explanations.kind != "vector" for explanations in candidates) or len(shapes) > 1:
            raise faithkit.errors.InputError(
                f"{NAME} chooses among importances of the same columns, and was given explanations of kinds "
                f"{[explanations.kind for explanations in candidates]} and shapes {sorted(shapes)}: name "
                "explainers such as shap and lime."
            )
        values = np.stack([np.asarray(explanations.values, dtype=np.float64) for explanations in candidates])
        best = np.argmax([clarity(importances) for importances in values], axis=0)
        shared = {
            name: value
            for name, value in candidates[0].shared.items()
            if all(explanations.shared.get(name) == value for explanations in candidates)
        }
        clearest = values[best, np.arange(values.shape[1])]
        return attrs.evolve(candidates[0], values=clearest, instances=X, shared=shared)


def clarity(importances: Any) -> Any:
    """Return the share of the largest weight in the sum of all weights of a row; 0 if all are 0.

    >>> clarity(np.array([[0.5, -0.5], [0.9, 0.1], [0.0, 0.0]]))
    array([0.5, 0.9, 0. ])
    """
    magnitudes = np.abs(importances)
    total, largest = magnitudes.sum(axis=1), magnitudes.max(axis=1, initial=0.0)
    share = np.divide(largest, total, out=np.zeros(len(magnitudes)), where=total > 0)
    return share.round(9)  # differences in the last bits count as ties


def _create_explainer(explainer: Any) -> Any:
    if isinstance(explainer, str):
        return faithkit.plugin.registry().create("explainer", explainer)
    return explainer
