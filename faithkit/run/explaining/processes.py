"""Explaining in processes that may die: what killed one is found and told, and all else is done."""

import contextlib
import functools
import os
import re
import tempfile
import warnings
from collections.abc import Generator, Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import attrs
import joblib

from faithkit.errors import ExplainerError, FaithkitWarning
from faithkit.foreign import foreign
from faithkit.run.explaining.answer import Answer
from faithkit.run.explaining.chunk import Chunk, answered
from faithkit.run.explaining.job import Job
from faithkit.run.explaining.notes import STARTING, WHOLE, LastWords, Note, last_words
from faithkit.run.explaining.parcel import Parcel, portably, sealed, unsealed
from faithkit.run.explaining.timeout import late

PATIENCE = 120.0  # seconds for a worker to unpack the job and to import what it needs,
PER_SECOND = 10**6  # and one more for this many bytes of it
_NOTHING_TRAVELS = "With n_jobs=1 (CLI: --n-jobs 1) nothing travels."


def a_process() -> joblib.Parallel:
    """Return joblib's way to one process at a time; asked for one worker, it would stay in this process."""
    with joblib.parallel_config(backend="loky"):
        return joblib.Parallel(n_jobs=2, return_as="generator_unordered", pre_dispatch=1, batch_size=1)


def can_start() -> bool:
    """Whether joblib starts processes from this one: not from those that may have no children."""
    with joblib.parallel_config(backend="loky"):
        return bool(joblib.effective_n_jobs(2) > 1)


