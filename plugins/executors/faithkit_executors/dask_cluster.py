"""The executor `dask`, which explains on the workers of a cluster.

It submits tasks to Dask's client. joblib's Dask backend (joblib 1.6) waits for ever for a task whose workers
were killed.
"""

import asyncio
import contextlib
import re
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any, TypeVar

import joblib
from distributed import Client, KilledWorker, Security, as_completed
from distributed.core import rpc

from faithkit.errors import ExplainerError, InputError, ParameterError, warn
from faithkit.plugin import Chunk, ChunkResult, Job, guard, resolve_component, versions
from faithkit_executors.processes import explain_row_by_row
from faithkit_executors.shipping import Results, SharedFunction, Work, cluster_worker
from faithkit_executors.time_limits import check_timeout
from faithkit_executors.wording import describe

T = TypeVar("T")

CONNECT_SECONDS = 5


class Dask:
    """Explain on the workers of a Dask cluster; chunks at which they die are explained in processes here.

    Parameters
    ----------
    scheduler : str or distributed.Client
        The address of the scheduler, such as tcp://10.0.0.1:8786, or a client that is connected to it.
    timeout : float, optional
        The seconds that a row may take. On a cluster nothing interrupts a row: it is late when it is done.
    """

    def __init__(self, scheduler: Any, timeout: float | None = None) -> None:
        if not isinstance(scheduler, Client) and not re.fullmatch(r"[a-z]+://.+:\d+", str(scheduler)):
            raise ParameterError(
                f"{str(scheduler)!r} is no address of a Dask scheduler, such as tcp://10.0.0.1:8786."
            )
        self.scheduler = scheduler
        self.timeout = check_timeout(timeout, "dask")

    def run(self, job: Job, chunks: Sequence[Chunk]) -> Results:
        """Explain the chunks on the cluster; those at which its workers died come last."""
        with connect(self.scheduler) as client:
            check_workers(client, job.explainer)
            work = Work(job, self.timeout)
            function = work.ship()
            if function is None:
                yield from work.explain_here(chunks)
                return
            deadly_chunks = []
            for chunk, result in map_as_completed(client, function, chunks):
                if not isinstance(result, KilledWorkersError):
                    yield chunk, result
                elif job.on_error == "raise":
                    raise result
                else:
                    deadly_chunks.append(chunk)
        if deadly_chunks:
            warn(
                f"{len(deadly_chunks)} of {len(chunks)} chunks, at which workers of the cluster died, are "
                "explained in processes of this machine.",
            )
            yield from explain_row_by_row(job, deadly_chunks, self.timeout)


@contextlib.contextmanager
def connect(scheduler: Any) -> Iterator[Client]:
    """Yield a client of a scheduler: the user's, or one that is closed at the end."""
    if isinstance(scheduler, Client):
        yield scheduler
        return
    try:
        # Dask's client would wait for ever for a server that does not answer
        server_type = asyncio.run(asyncio.wait_for(_fetch_server_type(scheduler), CONNECT_SECONDS))
        if server_type != "Scheduler":
            raise InputError(f"there is a {server_type!r:.30}")
        client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # addresses and networks fail in many ways
        raise InputError(
            f"no Dask scheduler answers at {scheduler} ({describe(error)}): start one with "
            "`dask scheduler`, and give the address that it prints, such as tcp://10.0.0.1:8786."
        ) from None
    with client:
        yield client


async def _fetch_server_type(address: str) -> Any:
    async with rpc(address, connection_args=Security().get_connection_args("client")) as server:
        return (await server.identity())["type"]


class KilledWorkersError(ExplainerError):
    """Several workers of a cluster died at the same task."""


def map_as_completed(
    client: Client, function: SharedFunction, chunks: Sequence[Chunk]
) -> Iterator[tuple[Chunk, Any]]:
    """Call a function for each chunk, and yield chunks and results as they are finished.

    A `KilledWorkersError` in place of a result says that workers died repeatedly at the chunk.
    """
    chunk_of = dict(zip(_submit_all(client, function, chunks), chunks, strict=True))
    completed = as_completed(chunk_of, loop=client.loop)
    while chunk_of:
        with _guard_cluster():
            future = next(completed)
        try:
            result = _result_of(future)
        except KilledWorkersError as error:
            result = error
        yield chunk_of.pop(future), result  # the cluster forgets a result without a future


def _submit_all(client: Client, function: SharedFunction, chunks: Sequence[Chunk]) -> list[Any]:
    """Submit a task for each chunk, and return the futures.

    The function is also the result of a task, so Dask sends it again if all workers that have it die.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # each row is sent only once
        sent_function = client.submit(_identity, function, pure=False)
        return [client.submit(_run_task, sent_function, chunk, pure=False) for chunk in chunks]


def _identity(value: T) -> T:
    return value


def _run_task(function: SharedFunction, chunk: Chunk) -> ChunkResult:
    worker = cluster_worker()
    with (
        guard(f"the worker {worker.address}", error=ExplainerError),
        joblib.parallel_config(backend="sequential"),  # a worker starts no workers of its own
    ):
        result: ChunkResult = function.load()(chunk, alone=worker.state.nthreads == 1)
        return result


def _result_of(future: Any) -> Any:
    """Return the result of a task; raise `KilledWorkersError` if workers died repeatedly at it."""
    with _guard_cluster():
        try:
            return future.result()
        except KilledWorker as error:
            raise KilledWorkersError(
                f"a task has killed {error.allowed_failures + 1} workers of the cluster, the last of them "
                f"{error.last_worker.address}: its log says why; often memory is too small."
            ) from None


@contextlib.contextmanager
def _guard_cluster() -> Iterator[None]:
    """Turn failures of the cluster into errors with advice."""
    with guard("the cluster", error=ExplainerError):
        try:
            yield
        except (CancelledError, OSError) as error:
            raise ExplainerError(
                f"the cluster is gone ({describe(error)}): start it again, and then the same command, which "
                "does not repeat what a store keeps."
            ) from None


def check_workers(client: Client, explainer: Any) -> None:
    """Refuse a cluster without workers, or with one that lacks the explainer or has another version of it."""
    names = [] if explainer.recipe is None else [explainer.text]
    local_versions = versions([explainer])
    with _guard_cluster():
        replies = client.run(_worker_versions, names, on_error="return")
    if not replies:
        raise InputError(
            "the cluster has no workers: start some with `dask worker` and the scheduler's address."
        )
    for address, reply in replies.items():
        if isinstance(reply, BaseException):
            raise InputError(
                f"the worker {address} cannot do this: {describe(reply).rstrip('.')}. "
                "Install there what is installed here."
            )
        for name, version in local_versions.items():
            if reply.get(name) != version:
                raise InputError(
                    f"the worker {address} has {name} {reply.get(name)}, and this process has {version}: "
                    "install the same versions everywhere, for numbers may differ."
                )


def _worker_versions(names: list[str]) -> dict[str, str]:
    return versions([resolve_component("explainer", name) for name in names])
