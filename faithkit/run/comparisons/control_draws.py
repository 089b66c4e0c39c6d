"""Draw the control of a relation: by the relation itself, or as scopes of the same sizes in a table.

Seeds belong to the content of rows, so that neither their order nor the number of workers matters.
"""

from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays import Ints
from faithkit.arrays.containers import concat_rows, n_rows, take_rows
from faithkit.arrays.grouping import group, hash_content, hash_rows
from faithkit.arrays.row_random import Words, derive_seeds, mix
from faithkit.errors import InputError
from faithkit.explanations.drawn_scopes import DrawnScopes, ScopeColumns, ScopeOwners, draw_scopes
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, draw_control, key_of
from faithkit.inputs.predictions.labels import Labels
from faithkit.inputs.rows import input_kind
from faithkit.inputs.seeds import row_seeds
from faithkit.measure.counting.scans import Pool
from faithkit.measure.counting.tally import RowCount, count
from faithkit.run.populations.in_memory import InMemory

MAX_ROWS = 10_000  # of which controls are drawn; of a larger sample, so many are chosen by their content

Seeds = NDArray[np.uint32]


@attrs.frozen(eq=False)
class ControlDraws:
    """The counts of a measure and of the draws of its control, over the same rows.

    `rows` are the numbers of these rows in the sample.
    """

    measure: RowCount
    draws: tuple[RowCount, ...]
    rows: Ints


def draw_controls(
    population: InMemory, measure: RowCount, relation: Relation, seed: int, draws: int
) -> ControlDraws:
    """Draw the control of a relation, and count it.

    Raises
    ------
    InputError
        If the relation offers no control for these rows, and they are no table.
    """
    seeds, rows = find_seeds(population, relation, seed), population.choose_rows(MAX_ROWS)
    if relation.control is not None:
        owners = _Rows.of(population, rows, relation.instance_only and len(rows) < len(seeds))
        drawn = _draw_by_relation(owners, relation, seeds[rows], draws)
        if drawn is not None:
            return ControlDraws(owners.count(relation, measure), drawn, rows)
    X = population.sample.instances("the control")
    if input_kind(X) != "table":
        raise InputError(
            f"the relation {relation} offers none for these rows, and there is no table of instances whose "
            "columns it could be drawn in"
        )
    pool = population.pool if relation.instance_only else None
    owners = _Rows.of(population, rows)
    pool_seeds = np.zeros(0, dtype=np.uint32)
    if pool is not None:
        pool_rows, pool_seeds = _choose_pool_rows(pool, seed)
        owners = attrs.evolve(owners, pool=_take_from_pool(pool, pool_rows))
    measured = owners.count(relation, measure)
    keys = np.concatenate([_spread(seeds[rows], 0), _spread(pool_seeds, 1)])
    return ControlDraws(measured, tuple(_draw_scopes(owners, measured, seeds[rows], keys, draws)), rows)


@attrs.frozen(eq=False)
class _Rows:
    """The rows that a control is drawn for, and further rows that it is compared with."""

    sample: Sample
    labels: Labels
    pool: Pool | None
    numbers: Ints

    @classmethod
    def of(cls, population: InMemory, rows: Ints, keeps_others: bool = False) -> "_Rows":
        """Select rows of the sample; if `keeps_others`, all other rows are added to the pool."""
        sample, labels, pool = population.sample, population.encoded_labels, population.pool
        if len(rows) == len(sample):
            return cls(sample, labels, pool, rows)
        selected = Sample(take_rows(sample.X, rows), sample.explanations.take(rows))
        if keeps_others:
            others = np.setdiff1d(np.arange(len(sample)), rows)
            rows_of_others, codes = take_rows(sample.X, others), labels.codes[others]
            pool = Pool.of(rows_of_others, codes) if pool is None else pool.after(rows_of_others, codes)
        return cls(selected, labels.at(rows), pool, rows)

    def count(self, relation: Relation, measure: RowCount | None = None) -> RowCount:
        """Count a relation; `measure` has counts that may be of the same rows."""
        pool = self.pool if relation.instance_only else None
        if measure is not None and len(measure.pool_labels) == (0 if pool is None else len(pool)):
            n = len(measure.labels)
            numbers = np.arange(n) if measure.row_numbers is None else measure.row_numbers[:n]
            if np.array_equal(numbers, self.numbers):
                return measure
        labels = self.labels
        agreement = labels.agreement if pool is None else labels.agreement_with(pool.codes)
        return count(relation, self.sample, labels.codes, labels.k, pool, agreement)


