"""What the kernel asks of a component: its methods, and what it may say about itself beside them.

Any object with the methods will do. The protocols are there to annotate with, for people and type checkers;
relations, which compose, have the base class `faithkit.plugin.Relation` instead.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from faithkit.explanations.explanations import Explanations
from faithkit.foreign import foreign
from faithkit.measure.counting.tally import Tally


class Explainer(Protocol):
    """Says of each row why the model predicts what it does.

    It may say `learns` (whether from the background, by default yes), `rows_per_chunk` (how many rows to
    explain at a time, by default 32) and `outcomes` (what predictions it explains, by default
    ``("labels",)``; others are refused before it is asked).

    Examples
    --------
    >>> class Largest:
    ...     def fit(self, predictor: Any, background: Any) -> "Largest":
    ...         return self
    ...     def explain(self, X: Any, seeds: NDArray[np.uint32]) -> Explanations:
    ...         return Explanations.of(X.argmax(axis=1).tolist())
    >>> explainer: Explainer = Largest()
    """

    def fit(self, predictor: Any, background: Any) -> "Explainer":
        """Learn what explaining needs, and return itself."""
        ...

    def explain(self, X: Any, seeds: NDArray[np.uint32]) -> Explanations:
        """Explain rows, each with a seed of its own."""
        ...


class Discretizer(Protocol):
    """Says which explanations count as the same.

    It may have `fit`, to learn from explanations, and `tell`, to word an identity; and say `tries`, values of
    its parameters that are worth trying.

    Examples
    --------
    >>> class Signs:
    ...     def discretize(self, explanations: Explanations) -> Any:
    ...         return np.sign(explanations.values)
    >>> discretizer: Discretizer = Signs()
    """

    def discretize(self, explanations: Explanations) -> Any:
        """Return one identity per explanation."""
        ...


class Estimator(Protocol):
    """Turns a tally into the score of every owner, whose mean is the estimate.

    It may say `interval` (whether leave-one-out's interval is also its own, by default not), `outcomes` (what
    predictions it takes, by default ``("labels",)``) and have `by_chance`, to say what unrelated explanations
    would get, and `weigh`, to say how much each owner counts in the mean.

    Examples
    --------
    >>> class Half:
    ...     def scores(self, tally: Tally) -> NDArray[np.float64]:
    ...         return np.full(tally.owners.shape, 0.5)
    >>> estimator: Estimator = Half()
    """

    def scores(self, tally: Tally) -> NDArray[np.float64]:
        """Return the score of an owner for each s, explanation and label."""
        ...


class Diagnostic(Protocol):
    """Answers a further question about a result.

    It may have `is_automatic(result)`, to say whether commands run it where nobody names a diagnostic; by
    default they do not.

    Examples
    --------
    >>> class Rows:
    ...     def diagnose(self, result: Any) -> Any:
    ...         return RowReport(result.n)  # a faithkit.plugin.Report
    >>> diagnostic: Diagnostic = Rows()
    """

    def diagnose(self, result: Any) -> Any:
        """Return a report: a value with `to_dict` and `sheet`."""
        ...


UNSAID: dict[str, Any] = {
    "name": None,  # what results call it
    "learns": True,  # an explainer, from the background
    "rows_per_chunk": 32,  # explained at a time
    "fit": None,  # a discretizer that learns, from explanations
    "tell": None,  # a discretizer's words for an identity
    "tries": {},  # values of a discretizer's parameters that are worth trying, by parameter
    "outcomes": ("labels",),  # what predictions may be: labels, numbers or scores
    "interval": False,  # an estimator of the measure itself, whose interval is that of leave-one-out
    "by_chance": None,  # what an estimator gives to explanations unrelated to the predictions
    "is_automatic": None,  # whether a diagnostic runs on a result where nobody names any
    "weigh": None,  # how much an instance counts in the mean of an estimator
}
"""All that a component may say beside the methods of its kind, and what is assumed where it does not."""


def said(component: Any, name: str) -> Any:
    """Return what a component says about itself, or what is assumed.

    Examples
    --------
    >>> said(object(), "rows_per_chunk"), said(object(), "tell")
    (32, None)
    """
    with foreign(f"asking {type(component).__name__} for {name}"):  # a property is code, too
        return getattr(component, name, UNSAID[name])
