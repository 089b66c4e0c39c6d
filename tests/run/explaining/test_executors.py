"""Executors: the kernel's own, and those of other people, which may answer in any order and must answer it all."""

import threading
import time

import numpy as np
import pytest
from click.testing import CliRunner
from looping import one_test

import faithkit
from faithkit.cli import main
from faithkit.plugin import ChunkResult, explain_chunk, fail_row
from faithkit.run.explaining.executors import resolve_executor

X = np.column_stack([np.arange(40.0), np.arange(40.0) % 3])


class Drawn:
    """Explain each row by its first value modulo 5 and by its seed, in chunks of four."""

    rows_per_chunk, learns = 4, False

    def fit(self, predictor, background):
        return self

    def explain(self, X, seeds):
        if (X[:, 0] == 17).any():
            raise ValueError("not this one")
        return faithkit.Explanations.vectors(np.column_stack([X[:, 0] % 5, seeds % 2]))


def evaluate(executor=None, **options):
    options = {"explainer": Drawn(), "on_error": "record", **options}
    return faithkit.evaluate(lambda X: X[:, 0] > 12, X, executor=executor, **options)


# --- the order of chunks ----------------------------------------------------------------------------------


class Backwards:
    """As a plugin's executor may be: it answers the last chunk first."""

    def run(self, job, chunks):
        for chunk in reversed(chunks):
            yield chunk, explain_chunk(job, chunk)


def run_all_at_once(job, chunks):
    return [(chunk, explain_chunk(job, chunk)) for chunk in chunks[::2] + chunks[1::2]]


@one_test
@pytest.mark.parametrize(
    "executor", ["here", "threads", "threads:workers=3", Backwards(), run_all_at_once], ids=str
)
def test_no_executor_changes_a_byte(executor):
    result = evaluate(executor)
    assert result.to_dict() == evaluate().to_dict()
    assert result.unexplained == 1
    assert result.rows.explanations.remarked[17] == "ValueError: not this one"


def test_the_rows_of_a_chunk_are_told_with_their_places():
    places = {}

    def look(job, chunks):
        for chunk in chunks:
            places[chunk.number] = (chunk.first_row, len(chunk), chunk.X[:, 0].tolist())
            yield chunk, explain_chunk(job, chunk)

    evaluate(look)
    assert places == {k: (4 * k, 4, [4.0 * k + j for j in range(4)]) for k in range(10)}


def test_an_executor_may_fail_a_row_in_words_of_its_own():
    def refuse_one(job, chunks):
        for chunk in chunks:
            parts = [chunk.subchunk(row, row + 1) for row in range(len(chunk))]
            results = [
                fail_row(job, row, "too heavy") if row.first_row == 5 else explain_chunk(job, row)
                for row in parts
            ]
            yield chunk, ChunkResult.concat(results)

    assert evaluate(refuse_one).why_unexplained == {"ValueError": 1, "too heavy": 1}
    with pytest.raises(
        faithkit.errors.ExplainerError, match=r"failed on row 5: too heavy\. With on_error='record'"
    ):
        evaluate(refuse_one, on_error="raise")


# --- threads ----------------------------------------------------------------------------------------------


class Noting(Drawn):
    """Note in which threads it is fitted and asked."""

    def __init__(self, n_threads):
        self.names, self.all_are_here = set(), threading.Barrier(n_threads)

    def __deepcopy__(self, memo):
        return self

    def explain(self, X, seeds):
        self.names.add(threading.current_thread().name)
        self.all_are_here.wait(timeout=30)  # none of them does the work of another
        return super().explain(X, seeds)


@one_test
@pytest.mark.parametrize(("workers", "expected"), [(2, 2), (1, 1), (100, 10)])
def test_there_are_as_many_threads_as_asked_for_and_no_more_than_chunks(workers, expected):
    explainer = Noting(expected)
    evaluate(f"threads:workers={workers}", explainer=explainer)
    assert len(explainer.names) == expected
    assert threading.main_thread().name not in explainer.names


def test_each_thread_fits_an_explainer_of_its_own():
    fitted = []

    class Fitted(Drawn):
        def fit(self, predictor, background):
            fitted.append((id(self), threading.get_ident()))
            return self

        def explain(self, X, seeds):
            assert (id(self), threading.get_ident()) in fitted
            time.sleep(0.01)
            return super().explain(X, seeds)

    evaluate("threads:workers=3", explainer=Fitted())
    assert len({explainer for explainer, _ in fitted}) == len(fitted) == 3


def test_a_thread_that_fails_ends_the_run_without_waiting_for_the_rest():
    explained = []

    class Slow(Drawn):
        def explain(self, X, seeds):
            if X[0, 0] == 0:
                raise ValueError("the first")
            time.sleep(0.1)
            explained.append(len(X))
            return super().explain(X, seeds)

    with pytest.raises(faithkit.errors.ExplainerError, match="row 0: ValueError: the first"):
        evaluate("threads:workers=2", explainer=Slow(), on_error="raise")
    time.sleep(0.3)
    assert len(explained) <= 3


