"""The difference between the measures of two results, and whether their rows are pairs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.measure.counting.design import Design
from faithkit.measure.difference import Difference, compute_difference, subtract_measures
from faithkit.measure.jackknife.summary import JackknifeEstimate
from faithkit.measure.result_warnings import REPEATS
from faithkit.run.populations.row_metadata import RowContent


def subtract_results(first: Any, second: Any, measure: str, paired: bool) -> Difference:
    """Return the measure of one `Evaluation` minus that of another; refuse those of two kinds of measure."""
    here, there = first.setup.outcome, second.setup.outcome
    if here != there:
        raise InputError(
            f"predictions are {here} here and {there} there, which are two measures: measure both alike."
        )
    if (first.design.blocks is None) != (second.design.blocks is None):
        raise InputError(
            "rows are compared only within blocks in one of the results, which makes it another measure: "
            "give both blocks, or neither."
        )
    for side in (first, second):
        if measure not in side.measures:
            reason = side.why_no_sufficiency if measure == "sufficiency" else "there is no such measure"
            raise InputError(f"{measure} cannot be compared: {reason}.")
    if not paired:
        here, there = (side.measures[measure].statistics for side in (first, second))
        return compute_difference(here, there, first.confidence)
    jackknives = _jackknife(first, measure), _jackknife(second, measure)
    check_paired(first.evidence.population.row_content, second.evidence.population.row_content)
    return subtract_measures(*jackknives, first.confidence)


def check_design(result: Any, reference: Any) -> None:
    """Refuse two samples if only one has weights, clusters or blocks.

    Weights that are all equal count as none, and so do clusters of one row.

    Examples
    --------
    >>> import faithkit
    >>> plain = faithkit.score(["yes", "no"], ["a", "b"])
    >>> check_design(faithkit.score(["yes", "no"], ["a", "b"], weights=[1, 2]), plain)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: this sample alone has weights or clusters, which make it another measure: ...
    """
    fields = {"clusters": "clusters", "blocks": "blocks", "weights or clusters": "effective"}
    for name, field in fields.items():
        if field != "blocks" and any(
            w.name == REPEATS for side in (result, reference) for w in side.warnings
        ):
            continue  # clusters that nobody named
        is_here, is_there = (getattr(side.design, field) is not None for side in (result, reference))
        if is_here != is_there:
            side = "this sample" if is_here else "the reference"
            raise InputError(f"{side} alone has {name}, which make it another measure: draw both alike.")


def _jackknife(result: Any, measure: str) -> JackknifeEstimate:
    count, n_classes = result.evidence.counts.get(measure), result.setup.n_classes
    estimate: JackknifeEstimate = result.evidence.population.jackknife_estimate(count, n_classes)
    return estimate


def check_paired(first: RowContent, second: RowContent) -> None:
    """Refuse samples that do not have the same rows in the same order.

    Predictions may differ if the instances are the same: that is one sample under two models.

    Examples
    --------
    >>> from faithkit.inputs.predictions.labels import encode_labels
    >>> labels, X = encode_labels(["yes", "no"]), np.array([[1.0], [2.0]])
    >>> check_paired(RowContent(X, labels), RowContent(X.copy(), labels))
    >>> check_paired(RowContent(X, labels), RowContent(X[::-1], labels))
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the two samples hold the same rows in another order, ...
    """
    sizes = [len(rows.labels.codes) for rows in (first, second)]
    if sizes[0] != sizes[1]:
        raise InputError(f"samples of {sizes[0]} and {sizes[1]} rows are no pair: say paired=False.")
    if not _is_same_design(first.design, second.design):
        raise InputError(
            "the two results are no pair: their weights, clusters or blocks are others. Give both the same "
            "ones."
        )
    if first.X is not None and first.X is second.X:  # saves hashing
        return
    if first.words is None or second.words is None or first.form != second.form:
        _check_same_predictions(first, second)
    elif not np.array_equal(first.words, second.words):
        raise InputError(_why_not_paired(first.words, second.words))


def _is_same_design(first: Design | None, second: Design | None) -> bool:
    if first is None or second is None:
        return first is second
    return np.array_equal(first.steps, second.steps) and np.array_equal(first.unit, second.unit)


def _why_not_paired(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> str:
    if np.array_equal(np.sort(first), np.sort(second)):
        return (
            "the two samples hold the same rows in another order, and rows are paired by their place, "
            "whatever pandas' index says: put them in one order."
        )
    return (
        f"the two samples are no pair: row {int((first != second).argmax())} has other values here than "
        "there (pandas' index is not looked at). Give both the same rows in the same order, or say "
        "paired=False for two separate samples."
    )


def _check_same_predictions(first: RowContent, second: RowContent) -> None:
    code_of = {label: code for code, label in enumerate(second.labels.classes)}
    codes = np.array([code_of.get(label, -1) for label in first.labels.classes])[first.labels.codes]
    is_different = codes != second.labels.codes
    if is_different.any():
        row = int(is_different.argmax())
        raise InputError(
            f"the two samples are no pair by their predictions, {first.prediction(row)!r} here and "
            f"{second.prediction(row)!r} there in row {row}, and not both have instances to compare (pandas' "
            "index is not used): give both X, or say paired=False for two separate samples."
        )
