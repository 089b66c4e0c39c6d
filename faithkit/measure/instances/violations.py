"""Evidence about single rows: violations with two witnesses, and the local result of an instance.

Reports draw the explanation of a row in parts: weights for or against a class, and conditions.
"""

from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.display import Displayable
from faithkit.explanations.predicates import Predicate
from faithkit.jsonable import SCHEMA, to_json_value, unique_keys
from faithkit.measure.agreement.base import Agreement, agreement_by_label
from faithkit.measure.counting.owners import Counts
from faithkit.measure.local_estimate import LocalEstimate, PredictionSummary

Box = tuple[tuple[int, int], ...]  # the first cell and the one after the last, along every axis of a row


@attrs.frozen
class Weight:
    """A feature, a word or a patch with its weight for the class; negative weights are against it.

    `box` has the cells of the row that are meant, if rows are images or series.
    """

    name: str
    value: float
    box: Box | None = None


@attrs.frozen
class ExplanationView:
    """An explanation in the form that was compared, taken apart so that reports can draw it.

    Attributes
    ----------
    text : str
        All of it, in readable form.
    weights : tuple of Weight
        The largest first, without zeros; empty if the explanation has no weights.
    conditions : tuple of Predicate
        The conditions of a rule, or those under which weights apply to other rows.
    speaks_for : str or None
        The class that positive weights support, or that a rule was given for; None if unknown.
    noun : str
        What the weights belong to: features, words or patches.
    are_signs : bool
        Whether only the signs of weights were compared.
    is_rule : bool
        Whether the conditions are the explanation itself.
    are_importances : bool
        Whether the explanation consists of importances, even if a discretizer left no weights of them.
    """

    text: str
    weights: tuple[Weight, ...] = ()
    conditions: tuple[Predicate, ...] = ()
    speaks_for: str | None = None
    noun: str = "features"
    are_signs: bool = False
    is_rule: bool = False
    are_importances: bool = False

    @property
    def named_columns(self) -> list[str]:
        """The columns that the explanation names: those of its conditions, or else of its weights."""
        columns = [str(predicate.column) for predicate in self.conditions if hasattr(predicate, "column")]
        return columns or [weight.name for weight in self.weights]


@attrs.frozen
class RowId:
    """The identifier of a row: the column that names it and its value there, such as customer 4711."""

    column: str
    value: Any

    def __str__(self) -> str:
        return f"{self.column} {self.value}"


def _id_value(row_id: RowId | None) -> Any:
    """Return the JSON value of a row's identifier; None where it has none."""
    return None if row_id is None else to_json_value(row_id.value)


@attrs.frozen(repr=False)
class Witness(Displayable):
    """One row of the sample: its position, its prediction, and its values (None if X is unknown).

    A row that is `in_pool` was not explained, and `row` is its position in the pool. `id` is its identifier,
    if there is one. `image` is the row itself, if it has several axes.
    """

    row: int
    prediction: Any
    values: dict[str, Any] | None
    in_pool: bool = False
    id: RowId | None = None
    image: NDArray[Any] | None = attrs.field(default=None, eq=False)

    @property
    def place(self) -> str:
        """The position of the row, and its identifier."""
        row_name = f"row {self.row} of the pool" if self.in_pool else f"row {self.row}"
        return row_name if self.id is None else f"{row_name} ({self.id})"

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "row": self.row,
            "id": _id_value(self.id),
            "in_pool": self.in_pool,
            "prediction": to_json_value(self.prediction),
            "values": self.values,
        }


MAX_LISTED = 100  # predictions of a violation; a recommender has thousands


@attrs.frozen(repr=False)
class Violation(Displayable):
    """An explanation that holds for instances with different predictions, and two rows that show it.

    Attributes
    ----------
    explanation : str
        The explanation in readable form.
    predictions : dict
        The number of instances of each prediction for which it holds. If there are more than 100 predictions,
        these are the most frequent ones and those of the witnesses.
    witnesses : tuple of Witness
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
    witnesses: tuple[Witness, Witness]
    unlisted: int = 0
    numbers: PredictionSummary | None = None
    view: ExplanationView | None = None

    @classmethod
    def of(
        cls, explanation: str, predictions: dict[Any, int], witnesses: tuple[Witness, Witness]
    ) -> "Violation":
        """Build a violation that lists at most `MAX_LISTED` predictions, those of the witnesses first."""
        # an explanation need not hold for its owner, so the witnesses' predictions may have a count of 0
        witness_labels = dict.fromkeys(witness.prediction for witness in witnesses)
        counts = predictions | {label: predictions.get(label, 0) for label in witness_labels}
        by_priority = sorted(counts, key=lambda label: (label not in witness_labels, -counts[label]))
        listed = set(by_priority[:MAX_LISTED])
        listed_counts = {label: count for label, count in counts.items() if label in listed}
        n_unlisted = sum(counts.values()) - sum(listed_counts.values())
        return cls(explanation, listed_counts, witnesses, n_unlisted)

    @property
    def holds_for(self) -> int:
        """The number of instances for which the explanation holds."""
        return sum(self.predictions.values()) + self.unlisted

    @property
    def rows(self) -> tuple[int, int]:
        """The positions of the two rows."""
        return self.witnesses[0].row, self.witnesses[1].row

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values; predictions become text where they are keys."""
        return {
            "explanation": self.explanation,
            "predictions": dict(zip(unique_keys(self.predictions), self.predictions.values(), strict=True)),
            "unlisted": self.unlisted,
            "numbers": None if self.numbers is None else attrs.asdict(self.numbers),
            "witnesses": [witness.to_dict() for witness in self.witnesses],
        }


