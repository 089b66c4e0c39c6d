"""Chunks of a sample, their results, and the function that explains a chunk in any kind of worker."""

import contextlib
import threading
import warnings
from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.containers import take_rows
from faithkit.errors import ContractError, ExplainerError, FaithkitWarning
from faithkit.explanations.explanations import Explanations, InfiniteImportanceError, object_array
from faithkit.inputs.rows import Rows
from faithkit.run.explaining.job import Job
from faithkit.run.explaining.progress import report_progress, warn_early
from faithkit.wording import describe

_ALWAYS_RAISED = (ContractError, KeyboardInterrupt)  # these are not failures of a row


@attrs.frozen(eq=False)
class Chunk:
    """Consecutive rows of a sample, as an executor hands them to a worker.

    Attributes
    ----------
    number : int
        The number of the chunk in its sample, from 0.
    X : array, DataFrame, sparse matrix or list of str
        Its rows.
    seeds : numpy.ndarray
        One seed per row.
    first_row : int
        The number of its first row in the sample.

    Examples
    --------
    >>> chunk = Chunk(number=1, X=["good", "bad", "fair"], seeds=np.arange(3, dtype=np.uint32), first_row=3)
    >>> len(chunk), chunk.subchunk(1, 2).X, chunk.subchunk(1, 2).first_row
    (3, ['bad'], 4)
    """

    number: int
    X: Rows
    seeds: NDArray[np.uint32]
    first_row: int

    def __len__(self) -> int:
        return len(self.seeds)

    def subchunk(self, start: int, stop: int) -> "Chunk":
        """Return a chunk of the rows from `start` to `stop`, with the same number."""
        rows = slice(start, stop)
        return Chunk(self.number, take_rows(self.X, rows), self.seeds[rows], self.first_row + start)


