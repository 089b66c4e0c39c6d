"""An overview of distinct explanations: how many rows have each, how far they agree, and the loss."""

import attrs
import numpy as np

from faithkit.arrays import Floats, sum_by
from faithkit.measure.counting.count import Count
from faithkit.measure.counting.owners import Counts
from faithkit.report.formats import describe_count, format_number, format_percent, pluralize, shorten
from faithkit.report.sheet import Exploration, Sheet
from faithkit.wording import to_printable

MAX_LETTERS = 300  # of an explanation
MAX_NAME = 40  # letters of a prediction or an id
READING = (
    "Agreement is the {agreement}, on average over the rows with an explanation. Loss is the part of "
    "{measure} that disagreement under an explanation takes away; all losses add up to {loss}."
)


@attrs.frozen(eq=False)
class ExplanationTotals:
    """One number of each kind for every distinct explanation.

    Attributes
    ----------
    position : (m,) int
        The position of each explanation among those that were counted.
    code : (c,) int
        For each explanation that was counted, its position here: one may have been counted several times.
    rows : (m,) int
        The number of rows that have it.
    share : (m,) float
        Their share of the weight of all rows.
    agreement : (m,) float
        The mean share of others that agree with these rows; NaN where none of them could be checked.
    loss : (m,) float
        The part of the measure that is lost because others do not agree. The sum is the share of rows that
        could be checked minus the measure by leave-one-out.
    scope : (m,) int or None
        The number of rows to which it applies; None where these are the rows that have it, or rows have
        weights.

    Examples
    --------
    Two rows with the explanation "a" get "yes" and one "no"; one row is alone with "b".

    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no", "yes"], ["a", "a", "a", "b"])
    >>> counted = result.evidence.counts["consistency"]
    >>> totals = ExplanationTotals.of(counted)
    >>> totals.rows, totals.share, totals.agreement.round(3), totals.loss
    (array([3, 1]), array([0.75, 0.25]), array([0.333,   nan]), array([0.5, 0. ]))
    """

    position: Counts
    code: Counts
    rows: Counts
    share: Floats
    agreement: Floats
    loss: Floats
    scope: Counts | None = None

    @classmethod
    def of(cls, count: Count) -> "ExplanationTotals":
        """Sum the owners of each explanation.

        One that occurs in several blocks counts once, and so do all rows without an explanation.
        """
        owners = count.owners
        values = (owners.rows, owners.weight, owners.weight * (owners.others > 0), owners.row_losses)
        code = np.where(count.explanations.missing, -1, count.without_block)
        _, position, code = np.unique(code, return_index=True, return_inverse=True)
        rows, weight, checked, loss = (sum_by(code, owners.by_explanation(value)) for value in values)
        agreement = np.where(checked > 0, 1.0 - loss / np.maximum(checked, 1), np.nan)
        has_scope = not count.relation.groups and owners.steps is None
        scope = sum_by(code, owners.totals) if has_scope else None
        share, loss = weight / owners.total_weight, loss / owners.total_weight
        return cls(position, code, rows, share, agreement, loss, scope)

    @property
    def size(self) -> Counts:
        """The number of rows to which each explanation applies if it is known, else of those that have it."""
        return self.rows if self.scope is None else self.scope

    @property
    def is_checked(self) -> np.ndarray:
        """Whether some row of each explanation could be compared with others."""
        return ~np.isnan(self.agreement)

    def numbers_at(self, position: int) -> list[tuple[float | None, str]]:
        """Return the numbers of an explanation with their texts; dashes where nothing could be checked."""
        rows, share = int(self.rows[position]), float(self.share[position])
        numbers: list[tuple[float | None, str]] = [(rows, f"{rows:,}"), (share, format_percent(share))]
        if self.scope is not None:
            numbers.append((int(self.scope[position]), f"{self.scope[position]:,}"))
        for values in (self.agreement, self.loss):
            value = None if np.isnan(self.agreement[position]) else float(values[position])
            numbers.append((value, format_number(value)))
        return numbers

    @property
    def worst_first(self) -> Counts:
        """The order of explanations: by loss, then by size; unchecked ones last."""
        return np.lexsort((-self.rows, -self.loss, ~self.is_checked))

    def select(self, limit: int) -> Counts:
        """Return the `limit` explanations with the largest loss and the `limit` most frequent, worst first.

        Examples
        --------
        >>> position, loss = np.arange(3), np.array([0, 0.1, 0.2])
        >>> totals = ExplanationTotals(position, position, np.array([1, 9, 2]), loss, loss, loss)
        >>> totals.select(1)
        array([2, 1])
        """
        order = self.worst_first
        is_selected = np.zeros(len(order), dtype=bool)
        is_selected[order[:limit]] = True
        is_selected[np.argsort(-self.rows, kind="stable")[:limit]] = True
        return order[is_selected[order]]


