"""Scorers for scikit-learn: choose models by how faithfully they can be explained."""

import inspect
import math
from collections.abc import Mapping
from typing import Any

import attrs

import faithkit
from faithkit_integrations.gate.gates import MEASURES, NO_INTERVAL, why_unknown

COMPONENTS = ("explainer", "discretizer", "relation")
WITHOUT_EFFECT = ("estimator", "confidence", "permutations")  # options that do not change the estimate


@attrs.frozen(eq=False, repr=False)
class Scorer:
    """A callable that scores the explanations of a fitted model on rows; `scorer` returns it."""

    measure: str
    options: Mapping[str, Any]

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the measure's estimate; y is ignored, since explanations are about predictions."""
        result = faithkit.evaluate(estimator, X, **{"progress": False, **self.options})
        reason = why_unknown(result, self.measure, [self.measure])
        if reason is not None:
            raise faithkit.errors.InputError(f"{self.measure} cannot be scored: {reason}.")
        estimate = float(getattr(result, self.measure).estimate)
        if not math.isfinite(estimate):
            raise faithkit.errors.InputError(f"{self.measure} cannot be scored: {NO_INTERVAL}.")
        return estimate

    def __repr__(self) -> str:
        options = (
            f"{name}={value!r}" if isinstance(value, str) else f"{name}=…"
            for name, value in self.options.items()
        )
        return f"faithkit_integrations.scorer({', '.join([repr(self.measure), *options])})"


def scorer(measure: str = "consistency", **options: Any) -> Scorer:
    """Return a scorer for `cross_validate`, `GridSearchCV` and similar functions of scikit-learn.

    The scorer explains the rows and returns `Estimate.estimate`, which in expectation is never above the
    measure, over folds as over samples. It raises an error if the measure could not pass any gate: nothing
    could be checked, all predictions are the same, or, for consistency, each prediction has one explanation.
    scikit-learn turns errors into its `error_score`: NaN with a warning, by default.

    Parameters
    ----------
    measure : str
        "consistency" or "sufficiency".
    **options
        As in `faithkit.evaluate`. Without a `background`, an explainer that learns is fitted to the scored
        rows, with a warning; give it rows that are in no fold.

    Returns
    -------
    callable ``(estimator, X, y=None) -> float``
        It can be pickled and copied if its options can.

    Examples
    --------
    >>> import faithkit, faithkit_integrations
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> iris = faithkit.load_dataset("iris")
    >>> explain = lambda X: (X.iloc[:, 2] // 2.5).tolist()
    >>> thirds = faithkit_integrations.scorer("consistency", explainer=explain)
    >>> stump = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0)
    >>> cross_validate(stump, iris.X, iris.y, scoring=thirds, cv=3)["test_score"].tolist()
    [1.0, 1.0, 1.0]
    """
    if measure not in MEASURES:
        raise faithkit.errors.InputError(
            f"there is no measure {measure!r:.60}: give {' or '.join(MEASURES)}."
        )
    inspect.signature(faithkit.evaluate).bind(None, None, **options)  # raises for a misspelt option
    without_effect = [name for name in WITHOUT_EFFECT if name in options]
    if without_effect:
        raise faithkit.errors.InputError(
            f"the estimate does not depend on {' and '.join(without_effect)}: leave it out."
        )
    for kind in COMPONENTS:
        if options.get(kind) is not None:
            faithkit.plugin.resolve_component(kind, options[kind])
    return Scorer(measure, options)
