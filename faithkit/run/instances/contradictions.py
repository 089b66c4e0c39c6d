"""Contradictions: explanations that hold for rows of different predictions, and the rows that show it."""

from collections.abc import Collection, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints
from faithkit.arrays.batches import spans
from faithkit.arrays.bitsets import unpack_bits
from faithkit.arrays.containers import take_rows
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, WithinBlock, holds_bits, key_of
from faithkit.explanations.rules import Rule
from faithkit.inputs.predictions.outcome import LABELS
from faithkit.measure.counting import bits
from faithkit.measure.counting.count import Count
from faithkit.measure.counting.owners import Counts
from faithkit.measure.instances.contradiction_search import find_contradiction
from faithkit.measure.instances.contradictions import Contradiction, Contradictions
from faithkit.measure.instances.explanation_view import ExplanationView
from faithkit.measure.instances.local_estimate import PredictionSummary
from faithkit.measure.instances.rows import SampleRow
from faithkit.run.components.setup import Setup
from faithkit.run.instances.nearest_rows import MAX_CANDIDATES, find_nearest_pair
from faithkit.run.instances.readable_rows import (
    LIMIT_FORMAT,
    image_of,
    meaning_of_signs,
    order_values,
    values_of,
    view_explanation,
)
from faithkit.run.populations.population import Population

NO_PAIR = "the tally counted an instance that is not there"


def shown_measure(measures: Collection[str]) -> str:
    """Return the measure whose contradictions are shown: sufficiency if it was measured."""
    return "sufficiency" if "sufficiency" in measures else "consistency"