@attrs.frozen(eq=False)
class ChunkResult:
    """The explanations of the rows of a chunk.

    Attributes
    ----------
    explanations : Explanations or None
        Those of the explained rows, in order; None if no row was explained.
    reasons : list of str or None
        For each row, why it has no explanation; None where it has one.
    warnings : tuple of str
        The explainer's warnings, which the main process shows.
    is_kept : bool
        Whether an earlier run explained the rows: then they say nothing about how long the others take.

    Examples
    --------
    >>> result = ChunkResult(Explanations.of(["a"]), [None, "ValueError: bad row"])
    >>> len(result), result.rows
    (2, array([0]))
    >>> ChunkResult.concat([result, ChunkResult(None, ["ValueError: worse"])]).reasons
    [None, 'ValueError: bad row', 'ValueError: worse']
    """

    explanations: Explanations | None
    reasons: list[str | None]
    warnings: tuple[str, ...] = ()
    is_kept: bool = False

    @classmethod
    def of(cls, explanations: Explanations) -> "ChunkResult":
        """Build the result of a chunk whose rows all have an explanation.

        The instances are left out, because the caller has them. Remarks are converted to text.
        """
        remarks = explanations.remarks
        if remarks is not None:
            remarks = object_array(None if remark is None else str(remark) for remark in remarks)
        return cls(attrs.evolve(explanations, instances=None, remarks=remarks), [None] * len(explanations))

    @classmethod
    def concat(cls, results: list["ChunkResult"]) -> "ChunkResult":
        """Join the results of consecutive rows."""
        explanations = [result.explanations for result in results if result.explanations is not None]
        return cls(
            Explanations.concat(explanations) if explanations else None,
            [reason for result in results for reason in result.reasons],
            tuple(dict.fromkeys(text for result in results for text in result.warnings)),
        )

    def __len__(self) -> int:
        return len(self.reasons)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The positions of the rows that have an explanation."""
        return np.flatnonzero([reason is None for reason in self.reasons])


def explain_chunk(job: Job, chunk: Chunk, *, alone: bool | None = None) -> ChunkResult:
    """Explain the rows of a chunk, and return the explanations with the explainer's warnings.

    If the explainer fails, each half of the rows is explained again, so that only the failing rows are lost.

    Parameters
    ----------
    job : Job
    chunk : Chunk
        Without rows, the explainer is only fitted.
    alone : bool, optional
        Whether no other thread of this process explains rows. Only then warnings can be recorded; otherwise
        they are shown at once. By default whether this is the main thread.

    Examples
    --------
    An executor that explains the last chunk first:

    >>> import faithkit
    >>> def backwards(job, chunks):
    ...     for chunk in reversed(chunks):
    ...         yield chunk, faithkit.plugin.explain_chunk(job, chunk)
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> result = faithkit.evaluate(lambda X: X[:, 0] > 9, X, lambda X: X[:, 0] > 9, executor=backwards)
    >>> result.consistency.value
    1.0
    """
    is_recorded = _is_main_thread() if alone is None else alone
    with _record_warnings(is_recorded) as fit_warnings:
        job.fitted  # noqa: B018 (fit now, so that a failure to fit is not taken for the failure of a row)
    warn_early(_unique_messages(fit_warnings))
    with _record_warnings(is_recorded) as row_warnings:
        report_progress(0)  # starts the clock, now that the explainer is fitted
        result = _explain_rows(job, chunk) if len(chunk) else ChunkResult.concat([])
    return attrs.evolve(result, warnings=_unique_messages([*fit_warnings, *row_warnings]))


def fail_row(job: Job, row: Chunk, reason: str, cause: BaseException | None = None) -> ChunkResult:
    """Record that a row has no explanation, or raise an error that names the row, as `job.on_error` says.

    Parameters
    ----------
    job : Job
    row : Chunk
        A chunk of one row.
    reason : str
        The same words for all rows that fail for this reason, because results count them.
    cause : exception, optional

    Examples
    --------
    A time limit that nobody can keep:

    >>> import faithkit
    >>> def hurried(job, chunks):
    ...     for chunk in chunks:
    ...         rows = [chunk.subchunk(row, row + 1) for row in range(len(chunk))]
    ...         failures = [faithkit.plugin.fail_row(job, row, "too late") for row in rows]
    ...         yield chunk, faithkit.plugin.ChunkResult.concat(failures)
    >>> X = np.arange(3.0).reshape(-1, 1)
    >>> result = faithkit.evaluate(lambda X: X[:, 0] > 1, X, np.sign, executor=hurried, on_error="record")
    >>> result.why_unexplained
    {'too late': 3}
    """
    if job.on_error == "record":
        return ChunkResult(None, [reason])
    raise ExplainerError(
        f"the explainer {job.explainer.text} failed on row {row.first_row}: {reason.rstrip('.')}. "
        "With on_error='record' (CLI: --on-error record) such rows are counted as unexplained."
    ) from cause


def _record_warnings(is_recorded: bool) -> contextlib.AbstractContextManager[Any]:
    """Record warnings in a list; it stays empty among threads, as `catch_warnings` is not thread-safe."""
    if not is_recorded:
        return contextlib.nullcontext([])
    return warnings.catch_warnings(record=True, action="always", category=FaithkitWarning)


def _unique_messages(recorded: Iterable[warnings.WarningMessage]) -> tuple[str, ...]:
    """Return the messages of faithkit's own warnings, each once."""
    own_warnings = (warning for warning in recorded if issubclass(warning.category, FaithkitWarning))
    return tuple(dict.fromkeys(str(warning.message) for warning in own_warnings))


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _explain_rows(job: Job, chunk: Chunk) -> ChunkResult:
    """Explain rows in one call; on a failure explain each half, so that only the failing rows are lost."""
    try:
        return ChunkResult.of(job.explain(chunk.X, chunk.seeds))
    except _ALWAYS_RAISED:
        raise
    except BaseException as error:
        if len(chunk) == 1:
            reason = error.problem if isinstance(error, InfiniteImportanceError) else describe(error)
            return fail_row(job, chunk, reason, error)
    middle = len(chunk) // 2
    halves = chunk.subchunk(0, middle), chunk.subchunk(middle, len(chunk))
    return ChunkResult.concat([_explain_rows(job, half) for half in halves])