# --- which one --------------------------------------------------------------------------------------------


def test_n_jobs_is_short_for_processes():
    pytest.importorskip("faithkit_executors")
    assert resolve_executor(None, 1).text == "here"
    assert resolve_executor(None, np.int64(4)).text == "processes:workers=4"
    assert resolve_executor(None, -1).instance.workers == -1


@one_test
@pytest.mark.parametrize("n_jobs", [0, np.int64(0), 1.5, "2", None, True])
def test_what_is_no_number_of_workers_is_refused(n_jobs):
    with pytest.raises(
        faithkit.errors.InputError, match="n_jobs must be a whole number of workers, or -1 for all"
    ):
        resolve_executor(None, n_jobs)


def test_workers_are_said_once():
    message = r"n_jobs=4 is short for executor='processes:workers=4'.*inside=processes:workers=4'"
    with pytest.raises(faithkit.errors.InputError, match=message):
        evaluate("threads", n_jobs=4)


@pytest.mark.parametrize("asked", [{"n_jobs": 2}, {"executor": "stored:folder=runs"}])
def test_without_the_distribution_the_error_says_how_to_install_it(asked, monkeypatch):
    monkeypatch.setenv("FAITHKIT_DISABLE", "faithkit-executors")
    faithkit.plugin.registry.cache_clear()
    try:
        with pytest.raises(
            faithkit.errors.UnknownComponentError, match="provided by faithkit-executors, which is ins"
        ):
            evaluate(**asked)
    finally:
        monkeypatch.undo()
        faithkit.plugin.registry.cache_clear()


# --- what it must give ------------------------------------------------------------------------------------


def stop_early(job, chunks):
    yield from list(Backwards().run(job, chunks))[:-1]


def answer_twice(job, chunks):
    yield chunks[0], explain_chunk(job, chunks[0])
    yield chunks[0], explain_chunk(job, chunks[0])


def answer_too_little(job, chunks):
    yield chunks[0], explain_chunk(job, chunks[0].subchunk(0, 3))


def answer_without_chunk(job, chunks):
    yield explain_chunk(job, chunks[0])


@one_test
@pytest.mark.parametrize(
    ("executor", "message"),
    [
        (stop_early, "the executor stop_early answered 9 of 10 chunks; expected all"),
        (answer_twice, "the executor answer_twice answered chunk 0 twice; expected"),
        (answer_too_little, "answer_too_little gave 3 explanations for the 4 rows of a chunk"),
        (answer_without_chunk, r"yielded ChunkResult; expected \(chunk, result\) of each chunk once"),
    ],
)
def test_an_executor_that_breaks_its_contract_is_named(executor, message):
    with pytest.raises(faithkit.errors.ContractError, match=message):
        evaluate(executor)


def test_what_an_executor_raises_is_raised():
    def fail(job, chunks):
        yield chunks[0], explain_chunk(job, chunks[0])
        raise ConnectionError("the machines are gone")

    with pytest.raises(ConnectionError, match="the machines are gone"):
        evaluate(fail)


def test_an_interrupt_says_what_was_done_and_what_is_kept():
    class Interrupted:
        def run(self, job, chunks):
            yield chunks[0], explain_chunk(job, chunks[0])
            raise KeyboardInterrupt

    interrupted = Interrupted()
    with pytest.raises(
        KeyboardInterrupt, match=r"1 of 10 chunks were done, and nothing is kept without a store"
    ):
        evaluate(interrupted)
    interrupted.kept_in = "the attic"
    with pytest.raises(
        KeyboardInterrupt, match=r"1 of 10 chunks are kept in the attic; the same command goes on"
    ):
        evaluate(interrupted)


# --- what it was called -----------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("evaluate --store runs", "--store is now --executor stored:folder=DIR"),
        ("compare --row-timeout 5", "--row-timeout is now --executor processes:timeout=SECONDS"),
        ("local --backend threading", "--backend is now --executor processes:workers=N, threads:workers=N"),
        ("evaluate --scheduler tcp://x:1", "--scheduler is now --executor dask:scheduler=ADDRESS"),
        (
            "score --backend dask",
            "score --backend is now left out: logs of any size are counted on this machine",
        ),
    ],
)
def test_an_old_option_says_the_new_one(words, message):
    outcome = CliRunner().invoke(main, words.split())
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert message in outcome.stderr


@one_test
@pytest.mark.parametrize("function", [faithkit.evaluate, faithkit.compare])
def test_an_old_keyword_says_the_new_one(function):
    with pytest.raises(
        TypeError, match=r"keyword argument 'store', which is now executor='stored:folder=DIR'"
    ):
        function(len, X, store="runs")
    with pytest.raises(TypeError, match=r"'row_timeout', which is now executor='processes:timeout=SECONDS'"):
        function(len, X, row_timeout=5)
    with pytest.raises(TypeError, match="unexpected keyword argument 'stor'"):
        function(len, X, stor="runs")
