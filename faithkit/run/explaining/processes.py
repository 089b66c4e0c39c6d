"""Work in processes that may die: what killed one is found and told, and all else is done nevertheless."""

import contextlib
import os
import re
import shutil
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import attrs
import joblib

from faithkit.errors import ExplainerError, FaithkitWarning
from faithkit.foreign import foreign
from faithkit.run.explaining.job import Job
from faithkit.run.explaining.notes import STARTING, WHOLE, LastWords, Note, last_words
from faithkit.run.explaining.parcel import Parcel, portably
from faithkit.run.explaining.serial import Chunk
from faithkit.run.explaining.task import Task
from faithkit.run.explaining.timeout import late

PATIENCE = 120.0  # seconds for a worker to unpack the job and to import what it needs,
PER_SECOND = 10**6  # and one more for this many bytes of it


def a_process() -> joblib.Parallel:
    """Return joblib's way to one process at a time; asked for one worker, it would stay in this process."""
    with joblib.parallel_config(backend="loky"):
        return joblib.Parallel(n_jobs=2, return_as="generator_unordered", pre_dispatch=1, batch_size=1)


def can_start() -> bool:
    """Whether joblib starts processes from this one: not from those that may have no children."""
    with joblib.parallel_config(backend="loky"):
        return bool(joblib.effective_n_jobs(2) > 1)


@attrs.frozen(eq=False)
class Desk:
    """A folder where the worker processes of a run find their job, and leave their notes."""

    folder: Path
    parcel: Parcel
    patience: float
    parent: int = attrs.field(factory=os.getpid)

    @classmethod
    def of(cls, parcel: Parcel, folder: Path) -> "Desk":
        """Lay a packed job there."""
        path = folder / "job"
        path.write_bytes(parcel.content)
        return cls(folder, Parcel(path, parcel.token), PATIENCE + len(parcel.content) / PER_SECOND)

    def work(self, task: Task) -> tuple[int, Chunk]:
        """Work on a task, in a process of the pool; or in this one, where joblib has no pool."""
        return task.number, portably(lambda: self._chunk(task))

    def _chunk(self, task: Task) -> Chunk:
        if os.getpid() == self.parent:
            return task.work(self.parcel.open(Job.fresh))
        note = _STATION.settled(self)
        note.at(STARTING)
        with note.deadline(self.patience):
            job = self.parcel.open(Job.fresh)
        job.fitted  # noqa: B018 (a process that dies here has not died of a row)
        note.at(task.number)
        chunk = task.work(job, note)
        note.done()
        return chunk


class _Station:
    """What a worker process knows of itself: whose it is, and where it leaves its note."""

    desk: Desk | None = None
    note: Note | None = None

    def settled(self, desk: Desk) -> Note:
        """Be at this desk, and return the note that lies on it."""
        if self.desk is None:
            # Ctrl-C reaches the workers too; it is the parent's to end them, and to say so once
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            threading.Thread(target=self._watch, args=(desk.parent,), daemon=True).start()
        if self.note is None or self.desk is None or self.desk.folder != desk.folder:
            self.note = Note.begun(desk.folder)
        self.desk = desk
        return self.note

    def _watch(self, parent: int) -> None:
        """End with the parent, however that ends, and leave nothing of it behind."""
        while os.getppid() == parent:
            time.sleep(0.5)
        if self.desk is not None:
            shutil.rmtree(self.desk.folder, ignore_errors=True)
        os._exit(1)


_STATION = _Station()


def in_processes(
    who: str, parcel: Parcel, tasks: list[Task], parallel: joblib.Parallel
) -> Iterator[tuple[int, Chunk]]:
    """Yield the number and the chunk of every task, as joblib's processes finish them, in any order."""
    with tempfile.TemporaryDirectory(prefix="faithkit-", ignore_cleanup_errors=True) as folder:
        yield from _Pool(who, Desk.of(parcel, Path(folder)), parallel).results(tasks)