@attrs.frozen
class Instances:
    """Rows with one explanation and one prediction: how many, and the first of them by number or id.

    `prediction` is a text; None where the rows have several predictions that are not listed.
    """

    prediction: str | None
    n: int
    first: tuple[str, ...]

    def line(self) -> str:
        """Return how many rows have the prediction, and the first of them.

        Examples
        --------
        >>> Instances("yes", 12, ("0", "4", "17")).line(), Instances(None, 5, ()).line()
        ('12 get yes: 0, 4, 17, …', '5 get something else')
        """
        prediction = "something else" if self.prediction is None else _shorten(self.prediction, MAX_NAME)
        names = [_shorten(name, MAX_NAME) for name in self.first]
        rows = ", ".join([*names, "…"] if self.n > len(names) else names)
        return describe_count(self.n, prediction) + (f": {rows}" if names else "")


@attrs.frozen(eq=False)
class Overview:
    """The explanations of a measure, with the worst and the largest in words.

    Attributes
    ----------
    measure : str
    totals : ExplanationTotals
    selected : (s,) int
        The explanations in words, by their position in `totals`, worst first.
    texts : sequence of str
        These explanations in words.
    instances : sequence of sequences of Instances
        Their rows, by prediction, the most frequent first.
    id_column : str or None
        The column of the rows' ids; None where they have numbers only.
    """

    measure: str
    totals: ExplanationTotals
    selected: Counts
    texts: list[str]
    instances: list[list[Instances]]
    id_column: str | None = None

    @property
    def short_texts(self) -> list[str]:
        """The texts, none of them too long for a table."""
        return [_shorten(text, MAX_LETTERS) for text in self.texts]

    def sheet(self, agreement: str) -> Sheet | None:
        """Return a table of explanations for a page; None where nothing could be checked.

        `agreement` says what the agreement of an instance is.
        """
        if not self.totals.is_checked.any():
            return None
        loss = format_number(float(self.totals.loss.sum()))
        caption = READING.format(agreement=agreement, measure=self.measure, loss=loss)
        return Sheet.of("Explanations", caption, self._unshown(), self._table(), shows=self)

    def _unshown(self) -> str:
        """Say which explanations the table shows, and how many are left out."""
        n, n_shown = len(self.totals.rows), len(self.selected)
        if n == n_shown:
            return f"The table has all {pluralize(n, 'explanation')}, those that cost most first."
        loss = float(self.totals.loss.sum() - self.totals.loss[self.selected].sum())
        return (
            f"The table has {n_shown:,} of {n:,} explanations: those that cost most, and the largest. The "
            f"other {n - n_shown:,} cost {format_number(max(0.0, loss))} together."
        )

    def _table(self) -> Exploration:
        instances = f"instances ({_shorten(self.id_column or 'row', MAX_NAME)})"
        rows = [
            (text, self.totals.numbers_at(position), [part.line() for part in parts])
            for text, position, parts in zip(
                self.short_texts, self.selected.tolist(), self.instances, strict=True
            )
        ]
        scope = () if self.totals.scope is None else ("applies to",)
        heads = ("explanation", "rows", "share of rows", *scope, "agreement", "loss", instances)
        return Exploration(heads, rows)


def _shorten(text: str, limit: int) -> str:
    return shorten(to_printable(text), limit)
