"""`ForgedSigns`: importances of the right size that speak for the wrong side."""

from typing import Any, Literal, get_args

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Signs = Literal["random", "inverted"]


class ForgedSigns:
    """Importances of another explainer, with random signs or with all signs inverted.

    "Refused, because you always paid on time." Which features matter is true, and how much; for which
    decision they speak is not. Relations that read only how large importances are cannot tell the difference.

    Parameters
    ----------
    signs : {"random", "inverted"}
        "random" draws the sign of every weight, by the seed of the row; "inverted" turns all signs around.
    explainer : str or explainer
        The explainer of feature importances whose signs are forged.

    Notes
    -----
    That importances can be right by their axioms and still fail to say which way the prediction goes with a
    feature is shown by Bilodeau, Jaques, Koh, Kim: Impossibility theorems for feature attribution (PNAS
    2024).

    Examples
    --------
    >>> class Says:
    ...     def fit(self, predictor, background): return self
    ...     def explain(self, X, seeds): return faithkit.Explanations.vectors([[0.5, -0.2, 0.0]] * len(X))
    >>> ForgedSigns("inverted", Says()).fit(None, None).explain([[1.0, 2.0, 3.0]], seeds=[0]).values
    array([[-0.5,  0.2,  0. ]])
    """

    outcomes = ("labels", "numbers")
    rows_per_chunk = 32

    def __init__(self, signs: Signs = "random", explainer: Any = "shap") -> None:
        if signs not in get_args(Signs):
            raise faithkit.errors.ParameterError(
                f"forged signs: signs must be 'random' or 'inverted', got {signs!r}."
            )
        self.signs = signs
        self.explainer = explainer

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "ForgedSigns":
        """Fit the explainer whose signs are forged."""
        explainer = self.explainer
        if isinstance(explainer, str):
            explainer = faithkit.plugin.registry().create("explainer", explainer)
        self.fitted_ = explainer.fit(predictor, background)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the explainer's importances with other signs."""
        explanations = self.fitted_.explain(X, seeds)
        if explanations.kind != "vector":
            raise faithkit.errors.InputError(
                f"forged signs are those of importances, and {self.explainer} gave explanations of kind "
                f"{explanations.kind!r}: name an explainer such as shap."
            )
        values = np.asarray(explanations.values, dtype=np.float64)
        return attrs.evolve(explanations, values=values * self._factors(values.shape, seeds) + 0.0)

    def _factors(self, shape: tuple[int, ...], seeds: Any) -> NDArray[np.float64]:
        if self.signs == "inverted":
            return np.full(shape, -1.0)
        uniforms = faithkit.plugin.row_uniforms(np.asarray(seeds, dtype=np.uint32), shape[1])
        return np.where(uniforms < 0.5, -1.0, 1.0)
