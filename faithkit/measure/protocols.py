"""The protocols of components: their methods, and the optional attributes that they may have.

Any object with the methods is accepted; the protocols serve as annotations for people and type checkers.
Relations can be combined, so they have the base class `faithkit.plugin.Relation` instead.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from faithkit.explanations.explanations import Explanations
from faithkit.measure.counting.tally import Tally


class Explainer(Protocol):
    """A component that explains the model's prediction for each row.

    Optional attributes: `learns` (whether it learns from the background, by default yes), `rows_per_chunk`
    (how many rows to explain at a time, by default 32) and `outcomes` (the kinds of predictions that it
    explains, by default ``("labels",)``; other kinds are refused before it is called).

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
        """Explain rows, each with its own seed."""
        ...


class Discretizer(Protocol):
    """A component that decides which explanations count as the same.

    Optional methods: `fit`, to learn from explanations, and `describe`, to put an identity into words.
    Optional attributes: `keeps_signs`, whether identities of vectors are weights with the signs of the
    vectors, so that reports draw them; and `tries`, parameter values that are worth trying.

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
    """A component that turns a tally into the score of every owner; the estimate is their mean.

    Optional attributes: `interval` (whether the interval of leave-one-out is valid for it, by default no),
    `whole` (whether it needs the whole tally, by default yes; False promises that it scores an explanation by
    its own counts alone, so that a large tally may come in parts) and `outcomes` (the kinds of predictions
    that it accepts, by default ``("labels",)``). Optional methods:
    `by_chance`, the value that unrelated explanations would get, and `weigh`, the weight of each owner in the
    mean.

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
    """A component that answers an additional question about a result.

    Optional method: `applies(result)`, whether a reporter that needs it shall run it on a result; by default
    yes.

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


class Executor(Protocol):
    """A component that explains the chunks of a sample, here or elsewhere.

    Optional attribute: `kept_in`, the place where finished chunks are kept for the next run, as a text that
    messages show; by default they are not.

    Examples
    --------
    >>> from faithkit.plugin import explain_chunk
    >>> class Backwards:
    ...     def run(self, job: Any, chunks: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    ...         return ((chunk, explain_chunk(job, chunk)) for chunk in reversed(chunks))
    >>> executor: Executor = Backwards()
    """

    def run(self, job: Any, chunks: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield each chunk once with its result, in any order; exceptions pass."""
        ...


class Reporter(Protocol):
    r"""A component that writes a report in a format; faithkit writes the file, completely or not at all.

    Optional attribute: `needs`, the diagnostics that it shows, as a tuple of texts: the result gets their
    answers before anything is written. Optional method of a
    reporter of the type "text/html": `fragment(sheet)`, which returns the HTML of a `faithkit.plugin.Sheet`
    for a notebook.

    Examples
    --------
    >>> class Markdown:
    ...     def write(self, report: Any, *, title: str = "Faithfulness") -> str:
    ...         return f"# {title}\n\n{report.to_text()}"
    >>> reporter: Reporter = Markdown()
    """

    def write(self, report: Any, **options: Any) -> str | bytes:
        """Return the content of the file, for a `faithkit.plugin.Report`."""
        ...


OPTIONAL_ATTRIBUTES: dict[str, Any] = {
    "name": None,  # the name in results
    "learns": True,  # whether an explainer learns from the background
    "rows_per_chunk": 32,  # rows that are explained at a time
    "fit": None,  # for a discretizer that learns from explanations
    "describe": None,  # a discretizer's words for an identity
    "keeps_signs": False,  # whether a discretizer's identities are weights, above 0 for the class
    "phrase": None,  # what a discretizer does to explanations: "by their signs"
    "tries": {},  # parameter values of a discretizer that are worth trying, by parameter
    "outcomes": ("labels",),  # kinds of predictions: labels, numbers or scores
    "interval": False,  # whether an estimator estimates the measure itself, with leave-one-out's interval
    "whole": True,  # whether an estimator needs the tally of all explanations
    "by_chance": None,  # an estimator's value for explanations unrelated to the predictions
    "kept_in": None,  # where an executor keeps finished chunks
    "applies": None,  # whether a diagnostic that a reporter needs runs on a result
    "needs": None,  # the diagnostics that a reporter shows
    "fragment": None,  # what a reporter of text/html shows in a notebook
    "weigh": None,  # the weight of each owner in an estimator's mean
    "partial_fit": None,  # shows rows to an adapter that then reads each distinct text once
    "remarks": None,  # what an adapter of texts remarks about rows
    "notes": None,  # the notes that an adapter of texts adds to the result of a log
}
"""The optional attributes and methods of components, with their defaults."""


def get_optional_attribute(component: Any, name: str) -> Any:
    """Return an optional attribute of a component, or its default.

    Examples
    --------
    >>> get_optional_attribute(object(), "rows_per_chunk"), get_optional_attribute(object(), "describe")
    (32, None)
    """
    return getattr(component, name, OPTIONAL_ATTRIBUTES[name])