def find_worst_contradictions(
    population: Population, setup: Setup, count: Count, limit: int
) -> Contradictions:
    """Return at most `limit` explanations, the largest loss first.

    The cost of an explanation is its loss, Σ (1 − h) over its owners. The number of pairs that disagree
    would not do: it grows with the square of a group, so a large group with few dissenters would come before
    a small one that is split in halves.
    """
    count = count.with_sorted_labels
    owners = count.owners
    loss = owners.by_explanation(owners.row_losses)
    worst = np.argsort(-loss, kind="stable")[:limit]
    worst = worst[loss[worst] > 0]
    contradictions = Contradictions(note=meaning_of_signs(population.kind, setup.explained_by))
    contradictions.is_tested = owners.checked[1] > 0
    is_grouping = count.relation.groups  # then the rows that it holds for are those that have it
    for start, stop in spans(len(worst), bits.DENSE // count.n_labels):
        block = worst[start:stop]
        for explanation, label_counts in zip(block.tolist(), count.label_counts(block), strict=True):
            pair = population.find_pair(count, explanation, label_counts)
            owner_explanation = population.explanation_of(count, explanation, pair[0])
            labels = [] if is_grouping else [str(pair[0].prediction)]
            view = view_scope(count.relation, owner_explanation, setup, labels, pair[0].image)
            pair = _order_values(pair, view.named_columns)
            text = view.text + scope_text(count.relation, owner_explanation)
            contradiction = _build_contradiction(text, population.labels, label_counts, pair, setup)
            contradictions.append(attrs.evolve(contradiction, view=view))
    return contradictions


def scope_text(relation: Relation, explanation: Explanations) -> str:
    """Describe where a relation applies one explanation, if it is not itself a rule."""
    rule = None if explanation.kind == "rule" else _scope_rule(relation, explanation)
    return f", which applies where {rule:{LIMIT_FORMAT}}" if rule is not None and rule.predicates else ""


def view_scope(
    relation: Relation,
    explanation: Explanations,
    setup: Setup,
    owner_labels: Sequence[str],
    image: NDArray[Any] | None,
) -> ExplanationView:
    """Decompose one explanation, with the rule by which a relation applies it to other rows."""
    labels = owner_labels if setup.outcome.kind == LABELS else ()
    shape = () if image is None else image.shape
    return view_explanation(
        explanation, _scope_rule(relation, explanation), setup.discretizer.instance, labels, shape
    )


def _scope_rule(relation: Relation, explanation: Explanations) -> Rule | None:
    """Return the rule that says where one explanation applies; None if no rule says it."""
    if explanation.missing[0]:
        return None
    if explanation.kind == "rule":
        rule: Rule | None = explanation.values[0]
        return rule
    if relation.groups:
        return None
    key = key_of(relation.relation if isinstance(relation, WithinBlock) else relation, explanation)
    rule = key[0] if isinstance(key, list | np.ndarray) else None  # a frame or a tuple has columns
    return rule if isinstance(rule, Rule) else None


def _order_values(pair: tuple[SampleRow, SampleRow], columns: list[str]) -> tuple[SampleRow, SampleRow]:
    """Order values: first those that the explanation names, then those in which the rows differ."""
    first, second = (sample_row.values for sample_row in pair)
    if first is None or second is None:
        return pair
    order = [*columns, *(name for name in first if first[name] != second.get(name))]
    return (
        attrs.evolve(pair[0], values=order_values(first, order)),
        attrs.evolve(pair[1], values=order_values(second, order)),
    )


def _build_contradiction(
    text: str, labels: list[Any], label_counts: Counts, pair: tuple[SampleRow, SampleRow], setup: Setup
) -> Contradiction:
    """Return a contradiction with the number of rows by label, or for numbers with a summary of them."""
    if setup.outcome.kind == LABELS:
        counts = {labels[code]: int(label_counts[code]) for code in np.flatnonzero(label_counts)}
        return Contradiction.of(text, counts, pair)
    is_scalar = isinstance(labels[0], float)
    numbers = PredictionSummary.of(np.array(labels), label_counts) if is_scalar else None
    return Contradiction(text, {}, pair, int(label_counts.sum()), numbers)


def build_row(count: Count, classes: list[Any], row: int) -> SampleRow:
    """Return a row of the sample, or of the pool behind it, as a sample_row."""
    start, numbers = 0, np.arange(len(count.sample)) if count.row_numbers is None else count.row_numbers
    n = len(numbers)
    for sample, codes in count.pieces():
        position = row - start
        if position < len(sample):
            in_pool = row >= n
            label, values = classes[codes[position]], values_of(sample.X, position)
            number, image = row - n if in_pool else int(numbers[row]), image_of(sample.X, position)
            return SampleRow(number, label, values, in_pool=in_pool, image=image)
        start += len(sample)
    raise AssertionError(NO_PAIR)


def find_pair(
    count: Count, classes: list[Any], explanation: int, label_counts: Counts
) -> tuple[SampleRow, SampleRow]:
    """Find a contradicted owner of an explanation, and a row that contradicts it.

    They are the first ones, or rather the nearest rows with the same predictions, if the instances are known.
    Where predictions agree more or less, they are the two rows that agree least. `label_counts` says how many
    instances of each label the explanation holds for.
    """
    rows, labels = rows_and_labels_in_scope(count, count.explanations.take([explanation]))
    if not count.design.is_equal:
        owner, contradicting = find_rows_of_two_clusters(count, explanation, rows)
    else:
        owners = np.flatnonzero(count.owned == explanation)
        position, is_contradicting = find_contradiction(count.agreement, count.labels[owners], label_counts)
        owner, contradicting = int(owners[position]), int(rows[is_contradicting[labels]][0])
    if count.agreement.is_binary and count.sample.X is not None and contradicting < len(count.sample):
        owner, contradicting = _nearest_rows(count, owner, contradicting, rows)
    return build_row(count, classes, owner), build_row(count, classes, contradicting)


def _nearest_rows(count: Count, owner: int, contradicting: int, rows: Ints) -> tuple[int, int]:
    """Return the nearest two rows of the sample that contradict each other like two known rows."""
    labels, X = count.labels, count.sample.X
    is_own = (count.owned == count.owned[owner]) & (labels == labels[owner])
    rows = rows[rows < len(count.sample)]
    rows = rows[labels[rows] == labels[contradicting]]
    owners, rows = np.flatnonzero(is_own)[:MAX_CANDIDATES], rows[:MAX_CANDIDATES]
    unit, steps = count.design.unit, count.design.steps
    is_allowed = (unit[owners][:, None] != unit[rows]) & (steps[owners] > 0)[:, None] & (steps[rows] > 0)
    if not is_allowed.any():
        return owner, contradicting
    position, other = find_nearest_pair(take_rows(X, owners), take_rows(X, rows), is_allowed)
    return int(owners[position]), int(rows[other])


def find_rows_of_two_clusters(count: Count, explanation: int, rows: Ints) -> tuple[int, int]:
    """Find two rows with a positive weight, of different clusters: rows of one cluster are no evidence."""
    unit, labels, steps = count.design.unit, count.labels, count.design.steps
    rows = rows[steps[rows] > 0]
    owners = np.flatnonzero((count.owned == explanation) & (steps > 0))
    if not count.agreement.is_binary:
        owners = owners[[_agreement_shares(count)[owners].argmin()]]  # the owner that agrees least
    for owner in owners.tolist():
        candidates = rows[unit[rows] != unit[owner]]
        disagreement = count.agreement.disagreement(int(labels[owner]), labels[candidates])
        if disagreement.any():
            return owner, int(candidates[disagreement.argmax()])
    raise AssertionError(NO_PAIR)


def _agreement_shares(count: Count) -> Floats:
    """Return each explained row's agreement with its other rows; 2 if it has none."""
    owners = count.owners
    return np.where(owners.others > 0, owners.scores, 2.0)[count.owner_index]


def rows_in_scope(relation: Relation, sample: Sample, explanation: Explanations) -> NDArray[np.intp]:
    """Return the rows of a sample for which one explanation holds.

    Examples
    --------
    >>> from faithkit.explanations.relations import SameExplanation
    >>> sample = Sample(None, Explanations.of(["a", "b", "a"]))
    >>> rows_in_scope(SameExplanation(), sample, Explanations.of(["a"]))
    array([0, 2])
    """
    return np.flatnonzero(unpack_bits(holds_bits(relation, sample, explanation), len(sample))[0])


def rows_and_labels_in_scope(count: Count, explanation: Explanations) -> tuple[Ints, Ints]:
    """Return the rows for which one explanation holds, and their labels; rows of a pool come last."""
    rows, labels, start = [], [], 0
    for sample, codes in count.pieces():
        in_scope = rows_in_scope(count.relation, sample, explanation)
        rows.append(start + in_scope)
        labels.append(codes[in_scope])
        start += len(sample)
    return np.concatenate(rows), np.concatenate(labels)
