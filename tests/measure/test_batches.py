"""Work in blocks: every block is done once, whatever the threads, and what it raises arrives."""

import threading
import time

import pytest
from looping import one_test

from faithkit.arrays import batches
from faithkit.arrays.batches import each_batch


@one_test
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize(("n", "size"), [(0, 3), (1, 3), (3, 3), (4, 3), (1_000, 1)])
def test_every_part_is_done_once(monkeypatch, threads, n, size):
    monkeypatch.setattr(batches, "MAX_THREADS", threads)
    done = [0] * n

    def work(start, stop):
        for i in range(start, stop):
            done[i] += 1

    each_batch(work, n, size)
    assert done == [1] * n


@one_test
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_what_a_block_raises_is_raised_and_no_further_block_is_begun(monkeypatch, threads):
    monkeypatch.setattr(batches, "MAX_THREADS", threads)
    begun = []

    def work(start, stop):
        begun.append(start)
        if start == 10:
            raise KeyError("ten")
        time.sleep(0.001)  # the failure is seen long before all blocks are through

    with pytest.raises(KeyError, match="ten"):
        each_batch(work, 1_000, 1)
    assert len(begun) < 1_000


def test_what_a_helping_thread_raises_is_raised(monkeypatch):
    monkeypatch.setattr(batches, "MAX_THREADS", 2)
    here = threading.current_thread()
    other_failed = threading.Event()

    def work(start, stop):
        if threading.current_thread() is here:
            other_failed.wait(timeout=30)  # leaves the failing block to a helper
        else:
            other_failed.set()
            raise ValueError("in a helper")

    with pytest.raises(ValueError, match="in a helper"):
        each_batch(work, 4, 1)


def test_blocks_within_blocks_are_done_as_well():
    done = set()

    def outer(start, stop):
        each_batch(lambda a, b: done.add((start, a)), 5, 1)

    each_batch(outer, 7, 1)
    assert done == {(i, j) for i in range(7) for j in range(5)}
