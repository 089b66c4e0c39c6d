"""Explain the words of a report."""

from faithkit.report.formats import Payload
from faithkit.report.outcome_words import words_for_outcome
from faithkit.report.sheets.measures import number_columns
from faithkit.report.sheets.sheet import Sheet, Table

ESTIMATE = (
    "Instances that could be checked count as they are. For consistency, the others are compared with "
    "instances of near explanations, or with all, which can only understate it; for sufficiency, they count "
    "{}. On average over samples the estimate is at most the measure; in one sample it may be above."
)
MEANINGS = {
    "interval": "Where the measure lies, including what could not be checked.",
    "chance": "What one explanation for all instances would get: any two of them are compared. A dash "
    "where that is unknown.",
    "control": "What explanations of the same form would get that were chosen without the model: the mean "
    "of random draws. The part of the gap up to the full input that explanations close is their worth.",
    "checked": "The share of instances with at least one other instance to check against. A high share does "
    "not mean that explanations are good.",
    "leave-one-out": "The paper's estimate: instances that could not be checked count as 0. Another "
    "estimator has its own name here.",
    "bracket": "What the sample cannot rule out: from the estimate to its value if all that could not be "
    "checked agreed. It is the same for every estimator.",
    "finding": "Above chance: the whole interval lies above chance, or all instances were compared and a "
    "permutation test shows it. Below chance: the interval lies below. Not above chance: nothing shows "
    "either. One label, or one prediction: all predictions are the same, so nothing was tested. Names the "
    "label, or the prediction: there is one explanation for each prediction, which may be no more than "
    "its name. Unknown: nothing could be checked, and no bound is above chance.",
}


def glossary_sheet(payload: Payload) -> Sheet:
    """Return the meaning of the measures and of every column, in the words of the outcome."""
    outcome = words_for_outcome(payload).glossary
    meanings = {
        "consistency": outcome["consistency"],
        "sufficiency": outcome["sufficiency"],
        "estimate": ESTIMATE.format(outcome["alone"]),
        **MEANINGS,
        number_columns(payload)["agree"]: outcome["agree"],
    }
    return Sheet("What the words mean", [Table.of_pairs(meanings)], is_folded=True)
