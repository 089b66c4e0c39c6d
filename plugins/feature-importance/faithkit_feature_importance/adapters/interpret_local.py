"""What InterpretML's `explain_local` returns: the terms of each row, with their scores."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.adapters.columns import no_choice, picked, prefixed, vectors
from faithkit_feature_importance.adapters.outputs import Outputs, check_target

WHO = "interpret-local"
_NO_CLASSES = "chooses among classes, and these are the scores of one output"


class InterpretLocal:
    """Local explanations as InterpretML has them: of boosting machines, linear models, SHAP, LIME.

    Parameters
    ----------
    target : str, int or None
        Of several classes the one that is meant: "predicted" (the default), "all" side by side, a label, or a
        number from 0. Of two classes InterpretML has the scores of the second.

    Notes
    -----
    The scores become vectors, a column for each term; interactions are terms. The intercept, or base value,
    is left out.

    Examples
    --------
    >>> InterpretLocal(target="yes").target
    'yes'
    """

    def __init__(self, target: str | int | None = None) -> None:
        self.target = check_target(WHO, target)

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return the terms of a linear model, for two rows."""
        from interpret.api.templates import FeatureValueExplanation

        extra = {"names": ["Intercept"], "scores": [0.5], "values": [1]}
        rows = [
            {"type": "univariate", "names": ["age", "sex"], "scores": scores, "extra": extra}
            for scores in ([0.3, 0.1], [-0.2, 0.1])
        ]
        told = {"overall": None, "specific": rows}
        return FeatureValueExplanation(
            "local", told, feature_names=["age", "sex"]
        ), faithkit.plugin.RowContext(n=2)

    def explanations(self, given: Any, about: faithkit.plugin.RowContext) -> faithkit.Explanations:
        """Return a vector for each row, with a column for each term."""
        parts = list(given) if isinstance(given, Sequence) else [given]
        rows = [row for part in parts for row in _rows(part)]
        names = _names(parts[0], rows)
        values = read_terms(rows, names)
        if values.ndim == 2:
            no_choice(WHO, target=(self.target, _NO_CLASSES))
            return vectors(WHO, values, names, about)
        labels = rows[0].get("meta", {}).get("label_names")
        known = attrs.evolve(about, classes=labels) if about.classes is None and labels else about
        outputs = Outputs.of(WHO, values.shape[2], known)
        places = [row.get("perf", {}).get("predicted") for row in rows]
        chosen = outputs.chosen(self.target, known, len(rows), None if None in places else places)
        named = prefixed(outputs, self.target, names)
        return vectors(WHO, picked(values, chosen), named, about, **outputs.shared(self.target))


def read_terms(rows: list[dict[str, Any]], names: list[str]) -> NDArray[np.float64]:
    """Return the scores of all rows, (rows, terms) or (rows, terms, classes): each row has its own order.

    Examples
    --------
    >>> rows = [{"names": ["age", "sex"], "scores": [3, 1]}, {"names": ["sex", "age"], "scores": [1, -2]}]
    >>> read_terms(rows, ["age", "sex"])
    array([[ 3.,  1.],
           [-2.,  1.]])
    """
    column = {name: place for place, name in enumerate(names)}
    found = []
    for number, row in enumerate(rows):
        scores = np.asarray(row["scores"], dtype=np.float64)
        values = np.zeros((len(names), *scores.shape[1:]))
        places = [column[str(name)] for name in row["names"]]
        if len(set(places)) < len(places):
            raise faithkit.errors.InputError(f"{WHO}: row {number} names a term twice: rename the features.")
        values[places] = scores
        found.append(values)
    if len({values.shape for values in found}) > 1:
        raise faithkit.errors.InputError(
            f"{WHO}: rows of different numbers of classes: give those of one model."
        )
    return np.stack(found)


def _rows(given: Any) -> list[dict[str, Any]]:
    told = given.data(-1)
    rows = told.get("specific") if given.explanation_type == "local" and isinstance(told, dict) else None
    if rows is None or not all("names" in row and "scores" in row for row in rows):
        raise faithkit.errors.InputError(
            f"{WHO}: a {given.explanation_type} explanation has no scores of rows: give explain_local(X)."
        )
    return list(rows)


def _names(given: Any, rows: list[dict[str, Any]]) -> list[str]:
    """Return the names of the model's terms, in its order, which is that of all other rows, too."""
    known = [str(name) for name in given.feature_names or ()]
    terms = set(known)
    strange = next((str(name) for row in rows for name in row["names"] if str(name) not in terms), None)
    if strange is not None:
        raise faithkit.errors.InputError(
            f"{WHO}: a row has a score of {strange!r}, which is none of the explanation's feature_names: "
            "give them to the explainer."
        )
    return known
