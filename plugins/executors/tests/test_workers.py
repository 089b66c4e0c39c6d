"""Workers: as many as there is work for, in processes or on a cluster; their explanations travel home."""

import contextlib
import sys
import threading
from fractions import Fraction

import joblib
import numpy as np
import pytest
from faithkit_executors.processes import Processes
from looping import one_test
from slow_runs import X, evaluated

import faithkit

# --- how many ---------------------------------------------------------------------------------------------


@pytest.fixture
def worker_counts(monkeypatch):
    """How many workers joblib starts."""
    counts = []

    def parallel(**options):
        counts.append(options["n_jobs"])
        return original(**options)

    original = joblib.Parallel
    monkeypatch.setattr(joblib, "Parallel", parallel)
    return counts


@one_test
@pytest.mark.parametrize(
    ("rows", "workers", "timeout", "expected"),
    [
        (40, 3, None, [3]),
        (8, 16, None, [2]),
        (5, 10**12, None, [2]),
        (4, 16, None, []),  # one chunk needs no worker
        (4, 16, 60, [2]),  # but a limit does: joblib has two, of which one works
        (40, 1, None, []),
    ],
)  # fmt: skip
def test_there_are_never_more_workers_than_chunks(worker_counts, rows, workers, timeout, expected):
    worker_counts.clear()
    assert evaluated(X[:rows], executor=Processes(workers, timeout)).n == rows  # four to a chunk
    assert worker_counts == expected


NUMBERS = [
    *(("workers", value, 2) for value in (2, np.int8(2), np.uint64(2), np.int64(2))),
    *(("timeout", value, 0.5) for value in (0.5, np.float32(0.5), np.float64(0.5), np.float16(0.5), Fraction(1, 2))),
    *(("timeout", value, 3.0) for value in (3, np.int64(3), np.uint8(3))),
    ("timeout", None, None),
    ("timeout", sys.float_info.max, sys.float_info.max),
]  # fmt: skip


@one_test
@pytest.mark.parametrize(("name", "value", "expected"), NUMBERS, ids=repr)
def test_numbers_of_any_kind_become_python_s(name, value, expected):
    result = getattr(Processes(**{name: value}), name)
    assert (type(result), result) == (type(expected), expected)


@one_test
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        *(("workers", value, "processes: workers must be a number of processes, or -1 for all cores, got ") for value in (0, np.int64(0))),
        *(("workers", value, "processes: workers must be a whole number, got ") for value in (1.5, np.float64(2), "2", None)),
        *(("timeout", value, "processes: timeout must be a number of seconds above 0, got ") for value in (0, -1, np.float32(0), np.nan, np.inf, 10**400, "5", np.array([1.0]))),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_such_number_is_refused(name, value, message):
    with pytest.raises(faithkit.errors.ParameterError) as raised:
        Processes(**{name: value})
    assert str(raised.value).startswith(message)


# --- on a cluster -----------------------------------------------------------------------------------------


@pytest.fixture
def deadly_cluster(monkeypatch):
    """A cluster whose workers answer the first chunk, and die of the others."""
    from faithkit_executors import dask_cluster

    def map_as_completed(client, function, chunks):
        yield chunks[0], function.load()(chunks[0])
        for chunk in chunks[1:]:
            yield chunk, dask_cluster.KilledWorkersError("a task has killed 4 workers of the cluster.")

    monkeypatch.setattr(dask_cluster, "connect", lambda scheduler: contextlib.nullcontext())
    monkeypatch.setattr(dask_cluster, "check_workers", lambda *arguments: None)
    monkeypatch.setattr(dask_cluster, "map_as_completed", map_as_completed)
    return dask_cluster.Dask("tcp://10.0.0.1:8786")


def test_a_cluster_that_dies_of_a_chunk_ends_a_run_that_raises(deadly_cluster):
    with pytest.raises(faithkit.errors.ExplainerError, match="has killed 4 workers"):
        evaluated(executor=deadly_cluster)


@pytest.mark.slow
def test_chunks_at_which_a_cluster_dies_are_explained_here(deadly_cluster):
    with pytest.warns(
        faithkit.errors.FaithkitWarning, match=r"^9 of 10 chunks, at which .* died, are explained in"
    ):
        result = evaluated(on_error="record", executor=deadly_cluster)
    assert result.unexplained == 0
    assert result.rows.explanations.values[:, 0].tolist() == [*range(40)]


# --- the way home -----------------------------------------------------------------------------------------

# as a class of a script or notebook is: found in no module by a worker, nor by pickle
Word = type("Word", (str,), {"__module__": "__main__"})


THREE = np.arange(12.0)[:, None] % 3


class Words:
    """Explain each value by a word."""

    rows_per_chunk = 6
    shared = None

    def fit(self, predictor, background):
        return self

    def explain(self, X, seeds):
        shared = {} if self.shared is None else {"lock": self.shared()}
        return faithkit.Explanations.of([Word(f"w{x[0]}") for x in X], shared=shared)


class Locked(Words):
    """Explain by words and a lock, which cannot be sent."""

    shared = staticmethod(threading.Lock)


@pytest.mark.slow
def test_explanations_may_be_of_a_class_of_the_main_program():
    result = faithkit.evaluate(lambda X: X[:, 0] > 1, THREE, explainer=Words(), background=THREE, n_jobs=2)
    assert (result.n_explanations, result.consistency.value) == (3, 1.0)


@pytest.mark.slow
def test_explanations_that_cannot_be_sent_home_are_an_error_with_a_way_out():
    with pytest.raises(
        faithkit.errors.ExplainerError,
        match=r"^a worker failed with TypeError: cannot pickle.* With n_jobs=1 .* nothing travels\.",
    ):
        faithkit.evaluate(lambda X: X[:, 0] > 1, THREE, explainer=Locked(), background=THREE, n_jobs=2)
