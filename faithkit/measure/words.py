"""Word agreement by outcome: labels, numbers, numbers with a tolerance, or scores."""

from collections.abc import Mapping

from faithkit.measure.finding import NAMES_THE_LABEL, ONE_LABEL
from faithkit.report.formats import format_number, format_percent, format_three_digits
from faithkit.wording import format_exactly

WITH = {"consistency": "with the same explanation", "sufficiency": "to which its explanation applies"}
OTHERS = {"consistency": "with their explanation", "sufficiency": "to which their explanation applies"}
ITS_NAME = (
    "Each prediction has one explanation, which may only repeat the prediction: {}, but that shows nothing."
)
PREDICTED_CLASS = (
    "A positive value (+) speaks for the class that the model predicts for that row, and a negative one "
    "against it. The class is left out of the explanation, because it would name the prediction; target=all "
    "compares the values for all classes at once."
)
SAME = "Take two instances with the same explanation: "
WHERE = "Take an explanation, and any instance to which it applies: "
COUNTED = {2: "two", 3: "three", 4: "four", 5: "five"}


class Words:
    """The words for predictions that are labels; the other outcomes have their own.

    Attributes
    ----------
    has_labels : bool
        Whether findings speak of labels, and a measure of k labels cannot be below 1/k.
    is_counted : bool
        Whether two predictions agree or do not.
    agree : str
        The head of the column of agreement among checked instances.
    among : str
        The word between the agreement and the number of checked instances.
    local : str
        The score of an instance, on the axis of a plot.
    one_prediction, all_agree : str
        How to say that all predictions are the same, and that all checked instances agree.
    agreement_text, each_text : str
        How far the checked instances agree, and what the score of an instance is.
    reading : str or None
        How predictions are read, if that is not evident.
    glossary : mapping of str to str
        The meaning of both measures and of that column, and what an unchecked instance counts as.
    """

    has_labels = True
    is_counted = True
    agree = "agree among those checked"
    among = "of"
    local = "share of other instances that agree"
    one_prediction = (
        "All explained instances have the same prediction, so any explanation agrees with it: nothing was "
        "tested."
    )
    all_agree = "all that could be checked agree"
    agreement_text = "others {others} get the same prediction {share} of the time"
    each_text = "For each instance, how many of the others {group} get its prediction."
    reading: str | None = None
    glossary: Mapping[str, str] = {
        "consistency": f"{SAME}how often do they get the same prediction?",
        "sufficiency": f"{WHERE}how often does it get the prediction that the explanation was given for?",
        "agree": "How many of these others get the same prediction, on average, and how many instances were "
        "checked. A share of a few instances says little.",
        "alone": "as 0",
    }

    def agreement(self, measure: str, share: float) -> str:
        """Say how far the checked instances agree."""
        numbers = {"share": share_in_words(share), "number": format_number(share)}
        return self.agreement_text.format(others=OTHERS[measure], **numbers)

    def each(self, measure: str) -> str:
        """Say what the score of an instance is."""
        return self.each_text.format(group=WITH[measure])

    def format_share(self, share: float) -> str:
        """Return an agreement as a number."""
        return format_percent(share)

    def format_agreement(self, share: float | None, count: int | None) -> str:
        """Return the agreement of the checked instances and their number, or a dash if there are none."""
        if share is None:
            return "–"
        return self.format_share(share) + ("" if count is None else f" {self.among} {count:,}")

    def finding(self, word: str) -> str:
        """Return the name of a finding."""
        return word if self.has_labels else word.replace("label", "prediction")

    def untested(self, finding: str) -> str | None:
        """Say that nothing was tested, if that is the finding."""
        sentences = {ONE_LABEL: self.one_prediction, NAMES_THE_LABEL: ITS_NAME.format(self.all_agree)}
        return sentences.get(finding)

    def floor(self, measure: str, floor: float) -> str | None:
        """Say what the smallest possible value is; the agreement of numbers and scores has none above 0."""
        if not self.has_labels:
            return None
        k = round(1 / floor)
        return f"With {COUNTED.get(k, k)} labels {measure} cannot be below {format_three_digits(floor)}."