@attrs.define(eq=False)
class _Pool:
    """Processes that explain: for whom, at which desk, and how often one died before it began."""

    who: str
    desk: Desk
    parallel: joblib.Parallel
    stillborn: int = 0

    def results(self, tasks: list[Task]) -> Iterator[tuple[int, Chunk]]:
        """Yield what becomes of the tasks; those at which a process dies are tried again by themselves."""
        left = {task.number: task for task in tasks}
        while left:
            died = None
            try:
                for number, chunk in self._each(self.parallel, left):
                    del left[number]
                    yield number, chunk
            except BrokenProcessPool as error:
                died = error
            if died is not None:
                suspects = self._suspects(died, left)
                yield from _kept(left)
                for task in [left.pop(one.task) for one in suspects if one.task in left]:
                    yield task.number, self._alone(task)

    def _each(self, parallel: joblib.Parallel, left: dict[int, Task]) -> Iterator[tuple[int, Chunk]]:
        """Yield results; what a worker cannot hand over is one line, a death is BrokenProcessPool."""
        results = iter(parallel([joblib.delayed(self.desk.work)(task) for task in left.values()]))
        while True:
            died = None
            with foreign("a worker", "With n_jobs=1 (CLI: --n-jobs 1) nothing travels.", ExplainerError):
                try:
                    found = next(results, None)
                except BrokenProcessPool as error:
                    died = error
            if died is not None:
                raise died
            if found is None:
                return
            yield found

    def _suspects(self, died: BrokenProcessPool, left: dict[int, Task]) -> list[LastWords]:
        """Say that a process died, and return what those were at that may be the one.

        If it was ended because a row took too long, that row is lost, and nobody is suspected.
        """
        words = [one for one in last_words(self.desk.folder) if one.task in left or one.task == STARTING]
        overdue = [one for one in words if one.overdue]
        for one in overdue:
            left[one.task] = self._without(left, one)
        if overdue:
            return []
        told = f"a worker died{_codes(died)}"
        suspects = [one for one in words if one.task != STARTING]
        if not suspects:
            self._count_stillborn(told)
        warnings.warn(f"{told}; what it was working on is tried once more.", FaithkitWarning, stacklevel=4)
        return suspects

    def _without(self, left: dict[int, Task], words: LastWords) -> Task:
        if words.task == STARTING:
            raise ExplainerError(
                f"a worker process had not taken up the model and the explainer {self.who} after "
                f"{self.desk.patience:.0f} s: see whether they can be unpickled, or explain in this process "
                "(n_jobs=1, CLI: --n-jobs 1)."
            )
        task = left[words.task]
        assert task.faults.row_timeout is not None
        return task.without(words.row, late(task.faults.row_timeout))

    def _count_stillborn(self, told: str) -> None:
        self.stillborn += 1
        if self.stillborn == 2:
            raise ExplainerError(
                f"{told}, again before it explained anything: unpickling the model, or importing or fitting "
                f"the explainer {self.who}, ends the process."
            )

    def _alone(self, task: Task) -> Chunk:
        """Run a task that may have killed its process in one of its own, until the rows that do are known."""
        left = {task.number: attrs.evolve(task, row_by_row=True)}
        while True:
            try:
                ((_, chunk),) = self._each(a_process(), left)
                return chunk
            except BrokenProcessPool as died:
                for one in self._suspects(died, left):
                    left[one.task] = self._bereaved(left[one.task], one.row)

    def _bereaved(self, task: Task, row: int) -> Task:
        if task.faults.on_error == "raise" or row == WHOLE:
            at = task.first_row + max(row, 0)
            raise ExplainerError(
                f"the explainer {self.who} killed its worker process on row {at}, twice. "
                "With on_error='record' (CLI: --on-error record) such rows are counted as unexplained."
            )
        return task.without(row, "worker died")


def _codes(died: BrokenProcessPool) -> str:
    """Say how processes ended, where loky does."""
    found = re.search(r"exit codes of the workers are \{(.+)\}", str(died))
    return f" ({found[1]})" if found else ""


def _kept(left: dict[int, Task]) -> Iterator[tuple[int, Chunk]]:
    """Yield, and strike off, what workers had finished and kept before they were ended with another."""
    for number, task in [*left.items()]:
        chunk = None
        with contextlib.suppress(ValueError):
            chunk = task.find()
        if chunk is not None:
            del left[number]
            yield number, chunk
