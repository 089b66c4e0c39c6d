"""Notes on a result: what readers should know about its importances and its explanations.

Explainers of importances declare facts in `Explanations.shared`. `shared["adds_up_to"]` names what values and
base value add up to, such as "raw score". `shared["target"]` is "predicted" if values speak for the class
that the model predicts for the row. `shared["class"]` is their class if it is the same for all rows.
"""

from collections.abc import Mapping
from typing import Any

from faithkit.inputs.data_warnings import find_label_in_explanations
from faithkit.inputs.predictions.outcome import LABELS
from faithkit.measure.counting.tally import Count
from faithkit.report.outcome_words import PREDICTED_CLASS
from faithkit.run.components.setup import Setup
from faithkit.run.populations.population import Population

ADDITIVE = (
    "The values add up to the {}, so high consistency is no evidence that they name the right features. "
    "Sufficiency by same-top-features is."
)
LEAKAGE = (
    "Nearly every explanation names the prediction of its own row, such as {!r}, and no other: with that in "
    "it, explanations agree with predictions whatever the model does. Leave it out."
)


def result_notes(population: Population, setup: Setup, leaked: Any = None) -> tuple[str, ...]:
    """Return all notes on a result, those on its input first; `leaked` is a label that explanations name."""
    importances = importance_notes(population.kind, setup.explained_by, setup.discretizer.text)
    leakage = () if leaked is None else (LEAKAGE.format(str(leaked)),)
    return *setup.notes, *importances, *leakage


def importance_notes(kind: str, explained_by: Mapping[str, str], discretizer: str) -> tuple[str, ...]:
    """Return notes on the importances of a result; discretized importances add up to nothing.

    Examples
    --------
    >>> importance_notes("vector", {"adds_up_to": "raw score"}, "original")
    ('The values add up to the raw score, so high consistency is no evidence that ...',)
    """
    total, signs = explained_by.get("adds_up_to"), meaning_of_signs(kind, explained_by)
    additive = ADDITIVE.format(total) if total and discretizer == "original" else None
    return tuple(note for note in (additive, signs) if note is not None)


def meaning_of_signs(kind: str, explained_by: Mapping[str, str]) -> str | None:
    """Say which class a positive value speaks for; None if it is the same class for all rows.

    Examples
    --------
    >>> meaning_of_signs("vector", {"target": "predicted"})
    'A positive value (+) speaks for the class that the model predicts for that row, ...'
    >>> meaning_of_signs("vector", {"target": "positive"})
    """
    return PREDICTED_CLASS if kind != "rule" and explained_by.get("target") == "predicted" else None


def leaked_label(count: Count, population: Population, setup: Setup) -> Any:
    """Return a label if nearly every explanation names the label of its own row; numbers are ignored."""
    is_labels = setup.outcome.kind == LABELS
    return find_label_in_explanations(count, population.labels) if is_labels else None