class Violations(Displayable, list[Violation]):
    """A readable list of violations, as `Evaluation.violations` returns it.

    Attributes
    ----------
    is_tested : bool
        Whether any explanation holds for a second instance. If none does, nothing can contradict it.
    note : str or None
        How to read the explanations, if they need a remark.

    Examples
    --------
    >>> import faithkit
    >>> print(faithkit.score(["yes", "yes", "no"], ["a", "a", "a"]).violations())
    Explanations that hold for instances of different predictions, worst first:
    <BLANKLINE>
    1. a
       holds for 3 instances: 2 get yes and 1 gets no
       row 0 → yes
       row 2 → no
    """

    is_tested = True

    def __init__(self, violations: Iterable[Violation] = (), note: str | None = None) -> None:
        super().__init__(violations)
        self.note = note


def find_contradiction(
    agreement: Agreement, owner_labels: Counts, label_counts: Counts
) -> tuple[int, NDArray[np.bool_]]:
    """Return a contradicted owner of an explanation, and the labels that contradict it.

    It is the first owner with any disagreement, and all labels that disagree with it. Where predictions agree
    by degrees, it is the owner and the label in the explanation's scope that agree least.

    Parameters
    ----------
    agreement : Agreement
    owner_labels : (m,) int
        The labels of the rows with this explanation, in the order of rows.
    label_counts : (k,) int
        The number of instances of each label for which the explanation holds.

    Examples
    --------
    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> find_contradiction(SAME_LABEL, np.array([1, 0]), np.array([1, 1, 0]))
    (0, array([ True, False,  True]))
    """
    labels = np.arange(len(label_counts))
    if agreement.is_binary:
        has_disagreement = agreement_by_label(agreement, label_counts)[owner_labels] < label_counts.sum()
        position = int(has_disagreement.argmax())
        return position, agreement.disagreement(int(owner_labels[position]), labels) > 0
    owner_label, scope_label = _most_distant_labels(
        agreement, np.unique(owner_labels), np.flatnonzero(label_counts)
    )
    return int((owner_labels == owner_label).argmax()), labels == scope_label


def _most_distant_labels(agreement: Agreement, owner_labels: Counts, scope_labels: Counts) -> tuple[int, int]:
    """Return a label of the owners and a label in the explanation's scope that agree least.

    Labels are in order. So for numbers, the label in scope is the first or the last. For vectors, a search
    goes back and forth between the most distant labels. It may miss a more distant pair, but a search of all
    pairs would take too long.

    Examples
    --------
    >>> from faithkit.measure.agreement.squares import Squares
    >>> numbers = Squares.of_numbers(np.array([[1.0], [2.0], [5.0], [6.0]]), np.array([1, 1, 1, 1]))
    >>> _most_distant_labels(numbers, np.array([1, 2]), np.array([0, 1, 2, 3]))
    (1, 3)
    """
    starts = {scope_labels[0], scope_labels[-1]}
    pairs = [_search_distant_pair(agreement, int(start), owner_labels, scope_labels) for start in starts]
    owner_label, scope_label, _ = max(pairs, key=lambda pair: (pair[2], -pair[0], -pair[1]))
    return owner_label, scope_label


def _search_distant_pair(
    agreement: Agreement, scope_label: int, owner_labels: Counts, scope_labels: Counts
) -> tuple[int, int, float]:
    """Alternate between most distant labels while the distance grows; return the pair and the distance."""
    distance = -1.0
    while True:
        owner_label = int(owner_labels[agreement.disagreement(scope_label, owner_labels).argmax()])
        distances = agreement.disagreement(owner_label, scope_labels)
        if distances.max() <= distance:
            return owner_label, scope_label, distance
        scope_label, distance = int(scope_labels[distances.argmax()]), float(distances.max())


@attrs.frozen(repr=False, kw_only=True)
class LocalResult(Displayable):
    """Both measures of one instance, with its prediction and explanation.

    Attributes
    ----------
    prediction : label
    explanation : str
        The explanation in readable form.
    consistency, sufficiency : LocalEstimate
        `sufficiency` is None where the evaluation has none.
    shared_by : tuple of int
        The *other* rows of the sample that have this explanation.
    values : dict or None
        The values of the instance in the columns that the model sees.
    contradicted_by : tuple of Witness
        At most three rows to which the explanation applies and that have another prediction, the nearest
        first. For numbers and scores, those that agree least.
    id : RowId or None
        The identifier of the instance, if there is one.
    shared_ids : tuple of RowId or None
        The identifiers of the other rows, in the order of `shared_by`.
    view : ExplanationView or None
        The explanation taken apart, for reports.
    image : array or None
        The instance itself, if it has several axes.
    """

    prediction: Any
    explanation: str
    consistency: LocalEstimate
    sufficiency: LocalEstimate | None
    shared_by: tuple[int, ...]
    values: dict[str, Any] | None
    contradicted_by: tuple[Witness, ...] = ()
    id: RowId | None = None
    shared_ids: tuple[RowId | None, ...] = ()
    view: ExplanationView | None = None
    image: NDArray[Any] | None = attrs.field(default=None, eq=False)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        fields = attrs.asdict(self, filter=lambda field, _: field.name not in ("view", "image"))
        return (
            {"schema": SCHEMA}
            | fields
            | {
                "prediction": to_json_value(self.prediction),
                "shared_by": list(self.shared_by),
                "contradicted_by": [witness.to_dict() for witness in self.contradicted_by],
                "id": _id_value(self.id),
                "shared_ids": [_id_value(row_id) for row_id in self.shared_ids],
            }
        )
