"""The explainer that tries several, and shows the nicest."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

import faithkit

WHO = "cherry-picker"


class CherryPicker:
    """Of several explainers' importances, for each row those that look most decided.

    Most decided is where the largest weight is the largest share of all weights: a single clear reason. Each
    explanation is one that a known method gave, and nobody is told how many were tried.

    Parameters
    ----------
    explainers : list
        Names of explainers of feature importances, or explainers themselves; of equals the first is taken.

    Notes
    -----
    To choose among explanations until one looks right is fairwashing: Aïvodji, Arai, Fortineau, Gambs, Hara,
    Tapp: Fairwashing: the risk of rationalization (ICML 2019). There is a choice because explainers disagree:
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
                f"{WHO}: explainers must be a list of at least two, such as ['shap', 'lime'], got "
                f"{explainers!r}."
            )
        self.explainers = list(explainers)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "CherryPicker":
        """Fit all of them."""
        made = [_made(given) for given in self.explainers]
        self.fitted_ = [one.fit(predictor, background) for one in made]
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Ask all of them, and keep for each row the one that looks best."""
        tried = [one.explain(X, seeds) for one in self.fitted_]
        shapes = {np.shape(one.values) for one in tried}
        if any(one.kind != "vector" for one in tried) or len(shapes) > 1:
            raise faithkit.errors.InputError(
                f"{WHO} chooses among importances of the same columns, and was given explanations of kinds "
                f"{[one.kind for one in tried]} and shapes {sorted(shapes)}: name explainers such as shap "
                "and lime."
            )
        values = np.stack([np.asarray(one.values, dtype=np.float64) for one in tried])
        best = np.argmax([decidedness(one) for one in values], axis=0)
        shared = {
            name: told
            for name, told in tried[0].shared.items()
            if all(one.shared.get(name) == told for one in tried)
        }
        chosen = values[best, np.arange(values.shape[1])]
        return attrs.evolve(tried[0], values=chosen, instances=X, shared=shared)


def decidedness(importances: Any) -> Any:
    """Return the share of the largest weight in all weights of a row; 0 where there are none.

    >>> decidedness(np.array([[0.5, -0.5], [0.9, 0.1], [0.0, 0.0]]))
    array([0.5, 0.9, 0. ])
    """
    size = np.abs(importances)
    total = size.sum(axis=1)
    share = np.divide(size.max(axis=1, initial=0.0), total, out=np.zeros(len(size)), where=total > 0)
    return share.round(9)  # two explainers that agree but for the last bits are equals


def _made(given: Any) -> Any:
    return faithkit.plugin.registry().create("explainer", given) if isinstance(given, str) else given