class Shares(Words):
    """Numbers: the share of their variance that explanations account for."""

    has_labels = False
    is_counted = False
    agree = "accounted for among those checked"
    among = "in"
    local = "share of the variance that is accounted for"
    all_agree = "explanations account for all of the variance that could be checked"
    each_text = (
        "For each instance, how much less the others {group} differ from it than any two do on average; "
        "below 0 if they differ more. What is below −1 is drawn there."
    )
    reading = (
        "Predictions are numbers, so the measure is the share of their variance that explanations account "
        "for."
    )
    glossary: Mapping[str, str] = {
        "consistency": "The share of the prediction's variance that the explanation accounts for. "
        f"{SAME}how much less do their predictions differ than those of any two?",
        "sufficiency": f"The same of explanations where they apply. {WHERE}how much less does its prediction "
        "differ from the one that the explanation was given for than those of any two? Below 0 if more.",
        "agree": "The share of the prediction's variance that explanations account for in the instances that "
        "were checked, and how many those are. A share in a few instances says little.",
        "alone": "as furthest apart",
    }

    def agreement(self, measure: str, share: float) -> str:
        """Say how much of the variance is accounted for, or how much more others differ than any two rows."""
        if share < 0:
            return (
                f"others {OTHERS[measure]} differ from them by {format_number(1 - share)} times the "
                "prediction's variance, which is more than any two do on average"
            )
        where = "" if measure == "consistency" else "where they apply, "
        return f"{where}their explanations account for {share_in_words(share)} of the prediction's variance"


class Near(Words):
    """Numbers that agree if they differ by at most a tolerance."""

    has_labels = False
    glossary: Mapping[str, str] = {
        "consistency": f"{SAME}how often do their predictions differ by no more than is tolerated?",
        "sufficiency": f"{WHERE}how often does its prediction differ by no more than is tolerated from "
        "the one that the explanation was given for?",
        "agree": "How many of these others get a prediction that agrees, on average, and how many instances "
        "were checked. A share of a few instances says little.",
        "alone": "as 0",
    }

    def __init__(self, within: str) -> None:
        near = f"All explained instances have predictions within {within} of each other"
        self.one_prediction = f"{near}: nothing was tested."
        prediction = f"a prediction within {within} of theirs"
        self.agreement_text = f"others {{others}} get {prediction} {{share}} of the time"
        self.each_text = f"For each instance, how many of the others {{group}} are within {within} of it."
        self.reading = f"Predictions are numbers, and two agree if they differ by at most {within}."


class Scores(Words):
    """Score vectors, which agree by their distance."""

    has_labels = False
    is_counted = False
    agree = "agreement of those checked"
    among = "in"
    local = "mean agreement with other instances"
    agreement_text = "scores of others {others} agree with theirs by {number} on average"
    each_text = "For each instance, how far the scores of the others {group} agree with its own."
    reading = (
        "Predictions are scores: two agree by 1 minus half their squared distance, fully if they are equal, "
        "and not at all if each is sure of another label."
    )
    glossary: Mapping[str, str] = {
        "consistency": f"{SAME}how far do their scores agree? That is 1 minus half the squared distance: 1 "
        "for equal scores, 0 if each is sure of another label.",
        "sufficiency": f"{WHERE}how far do its scores agree with those that the explanation was given for?",
        "agree": "How far the scores of these others agree with the instance's, on average, and how many "
        "instances were checked. An agreement in a few instances says little.",
        "alone": "as 0",
    }

    def format_share(self, share: float) -> str:
        """Return an agreement as a number, which is not a share of instances."""
        return format_number(share)


OF_LABELS = Words()


def choose_words(kind: str, within: float | None = None) -> Words:
    """Return the words for predictions of a kind, or for numbers with a tolerance.

    Examples
    --------
    >>> choose_words("numbers", 2000.0).agreement("consistency", 0.66)
    'others with their explanation get a prediction within 2000 of theirs 66 % of the time'
    """
    if within is not None:
        return Near(format_exactly(within))
    return {"labels": Words, "numbers": Shares, "scores": Scores}[kind]()


def share_in_words(share: float) -> str:
    """Return a share in prose.

    >>> share_in_words(0.9), share_in_words(0.9999)
    ('90 %', 'more than 99.9 %')
    """
    return format_percent(share).replace("<", "less than").replace(">", "more than")