def in_processes(
    job: Job, parcel: Parcel, chunks: list[Chunk], parallel: joblib.Parallel
) -> Iterator[tuple[int, Answer]]:
    """Yield the number and the answer of every chunk, as joblib's processes finish them, in any order."""
    with tempfile.TemporaryDirectory(prefix="faithkit-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        parcel, size = parcel.laid(folder / "job")
        pool = _Pool(job, folder, parcel, PATIENCE + size / PER_SECOND, parallel)
        yield from pool.answers(chunks)


@attrs.define(eq=False)
class _Pool:
    """Processes that explain: what job, in which folder they find it as a parcel and leave their notes.

    `patience` is how many seconds they may take to begin, and `stillborn` how often one died before it did.
    """

    job: Job
    folder: Path
    parcel: Parcel
    patience: float
    parallel: joblib.Parallel
    stillborn: int = 0

    @property
    def who(self) -> str:
        """The explainer."""
        return self.job.explainer.text

    def answers(self, chunks: list[Chunk]) -> Iterator[tuple[int, Answer]]:
        """Yield what becomes of the chunks; those at which a process dies are tried again by themselves."""
        left = {chunk.number: chunk for chunk in chunks}
        while left:
            died = yield from self._each(self.parallel, left)
            if died is not None:
                suspects = self._suspects(died, left)
                yield from _kept(left)
                for chunk in [left.pop(one.chunk) for one in suspects if one.chunk in left]:
                    yield from self._alone(chunk)

    def _each(
        self, parallel: joblib.Parallel, left: dict[int, Chunk]
    ) -> Generator[tuple[int, Answer], None, BrokenProcessPool | None]:
        """Yield answers, and strike off their chunks, until a process dies: its death is returned."""
        work = functools.partial(_work, self.parcel, self.folder, self.patience, os.getpid())
        results = iter(parallel([joblib.delayed(work)(chunk) for chunk in left.values()]))
        while True:
            with foreign("a worker", _NOTHING_TRAVELS, ExplainerError):
                try:
                    found = next(results, None)
                except BrokenProcessPool as died:
                    return died
            if found is None:
                return None
            number, letter = found
            yield number, self._opened(left.pop(number), letter)

    def _opened(self, chunk: Chunk, letter: bytes | str) -> Answer:
        """Read what a process sent home; where it could not, explain the rows here."""
        if isinstance(letter, bytes):
            with foreign(f"unpacking explanations of {self.who}", _NOTHING_TRAVELS, ExplainerError):
                return unsealed(letter)
        told = f"the explanations of {self.who} cannot be sent home by workers ({letter}), "
        warnings.warn(f"{told}so rows are explained in this process.", FaithkitWarning, stacklevel=5)
        return answered(self.job, chunk)

    def _suspects(self, died: BrokenProcessPool, left: dict[int, Chunk]) -> list[LastWords]:
        """Say that a process died, and return what those were at that may be the one.

        If it was ended because a row took too long, that row is lost, and nobody is suspected.
        """
        words = [one for one in last_words(self.folder) if one.chunk in left or one.chunk == STARTING]
        overdue = [one for one in words if one.overdue]
        for one in overdue:
            left[one.chunk] = self._without(left, one)
        if overdue:
            return []
        told = f"a worker died{_codes(died)}"
        suspects = [one for one in words if one.chunk != STARTING]
        if not suspects:
            self._count_stillborn(told)
        warnings.warn(f"{told}; what it was working on is tried once more.", FaithkitWarning, stacklevel=4)
        return suspects

    def _without(self, left: dict[int, Chunk], words: LastWords) -> Chunk:
        if words.chunk == STARTING:
            raise ExplainerError(
                f"a worker process had not taken up the model and the explainer {self.who} after "
                f"{self.patience:.0f} s: see whether they can be unpickled, or explain in this process "
                "(n_jobs=1, CLI: --n-jobs 1)."
            )
        chunk = left[words.chunk]
        assert chunk.execution.row_timeout is not None
        return chunk.without(words.row, late(chunk.execution.row_timeout))

    def _count_stillborn(self, told: str) -> None:
        self.stillborn += 1
        if self.stillborn == 2:
            raise ExplainerError(
                f"{told}, again before it explained anything: unpickling the model, or importing or fitting "
                f"the explainer {self.who}, ends the process."
            )

    def _alone(self, chunk: Chunk) -> Iterator[tuple[int, Answer]]:
        """Give a chunk that may have killed its process one of its own, until the rows that do are known."""
        left = {chunk.number: attrs.evolve(chunk, row_by_row=True)}
        while left:
            died = yield from self._each(a_process(), left)
            if died is not None:
                for one in self._suspects(died, left):
                    left[one.chunk] = self._bereaved(left[one.chunk], one.row)

    def _bereaved(self, chunk: Chunk, row: int) -> Chunk:
        if chunk.execution.on_error == "raise" or row == WHOLE:
            at = chunk.first_row + max(row, 0)
            raise ExplainerError(
                f"the explainer {self.who} killed its worker process on row {at}, twice. "
                "With on_error='record' (CLI: --on-error record) such rows are counted as unexplained."
            )
        return chunk.without(row, "worker died")


def _work(
    parcel: Parcel, folder: Path, patience: float, parent: int, chunk: Chunk
) -> tuple[int, bytes | str]:
    """Answer a chunk, in a process of the pool."""
    answer = portably(lambda: _answer(parcel, Note.of_worker(folder, parent), patience, chunk))
    return chunk.number, sealed(answer)


def _answer(parcel: Parcel, note: Note, patience: float, chunk: Chunk) -> Answer:
    note.at(STARTING)
    with note.deadline(patience):
        job = parcel.open()
    job.fitted  # noqa: B018 (a process that dies here has not died of a row)
    note.at(chunk.number)
    answer = answered(job, chunk, note)
    note.done()
    return answer


def _codes(died: BrokenProcessPool) -> str:
    """Say how processes ended, where loky does."""
    found = re.search(r"exit codes of the workers are \{(.+)\}", str(died))
    return f" ({found[1]})" if found else ""


def _kept(left: dict[int, Chunk]) -> Iterator[tuple[int, Answer]]:
    """Yield, and strike off, what workers had finished and kept before they were ended with another."""
    for number, chunk in [*left.items()]:
        answer = None
        with contextlib.suppress(ValueError):
            answer = chunk.find()
        if answer is not None:
            del left[number]
            yield number, answer
