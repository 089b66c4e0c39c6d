"""Run tasks on a Dask cluster: send shared data once, retry when workers die, and explain failures.

It uses the client of joblib's Dask backend, and not the backend itself: that one (joblib 1.6) waits for ever
for a task whose workers were killed.
"""

import asyncio
import contextlib
import functools
import itertools
import logging
import re
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from types import MethodType
from typing import Any, TypeVar, cast

import joblib

from faithkit.errors import ExplainerError, FaithkitError, FaithkitWarning, InputError
from faithkit.run.components.resolution import ResolvedComponent, resolve_component
from faithkit.run.explaining.shared_payload import SharedPayload, run_with_portable_errors
from faithkit.run.provenance import versions
from faithkit.third_party import guard
from faithkit.wording import describe

Item = TypeVar("Item")
T = TypeVar("T")

CONNECT_SECONDS = 5
MAX_ATTEMPTS = 3
MIN_QUEUED = 64  # items on the cluster at a time: the scheduler keeps their rows in memory
BACKEND = "DaskDistributedBackend"


@contextlib.contextmanager
def connect_to_scheduler(scheduler: str) -> Iterator[None]:
    """Let joblib use the cluster of a Dask scheduler, such as tcp://10.0.0.1:8786."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError("the backend dask needs the package distributed: pip install distributed.") from None
    if not re.fullmatch(r"[a-z]+://.+:\d+", scheduler):
        raise InputError(f"{scheduler!r} is no address of a Dask scheduler, such as tcp://10.0.0.1:8786.")
    with _silence_loggers("asyncio", "distributed", "tornado"):
        try:
            _check_scheduler(scheduler)
            client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
        except Exception as error:  # addresses and networks fail in many ways
            raise InputError(
                f"no Dask scheduler answers at {scheduler} ({describe(error)}): start one with "
                "`dask scheduler`, and give the address that it prints, such as tcp://10.0.0.1:8786."
            ) from None
        with client, joblib.parallel_config(backend="dask", client=client):
            yield


@contextlib.contextmanager
def _silence_loggers(*libraries: str) -> Iterator[None]:
    """Keep libraries from logging failures that faithkit reports itself."""
    names = [name for name in [*logging.root.manager.loggerDict] if name.split(".")[0] in libraries]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def _check_scheduler(address: str) -> None:
    """Check that a Dask scheduler answers, in a separate thread: Dask's client could wait for ever."""
    answers: list[Any] = []

    def ask() -> None:
        try:
            answers.append(asyncio.run(asyncio.wait_for(_fetch_server_type(address), CONNECT_SECONDS)))
        except TimeoutError:
            return
        except Exception as error:
            answers.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(2 * CONNECT_SECONDS)  # a name lookup cannot be cancelled
    (server_type,) = answers or [TimeoutError(f"no answer in {CONNECT_SECONDS} s")]
    if isinstance(server_type, Exception):
        raise server_type
    if server_type != "Scheduler":
        raise InputError(f"there is a {server_type!r:.30}")


async def _fetch_server_type(address: str) -> Any:
    from distributed import Security
    from distributed.comm.core import connect
    from distributed.core import send_recv

    comm = await connect(
        address, CONNECT_SECONDS, deserialize=False, **Security().get_connection_args("client")
    )
    try:
        return (await send_recv(comm, op="identity"))["type"]
    finally:
        comm.abort()


def active_cluster() -> Any:
    """Return the Dask backend that joblib is configured with, or None."""
    backend, _ = joblib.parallel.get_active_backend()
    return backend if type(backend).__name__ == BACKEND else None


def map_in_order(
    cluster: Any,
    method: Callable[[Item], T],
    items: Sequence[Item],
    components: Iterable[ResolvedComponent],
) -> Iterator[T]:
    """Call a bound method for each item, and yield the results in the order of the items.

    The object of the method travels to each worker once.
    """
    check_workers(cluster, components)
    bound = cast("MethodType", method)
    finished: dict[int, T] = {}
    n_yielded = 0
    for i, result in map_as_completed(cluster, SharedPayload.of(bound.__self__), bound.__func__, items):
        if isinstance(result, ExplainerError):
            raise result
        finished[i] = result
        while n_yielded in finished:
            yield finished.pop(n_yielded)
            n_yielded += 1


