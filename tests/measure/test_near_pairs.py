"""Near rows are paired by what they contain: as the definition says, whatever the order and the threads."""

import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.random import default_rng as seeded

from faithkit.measure import blocks
from faithkit.measure.grouping import mix, words
from faithkit.measure.merging import halving, pairs
from faithkit.measure.merging.pairs import near_pairs

NASTY = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1.7e308, -1.7e308, 5e-324, 1e-300, 3.0]


def blocks_by_definition(vectors):
    """Pair rows by plain recursion, one row at a time."""
    rows = sorted(range(len(vectors)), key=contents(vectors).__getitem__)
    columns = [measured(column) for column in np.asarray(vectors, dtype=np.float64).T]
    unit = max((value for column in columns for value in column), default=0.0)
    exponent = max(np.frexp(unit)[1], -1022)
    scaled = [[np.float32(value * np.ldexp(1.0, -exponent)) for value in column] for column in columns]
    found = np.empty(len(vectors), dtype=np.int64)
    for number, block in enumerate(halves(rows, scaled)):
        found[block] = number
    return found


def contents(vectors):
    """Return what orders each row where its values do not: the first bits of its hash, then its words.

    The hash is that of two columns, or of all where more than one row in a hundred has another's.
    """
    of_rows, n = words(np.ascontiguousarray(vectors)), len(vectors)
    for some in (of_rows[:, :2], of_rows):
        hashes = [int(hashed) >> n.bit_length() for hashed in pairs.mix(some)]
        if n - len(set(hashes)) <= n // 100:
            break
    return [(hashed, row.tolist()) for hashed, row in zip(hashes, of_rows, strict=True)]


def measured(column):
    """Return half of the distances from the smallest finite value."""
    finite = [value for value in column if np.isfinite(value)]
    if not finite:
        return [0.0] * len(column)
    counted = {np.inf: max(finite), -np.inf: min(finite)}
    inside = [max(finite) if np.isnan(value) else counted.get(value, value) for value in column]
    return [value / 2 - min(finite) / 2 for value in inside]


def halves(rows, columns):
    """Yield the blocks of some rows from left to right."""
    if len(rows) <= 3:
        yield from [rows] if rows else []
        return
    widths = [max(column[i] for i in rows) - min(column[i] for i in rows) for column in columns] or [0]
    along = columns[widths.index(max(widths))] if columns else dict.fromkeys(rows, 0)
    ordered = sorted(rows, key=along.__getitem__)  # a stable sort: equal ones stay in the order of contents
    cut = min((even for even in range(0, len(rows), 2)), key=lambda even: (abs(2 * even - len(rows)), -even))
    left = set(ordered[:cut])
    yield from halves([row for row in rows if row in left], columns)
    yield from halves([row for row in rows if row not in left], columns)


def partition(vectors, found):
    """Return how often which contents are together, whoever has them."""
    members = {}
    for row, block in zip(words(np.ascontiguousarray(vectors)).tolist(), found.tolist(), strict=True):
        members.setdefault(block, []).append(tuple(row))
    return Counter(tuple(sorted(block)) for block in members.values())


def agrees(vectors):
    """Whether the rows are paired as the definition says, and still are after they were shuffled."""
    with np.errstate(all="raise"):  # as a caller may have asked
        found = near_pairs(vectors)
    assert found.dtype == np.int64
    expected = partition(vectors, blocks_by_definition(vectors))
    shuffled = vectors[seeded(1).permutation(len(vectors))]
    return partition(vectors, found) == expected == partition(shuffled, near_pairs(shuffled))


MATRICES = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "of different scales": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-9, 9, d),
    "far from zero": lambda rng, n, d: rng.normal(size=(n, d)) + 1e9,
    "beyond single precision": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-300, 300, d),
    "small integers": lambda rng, n, d: rng.integers(0, 3, (n, d)),
    "large integers": lambda rng, n, d: rng.integers(2**62, 2**63, (n, d), dtype=np.uint64),
    "all integers": lambda rng, n, d: rng.integers(-(2**63), 2**63 - 1, (n, d)),
    "int8": lambda rng, n, d: rng.integers(-128, 128, (n, d), dtype=np.int8),
    "float32": lambda rng, n, d: rng.normal(size=(n, d)).astype(np.float32),
    "float16": lambda rng, n, d: rng.normal(size=(n, d)).astype(np.float16),
    "bool": lambda rng, n, d: rng.random((n, d)) < 0.5,
    "constant": lambda rng, n, d: np.full((n, d), 7.5),
    "constant but for one column": lambda rng, n, d: np.arange(n)[:, None] * (np.arange(d) == d - 1.0),
    "not finite": lambda rng, n, d: np.full((n, d), np.nan),
    "nasty": lambda rng, n, d: rng.choice(NASTY, (n, d)),
    "rounded": lambda rng, n, d: rng.normal(size=(n, d)).round(1),
    "with gaps": lambda rng, n, d: np.where(rng.random((n, d)) < 0.2, np.nan, rng.normal(size=(n, d))),
    "by columns": lambda rng, n, d: np.asfortranarray(rng.normal(size=(n, d))),
    "every other column": lambda rng, n, d: rng.normal(size=(n, 2 * d))[:, ::2],
}


