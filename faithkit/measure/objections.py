"""Objections: what speaks against explanations, however high their sufficiency is.

The kernel objects to stated scopes that are false of their own row or have hardly any other row; a relation
may object to more, by its method `objections`.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.explanations.explanations import Sample


@attrs.frozen
class Objection:
    """What speaks against the explanations of a sample, or why that could not be checked.

    Attributes
    ----------
    name : str
        What was checked, such as "direction".
    sentence : str
        What was found, or why nothing could be checked: a part of a sentence, without a full stop.
    verdict : str or None
        The verdict that it leads to, from `faithkit.results.VERDICTS`; None if nothing speaks against them.

    Examples
    --------
    >>> Objection("signs", "similar rows with one prediction get opposite signs", "not faithful").verdict
    'not faithful'
    """

    name: str
    sentence: str
    verdict: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)


@attrs.frozen(eq=False, kw_only=True)
class ObjectionContext:
    """What a relation's method `objections` gets.

    Attributes
    ----------
    sample : Sample
        The explained rows; `sample.explanations` has one explanation for each.
    predictions : (n,) array
        The prediction of each row, as a label, a number, or a row of numbers or scores.
    outcome : str
        What predictions are: "labels", "numbers" or "scores".
    background : rows or None
        What the explainer learnt from.
    predictor : Predictor or None
        The model; None for a log.
    outputs : (n,) int array or None
        The column of ``predictor.scores(X)`` that each explanation speaks for; None if that is unknown, as
        for a log, for a model without scores, or if explanations speak for all outputs.
    seeds : (n,) uint32 array
        A seed for each row, from its content.
    """

    sample: Sample
    predictions: NDArray[Any]
    outcome: str
    background: Any = None
    predictor: Any = None
    outputs: NDArray[np.int64] | None = None
    seeds: NDArray[np.uint32]
