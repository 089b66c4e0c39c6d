import datetime as dt
import hashlib
import os
import random
import struct
import subprocess
import sys
import threading
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs.frames import mixed_frames, people
from looping import one_test
from scipy import sparse

from faithkit.arrays.containers import take_rows
from faithkit.errors import InputError
from faithkit.inputs.seeds import fingerprint
from faithkit.plugin import row_seeds, seed_global_generators

MASK = 2**64 - 1


def splitmix(word):
    """Finalize as in Steele, Lea and Flood (2014), in Python integers."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & MASK
    return word ^ (word >> 31)


def hash_text(text):
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def derive_seed(row, seed):
    """Derive the seed of one row of floats and strings, cell by cell."""
    mixed = hash_text(f"seed:{seed}")
    for cell in row:
        word = (
            hash_text(f"s:{cell}")
            if isinstance(cell, str)
            else struct.unpack("<Q", struct.pack("<d", cell))[0]
        )
        mixed = splitmix((mixed ^ word) + 0x9E3779B97F4A7C15 & MASK)
    return mixed >> 32


def test_the_seeds_are_those_derived_cell_by_cell():
    X = np.array([[1.5, -2.0], [0.0, 1e300]])
    assert row_seeds(X, 7).tolist() == [derive_seed(row, 7) for row in X.tolist()]
    mixed = pd.DataFrame({"n": [1.5, 2.5], "s": ["smith", "bäcker"]})
    assert row_seeds(mixed, -3).tolist() == [derive_seed(row, -3) for row in mixed.to_numpy(object).tolist()]
    assert row_seeds(["good", ""], 0).tolist() == [derive_seed([text], 0) for text in ("good", "")]


def test_seeds_are_uint32_one_per_row():
    seeds = row_seeds(people(), 0)
    assert seeds.dtype == np.uint32
    assert seeds.shape == (4,)
    assert row_seeds(np.zeros((0, 3)), 0).shape == row_seeds([], 0).shape == (0,)


@given(mixed_frames(), st.integers(), st.data())
@settings(max_examples=5)
def test_equal_rows_get_equal_seeds_in_any_chunk_and_order(frame, seed, data):
    seeds = row_seeds(frame, seed)
    rows = data.draw(st.lists(st.integers(0, len(frame) - 1), min_size=1))
    assert row_seeds(take_rows(frame, rows), seed).tolist() == seeds[rows].tolist()


OBJECTS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.decimals(allow_nan=False),
    st.dates(),
)


@given(st.lists(OBJECTS, min_size=1, max_size=8), st.data())
def test_a_cell_among_any_others_in_an_object_column_gets_the_seed_it_gets_alone(values, data):
    X = np.empty((len(values), 1), dtype=object)
    X[:, 0] = values
    seeds = row_seeds(X, 0)
    i = data.draw(st.integers(0, len(values) - 1))
    assert row_seeds(X[i : i + 1], 0)[0] == seeds[i]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5))
def test_a_number_is_the_same_in_every_dtype_that_holds_it(numbers):
    seeds = row_seeds(np.array(numbers, dtype=np.int64)[:, None], 0).tolist()
    assert row_seeds(np.array(numbers, dtype=object)[:, None], 0).tolist() == seeds
    assert row_seeds(pd.DataFrame({"n": pd.array(numbers, dtype="Int64")}), 0).tolist() == seeds
    assert row_seeds(pd.DataFrame({"n": pd.Categorical(numbers)}), 0).tolist() == seeds
    near = np.array(numbers, dtype=np.float64)
    as_float = row_seeds(near[:, None], 0).tolist()
    assert [a == b for a, b in zip(as_float, seeds, strict=True)] == [float(n) == n for n in numbers]


def test_neighbouring_integers_beyond_the_reach_of_floats_differ():
    for dtype in (np.int64, np.uint64):
        ids = np.array(
            [[2**53], [2**53 + 1], [2**62 + 1], [2**62 + 3], [2**63 - 1], [2**63 - 2]], dtype=dtype
        )
        assert len(set(row_seeds(ids, 0).tolist())) == 6
    top = np.array([[2**64 - 1], [2**64 - 2]], dtype=np.uint64)
    assert row_seeds(top, 0).tolist() == row_seeds(top.astype(object), 0).tolist()


def test_minus_zero_is_zero_and_every_missing_value_is_the_same():
    nans = np.array([[0.0], [-0.0], [np.nan], [-np.nan]])
    nans[3:].view(np.uint64)[:] |= 5  # another payload
    zero, minus_zero, nan, other_nan = row_seeds(nans, 0)
    assert zero == minus_zero
    assert nan == other_nan
    assert nan != zero
    missing = [
        pd.DataFrame({"x": pd.Series([value], dtype=dtype)})
        for value, dtype in [
            (None, "str"),
            (None, object),
            (pd.NA, "string"),
            (None, "category"),
            (None, "Int64"),
        ]
    ]
    missing.append(pd.DataFrame({"x": pd.Series([pd.NaT], dtype="datetime64[ns]")}))
    assert {int(row_seeds(X, 0)[0]) for X in missing} == {int(nan)}


def test_a_string_that_looks_like_a_number_or_a_missing_value_is_neither():
    X = np.array([["1"], [1], ["nan"], [np.nan], [""], ["None"], [None]], dtype=object)
    seeds = row_seeds(X, 0)
    assert len(set(seeds.tolist())) == 6
    assert seeds[3] == seeds[6]


def test_columns_count_by_position():
    a, b = row_seeds(np.array([[1.0, 2.0], [2.0, 1.0]]), 0)
    assert a != b
    frame = pd.DataFrame({"x": [1.0], "y": [2.0]})
    assert row_seeds(frame, 0).tolist() == row_seeds(frame.set_axis(["p", "q"], axis=1), 0).tolist() == [a]


def test_different_seeds_give_unrelated_seeds():
    X = np.arange(20_000.0).reshape(-1, 2)
    first, second = row_seeds(X, 0), row_seeds(X, 1)
    assert not (first == second).any()
    # a bit of the one says nothing about that bit of the other: 5,000 of 10,000 differ, within 5 deviations
    bits = np.unpackbits((first ^ second).view(np.uint8).reshape(-1, 4), axis=1).sum(axis=0)
    assert (abs(bits - 5000.0) < 250).all()


def test_seeds_of_similar_rows_spread_evenly():
    grid = np.stack(np.meshgrid(np.arange(300), np.arange(300)), axis=-1).reshape(-1, 2)
    seeds = row_seeds(grid, 0)
    assert len(np.unique(seeds)) >= len(grid) - 10  # one pair in 2**32: 0.94 collisions expected
    counts = np.bincount(seeds >> 26, minlength=64)
    assert (abs(counts - len(grid) / 64) < 6 * np.sqrt(len(grid) / 64)).all()


def test_sparse_rows_have_the_same_seed_however_they_are_stored():
    dense = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.5, 0.0], [0.0, 0.0, 1.5]])
    seeds = row_seeds(sparse.csr_matrix(dense), 0)
    assert seeds[0] == seeds[3]
    assert len(set(seeds.tolist())) == 4
    stored = sparse.csr_array(
        (np.array([0.0, 1.0, 0.5]), np.array([2, 1, 1]), np.array([0, 3])), shape=(1, 3)
    )  # an explicit zero, two entries of one cell, unsorted
    assert row_seeds(stored, 0)[0] == seeds[0]
    assert stored.nnz == 3
    for chunk in (sparse.coo_matrix(dense[1:4]), sparse.csc_array(dense[1:4])):
        assert row_seeds(chunk, 0).tolist() == seeds[1:4].tolist()


def test_dates_have_seeds():
    days = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-01"]))
    for column in (days, days.dt.tz_localize("UTC"), days.dt.date, days.dt.to_period("D"), days - days[0]):
        first, second, third = row_seeds(pd.DataFrame({"day": column}), 0)
        assert first == third != second
    noon = dt.datetime(2024, 1, 1, 12, tzinfo=dt.UTC)
    same = noon.astimezone(dt.timezone(dt.timedelta(hours=5)))
    X = np.array([[noon], [same]], dtype=object)
    assert row_seeds(X[:1], 0)[0] == row_seeds(X[1:], 0)[0]


def test_a_decimal_is_its_number():
    X = np.array([[Decimal("1.50")], [Decimal("1.5")], [1.5]], dtype=object)
    assert len({int(row_seeds(X[i : i + 1], 0)[0]) for i in range(3)}) == 1


@one_test
@pytest.mark.parametrize("cell", [[1, 2], {"a": 1}, (1, 2), frozenset("ab"), object(), 1j])
def test_a_cell_without_stable_content_is_refused(cell):
    X = np.empty((1, 2), dtype=object)
    X[0, 0], X[0, 1] = 1, cell
    with pytest.raises(InputError, match=r"column 'x1' .*cannot be hashed.*Convert or drop"):
        row_seeds(X, 0)


def test_a_seed_that_is_no_integer_is_refused():
    with pytest.raises(InputError, match=r"seed is 0\.5; expected an integer"):
        row_seeds(np.zeros((1, 1)), 0.5)


def test_a_flat_array_is_refused():
    with pytest.raises(InputError, match=r"shape \(2,\); expected one row per instance"):
        row_seeds(np.zeros(2), 0)


def test_the_input_is_not_touched():
    frame, array = people(), np.array([[-0.0, np.nan]])
    array.flags.writeable = False
    row_seeds(array, 0)
    row_seeds(frame, 0)
    fingerprint(frame)
    pd.testing.assert_frame_equal(frame, people())
    assert np.signbit(array[0, 0])


IN_A_NEW_PROCESS = """
from inputs.frames import people
from faithkit.inputs.seeds import fingerprint, row_seeds
print(row_seeds(people(), 0).tolist(), fingerprint(people()))
"""


@pytest.mark.slow
def test_another_process_gets_the_same_seeds_and_fingerprint():
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(["", *sys.path])}
    run = subprocess.run(
        [sys.executable, "-c", IN_A_NEW_PROCESS], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == f"{row_seeds(people(), 0).tolist()} {fingerprint(people())}"


def test_a_long_column_of_few_strings_hashes_each_string_once(monkeypatch):
    calls = []
    blake2b = hashlib.blake2b
    monkeypatch.setattr(hashlib, "blake2b", lambda *args, **kw: calls.append(args) or blake2b(*args, **kw))
    row_seeds(pd.DataFrame({"job": ["clerk", "smith", None] * 1000}), 0)
    assert len(calls) == 3  # the seed and two jobs


def test_a_fingerprint_is_hex_and_names_the_content():
    frame = people()
    print_ = fingerprint(frame)
    assert len(bytes.fromhex(print_)) == 16
    assert fingerprint(frame.copy()) == print_
    changed = [
        frame.iloc[::-1],
        frame.iloc[:3],
        frame[frame.columns[::-1]],
        frame.rename(columns={"age": "years"}),
        frame.assign(age=frame["age"].astype(float)),
        frame.assign(size=frame["size"].cat.set_categories(["S", "M", "L"])),
        frame.assign(town=["Bonn", "Ulm", "Ulm", "Bonn"]),
    ]
    assert len({print_, *map(fingerprint, changed)}) == len(changed) + 1


def test_fingerprints_tell_containers_apart_and_canonical_forms_together():
    dense = np.array([[0.0, 1.0], [2.0, 0.0]])
    prints = {fingerprint(dense), fingerprint(pd.DataFrame(dense)), fingerprint(sparse.csr_array(dense))}
    assert len(prints | {fingerprint(["a", "b"]), fingerprint(["b", "a"])}) == 5
    assert fingerprint(sparse.coo_array(dense)) == fingerprint(sparse.csr_array(dense))
    assert fingerprint(-dense * 0) == fingerprint(dense * 0)


# --- the global generators are borrowed, and given back as they were ----------------------------------------


def test_the_generators_are_left_as_they_were_even_after_an_error():
    np.random.seed(1)
    random.seed(1)
    expected = np.random.random(), random.random()
    np.random.seed(1)
    random.seed(1)
    try:
        with seed_global_generators(5):
            np.random.random(10)
            random.random()
            raise ValueError
    except ValueError:
        pass
    assert (np.random.random(), random.random()) == expected


def test_threads_take_turns():
    drawn = {}

    def draw(seed):
        with seed_global_generators(seed):
            drawn[seed] = [np.random.random() for _ in range(2000)]

    threads = [threading.Thread(target=draw, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in range(6):
        assert drawn[seed] == np.random.RandomState(seed).random_sample(2000).tolist()