@pytest.mark.parametrize("make", MATRICES.values(), ids=MATRICES)
@pytest.mark.parametrize("d", [0, 1, 14])
def test_rows_are_paired_as_the_definition_says(make, d):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(agrees(make(seeded(n), n, d)) for n in (*range(10), 13, 21))


@pytest.mark.parametrize("make", MATRICES.values(), ids=MATRICES)
@pytest.mark.parametrize(("n", "d"), [(60, 0), (70, 1), (61, 5), (21, 60)])
@pytest.mark.parametrize("in_cache", [8, 2**19])
def test_large_nodes_are_halved_as_small_ones_are(monkeypatch, make, n, d, in_cache):
    monkeypatch.setattr(halving, "IN_CACHE", in_cache)
    monkeypatch.setattr(halving, "BLOCK", 50)
    monkeypatch.setattr(pairs, "BLOCK", 50)
    assert agrees(make(seeded(n), n, d))


@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.float32, np.int8, np.uint64, np.bool_]),
        st.tuples(st.integers(0, 30), st.integers(0, 4)),
    )
)
def test_whatever_the_numbers_rows_are_paired_as_the_definition_says(vectors):
    assert agrees(vectors)


@pytest.mark.parametrize("bits", [0, 1, 2])
def test_rows_of_one_hash_are_told_apart_by_their_words(monkeypatch, bits):
    monkeypatch.setattr(
        pairs, "mix", lambda rows: mix(rows) << np.uint64(64 - bits) if bits else mix(rows) * 0
    )
    assert all(agrees(seeded(n).integers(0, 9, (n, 3))) for n in range(60))


@pytest.mark.parametrize("n", [*range(12), 999, 1_000, 40_001])
def test_all_blocks_are_pairs_but_for_one_triple(n):
    sizes = np.bincount(near_pairs(seeded(0).normal(size=(n, 3))))
    expected = [2] * (n // 2) if n % 2 == 0 else [2] * (n // 2 - 1) + [3] if n > 1 else [1]
    assert sizes.tolist() == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[3], [1], [2], [0]], [1, 0, 1, 0]),
        ([[0], [1], [2], [3], [4]], [0, 0, 1, 1, 1]),
        ([[0], [1], [2], [3], [4], [5]], [0, 0, 1, 1, 2, 2]),
        ([[0, 0], [0, 1], [9, 0], [9, 1]], [0, 0, 1, 1]),
        ([[0, 0], [0, 9], [1, 0], [1, 9]], [0, 1, 0, 1]),
        ([[0, 0], [0, 9], [9, 0], [9, 9]], [0, 0, 1, 1]),  # the first of two widest columns
        ([[0.0], [np.nan], [2.0], [-np.inf]], [0, 1, 1, 0]),
        ([[0.0], [np.inf], [2.0], [1.0]], [0, 1, 1, 0]),
        ([[-1.7e308], [1.7e308], [-1.6e308], [1.6e308]], [0, 1, 0, 1]),
        ([[1e9], [1e9 + 3], [1e9 + 1], [1e9 + 2]], [0, 1, 0, 1]),
        ([[2**63], [2**63 + 4096], [2**63 + 6144], [2**63 + 2048]], [0, 1, 1, 0]),
    ],
)
def test_few_rows_are_paired_as_one_sees_them(rows, expected):
    assert near_pairs(np.array(rows)).tolist() == expected


def test_minus_zero_is_zero():
    vectors = seeded(0).choice([0.0, 1.0], (200, 6))
    assert (near_pairs(np.where(vectors == 0, -0.0, vectors)) == near_pairs(vectors)).all()


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-3, 2.0**1000])
def test_the_unit_does_not_matter(scale):
    vectors = np.arange(-500.0, 500.0)[seeded(0).permutation(1_000)][:, None]  # of one column, without ties
    assert (near_pairs(vectors * scale) == near_pairs(vectors)).all()


@pytest.mark.parametrize("make", [MATRICES["normal"], MATRICES["small integers"]])
def test_the_number_of_threads_does_not_matter(monkeypatch, make):
    vectors = make(seeded(0), 9_001, 9)
    for module in (halving, pairs):
        monkeypatch.setattr(module, "BLOCK", 2**10)
    found = []
    for threads in (1, 2, 4):
        monkeypatch.setattr(blocks, "MAX_THREADS", threads)
        monkeypatch.setattr("os.cpu_count", lambda threads=threads: threads)
        found.append(near_pairs(vectors).tolist())
    assert found[0] == found[1] == found[2]


def test_the_numbers_stay_as_they_were():
    vectors = seeded(0).choice(NASTY, (500, 4))
    before = vectors.tobytes()
    near_pairs(vectors)
    assert vectors.tobytes() == before


def test_what_depends_smoothly_on_rows_agrees_in_most_pairs():
    rng = seeded(0)
    causes = rng.normal(size=(20_000, 3))
    vectors = causes @ rng.normal(size=(3, 14)) * 10.0 ** np.linspace(-1, 1, 14)  # correlated
    labels = causes @ [1.0, -2.0, 0.5] > 0
    found = near_pairs(vectors)
    together = labels[np.argsort(found, kind="stable")].reshape(-1, 2)
    assert (together[:, 0] == together[:, 1]).mean() > 0.9
