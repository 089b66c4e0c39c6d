"""Sentences about importances, from what their explainer declares in `Explanations.shared`.

`shared["adds_up_to"]` names what values and base value add up to, such as "raw score". `shared["target"]` is
"predicted" where values speak for the class that the model predicts for the row.
"""

from collections.abc import Mapping

PREDICTED_CLASS = (
    "A positive value (+) speaks for the class that the model predicts for that row, and a negative one "
    "against it. The class is left out of the explanation, because it would name the prediction; target=all "
    "compares the values for all classes at once."
)
ADDITIVE = (
    "The values add up to the {}, and so determine it: consistency and the reader cannot tell whether they "
    "stand at the right features. Sufficiency by same-top-features can."
)


def meaning_of_signs(kind: str, explained_by: Mapping[str, str]) -> str | None:
    """Say which class a positive value speaks for, where that differs between rows.

    Examples
    --------
    >>> meaning_of_signs("vector", {"target": "predicted"})
    'A positive value (+) speaks for the class that the model predicts for that row, ...'
    >>> meaning_of_signs("vector", {"target": "positive"})
    """
    return PREDICTED_CLASS if kind != "rule" and explained_by.get("target") == "predicted" else None


def importance_notes(kind: str, explained_by: Mapping[str, str], discretizer: str) -> tuple[str, ...]:
    """Return what to know about the importances of a result; discretized ones add up to nothing.

    Examples
    --------
    >>> importance_notes("vector", {"adds_up_to": "raw score"}, "original")
    ('The values add up to the raw score, and so determine it: ...',)
    """
    total, signs = explained_by.get("adds_up_to"), meaning_of_signs(kind, explained_by)
    additive = ADDITIVE.format(total) if total and discretizer == "original" else None
    return tuple(note for note in (additive, signs) if note is not None)