def map_as_completed(
    cluster: Any, payload: SharedPayload, function: Callable[[Any, Any], Any], items: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """Call `function(payload, item)` for each item, and yield the item's number and the result.

    Results come as they are finished. An `ExplainerError` in place of a result says that workers died
    repeatedly at the item.

    Dask repeats the tasks of a worker that died. If the last worker with the payload dies, the payload is
    sent again. After `MAX_ATTEMPTS` times without any finished item, the remaining items fail.
    """
    pending = dict(enumerate(items))
    failed_attempts = 0
    while pending and failed_attempts < MAX_ATTEMPTS:
        failed_attempts += 1
        try:
            for i, result in _run_once(cluster, payload, function, pending):
                failed_attempts = 0
                del pending[i]
                yield i, result
        except _PayloadLostError:
            if failed_attempts < MAX_ATTEMPTS:
                warnings.warn(
                    "all workers that had the data died; it is sent again.", FaithkitWarning, stacklevel=2
                )
    message = f"the workers of the cluster died {MAX_ATTEMPTS} times: their logs say why"
    for i in pending:
        yield i, ExplainerError(f"{message}; often memory is too small.")


class _PayloadLostError(FaithkitError):
    """No worker has the payload any more."""


def _run_once(
    cluster: Any, payload: SharedPayload, function: Callable[[Any, Any], Any], pending: dict[int, Any]
) -> Iterator[tuple[int, Any]]:
    """Send the payload and all pending items, and yield results as they are finished."""
    from distributed import as_completed

    client = cluster.client
    sent_payload = _call_cluster(lambda: _send_payload(client, payload))
    max_queued = max(MIN_QUEUED, 2 * sum(_call_cluster(client.ncores).values()))
    unsent = iter([*pending.items()])
    item_numbers: dict[Any, int] = {}
    completed = as_completed(loop=client.loop)
    while True:
        for i, item in itertools.islice(unsent, max_queued - len(item_numbers)):
            future = _submit(cluster, _run_task, sent_payload, function, item)
            item_numbers[future] = i
            completed.add(future)
        if not item_numbers:
            return
        future = _call_cluster(lambda: next(completed))
        yield item_numbers.pop(future), _call_cluster(functools.partial(_result_of, future))


def _send_payload(client: Any, payload: SharedPayload) -> Any:
    """Send the payload to all workers, as soon as there is one."""
    client.wait_for_workers(1, timeout=2 * CONNECT_SECONDS)
    try:
        (sent_payload,) = client.scatter([payload], broadcast=True, hash=False)
    except (ValueError, KeyError) as error:  # Dask raises these if the workers have just left
        raise CancelledError from error
    return sent_payload


def _submit(cluster: Any, *call: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # each row is sent only once
        return cluster.client.submit(*call, **{"pure": False, **cluster.submit_kwargs})


def _result_of(future: Any) -> Any:
    from distributed import KilledWorker

    try:
        return future.result()
    except KilledWorker as error:
        return ExplainerError(
            f"a task has killed {error.allowed_failures + 1} workers of the cluster, the last of them "
            f"{error.last_worker.address}: its log says why; often memory is too small."
        )


def _call_cluster(call: Callable[[], T]) -> T:
    """Call the cluster, and turn its failures into errors with advice."""
    with guard("the cluster", error=ExplainerError):
        try:
            return call()
        except (CancelledError, TimeoutError) as error:  # the workers died, and no new one came in time
            raise _PayloadLostError("the workers of the cluster are gone.") from error
        except OSError as error:
            raise ExplainerError(
                f"the cluster is gone ({describe(error)}): start it again, and then the same command, which "
                "does not repeat what a store keeps."
            ) from None


def _run_task(payload: SharedPayload, function: Callable[[Any, Any], Any], item: Any) -> Any:
    with joblib.parallel_config(backend="sequential"):  # a worker starts no workers of its own
        return run_with_portable_errors(lambda: function(payload.load(), item))


def check_workers(cluster: Any, components: Iterable[ResolvedComponent]) -> None:
    """Refuse a cluster without workers, or with one that lacks a component or has another version of it."""
    named_components = [resolved for resolved in components if resolved.recipe is not None]
    local_versions = versions(named_components)
    texts = [(resolved.kind, resolved.text) for resolved in named_components]
    replies = _call_cluster(lambda: cluster.client.run(_worker_versions, texts, on_error="return"))
    if not replies:
        raise InputError(
            "the cluster has no workers: start some with `dask worker` and the scheduler's address."
        )
    for address, reply in replies.items():
        if isinstance(reply, BaseException):
            reason = str(reply) if isinstance(reply, FaithkitError) else describe(reply)
            raise InputError(
                f"the worker {address} cannot do this: {reason.rstrip('.')}. "
                "Install there what is installed here."
            )
        for name, version in local_versions.items():
            if reply.get(name) != version:
                raise InputError(
                    f"the worker {address} has {name} {reply.get(name)}, and this process has {version}: "
                    "install the same versions everywhere, for numbers may differ."
                )


def _worker_versions(texts: list[tuple[str, str]]) -> dict[str, str]:
    return run_with_portable_errors(lambda: versions([resolve_component(kind, text) for kind, text in texts]))
