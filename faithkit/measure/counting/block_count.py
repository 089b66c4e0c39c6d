"""Counts of rows in blocks: rows are compared only with rows of their own block."""

from functools import cached_property

import attrs
import numpy as np

from faithkit.arrays import Floats, sum_by
from faithkit.errors import InputError
from faithkit.explanations.explanations import Sample
from faithkit.explanations.relations import Relation, WithinBlock, group_explanations
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.agreement.squares import NOTHING, Squares
from faithkit.measure.counting.owners import Counts, count_codes
from faithkit.measure.counting.tally import RowCount, count, grouped_owners


@attrs.frozen(eq=False, kw_only=True)
class BlockCount(RowCount):
    """Counts over rows in blocks. Every explanation holds inside one block only.

    Numbers are in units of `scale`, the disagreement that a constant explanation leaves inside blocks.
    """

    is_plain = False  # rows are not checked against all others

    @cached_property
    def without_block(self) -> Counts:
        """The number of each explanation; an explanation has the same number in all blocks."""
        assert isinstance(self.relation, WithinBlock)
        return group_explanations(self.relation.relation, self.explanations, missing_apart=True).codes

    @cached_property
    def row_block(self) -> Counts:
        """The block of each row, as a number from 0 on."""
        return _renumber(self.sample)

    @cached_property
    def owner_block(self) -> Counts:
        """The block of each entry of `owners`."""
        block = np.zeros(len(self.explanations), dtype=np.int64)
        block[self.owned] = self.row_block
        return block[self.owners.explanation]

    @cached_property
    def sizes(self) -> Counts:
        """The number of rows of each block."""
        return np.bincount(self.row_block)

    @cached_property
    def chances(self) -> Floats:
        """The mean agreement of two rows of each block; 0 for a block of one row."""
        return _mean_agreements(self.row_block, self.labels, self.n_labels, self.agreement)

    def chance(self) -> float | None:
        """Return the score of a constant explainer on the same rows; None if all blocks have one row."""
        comparable = self.sizes * (self.sizes > 1)
        if self.agreement.is_normalised and comparable.any():
            return 0.0
        return _mean_over_rows(self.chances, comparable)

    def checked_chance(self) -> float | None:
        """Return the score of unrelated explanations on the rows that can be checked."""
        owners = self.owners
        checked = sum_by(self.owner_block, owners.rows * (owners.others > 0), len(self.sizes))
        return _mean_over_rows(self.chances, checked)


def count_in_blocks(
    relation: Relation,
    sample: Sample,
    labels: Counts,
    n_labels: int,
    agreement: Agreement = SAME_LABEL,
) -> BlockCount:
    """Tally a relation over a sample whose explanations have blocks.

    `agreement` is that of rows without blocks. The unit of numbers is set here.

    Examples
    --------
    >>> from faithkit.explanations.explanations import Explanations
    >>> from faithkit.explanations.relations import SameExplanation
    >>> words = Explanations.of(["a", "a", "a", "a"], block=np.array([0, 0, 7, 7]))
    >>> counted = count_in_blocks(SameExplanation(), Sample(None, words), np.array([0, 0, 0, 1]), 2)
    >>> counted.owners.others, counted.owners.scores, counted.chance()
    (array([1, 1, 1]), array([1., 0., 0.]), 0.5)
    """
    scale = 1.0
    if isinstance(agreement, Squares) and agreement.is_normalised:
        scale = _constant_disagreement(sample, labels, n_labels, agreement)
        agreement = agreement.rescale(scale)
    block_count = count(WithinBlock(relation), sample, labels, n_labels, agreement=agreement, kind=BlockCount)
    assert isinstance(block_count, BlockCount)
    return attrs.evolve(block_count, scale=scale)


def _constant_disagreement(sample: Sample, labels: Counts, n_labels: int, agreement: Squares) -> float:
    """Return the mean disagreement that a constant explanation leaves inside blocks; 1 without pairs."""
    row_block = _renumber(sample)
    sizes = np.bincount(row_block)
    agreements = _mean_agreements(row_block, labels, n_labels, agreement)
    mean = _mean_over_rows(agreements, sizes * (sizes > 1))
    if mean is None:
        return 1.0
    if 1.0 - mean <= NOTHING:
        raise InputError(
            "there is nothing to explain: in every block all predictions are the same number. For numbers, "
            "faithkit measures the share of variance explained, and they have none within blocks."
        )
    return 1.0 - mean


def _renumber(sample: Sample) -> Counts:
    """Return the block of each row, as a number from 0 on."""
    assert sample.explanations.block is not None
    _, row_block = np.unique(sample.explanations.block, return_inverse=True)
    return row_block


def _mean_agreements(row_block: Counts, labels: Counts, n_labels: int, agreement: Agreement) -> Floats:
    """Return the mean agreement of two rows of each block; 0 for a block of one row."""
    sizes = np.bincount(row_block)
    codes, rows = count_codes(row_block * n_labels + labels, len(sizes) * n_labels)
    owners = grouped_owners(*np.divmod(codes, n_labels), rows, sizes > 0, agreement)
    return owners.by_explanation(owners.rows * owners.scores) / sizes


def _mean_over_rows(chances: Floats, rows: Counts) -> float | None:
    """Return the mean of the blocks' chances, where `rows` rows of each block count; None without rows."""
    return float((rows * chances).sum() / rows.sum()) if rows.any() else None