def _draw_by_relation(
    owners: _Rows, relation: Relation, seeds: Seeds, draws: int
) -> tuple[RowCount, ...] | None:
    """Return the counts of the explanations that a relation draws; None if it offers none for these rows."""
    counts = []
    for draw in range(draws):
        control = draw_control(relation, owners.sample, derive_seeds(seeds, draw))
        if control is None:
            return None
        counts.append(attrs.evolve(owners, sample=Sample(owners.sample.X, control)).count(relation))
    return tuple(counts)


def _draw_scopes(
    owners: _Rows, measure: RowCount, seeds: Seeds, keys: Words, draws: int
) -> Iterable[RowCount]:
    """Yield the counts of scopes of the same sizes."""
    X, pool, n = owners.sample.X, owners.pool, len(owners.sample)
    sizes = np.asarray(measure.owners.others[measure.owner_index], dtype=np.int64)
    names = list(X.columns) if isinstance(X, pd.DataFrame) else range(X.shape[1] if X.ndim > 1 else 1)
    scope_owners = ScopeOwners.of(owners.sample.explanations, names, sizes)
    parts = [n] if pool is None else [n, len(pool)]
    columns = ScopeColumns.of(X if pool is None else concat_rows([X, *pool.pieces()]))
    explanations = Explanations(
        kind="value", values=np.arange(n).astype(object), missing=owners.sample.explanations.missing
    )
    for draw in range(draws):
        bits = draw_scopes(scope_owners, columns, derive_seeds(seeds, draw), keys, parts)
        sample = Sample(X, explanations)
        yield attrs.evolve(owners, sample=sample).count(DrawnScopes(sample, bits))


# -- seeds and rows by content --


def find_seeds(population: InMemory, relation: Relation, seed: int) -> Seeds:
    """Return the seed of each row; equal instances get different seeds, so that draws are independent.

    Equal instances are numbered in an order of their explanations and predictions, so that the order of the
    rows does not matter.
    """
    seeds = row_seeds(population.sample.instances("the control"), seed)
    if len(np.unique(seeds)) == len(seeds):
        return seeds
    explanations = population.sample.explanations
    groups = group(key_of(relation, explanations), explanations.missing, False)
    words = hash_content(key_of(relation, explanations.take(groups.first)))[groups.codes]
    columns = seeds, words, population.encoded_labels.codes
    row_words = hash_rows(np.column_stack([column.astype(np.uint64) for column in columns]))
    return _number_equal_rows(seeds, row_words)


def _number_equal_rows(seeds: Seeds, row_words: NDArray[Any]) -> Seeds:
    """Return another seed for all rows with one seed but the first, in the order of their words."""
    order = np.lexsort((row_words, seeds))
    numbers = np.empty(len(seeds), dtype=np.int64)
    numbers[order] = np.arange(len(seeds)) - np.searchsorted(seeds[order], seeds[order])
    return np.where(numbers > 0, derive_seeds(seeds, numbers), seeds)


def _spread(seeds: Seeds, part: int) -> Words:
    """Return 64 bits for each seed, others for the rows of a pool."""
    return mix(seeds.astype(np.uint64) * np.uint64(2) + np.uint64(part))


def _choose_pool_rows(pool: Pool, seed: int) -> tuple[Ints, Seeds]:
    """Return the rows of a pool that controls are drawn from, and their seeds."""
    seeds = np.concatenate([row_seeds(X, seed) for X in pool.pieces()])
    seeds = _number_equal_rows(seeds, pool.codes)
    words = mix(seeds.astype(np.uint64))
    rows = (
        np.arange(len(seeds))
        if len(seeds) <= MAX_ROWS
        else np.sort(np.argsort(words, kind="stable")[:MAX_ROWS])
    )
    return rows, seeds[rows]


def _take_from_pool(pool: Pool, rows: Ints) -> Pool:
    """Return a pool of selected rows, which are sorted."""
    if len(rows) == len(pool):
        return pool
    parts, start = [], 0
    for X in pool.pieces():
        here = rows[(rows >= start) & (rows < start + n_rows(X))]
        parts.append(take_rows(X, here - start))
        start += n_rows(X)
    return Pool.of(concat_rows(parts), pool.codes[rows])
