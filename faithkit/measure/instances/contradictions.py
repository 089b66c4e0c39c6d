"""Contradictions: explanations that hold for instances of different predictions, and two rows each."""

from collections.abc import Iterable
from typing import Any

import attrs

from faithkit.jsonable import unique_keys
from faithkit.measure.instances.explanation_view import ExplanationView
from faithkit.measure.instances.local_estimate import PredictionSummary
from faithkit.measure.instances.parts import ShownContradiction
from faithkit.measure.instances.rows import SampleRow
from faithkit.measure.instances.shown_explanations import mark_rows, show_explanation
from faithkit.report.base import Displayable
from faithkit.report.formats import describe_count, format_predictions, pluralize, shorten
from faithkit.report.sheet import Sheet
from faithkit.wording import join_words

LETTERS = 60  # of an explanation in a line
MAX_LISTED = 100  # predictions of a contradiction; a recommender has thousands
MOST_LABELS = 10  # in a line
MAX_DRAWN = 20  # contradictions with pictures of their rows: a page must not grow without end
WORST_FIRST = "Explanations that hold for instances of different predictions, worst first:"


@attrs.frozen(repr=False)
class Contradiction(Displayable):
    """An explanation that holds for instances with different predictions, and two rows that show it.

    Attributes
    ----------
    explanation : str
        The explanation in readable form.
    predictions : dict
        The number of instances of each prediction for which it holds. If there are more than 100 predictions,
        these are the most frequent ones and those of the pair.
    pair : tuple of SampleRow
        A row with this explanation, and a row that contradicts it.
    unlisted : int
        The number of instances with predictions that are not listed: all of them, where predictions are not
        labels.
    numbers : PredictionSummary or None
        A summary of the predictions of these instances, if they are numbers.
    view : ExplanationView or None
        The explanation taken apart, for reports.
    """

    explanation: str
    predictions: dict[Any, int]
    pair: tuple[SampleRow, SampleRow]
    unlisted: int = 0
    numbers: PredictionSummary | None = None
    view: ExplanationView | None = None

    @classmethod
    def of(
        cls, explanation: str, predictions: dict[Any, int], pair: tuple[SampleRow, SampleRow]
    ) -> "Contradiction":
        """Build a contradiction that lists at most `MAX_LISTED` predictions, those of the pair first."""
        # an explanation need not hold for its owner, so the predictions of the pair may have a count of 0
        own_labels = dict.fromkeys(sample_row.prediction for sample_row in pair)
        counts = predictions | {label: predictions.get(label, 0) for label in own_labels}
        by_priority = sorted(counts, key=lambda label: (label not in own_labels, -counts[label]))
        listed = set(by_priority[:MAX_LISTED])
        listed_counts = {label: count for label, count in counts.items() if label in listed}
        n_unlisted = sum(counts.values()) - sum(listed_counts.values())
        return cls(explanation, listed_counts, pair, n_unlisted)

    @property
    def shown(self) -> ExplanationView:
        """The explanation taken apart, or all of it as a text."""
        return self.view or ExplanationView(self.explanation)

    @property
    def holds_for(self) -> int:
        """The number of instances for which the explanation holds."""
        return sum(self.predictions.values()) + self.unlisted

    @property
    def rows(self) -> tuple[int, int]:
        """The positions of the two rows."""
        return self.pair[0].row, self.pair[1].row

    @property
    def scope(self) -> str:
        """How many instances the explanation holds for and their predictions, that of the first row first.

        Examples
        --------
        >>> import faithkit
        >>> faithkit.score(["yes", "yes", "no"], ["a", "a", "a"]).contradictions()[0].scope
        '3 instances: 2 get yes and 1 gets no'
        """
        instances = pluralize(self.holds_for, "instance")
        if self.numbers is not None:
            return f"{instances}: they get {self.numbers}"
        if not self.predictions:  # vectors, of which hardly two are the same
            return instances
        first, counts = self.pair[0].prediction, self.predictions
        is_cut = len(counts) > MOST_LABELS or self.unlisted > 0
        labels = sorted(
            filter(counts.get, counts), key=lambda label: (label != first, -counts[label] if is_cut else 0)
        )
        labels = labels[: MOST_LABELS - 1] if is_cut else labels
        parts = [describe_count(counts[label], label) for label in labels]
        if is_cut:
            n_others = self.holds_for - sum(counts[label] for label in labels)
            parts.append(describe_count(n_others, "something else"))
        return f"{instances}: {join_words(parts)}"

    def line(self) -> str:
        """Return the explanation and for what it holds."""
        return f"{shorten(self.explanation, LETTERS)}: holds for {self.scope}"

    def sheet(self) -> Sheet:
        """Return the explanation, and two rows that show that it misleads."""
        return Sheet(None, [self.part()])

    def part(self, number: int | None = None) -> ShownContradiction:
        """Return the explanation and its two rows, with a number if it is one of several."""
        first, second = self.pair
        labels = format_predictions(first.prediction, second.prediction)
        view = self.shown
        is_swapped = view.speaks_for == labels[1]
        rows = list(zip(self.pair, labels, strict=True))
        is_drawn = number is None or number <= MAX_DRAWN
        return ShownContradiction(
            show_explanation(view, number, is_swapped),
            self._given_for + f"holds for {self.scope}",
            [sample_row.line(label, view) for sample_row, label in rows],
            mark_rows(
                view,
                [sample_row.head(label) for sample_row, label in rows],
                [first.values, second.values],
                [first.image, second.image] if is_drawn else [],
                is_swapped,
            ),
            self._bar,
        )

    @property
    def _given_for(self) -> str:
        """Which prediction the explanation was given for, where its weights do not say it."""
        is_given = self.shown.speaks_for is not None and not self.shown.are_importances
        return f"given for {self.shown.speaks_for}, " if is_given else ""

    @property
    def _bar(self) -> tuple[float, float] | None:
        """Where the bar of the explanation starts and how long it is, as shares; None for vectors.

        For labels it is the share of the first row's label; for numbers, the middle half of their range.
        """
        numbers = self.numbers
        if numbers is None and not self.predictions:
            return None
        if numbers is None:
            return 0.0, self.predictions[self.pair[0].prediction] / self.holds_for
        width = numbers.maximum - numbers.minimum or 1.0
        start, stop = (
            (end - numbers.minimum) / width for end in (numbers.lower_quartile, numbers.upper_quartile)
        )
        return start, stop - start

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values; predictions become text where they are keys."""
        return {
            "explanation": self.explanation,
            "predictions": dict(zip(unique_keys(self.predictions), self.predictions.values(), strict=True)),
            "unlisted": self.unlisted,
            "numbers": None if self.numbers is None else attrs.asdict(self.numbers),
            "pair": [sample_row.to_dict() for sample_row in self.pair],
        }


class Contradictions(Displayable, list[Contradiction]):
    """A readable list of contradictions, as `Evaluation.contradictions` returns it.

    Attributes
    ----------
    is_tested : bool
        Whether any explanation holds for a second instance. If none does, nothing can contradict it.
    note : str or None
        How to read the explanations, if they need a remark.

    Examples
    --------
    >>> import faithkit
    >>> print(faithkit.score(["yes", "yes", "no"], ["a", "a", "a"]).contradictions())
    Explanations that hold for instances of different predictions, worst first:
    <BLANKLINE>
    1. a
       holds for 3 instances: 2 get yes and 1 gets no
       row 0 → yes
       row 2 → no
    """

    is_tested = True

    def __init__(self, contradictions: Iterable[Contradiction] = (), note: str | None = None) -> None:
        super().__init__(contradictions)
        self.note = note

    def line(self) -> str:
        """Return how many there are, and the worst."""
        worst = f", the worst: {self[0].line()}" if self else ""
        return pluralize(len(self), "explanation") + worst

    def sheet(self) -> Sheet:
        """Return the explanations, each with two rows."""
        if not self:
            return Sheet(None, [self.why_none], shows=self)
        pairs = [contradiction.part(position) for position, contradiction in enumerate(self, 1)]
        worst = Sheet(None, [WORST_FIRST, *pairs], shows=self)
        return Sheet(None, [self.note, worst]) if self.note else worst

    @property
    def why_none(self) -> str:
        """Why there is no contradiction: nothing contradicts an explanation, or nothing could.

        Examples
        --------
        >>> import faithkit
        >>> faithkit.score(["yes", "no"], ["a", "b"]).contradictions().why_none
        'No explanation holds for a second instance, so nothing could contradict one.'
        """
        if self.is_tested:
            return "No explanation holds for instances of different predictions."
        return "No explanation holds for a second instance, so nothing could contradict one."
