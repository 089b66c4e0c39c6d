"""Draw the control of a relation: by the relation itself, or as scopes of the same sizes in a table.

Seeds belong to the content of rows, so that neither their order nor the number of workers matters.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays import Ints, sum_by
from faithkit.arrays.batches import each_batch
from faithkit.arrays.bitsets import Bits, get_bits, n_words, pack_bits, popcount, unpack_bits
from faithkit.arrays.containers import concat_rows, n_rows, take_rows
from faithkit.arrays.grouping import group, hash_content, hash_rows
from faithkit.arrays.row_random import Words, derive_seeds, mix
from faithkit.errors import InputError
from faithkit.explanations.drawn_scopes import ScopeColumns, ScopeOwners, draw_scopes
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, WithinBlock, draw_control, key_of
from faithkit.inputs.predictions.labels import Labels
from faithkit.inputs.rows import input_kind
from faithkit.inputs.seeds import row_seeds
from faithkit.measure.counting.count import Count, count
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.pool import Pool
from faithkit.run.populations.in_memory import InMemory

SELECTED = 2**18  # bits of scopes unpacked at once: they fit in the cache
MAX_ROWS = 10_000  # of which controls are drawn; of a larger sample, so many are chosen by their content

Seeds = NDArray[np.uint32]


@attrs.frozen(eq=False)
class ControlDraws:
    """The counts of a measure and of the draws of its control, over the same rows.

    `rows` are the numbers of these rows in the sample.
    """

    measure: Count
    draws: tuple[Count, ...]
    rows: Ints


def draw_controls(
    population: InMemory, measure: Count, relation: Relation, seed: int, draws: int
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
        pool_rows, pool_seeds = _choose_pool_rows(pool, population.design, seed)
        owners = attrs.evolve(owners, pool=_take_from_pool(pool, pool_rows))
        if owners.design is not None:
            kept = np.concatenate([np.arange(len(rows)), len(rows) + pool_rows])
            owners = attrs.evolve(owners, design=owners.design.take(kept))
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
    design: Design | None

    @classmethod
    def of(cls, population: InMemory, rows: Ints, keeps_others: bool = False) -> "_Rows":
        """Select rows of the sample; if `keeps_others`, all other rows are added to the pool."""
        sample, labels, pool = population.sample, population.encoded_labels, population.pool
        design = population.design
        if len(rows) == len(sample):
            return cls(sample, labels, pool, rows, design)
        selected = Sample(take_rows(sample.X, rows), sample.explanations.take(rows))
        if keeps_others:
            others = np.setdiff1d(np.arange(len(sample)), rows)
            rows_of_others, codes = take_rows(sample.X, others), labels.codes[others]
            pool = Pool.of(rows_of_others, codes) if pool is None else pool.after(rows_of_others, codes)
        if design is not None:
            of_others = others if keeps_others else np.zeros(0, dtype=np.int64)
            design = design.take(np.concatenate([rows, of_others, np.arange(len(sample), len(design))]))
        return cls(selected, labels.at(rows), pool, rows, design)

    def count(self, relation: Relation, measure: Count | None = None) -> Count:
        """Count a relation pair by pair; `measure` has counts that may be of the same rows."""
        relation = ~~relation if relation.groups else relation
        pool, design = self.pool if relation.instance_only else None, self.design
        if design is not None and pool is None:
            design = design.take(np.arange(len(self.sample)))
        if measure is not None and not measure.relation.groups:
            n, n_pool = measure.n_explained, 0 if pool is None else len(pool)
            numbers = np.arange(n) if measure.row_numbers is None else measure.row_numbers[:n]
            if len(measure.labels) == n + n_pool and np.array_equal(numbers, self.numbers):
                return measure
        labels = self.labels
        agreement = labels.agreement if pool is None else labels.agreement_with(pool.codes)
        return count(relation, self.sample, labels.codes, labels.k, pool, agreement, design)


def _draw_by_relation(
    owners: _Rows, relation: Relation, seeds: Seeds, draws: int
) -> tuple[Count, ...] | None:
    """Return the counts of the explanations that a relation draws; None if it offers none for these rows."""
    counts = []
    for draw in range(draws):
        control = draw_control(relation, owners.sample, derive_seeds(seeds, draw))
        if control is None:
            return None
        counts.append(attrs.evolve(owners, sample=Sample(owners.sample.X, control)).count(relation))
    return tuple(counts)


def _draw_scopes(owners: _Rows, measure: Count, seeds: Seeds, keys: Words, draws: int) -> Iterable[Count]:
    """Yield the counts of scopes of the same sizes."""
    X, pool, n = owners.sample.X, owners.pool, len(owners.sample)
    sizes = _count_others(measure)
    names = list(X.columns) if isinstance(X, pd.DataFrame) else range(X.shape[1] if X.ndim > 1 else 1)
    scope_owners = ScopeOwners.of(owners.sample.explanations, names, sizes)
    parts = [n] if pool is None else [n, len(pool)]
    columns = ScopeColumns.of(X if pool is None else concat_rows([X, *pool.pieces()]))
    rows, missing = np.arange(columns.n), owners.sample.explanations.missing
    explanations = Explanations(kind="value", values=rows[:n], missing=missing)
    owners = attrs.evolve(
        owners,
        sample=Sample(rows[:n], explanations),
        pool=None if pool is None else Pool.of(rows[n:], pool.codes),
    )
    for draw in range(draws):
        bits = draw_scopes(scope_owners, columns, derive_seeds(seeds, draw), keys, parts)
        yield owners.count(DrawnScopes(bits, parts))


class DrawnScopes(Relation):
    """A row is in the drawn scope of an explanation. Explanations are numbers of scopes, instances of rows.

    `bits` has one matrix for each part of the rows, and `parts` how many rows each has.

    Examples
    --------
    >>> rows = np.arange(3)
    >>> relation = DrawnScopes([pack_bits(rows > np.array([[0], [1]]))], [3])
    >>> sample = Sample(rows, Explanations(kind="value", values=np.array([0, 1, 1])))
    >>> unpack_bits(relation.packed(sample.take(rows[1:]), sample.explanations.take([1])), 2)
    array([[False,  True]])
    """

    name = "drawn scopes"
    instance_only = True

    def __init__(self, bits: Sequence[Bits], parts: Sequence[int]) -> None:
        self.bits, self.first = bits, np.cumsum([0, *parts])

    def key(self, explanations: Explanations) -> Any:
        """Return the numbers of the scopes."""
        return explanations.values

    def packed(self, sample: Sample, explanations: Explanations) -> Bits:
        """Look the scopes up among the rows of the sample, all of which are in one part."""
        part = int(np.searchsorted(self.first, sample.X[0], side="right")) - 1
        first, n = self.first[part], int(self.first[part + 1] - self.first[part])
        bits = np.asarray(self.bits[part][explanations.values])
        if len(sample) == n:
            return bits
        selected = np.empty((len(bits), n_words(len(sample))), dtype=np.uint64)

        def select(start: int, stop: int) -> None:
            selected[start:stop] = pack_bits(unpack_bits(bits[start:stop], n)[:, sample.X - first])

        each_batch(select, len(bits), SELECTED // n)
        return selected


def _count_others(measure: Count) -> Ints:
    """Return the number of other rows in the scope of each row, whatever their design."""
    if measure.design.is_equal:
        return np.asarray(measure.owners.others[measure.owner_index], dtype=np.int64)
    relation = measure.relation.relation if isinstance(measure.relation, WithinBlock) else measure.relation
    n, own = measure.n_explained, measure.owned[: measure.n_explained]
    others = np.zeros(n, dtype=np.int64)
    for start, stop, bits in attrs.evolve(measure, relation=relation).batches():
        rows = np.flatnonzero((own >= start) & (own < stop))
        others[rows] = popcount(bits)[own[rows] - start] - get_bits(bits, own[rows] - start, rows)
        del bits  # free memory before the next batch
    return others


# -- seeds and rows by content --


def find_seeds(population: InMemory, relation: Relation, seed: int) -> Seeds:
    """Return the seed of each row; equal instances get different seeds, so that draws are independent.

    Equal instances are numbered in an order of their explanations, predictions, weights, clusters and blocks,
    so that the order of the rows does not matter.
    """
    seeds = row_seeds(population.sample.instances("the control"), seed)
    if len(np.unique(seeds)) == len(seeds):
        return seeds
    explanations = population.sample.explanations
    groups = group(key_of(relation, explanations), explanations.missing, False)
    words = hash_content(key_of(relation, explanations.take(groups.first)))[groups.codes]
    columns = seeds, words, population.encoded_labels.codes
    row_words = hash_rows(np.column_stack([column.astype(np.uint64) for column in columns]))
    return _number_equal_rows(seeds, row_words, population.design, slice(len(seeds)))


def _number_equal_rows(seeds: Seeds, words: NDArray[Any], design: Design | None, rows: slice) -> Seeds:
    """Return another seed for all rows with one seed but the first, in the order of their words.

    With a design, of which these are some `rows`, this is the order of their words, weights, and what their
    clusters and blocks contain. Of clusters with the same content, one comes first with all its rows.
    """
    keys = [words, seeds]
    if design is not None:
        columns = seeds, words, design.steps[rows]
        words = hash_rows(np.column_stack([column.astype(np.uint64) for column in columns]))
        units = [unit[rows] for unit in (design.unit, design.block) if unit is not None]
        keys = [*units, *(sum_by(unit, words)[unit] for unit in units), words, seeds]
    order = np.lexsort(keys)
    numbers = np.empty(len(seeds), dtype=np.int64)
    numbers[order] = np.arange(len(seeds)) - np.searchsorted(seeds[order], seeds[order])
    return np.where(numbers > 0, derive_seeds(seeds, numbers), seeds)


def _spread(seeds: Seeds, part: int) -> Words:
    """Return 64 bits for each seed, others for the rows of a pool."""
    return mix(seeds.astype(np.uint64) * np.uint64(2) + np.uint64(part))


def _choose_pool_rows(pool: Pool, design: Design | None, seed: int) -> tuple[Ints, Seeds]:
    """Return the rows of a pool that controls are drawn from, and their seeds; `design` has them last."""
    seeds = np.concatenate([row_seeds(X, seed) for X in pool.pieces()])
    seeds = _number_equal_rows(seeds, pool.codes, design, slice(-len(pool), None))
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
