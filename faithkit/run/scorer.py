"""A measure as scikit-learn wants scores: models can be chosen by how well they can be explained."""

import inspect
import math
from collections.abc import Mapping
from typing import Any

import attrs

from faithkit.errors import InputError
from faithkit.measure import MEASURES
from faithkit.run.api import evaluate
from faithkit.run.components.resolution import METHOD, component
from faithkit.run.gates import NO_INTERVAL, why_unknown
from faithkit.wording import listing, suggest

WITHOUT_EFFECT = ("estimator", "confidence", "permutations")  # on an estimate


@attrs.frozen(eq=False, repr=False)
class Scorer:
    """What `scorer` returns: called with a fitted model and rows, it scores its explanations."""

    measure: str
    options: Mapping[str, Any]

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the measure's estimate; what y says is the model's concern, not the explanations'."""
        result = evaluate(estimator, X, **{"progress": False, **self.options})
        reason = why_unknown(result, self.measure, [self.measure])
        if reason is not None:
            raise InputError(f"{self.measure} cannot be scored: {reason}.")
        found = float(getattr(result, self.measure).estimate)
        if not math.isfinite(found):
            raise InputError(f"{self.measure} cannot be scored: {NO_INTERVAL}.")
        return found

    def __repr__(self) -> str:
        told = (f"{key}={one!r}" if isinstance(one, str) else f"{key}=…" for key, one in self.options.items())
        return f"faithkit.scorer({', '.join([repr(self.measure), *told])})"


def scorer(measure: str = "consistency", **options: Any) -> Scorer:
    """Return a scorer for scikit-learn's `cross_validate`, `GridSearchCV` and whatever else takes one.

    It explains the rows that it is given, and returns `Estimate.estimate`, which is
    never above the measure in expectation, over folds as over samples. It raises an error where the measure
    could not pass a gate, whatever its value: nothing could be checked, all predictions are the same, or, for
    consistency, each prediction has one explanation. scikit-learn turns errors into what `error_score` says:
    NaN, and a warning.

    Parameters
    ----------
    measure : str
        "consistency" or "sufficiency".
    **options
        As in `evaluate`. Without a `background`, an explainer that learns does so from the rows that are
        scored, with a warning; give it rows that are in no fold.

    Returns
    -------
    callable ``(estimator, X, y=None) -> float``
        It can be pickled and copied, if what it was given can be.

    Examples
    --------
    >>> import faithkit
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> iris = faithkit.load_dataset("iris")
    >>> thirds = faithkit.scorer("consistency", explainer=lambda X: (X.iloc[:, 2] // 2.5).tolist())
    >>> stump = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0)
    >>> cross_validate(stump, iris.X, iris.y, scoring=thirds, cv=3)["test_score"].tolist()
    [1.0, 1.0, 1.0]
    """
    if measure not in MEASURES:
        raise InputError(f"there is no measure {measure!r:.60}. {suggest(str(measure), MEASURES)}")
    inspect.signature(evaluate).bind(None, None, **options)  # a misspelt option is told at once
    idle = [name for name in WITHOUT_EFFECT if name in options]
    if idle:
        raise InputError(f"the estimate does not depend on {listing(idle)}: leave it out.")
    for kind in METHOD:
        if options.get(kind) is not None:
            component(kind, options[kind])
    return Scorer(measure, options)
