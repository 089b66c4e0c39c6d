"""The adapter `interpret-local`: results of InterpretML's `explain_local`, the scores of terms."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.adapters.named_vectors import (
    ONE_OUTPUT,
    reject_parameters,
    to_output_vectors,
    to_vectors,
)
from faithkit_feature_importance.adapters.output_choice import Outputs, check_target

ADAPTER = "interpret-local"


class InterpretLocal:
    """Adapter of InterpretML's local explanations of boosting machines, linear models, SHAP and LIME.

    Parameters
    ----------
    target : str, int or None
        The explained class, if there are more than two: "predicted" (the default), "all" side by side, a
        label, or a position from 0. For two classes, InterpretML has the scores of the second.

    Notes
    -----
    The scores become vectors with a column for each term. Interactions are terms. The intercept, or base
    value, is dropped.

    Examples
    --------
    >>> InterpretLocal(target="yes").target
    'yes'
    """

    def __init__(self, target: str | int | None = None) -> None:
        self.target = check_target(ADAPTER, target)

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return the terms of a linear model, for two rows."""
        from interpret.api.templates import FeatureValueExplanation

        extra = {"names": ["Intercept"], "scores": [0.5], "values": [1]}
        rows = [
            {"type": "univariate", "names": ["age", "sex"], "scores": scores, "extra": extra}
            for scores in ([0.3, 0.1], [-0.2, 0.1])
        ]
        data = {"overall": None, "specific": rows}
        return FeatureValueExplanation(
            "local", data, feature_names=["age", "sex"]
        ), faithkit.plugin.RowContext(n=2)

    def explanations(self, value: Any, context: faithkit.plugin.RowContext) -> faithkit.Explanations:
        """Return a vector for each row, with a column for each term."""
        parts = list(value) if isinstance(value, Sequence) else [value]
        rows = [row for part in parts for row in _rows(part)]
        names = _names(parts[0], rows)
        values = read_terms(rows, names)
        if values.ndim == 2:
            reject_parameters(ADAPTER, target=(self.target, ONE_OUTPUT))
            return to_vectors(ADAPTER, values, names, context)
        labels = rows[0].get("meta", {}).get("label_names")
        context = attrs.evolve(context, classes=labels) if context.classes is None and labels else context
        outputs = Outputs.of(ADAPTER, values.shape[2], context)
        positions = [row.get("perf", {}).get("predicted") for row in rows]
        predicted = None if None in positions else positions
        return to_output_vectors(outputs, self.target, values, names, context, predicted)


def read_terms(rows: list[dict[str, Any]], names: list[str]) -> NDArray[np.float64]:
    """Return the scores of all rows, (rows, terms) or (rows, terms, classes), in the order of `names`.

    Examples
    --------
    >>> rows = [{"names": ["age", "sex"], "scores": [3, 1]}, {"names": ["sex", "age"], "scores": [1, -2]}]
    >>> read_terms(rows, ["age", "sex"])
    array([[ 3.,  1.],
           [-2.,  1.]])
    """
    columns = {name: column for column, name in enumerate(names)}
    rows_of_values = []
    for number, row in enumerate(rows):
        scores = np.asarray(row["scores"], dtype=np.float64)
        values = np.zeros((len(names), *scores.shape[1:]))
        positions = [columns[str(name)] for name in row["names"]]
        if len(set(positions)) < len(positions):
            raise faithkit.errors.InputError(
                f"{ADAPTER}: row {number} names a term twice: rename the features."
            )
        values[positions] = scores
        rows_of_values.append(values)
    if len({values.shape for values in rows_of_values}) > 1:
        raise faithkit.errors.InputError(
            f"{ADAPTER}: rows of different numbers of classes: give those of one model."
        )
    return np.stack(rows_of_values)


def _rows(explanation: Any) -> list[dict[str, Any]]:
    data = explanation.data(-1)
    rows = (
        data.get("specific") if explanation.explanation_type == "local" and isinstance(data, dict) else None
    )
    if rows is None or not all("names" in row and "scores" in row for row in rows):
        raise faithkit.errors.InputError(
            f"{ADAPTER}: a {explanation.explanation_type} explanation has no scores of rows: give "
            "explain_local(X)."
        )
    return list(rows)


def _names(explanation: Any, rows: list[dict[str, Any]]) -> list[str]:
    """Return the names of the model's terms, in the order of the model."""
    names = [str(name) for name in explanation.feature_names or ()]
    terms = set(names)
    unknown = next((str(name) for row in rows for name in row["names"] if str(name) not in terms), None)
    if unknown is not None:
        raise faithkit.errors.InputError(
            f"{ADAPTER}: a row has a score of {unknown!r}, which is none of the explanation's feature_names: "
            "give them to the explainer."
        )
    return names
